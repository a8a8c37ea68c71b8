"""Values of the options of ``%%cuda_kernel``; each error stands below the piece that is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from kit.architectures import ARCHITECTURES
from kit.cuda.option_rules import (
    CHECKS,
    LATER_CHECKS,
    check_block,
    is_architecture,
    is_macro,
)
from kit.cuda.template_values import template_argument
from kit.errors import CellError, LaunchError
from kit.magics.cuda_text import split_arguments
from kit.magics.options import ParsedLine
from kit.magics.request_values import split_values, text_start
from kit.magics.specs import MagicSpec
from kit.magics.words import Word
from kit.source.nearest import nearest

__all__ = [
    "parse_architectures",
    "parse_block",
    "parse_checks",
    "parse_defines",
    "parse_include_dirs",
    "parse_template",
]


def parse_block(spec: MagicSpec, line: str, parsed: ParsedLine) -> tuple[int, ...] | None:
    """``--block 16,16``; None where it was not given."""
    if not parsed.has("block"):
        return None
    pieces = split_values(line, parsed, "block")
    sizes: list[int] = []
    for piece in pieces:
        if not (piece.text.isascii() and piece.text.isdigit()) or len(sizes) == 3:
            raise spec.error(
                line,
                f"--block is one to three whole numbers, and {piece.text!r} is not"
                if len(sizes) < 3
                else "--block is one to three whole numbers: x, y, z",
                start=piece.start,
                fix="--block 256 or --block 16,16 or --block 8,8,4",
            )
        sizes.append(int(piece.text))
    try:
        check_block("--block", sizes)
    except LaunchError as error:
        raise spec.error(
            line, _limit_of(error), start=pieces[0].start, fix="--block 256 or --block 16,16"
        ) from None
    return tuple(sizes)


def _limit_of(error: LaunchError) -> str:
    """What was found and needed, in one line."""
    facts = dict(re.findall(r"^ *(found|need): *(.*)$", error.message, re.MULTILINE))
    return f"--block: {facts.get('found', '')}; CUDA has {facts.get('need', '')}"


def parse_architectures(spec: MagicSpec, line: str, parsed: ParsedLine) -> tuple[str, ...] | None:
    """``--arch sm_80,sm_90``; None where it was not given."""
    if not parsed.has("arch"):
        return None
    found: dict[str, None] = {}
    for piece in split_values(line, parsed, "arch"):
        if not is_architecture(piece.text):
            raise spec.error(
                line,
                f"--arch: {piece.text!r} is no architecture",
                start=piece.start,
                fix=f"--arch {_meant_architecture(piece.text)}",
            )
        found.setdefault(piece.text)
    return tuple(found)


def _meant_architecture(text: str) -> str:
    digits = re.sub(r"\D", "", text)
    if f"sm_{digits}" in ARCHITECTURES:
        return f"sm_{digits}"
    return nearest(text.lower(), ARCHITECTURES, at_least=0.6) or "sm_90"


def parse_include_dirs(spec: MagicSpec, line: str, parsed: ParsedLine) -> tuple[str, ...]:
    """``-I DIR``, absolute; a relative one is below the working directory."""
    found: list[str] = []
    for value in parsed.options.get("include", ()):
        folder = Path(value.text).expanduser()
        if not value.text or not folder.is_dir():
            raise spec.error(
                line,
                f"-I: there is no directory {value.text!r}",
                start=value.start,
                fix="-I DIR with an absolute path, or one from the working directory, %pwd",
            )
        found.append(str(folder.absolute()))
    return tuple(found)


def parse_defines(spec: MagicSpec, line: str, parsed: ParsedLine) -> tuple[str, ...]:
    """``-D NAME`` and ``-D NAME=VALUE``."""
    found: list[str] = []
    for value in parsed.options.get("define", ()):
        name = value.text.partition("=")[0]
        if not is_macro(name):
            raise spec.error(
                line,
                f"-D: {name!r} is no name of a macro",
                start=value.start,
                fix="-D NAME or -D NAME=VALUE",
            )
        found.append(value.text)
    return tuple(found)


def parse_checks(spec: MagicSpec, line: str, parsed: ParsedLine) -> tuple[str, ...]:
    """``--check bounds``."""
    found: dict[str, None] = {}
    for piece in split_values(line, parsed, "check"):
        if piece.text in LATER_CHECKS:
            raise spec.error(
                line,
                f"--check {piece.text} comes with a later version of kit",
                start=piece.start,
                fix="--check bounds",
            )
        if piece.text not in CHECKS:
            raise spec.error(
                line,
                f"--check cannot be {piece.text!r}: it is bounds",
                start=piece.start,
                fix="--check bounds",
            )
        found.setdefault(piece.text)
    return tuple(found)


def parse_template(spec: MagicSpec, line: str, parsed: ParsedLine) -> Mapping[str, str]:
    """``--template T=float64,N=3`` as C++: ``{"T": "double", "N": "3"}``."""
    found: dict[str, str] = {}
    for piece in _template_pieces(line, parsed):
        name, equals, text = piece.text.partition("=")
        name, text = name.strip(), text.strip()
        if not is_macro(name) or not equals or not text:
            raise _bad_template(
                spec, line, piece, f"--template: {piece.text!r} is not NAME=ARGUMENT"
            )
        if name in found:
            raise _bad_template(spec, line, piece, f"--template: {name} is given twice")
        found[name] = template_argument(text)
    return found


def _bad_template(spec: MagicSpec, line: str, piece: Word, message: str) -> CellError:
    return spec.error(
        line, message, start=piece.start, fix="--template T=float64,N=3 with each parameter once"
    )


def _template_pieces(line: str, parsed: ParsedLine) -> list[Word]:
    pieces: list[Word] = []
    for value in parsed.options.get("template", ()):
        start = text_start(line, value)
        for text in split_arguments(value.text):
            pieces.append(Word(text=text, start=start, end=start + len(text)))
            start += len(text) + 1
    return pieces

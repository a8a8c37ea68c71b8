"""Options that every cell magic has, and values that several magics read alike."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from kit.magics.options import ParsedLine
from kit.magics.specs import MagicSpec, Option
from kit.magics.words import Word

__all__ = [
    "FORCE",
    "ISOLATE",
    "ON_ERROR",
    "QUIET",
    "VERBOSE",
    "CellRequest",
    "parse_flags",
    "parse_name_lists",
    "place_in_line",
    "refuse_quiet_and_verbose",
    "split_values",
    "text_start",
]

ISOLATE = Option(
    name="isolate",
    help="run each call in a process of its own",
    later="leave it out; calls run in the notebook process",
)
ON_ERROR = Option(
    name="on-error",
    metavar="ACTION",
    choices=("raise", "keep"),
    default="raise",
    help="when the build fails: raise, or warn and keep the kernels of before",
)
FORCE = Option(name="force", help="build again even if the result is stored")
QUIET = Option(name="quiet", short="q", help="print nothing on success")
VERBOSE = Option(name="verbose", short="v", help="also print flags, stages, compiler and size")


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRequest:
    """What the magic line of any cell asks for.

    Parameters
    ----------
    keeps : bool
        Whether a failed build leaves the kernels of before.
    is_quiet, is_verbose : bool
        How much is printed on success.
    """

    keeps: bool = False
    is_quiet: bool = False
    is_verbose: bool = False


def refuse_quiet_and_verbose(spec: MagicSpec, line: str, parsed: ParsedLine) -> None:
    """CellError where both were given."""
    if parsed.has("quiet") and parsed.has("verbose"):
        raise spec.error(
            line,
            "--quiet and --verbose contradict each other",
            start=parsed.options["verbose"][0].start,
            fix="leave one of them out",
        )


def split_values(line: str, parsed: ParsedLine, option: str) -> list[Word]:
    """Pieces of ``a,b`` over all values of a repeatable option, each with its place."""
    pieces: list[Word] = []
    for value in parsed.options.get(option, ()):
        start = text_start(line, value)
        for text in value.text.split(","):
            bare = text.strip()
            lead = start + text.index(bare) if bare else start
            pieces.append(Word(text=bare, start=lead, end=lead + len(bare)))
            start += len(text) + 1
    return pieces


def text_start(line: str, value: Word) -> int:
    """Where a value's own text begins: behind its quote."""
    return value.start + (line[value.start : value.start + 1] in {'"', "'"})


def place_in_line(line: str, message: str) -> int | None:
    """Where the line has the first of its words, or pieces between commas, that a message names.

    Examples
    --------
    >>> place_in_line("--arch sm_90,sm_12", "no compiler for sm_12; there is one for sm_90")
    13
    """
    found: list[tuple[int, int]] = []
    for piece in re.finditer(r"[^\s,=\"']+", line):
        named = re.search(rf"(?<![\w-]){re.escape(piece.group())}(?![\w-])", message)
        if named is not None:
            found.append((named.start(), piece.start()))
    return min(found)[1] if found else None


def parse_flags(
    spec: MagicSpec, line: str, parsed: ParsedLine, example: str
) -> tuple[str, ...] | None:
    """``--flags`` as a shell would split them; None where they were not given."""
    text = parsed.text("flags")
    if text is None:
        return None
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise spec.error(
            line,
            "a quote inside --flags is never closed",
            start=parsed.options["flags"][-1].start,
            fix=f"--flags {example}",
        ) from None


def parse_name_lists(
    spec: MagicSpec, line: str, parsed: ParsedLine, option: str
) -> Mapping[str | None, tuple[str, ...]] | None:
    """``a,b`` or ``f:a,b,g:c`` as names by function; None where the option was not given."""
    if not parsed.has(option):
        return None
    names: dict[str | None, tuple[str, ...]] = {}
    for value in parsed.options[option]:
        function: str | None = None
        for part in value.text.replace(",", " ").split():
            head, colon, name = part.rpartition(":")
            if colon:
                function = _identifier(spec, line, option, value, head)
            known = names.setdefault(function, ())
            if name:
                names[function] = (*known, _identifier(spec, line, option, value, name))
        if not value.text.strip():
            names.setdefault(None, ())
    return names


def _identifier(spec: MagicSpec, line: str, option: str, value: Word, text: str) -> str:
    if not text.isidentifier():
        raise spec.error(
            line,
            f"--{option}: {text!r} is not a name",
            start=value.start,
            fix=f"--{option} a,b   or, in a cell of several functions, --{option} f:a,b",
        )
    return text

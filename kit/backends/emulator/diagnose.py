"""What g++ and the linker said about a cell, as one BuildError in the cell's lines."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kit.backends.emulator.layouts import DIFFERENT, RUN_ON_DEVICE
from kit.backends.emulator.translation import CELL_FILE
from kit.backends.source import character_column
from kit.errors import BuildError

__all__ = ["build_error"]

_CELL: Final = re.escape(CELL_FILE)
_ERROR: Final = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: (?P<text>[^\n]+)",
    re.MULTILINE,
)
# Where a template or an included file was asked for, said before or behind the error itself.
_ASKED: Final = re.compile(
    rf"^(?:In file included from |\s+from )?(?:\S*/)?{_CELL}:(?P<line>\d+)(?::(?P<column>\d+))?[:,]"
    r"\s*(?:required from here)?",
    re.MULTILINE,
)
_UNDEFINED: Final = re.compile(
    rf"^(?:[^\n]*?/)?{_CELL}:(?P<line>\d+): undefined reference to `(?P<name>[^'\n]+)'",
    re.MULTILINE,
)


class _Found(NamedTuple):
    """One error: what, and where in the cell."""

    message: str
    line: int | None
    column: int | None


def build_error(output: str, source: str) -> BuildError:
    """The first error, with the rest and the log attached.

    Parameters
    ----------
    output : str
        What g++ or the linker printed.
    source : str
        Text of the cell.
    """
    found = [*_compiler_errors(output), *_undefined(output)]
    if not found:
        told = output.strip().splitlines() or ["it said nothing"]
        telling = (line for line in told if "error" in line or "undefined" in line)
        found = [_Found(f"g++ failed: {next(telling, told[0])}", None, None)]
    first = next((one for one in found if one.line is not None), found[0])
    lines = source.split("\n")
    text = lines[first.line - 1] if first.line is not None and first.line <= len(lines) else None
    column = first.column
    if column is not None and text is not None:
        column = min(character_column(text, column - 1), len(text) + 1)
    is_layout = first.message.startswith(DIFFERENT)
    return BuildError(
        first.message,
        line=first.line,
        column=column if text is not None else None,
        source_line=text,
        log=output,
        fix=RUN_ON_DEVICE if is_layout else None,
        others=[_one_line(one) for one in found if one is not first],
    )


def _compiler_errors(output: str) -> list[_Found]:
    found: dict[_Found, None] = {}
    end = 0
    for match in _ERROR.finditer(output):
        if match["file"].rpartition("/")[2] == CELL_FILE:
            column = None if match["column"] is None else int(match["column"])
            text = match["text"]
            if DIFFERENT in text:  # kit's own assertion, which stands in no column of the cell
                text, column = text[text.index(DIFFERENT) :], None
            found[_Found(text, int(match["line"]), column)] = None
        else:
            asked = [*_ASKED.finditer(output, end, match.start())]
            place = int(asked[-1]["line"]) if asked else None
            name = match["file"].rpartition("/")[2]
            found[_Found(f"{match['text']} ({name} line {match['line']})", place, None)] = None
        end = match.end()
    return list(found)


def _undefined(output: str) -> list[_Found]:
    """Functions that are declared and, for the emulator, nowhere defined."""
    found = {
        _Found(f"{one['name']} is declared, and the emulator has no definition of it",
               int(one["line"]), None): None
        for one in _UNDEFINED.finditer(output)
    }  # fmt: skip
    return list(found)


def _one_line(found: _Found) -> str:
    where = "" if found.line is None else f"cell line {found.line}: "
    return where + " ".join(found.message.split())

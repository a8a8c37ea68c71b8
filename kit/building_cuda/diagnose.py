"""From what NVRTC said about a cell to one error in the cell's own lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kit.backends.nvrtc_protocol import NvrtcProgram
from kit.backends.source import character_column
from kit.building_cuda.answers import Advice, advise
from kit.building_cuda.command import PROGRAM
from kit.building_cuda.log import Message, read_messages
from kit.cuda.includes import leading_include
from kit.cuda.probe import PREFIX
from kit.cuda.prototypes import CellKernel
from kit.cuda.text.scopes import unclosed_brace
from kit.cuda.text.tokens import split_tokens
from kit.errors import BuildError

__all__ = ["build_error", "tool_failure", "warnings_of"]

# What kit asked besides the cell; an error there follows from one in the cell.
_OWN: Final = (PREFIX, "__nv_name_map")
_MOST_NOTES: Final = 6
_FROM_CELL: Final = re.compile(rf"at line (?P<line>\d+) of {PROGRAM}$")


class _Place(NamedTuple):
    """Where a message is shown: in the cell, also where it is about a file that it includes."""

    line: int | None
    source: str | None
    column: int | None
    file: str = ""


class _Reader(NamedTuple):
    """One refused cell."""

    text: str
    kernels: Sequence[CellKernel]
    folders: Sequence[str]

    def place(self, message: Message) -> _Place:
        """Where the cell has what a message is about."""
        if message.file == PROGRAM:
            source = self.line(message.line)
            offset = message.offset
            column = None if offset is None else character_column(source, offset)
            return _Place(message.line, source, column)
        if not message.file or message.file in _OWN:
            kernel = self._named(message.text)
            line = None if kernel is None else kernel.line
            return _Place(line, None if line is None else self.line(line), None)
        traced = [_FROM_CELL.search(note) for note in message.notes]
        lines = [int(one["line"]) for one in traced if one is not None]
        line = lines[-1] if lines else leading_include(self.text, message.file, self.folders)
        source = None if line is None else self.line(line)
        return _Place(line, source, None, _short(message.file, self.folders))

    def line(self, number: int) -> str:
        """Text of a line of the cell."""
        lines = self.text.split("\n")
        return lines[number - 1] if number <= len(lines) else ""

    def kernel(self, line: int | None) -> str:
        """The kernel that a line is in, as the beginning of a message."""
        for one in self.kernels:
            if line is not None and one.first_line <= line <= one.last_line:
                return f"{one.name}: "
        return ""

    def _named(self, text: str) -> CellKernel | None:
        """The kernel that ptxas means, whose mangled name has the name and its length."""
        for one in self.kernels:
            if f"{len(one.name)}{one.name}" in text:
                return one
        return None


def build_error(
    text: str, kernels: Sequence[CellKernel], program: NvrtcProgram, folders: Sequence[str]
) -> BuildError:
    """The error that a newcomer should see first, with the rest and the log attached.

    Parameters
    ----------
    text : str
        The cell.
    kernels : sequence of CellKernel
        Its kernels.
    program : NvrtcProgram
        What failed; it has no `failure`.
    folders : sequence of str
        Where headers were looked for.
    """
    reader = _Reader(text, kernels, folders)
    errors = [one for one in read_messages(program.log) if one.severity == "error"]
    shown = [one for one in errors if one.file not in _OWN]
    if not shown:
        return _nothing_shown(text, errors, program.log)
    first, advice = _first(reader, shown)
    place = reader.place(first)
    if advice.line is not None:
        place = _Place(advice.line, reader.line(advice.line), advice.column)
    elif advice.column is not None and not place.file:
        place = place._replace(column=advice.column)
    said = advice.message or first.text
    if place.file:
        said = f"{place.file} line {first.line}: {said}"
    error = BuildError(
        reader.kernel(place.line) + said,
        line=place.line,
        column=place.column,
        source_line=place.source,
        fix=advice.fix,
        log=program.log,
        others=[_one_line(reader, one) for one in shown if one is not first],
    )
    for note in _notes(first, place):
        error.add_note(note)
    return error


def _nothing_shown(text: str, errors: Sequence[Message], log: str) -> BuildError:
    """The error where nothing is wrong with the cell but what kit asked about it."""
    if not errors:
        return BuildError("NVRTC failed and named no error", log=log, fix="%kit_log")
    opened = unclosed_brace(split_tokens(text))
    if opened is not None:
        before = text[:opened]
        line = before.count("\n") + 1
        return BuildError(
            "this { is never closed: what follows the cell counts as a part of it",
            line=line,
            column=opened - before.rfind("\n"),
            source_line=text.split("\n")[line - 1],
            fix="}  // at its end",
            log=log,
        )
    return BuildError(
        f"NVRTC does not say what the kernels' parameters are: {errors[0].text}",
        fix="# give each kernel a name that no other function of the cell has",
        log=log,
    )


def tool_failure(program: NvrtcProgram) -> BuildError:
    """The error where it is an option, NVRTC or the memory that failed, not the cell."""
    failure = program.failure
    if "INVALID_OPTION" in failure:
        said = failure.rpartition("nvrtc: error: ")[2].splitlines()[0]
        return BuildError(f"NVRTC does not take these options: {said}", fix="# change --flags")
    fix = "run the cell again: it gets a fresh worker"
    if "signal 9" in failure or "OUT_OF_MEMORY" in failure:
        fix += "\nif it is ended again, memory may be short: see `dmesg | tail`"
    return BuildError(failure, log=program.log, fix=fix)


def warnings_of(
    text: str, kernels: Sequence[CellKernel], log: str, include_dirs: Sequence[str]
) -> tuple[str, ...]:
    """What NVRTC warned about, each in one line that begins with the place in the cell.

    Parameters
    ----------
    text : str
        The cell.
    kernels : sequence of CellKernel
        Its kernels.
    log : str
        Of one architecture.
    include_dirs : sequence of str
        The user's folders. Nobody can change what other headers are warned about.
    """
    reader = _Reader(text, kernels, include_dirs)
    folders = tuple(f"{one.rstrip('/')}/" for one in include_dirs)
    found = [one for one in read_messages(log) if one.severity == "warning"]
    own = [one for one in found if one.file in ("", PROGRAM) or one.file.startswith(folders)]
    return tuple(dict.fromkeys(_one_line(reader, one) for one in own))


def _first(reader: _Reader, errors: Sequence[Message]) -> tuple[Message, Advice]:
    """The first error; of those in its line, one that a fix is known for says more.

    After an unknown type NVRTC reads the rest of the line as something else, and complains about
    that first.
    """
    first = errors[0]
    here = [one for one in errors if (one.file, one.line) == (first.file, first.line)]
    for one in here:
        advice = _advice(reader, one)
        if advice.is_certain:
            return one, advice
    return first, _advice(reader, first)


def _advice(reader: _Reader, message: Message) -> Advice:
    return advise(message, reader.text, reader.folders)


def _one_line(reader: _Reader, message: Message) -> str:
    place = reader.place(message)
    where = "" if place.line is None else f"cell line {place.line}: "
    inside = f"{place.file} line {message.line}: " if place.file else ""
    return f"{where}{inside}{reader.kernel(place.line)}{message.text}"


def _notes(message: Message, place: _Place) -> list[str]:
    """The line of an included file, and what led there."""
    notes: list[str] = []
    if place.file and message.source:
        caret = "" if message.offset is None else f"\n  {' ' * message.offset}^"
        notes.append(f"{place.file} line {message.line}:\n  {message.source}{caret}")
    notes += [one.replace(f" of {PROGRAM}", " of the cell") for one in message.notes[:_MOST_NOTES]]
    if len(message.notes) > _MOST_NOTES:
        notes.append(f"... and {len(message.notes) - _MOST_NOTES} more in %kit_log")
    return notes


def _short(file: str, folders: Sequence[str]) -> str:
    """A file as ``#include`` names it: its folder would leak into a notebook that is committed."""
    inside = [one for one in folders if file.startswith(one.rstrip("/") + "/")]
    if not inside:
        return Path(file).name
    return file[len(max(inside, key=len).rstrip("/")) + 1 :]

"""One compile unit: a cell and what it uses from other cells, with every line's origin.

Pyccel translates one file at a time, so what a cell calls from another cell is compiled in: only
the top-level statements that are needed, transitively, in front of the cell's own text. The unit
is what is hashed, pickled and compared; its line map takes a compiler's message back to the cell.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kit.errors import CellError
from kit.source.lines import split_lines

__all__ = [
    "CellSource",
    "Place",
    "Segment",
    "Unit",
    "assemble_unit",
    "definitions",
    "used_names",
]


@dataclass(frozen=True, kw_only=True)
class CellSource:
    """The text of a cell, and which functions of other cells it uses.

    Parameters
    ----------
    text : str
        The cell's text; line 1 is the magic line (empty) or the first line of a source string.
    label : str
        How messages of *other* cells call this one, "the cell of f".
    first_line : int
        Number that messages give to the text's first line: 1, or a function's line in its file.
    file : str or None
        Name of the file that `first_line` counts in; None for a cell.
    preamble : str
        Statements in front of the text that the user did not write: what a decorated function
        takes from its module.
    uses : mapping of str to CellSource
        Name of a function that the cell does not define itself -> the cell that does.
    """

    text: str
    label: str = "the cell"
    first_line: int = 1
    file: str | None = None
    preamble: str = ""
    uses: Mapping[str, CellSource] = field(default_factory=dict[str, "CellSource"])

    @property
    def whole(self) -> str:
        """Preamble and text: what is parsed."""
        return _whole_lines(self.preamble) + _whole_lines(self.text)

    def own_line(self, line: int) -> int | None:
        """The number in the cell or file of a line of `whole`; None inside the preamble."""
        own_line = line + self.line_offset
        return None if own_line < self.first_line else own_line

    @property
    def line_offset(self) -> int:
        """What to add to a line of `whole` for its number in the cell or file."""
        return self.first_line - 1 - (len(_lines(self.preamble)) if self.preamble else 0)


class Segment(NamedTuple):
    """Consecutive lines of one cell inside a unit.

    Parameters
    ----------
    label : str or None
        None for the cell that was run, otherwise the file or `CellSource.label`.
    first_line : int
        Number of the segment's first line in its own cell.
    text : str
        Whole lines, each ending in a newline.
    """

    label: str | None
    first_line: int
    text: str


class Place(NamedTuple):
    """Where a line of a unit comes from; `label` as in `Segment`."""

    label: str | None
    line: int
    source_line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Segments in the order in which they are compiled.

    Examples
    --------
    >>> g = CellSource(text="def g(x: float):\\n    return x\\n", label="the cell of g")
    >>> f = CellSource(text="def f(x: float):\\n    return g(x)\\n", uses={"g": g})
    >>> unit = assemble_unit(f)
    >>> unit.place(4)
    Place(label=None, line=2, source_line='    return g(x)')
    """

    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """What the compiler gets."""
        return "".join(one.text for one in self.segments)

    def place(self, line: int) -> Place | None:
        """The origin of the unit's line `line` (from 1), None where there is no such line."""
        start = 1
        for one in self.segments:
            lines = _lines(one.text)
            if start <= line < start + len(lines):
                index = line - start
                return Place(label=one.label, line=one.first_line + index, source_line=lines[index])
            start += len(lines)
        return None


def assemble_unit(cell: CellSource) -> Unit:
    """The cell with what it uses from other cells in front of it.

    Raises
    ------
    CellError
        A statement that must come along defines a name that the cell, or a third one, defines
        differently: two meanings of one name do not fit into one unit.
    """
    own = [Segment(label=cell.file, first_line=cell.first_line, text=_whole_lines(cell.text))]
    if cell.preamble:
        own.insert(0, _preamble_segment(cell, _whole_lines(cell.preamble), 1))
    if not cell.uses:
        return Unit(segments=tuple(own))
    meanings: dict[str, tuple[str, str]] = {}
    for statement in ast.parse(cell.whole).body:
        for name in _bound_names(statement):
            meanings[name] = (ast.dump(statement), "this cell")
    segments: list[Segment] = []
    taken: set[tuple[int, int, int]] = set()
    for name, source in cell.uses.items():
        segments += _needed_segments(name, source, meanings, taken)
    return Unit(segments=(*segments, *own))


def definitions(name: str, source: CellSource) -> dict[str, tuple[str, ...]]:
    """What `name` comes down to, and everything that it uses, of this cell and of others.

    Returns
    -------
    dict of str to tuple of str
        Name -> its statements and those that they need, as text without places; equal text means
        the same.

    Examples
    --------
    >>> text = "def g(x: float):\\n    return x\\ndef f(x: float):\\n    return g(x)\\n"
    >>> list(definitions("f", CellSource(text=text)))
    ['f', 'g']
    """
    body = ast.parse(source.whole).body
    found: dict[str, tuple[str, ...]] = {}
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        needed, foreign = _closure(current, body)
        found[current] = tuple(ast.dump(one) for one in needed)
        waiting += [bound for one in needed for bound in sorted(_bound_names(one))]
        for other in sorted(foreign & source.uses.keys()):
            theirs = definitions(other, source.uses[other])
            found[current] += theirs[other]
            for key, text in theirs.items():
                found.setdefault(key, text)
    return found


def _needed_segments(
    name: str,
    source: CellSource,
    meanings: dict[str, tuple[str, str]],
    taken: set[tuple[int, int, int]],
) -> Iterator[Segment]:
    """Segments for `name` and everything that it needs, those of farther cells first."""
    body = ast.parse(source.whole).body
    needed, foreign = _closure(name, body)
    for other in sorted(foreign & source.uses.keys()):
        yield from _needed_segments(other, source.uses[other], meanings, taken)
    lines = _lines(source.whole)
    for statement in needed:
        first, last = _line_range(statement)
        if (
            _is_settled(statement, source.label, name, meanings)
            or (id(source), first, last) in taken
        ):
            continue
        taken.add((id(source), first, last))
        text = "".join(line + "\n" for line in lines[first - 1 : last])
        own_line = source.own_line(first)
        if own_line is None:
            yield _preamble_segment(source, text, first)
        else:
            yield Segment(label=source.file or source.label, first_line=own_line, text=text)


def _preamble_segment(source: CellSource, text: str, line: int) -> Segment:
    where = source.file or source.label
    return Segment(label=f"what {where} takes from around it", first_line=line, text=text)


def _is_settled(
    statement: ast.stmt, label: str, wanted: str, meanings: dict[str, tuple[str, str]]
) -> bool:
    """Whether the unit has this very statement already; records it where it is new."""
    dump = ast.dump(statement)
    settled = True
    for name in _bound_names(statement):
        known = meanings.get(name)
        if known is None:
            settled = False
            meanings[name] = (dump, label)
        elif known[0] != dump:
            raise CellError(
                f"`{name}` means one thing in {known[1]} and another in {label}, "
                f"which comes along because `{wanted}` is called",
                fix=f"rename `{name}` in one of the two cells",
            )
    return settled


def _closure(name: str, body: list[ast.stmt]) -> tuple[list[ast.stmt], set[str]]:
    """The statements of `body` that `name` needs, in their order, and the names that none binds."""
    binders: dict[str, list[ast.stmt]] = {}
    for statement in body:
        for bound in _bound_names(statement):
            binders.setdefault(bound, []).append(statement)
    needed: set[int] = set()
    foreign: set[str] = set()
    waiting, seen = [name], {name}
    while waiting:
        current = waiting.pop()
        if current not in binders:
            foreign.add(current)
            continue
        for statement in binders[current]:
            if id(statement) not in needed:
                needed.add(id(statement))
                fresh = used_names(statement) - seen
                seen |= fresh
                waiting += fresh
    return [one for one in body if id(one) in needed], foreign


def _bound_names(statement: ast.stmt) -> set[str]:
    """Names that a top-level statement binds."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {one.asname or one.name.partition(".")[0] for one in statement.names}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def used_names(statement: ast.stmt) -> set[str]:
    """Names that a statement may read, those inside string annotations included."""
    used: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.arg) and node.annotation is not None:
            used |= _names_in_text(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            used |= _names_in_text(node.returns)
        elif isinstance(node, ast.AnnAssign):
            used |= _names_in_text(node.annotation)
    return used


def _names_in_text(annotation: ast.expr) -> set[str]:
    texts = [
        node.value
        for node in ast.walk(annotation)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return {name for text in texts for name in re.findall(r"[^\W\d]\w*", text)}


def _line_range(statement: ast.stmt) -> tuple[int, int]:
    """First and last line, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(one.lineno for one in decorators)])
    return first, statement.end_lineno or statement.lineno


def _lines(text: str) -> list[str]:
    """Without the empty one behind the last line's end."""
    lines = split_lines(text)
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def _whole_lines(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"

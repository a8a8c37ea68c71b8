"""Text of a cell, and errors that name a place in it."""

from __future__ import annotations

import ast
from typing import Protocol

from kit.errors import CellError
from kit.source.lines import split_lines

__all__ = ["Placed", "Source"]


class Placed(Protocol):
    """What has a place: every `ast` node that is a statement, expression, argument or alias."""

    @property
    def lineno(self) -> int:
        """Line, from 1."""
        ...

    @property
    def col_offset(self) -> int:
        """Bytes of UTF-8 before it on its line."""
        ...


class Source:
    """The text that nodes were parsed from; makes the errors that point into it.

    Parameters
    ----------
    text : str
        The whole cell; its first line is line 1.
    name : str or None
        What to call the cell in an error; None is the cell that was run.
    """

    __slots__ = ("_lines", "name", "text")

    def __init__(self, text: str, name: str | None = None) -> None:
        self.text = text
        self.name = name
        self._lines: list[str] | None = None

    @property
    def lines(self) -> list[str]:
        """The lines as Python counts them, without their ends."""
        if self._lines is None:
            self._lines = split_lines(self.text)
        return self._lines

    def line(self, number: int) -> str | None:
        """Line `number` (from 1), or None where the text has none."""
        return self.lines[number - 1] if self.text and 0 < number <= len(self.lines) else None

    def column(self, node: Placed) -> int:
        """Where a node starts, in characters from 1; `ast` counts bytes of UTF-8 from 0."""
        line = self.line(node.lineno)
        if line is None or line.isascii():
            return node.col_offset + 1
        return len(line.encode()[: node.col_offset].decode(errors="ignore")) + 1

    def error(self, message: str, at: Placed, fix: str | None = None) -> CellError:
        """A `CellError` at a node."""
        return self.error_at(message, at.lineno, self.column(at), fix)

    def error_at(
        self, message: str, line: int, column: int | None, fix: str | None = None
    ) -> CellError:
        """A `CellError` at a line and a column, both from 1."""
        return CellError(
            message,
            line=line,
            column=column,
            source_line=self.line(line),
            fix=fix,
            cell=self.name,
        )

    def segment(self, node: ast.AST) -> str:
        """The text of a node."""
        return ast.get_source_segment(self.text, node) or ""

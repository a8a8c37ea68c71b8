"""Places in a CUDA cell, as errors name them."""

from __future__ import annotations

from kit.errors import CellError
from kit.source.place import Source

__all__ = ["CellPlaces"]


class CellPlaces:
    """Lines and columns of a cell's text.

    Parameters
    ----------
    text : str
        The cell; its first line is line 1.

    Attributes
    ----------
    text : str
        The same.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._source = Source(text)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1.

        Examples
        --------
        >>> CellPlaces("ab\\ncd").place(4)
        (2, 2)
        """
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def offset(self, line: int, column: int) -> int:
        """Characters before a line and a column, both from 1."""
        lines = self.text.split("\n")
        return sum(len(one) + 1 for one in lines[: line - 1]) + column - 1

    def error(self, message: str, offset: int | None, fix: str) -> CellError:
        """A `CellError` at a character of the cell; None stands for its options, on line 1."""
        if offset is None:
            return CellError(message, line=1, fix=fix)
        line, column = self.place(offset)
        return self._source.error_at(message, line, column, fix)

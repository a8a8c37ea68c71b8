"""What one function's body does with storage, as plain facts.

Named tuples and no dataclasses, which take a millisecond of each process that reads a cell.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

__all__ = [
    "NOTHING",
    "CallFact",
    "Facts",
    "HoldFact",
    "How",
    "Origin",
    "Origins",
    "StoreFact",
    "drop_axes",
]

How = Literal["assigned", "rebound", "passed", "kept", "returned"]
"""Why a name counts as written: stored into; given another value as a whole; passed to a function
that may write it; kept in an attribute; returned, so that the caller may write it."""

Origin = tuple[str, int]
"""A name, and how many of its axes an index has taken away: `x[i]` is `("x", 1)`."""

Origins = tuple[Origin, ...]
"""All names that one value may share storage with."""

NOTHING: Final[Origins] = ()
"""The origins of a value of its own."""


class StoreFact(NamedTuple):
    """Something is stored into, or given away."""

    origins: Origins
    how: How
    node: ast.expr | ast.stmt


class CallFact(NamedTuple):
    """A function is called; `result` names what it returns."""

    callee: str
    positional: tuple[Origins, ...]
    keywords: Mapping[str, Origins]
    spread: Origins
    result: str
    node: ast.Call


class HoldFact(NamedTuple):
    """An object gets an attribute: it then points at the storage of the value."""

    container: Origins
    value: Origins


class Facts:
    """What one body does, in no order: every statement may run before every other.

    `operands` are what operators are given: written only where a class of the cell has an operator
    that writes. `uses` are the calls of anything but a function of the cell: `"Box"` may be a
    class, `".keep"` a method of any class; the first argument is then the object.
    """

    __slots__ = ("binds", "calls", "holds", "operands", "returned", "stores", "uses")

    def __init__(self) -> None:
        self.binds: list[tuple[str, Origins]] = []
        self.stores: list[StoreFact] = []
        self.calls: list[CallFact] = []
        self.operands: list[StoreFact] = []
        self.holds: list[HoldFact] = []
        self.uses: list[CallFact] = []
        self.returned: list[Origin] = []


def drop_axes(origins: Origins, axes: int) -> Origins:
    """The same names with more axes taken away, or given back where `axes` is negative.

    Examples
    --------
    >>> drop_axes((("x", 0),), 1)
    (('x', 1),)
    """
    if not axes:
        return origins
    return tuple((name, dropped + axes) for name, dropped in origins)

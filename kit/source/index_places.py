"""Indices of one array compared: what surely lies in different places, what surely in the same.

Variables stand for what they hold, so that ``n - 1`` and ``n`` are apart. Of literals, those below
zero count from the end, and say nothing beside one that counts from the start.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from math import gcd
from typing import Final

__all__ = ["are_elsewhere", "are_same", "by_axis", "indices_of"]

_Terms = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class _Linear:
    """Multiples of what is not known, and a number."""

    terms: _Terms
    number: int

    @property
    def from_end(self) -> bool:
        return not self.terms and self.number < 0


@dataclass(frozen=True, slots=True)
class _Span:
    """Every `step`-th place from `start` on, before `end`; None where that is the array's own."""

    start: _Linear
    end: _Linear | None
    step: int


_ZERO: Final = _Linear((), 0)
_ALL: Final = ast.Slice()


def indices_of(node: ast.expr) -> tuple[str | None, list[ast.expr]]:
    """The array's name and its indices; `x[i][j]` is `x[i, j]`."""
    found: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        found = [*items, *found]
        node = node.value
    return (node.id if isinstance(node, ast.Name) else None), found


def by_axis(one: list[ast.expr], other: list[ast.expr]) -> list[tuple[ast.expr, ast.expr]]:
    """Two lists of indices of one array, side by side for each axis."""
    axes = max(len(one), len(other))
    return list(zip(_padded(one, axes), _padded(other, axes), strict=True))


def are_elsewhere(one: list[ast.expr], other: list[ast.expr]) -> bool:
    """Whether two lists of indices of one array surely have no element in common."""
    return any(_are_apart(*pair) for pair in by_axis(one, other))


def _padded(indices: list[ast.expr], axes: int) -> list[ast.expr]:
    return [*indices, *[_ALL] * (axes - len(indices))]


def _are_apart(one: ast.expr, other: ast.expr) -> bool:
    """Whether two indices of one axis surely have no place in common."""
    first, second = _span(one), _span(other)
    if first is None or second is None:
        return False
    if _is_before(first, second) or _is_before(second, first):
        return True
    gap = _difference(first.start, second.start)
    if gap is None:
        return False
    common = gcd(first.step, second.step, *(factor for _, factor in gap.terms))
    return gap.number % common != 0 if common else gap.number != 0


def are_same(one: ast.expr, other: ast.expr) -> bool:
    """Whether two slices of one axis surely are the same."""
    if ast.unparse(one) == ast.unparse(other):
        return True
    first, second = _span(one), _span(other)
    return first is not None and first == second


def _span(index: ast.expr) -> _Span | None:
    """The places of an index; None where they are not known."""
    if not isinstance(index, ast.Slice):
        start = _linear(index)
        return _Span(start, _moved(start, 1), 0)
    step = 1 if index.step is None else _number(index.step)
    if step is None or step < 1:
        return None
    return _Span(
        _ZERO if index.lower is None else _linear(index.lower),
        None if index.upper is None else _linear(index.upper),
        step,
    )


def _is_before(one: _Span, other: _Span) -> bool:
    """Whether one ends where the other begins, or earlier."""
    if one.end is None:
        return False
    if not one.end.terms and (one.end.number < 1) != other.start.from_end:
        return False
    gap = _subtracted(other.start, one.end)
    return not gap.terms and gap.number >= 0


def _difference(one: _Linear, other: _Linear) -> _Linear | None:
    """How far one is from the other; None where they may count from different ends."""
    return None if one.from_end != other.from_end else _subtracted(one, other)


def _subtracted(one: _Linear, other: _Linear) -> _Linear:
    return _sum(one, other, -1)


def _moved(one: _Linear, by: int) -> _Linear:
    return _Linear(one.terms, one.number + by)


def _sum(one: _Linear, other: _Linear, times: int) -> _Linear:
    found = dict(one.terms)
    for name, factor in other.terms:
        found[name] = found.get(name, 0) + times * factor
    terms = tuple(sorted((name, factor) for name, factor in found.items() if factor))
    return _Linear(terms, one.number + times * other.number)


def _linear(node: ast.expr) -> _Linear:
    """An index as a sum; what is neither a number nor a sum is a term of its own."""
    number = _number(node)
    if number is not None:
        return _Linear((), number)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _sum(_ZERO, _linear(node.operand), -1)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add):
            return _sum(_linear(node.left), _linear(node.right), 1)
        if isinstance(node.op, ast.Sub):
            return _sum(_linear(node.left), _linear(node.right), -1)
        if isinstance(node.op, ast.Mult):
            for times, of in ((node.left, node.right), (node.right, node.left)):
                factor = _number(times)
                if factor is not None:
                    return _sum(_ZERO, _linear(of), factor)
    return _Linear(((ast.unparse(node), 1),), 0)


def _number(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None

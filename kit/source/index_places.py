"""Indices of one array compared: what surely lies in different places, what surely in the same.

Variables stand for what they hold, so that ``n - 1`` and ``n`` are apart. Of literals, those below
zero count from the end, and say nothing beside one that counts from the start.
"""

from __future__ import annotations

import ast
from math import gcd
from typing import Final, NamedTuple

from kit.source.linear import Linear

__all__ = ["are_elsewhere", "are_same", "by_axis", "indices_of"]

_Sum = Linear[str]
"""Multiples of what is not known, each by its text, and a number."""


class _Span(NamedTuple):
    """Every `step`-th place from `start` on, before `end`; None where that is the array's own."""

    start: _Sum
    end: _Sum | None
    step: int


_ZERO: Final[_Sum] = Linear()
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
        return _Span(start, start + 1, 0)
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
    if not one.end.terms and (one.end.number < 1) != _is_from_end(other.start):
        return False
    gap = other.start - one.end
    return not gap.terms and gap.number >= 0


def _is_from_end(one: _Sum) -> bool:
    return not one.terms and one.number < 0


def _difference(one: _Sum, other: _Sum) -> _Sum | None:
    """How far one is from the other; None where they may count from different ends."""
    return None if _is_from_end(one) != _is_from_end(other) else one - other


def _linear(node: ast.expr) -> _Sum:
    """An index as a sum; what is neither a number nor a sum is a term of its own."""
    number = _number(node)
    if number is not None:
        return Linear((), number)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_linear(node.operand)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add):
            return _linear(node.left) + _linear(node.right)
        if isinstance(node.op, ast.Sub):
            return _linear(node.left) - _linear(node.right)
        if isinstance(node.op, ast.Mult):
            for times, of in ((node.left, node.right), (node.right, node.left)):
                factor = _number(times)
                if factor is not None:
                    return _linear(of) * factor
    return Linear.of(ast.unparse(node))


def _number(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None

"""Statements that read the array that they write, at other places than the one being written.

Python computes the whole right side first. C (Pyccel 2.2.3) computes and writes element by
element, so that ``x[:] = x / x[0]`` divides by 1 from the second element on; Fortran does it for a
transposed view only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from kit.source.place import Source

__all__ = ["check_self_read"]

# Computed before the loop over the elements begins.
_HOISTED: Final = frozenset({"sum", "prod", "min", "max", "amin", "amax", "norm", "count_nonzero"})
_EXTENTS: Final = frozenset({"shape", "size", "ndim", "dtype"})
_ALL: Final = ast.Slice()


def check_self_read(
    node: ast.Assign | ast.AugAssign,
    source: Source,
    *,
    fortran: bool,
) -> None:
    """Refuse a statement of whole arrays whose right side reads what it has written already.

    Raises
    ------
    CellError
        At what is read.
    """
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    name, place = _indices(target)
    if name is None or (isinstance(node, ast.Assign) and not place):
        return
    reads = [
        (read, _indices(read)[1], is_elsewhere)
        for read, is_elsewhere in _reads(node.value, name, fortran=fortran)
    ]
    is_element = bool(place) and not any(isinstance(one, ast.Slice) for one in place)
    if is_element and not any(len(indices) > len(place) for _, indices, _ in reads):
        if not fortran and isinstance(node, ast.Assign) and _is_sum_of(node.value, name):
            raise _error(name, node.value, source)
        return
    for read, indices, is_elsewhere in reads:
        if is_elsewhere or not (fortran or _is_safe(place, indices)):
            raise _error(name, read, source)


def _error(name: str, at: ast.expr, source: Source) -> Exception:
    return source.error(
        f"{name!r} is read here while this statement writes it: compiled code reads elements that "
        "are written already",
        at,
        f"{name}_old = {name}.copy()  # above; then read {name}_old on the right",
    )


def _indices(node: ast.expr) -> tuple[str | None, list[ast.expr]]:
    """The array's name and its indices; `x[i][j]` is `x[i, j]`."""
    found: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        found = [*items, *found]
        node = node.value
    return (node.id if isinstance(node, ast.Name) else None), found


def _reads(
    node: ast.expr, name: str, *, fortran: bool, whole: bool = False
) -> Iterator[tuple[ast.expr, bool]]:
    """Where an expression reads an array, and whether surely at another place than it writes."""
    if isinstance(node, ast.Name):
        if node.id == name:
            yield node, whole
        return
    if isinstance(node, ast.Subscript) and _indices(node)[0] == name:
        yield node, whole
        for one in _indices(node)[1]:
            if not isinstance(one, ast.Slice):
                yield from _reads(one, name, fortran=fortran)
        return
    if isinstance(node, ast.Attribute):
        if node.attr in _EXTENTS:
            return
        whole = whole or node.attr == "T"
    elif isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if called in _HOISTED or isinstance(node.func, ast.Name):
            return
        whole = whole or called == "transpose" or (called == "matmul" and not fortran)
    elif isinstance(node, ast.BinOp):
        whole = whole or (isinstance(node.op, ast.MatMult) and not fortran)
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.expr):
            yield from _reads(one, name, fortran=fortran, whole=whole)


def _is_sum_of(value: ast.expr, name: str) -> bool:
    """Whether C would add up in the element itself."""
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
        return False
    if value.func.attr not in {"sum", "prod"}:
        return False
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(value))


def _is_safe(written: list[ast.expr], read: list[ast.expr]) -> bool:
    """Whether each element is read only where it is written, or nowhere that is written."""
    axes = max(len(written), len(read))
    pairs = list(zip(_padded(written, axes), _padded(read, axes), strict=True))
    if any(_is_apart(one, other) for one, other in pairs):
        return True
    # Two numbers are one place or two apart; what is stepped through must be the same.
    return all(
        ast.unparse(one) == ast.unparse(other)
        or not (isinstance(one, ast.Slice) or isinstance(other, ast.Slice))
        for one, other in pairs
    )


def _padded(indices: list[ast.expr], axes: int) -> list[ast.expr]:
    return [*indices, *[_ALL] * (axes - len(indices))]


def _is_apart(one: ast.expr, other: ast.expr) -> bool:
    """Whether two indices of one axis surely have no place in common."""
    return _ends_before(one, other) or _ends_before(other, one)


def _ends_before(one: ast.expr, other: ast.expr) -> bool:
    if isinstance(one, ast.Slice):
        end = one.upper if one.step is None else None
        ends = None if end is None else _number(end)
        text = "" if end is None else ast.unparse(end)
    else:
        number = _number(one)
        ends = None if number is None else number + 1
        text = f"{ast.unparse(one)} + 1"
    start = other.lower if isinstance(other, ast.Slice) else other
    if start is None or (isinstance(other, ast.Slice) and other.step is not None):
        return False
    starts = _number(start)
    if ends is not None and starts is not None:
        return ends <= starts and (ends < 1) == (starts < 0)
    return bool(text) and text == ast.unparse(start)


def _number(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None

"""Statements that read the array that they write, at other places than the one being written.

Python computes the whole right side first. C (Pyccel 2.2.3) computes and writes element by
element, so that ``x[:] = x / x[0]`` divides by 1 from the second element on; Fortran does it for a
transposed view only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from kit.source.index_places import are_elsewhere, are_same, by_axis, indices_of
from kit.source.place import Source

__all__ = ["check_self_read"]

# Computed before the loop over the elements begins.
_HOISTED: Final = frozenset({"sum", "prod", "min", "max", "amin", "amax", "norm", "count_nonzero"})
_EXTENTS: Final = frozenset({"shape", "size", "ndim", "dtype"})


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
    name, place = indices_of(target)
    if name is None or (isinstance(node, ast.Assign) and not place):
        return
    reads = [
        (read, indices_of(read)[1], is_elsewhere)
        for read, is_elsewhere in _reads(node.value, name, fortran=fortran)
    ]
    is_element = bool(place) and not any(isinstance(one, ast.Slice) for one in place)
    if is_element and not any(len(indices) > len(place) for _, indices, _ in reads):
        if not fortran and isinstance(node, ast.Assign) and _sums_itself(node.value, name, place):
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


def _reads(
    node: ast.expr, name: str, *, fortran: bool, whole: bool = False
) -> Iterator[tuple[ast.expr, bool]]:
    """Where an expression reads an array, and whether surely at another place than it writes."""
    if isinstance(node, ast.Name):
        if node.id == name:
            yield node, whole
        return
    if isinstance(node, ast.Subscript) and indices_of(node)[0] == name:
        yield node, whole
        for one in indices_of(node)[1]:
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


def _sums_itself(value: ast.expr, name: str, place: list[ast.expr]) -> bool:
    """Whether C would add up in the element itself, and read it meanwhile."""
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
        return False
    if value.func.attr not in {"sum", "prod"}:
        return False
    return any(not are_elsewhere(place, one) for one in _places(value, name))


def _places(node: ast.AST, name: str) -> Iterator[list[ast.expr]]:
    """The indices of each place where an expression reads an array, whatever is around it."""
    if isinstance(node, ast.Name | ast.Subscript):
        found, indices = indices_of(node)
        if found == name:
            yield indices
            for one in indices:
                yield from _places(one, name)
            return
    for one in ast.iter_child_nodes(node):
        yield from _places(one, name)


def _is_safe(written: list[ast.expr], read: list[ast.expr]) -> bool:
    """Whether each element is read only where it is written, or nowhere that is written."""
    if are_elsewhere(written, read):
        return True
    # Two numbers are one place or two apart; what is stepped through must be the same.
    return all(
        are_same(one, other) or not (isinstance(one, ast.Slice) or isinstance(other, ast.Slice))
        for one, other in by_axis(written, read)
    )

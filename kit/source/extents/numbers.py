"""Integers of a function that are sums of what a call supplies: extents and integer arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from kit.source.extents.needs import Number
from kit.source.linear import Linear

__all__ = [
    "Shape",
    "Value",
    "called_name",
    "filled",
    "is_shape",
    "literal",
    "literal_from_end",
    "read_number",
    "shaped",
    "whole_number",
]

Shape = tuple["Number | None", ...]
"""Extents, None where one is not known; a scalar has none."""

Value = Number | Shape
"""What is known of a variable: an integer's sum, an array's extents, or () for other scalars."""


def whole_number(value: int) -> Number:
    """A sum without quantities."""
    return Linear((), value)


def literal_from_end(node: ast.expr) -> int | None:
    """The k of ``-k``, which counts from the end also when compiled; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = node.operand
        if isinstance(inner, ast.Constant) and type(inner.value) is int and inner.value:
            return inner.value
    return None


def literal(node: ast.expr) -> int | None:
    """The integer that is written here; None for anything else."""
    from_end = literal_from_end(node)
    if from_end is not None:
        return -from_end
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def filled(items: Sequence[ast.expr], rank: int) -> list[ast.expr | None]:
    """One item for each axis; None for those that an ellipsis stands for."""
    items_of_axes: list[ast.expr | None] = []
    for one in items:
        if isinstance(one, ast.Constant) and one.value is Ellipsis:
            items_of_axes += [None] * (rank - len(items) + 1)
        else:
            items_of_axes.append(one)
    return items_of_axes


def called_name(
    node: ast.expr, known: Mapping[str, Value | None], imports: Mapping[str, str]
) -> str | None:
    """What a function is called where it comes from: ``"numpy.zeros"``, ``"len"``, ``"helper"``."""
    if isinstance(node, ast.Name):
        return None if node.id in known else imports.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id not in known:
            module = imports.get(node.value.id)
            return None if module is None else f"{module}.{node.attr}"
        inner = called_name(node.value, known, imports)
        return None if inner is None else f"{inner}.{node.attr}"
    return None


def read_number(
    node: ast.expr,
    known: Mapping[str, Value | None],
    imports: Mapping[str, str],
    shape_of: Callable[[ast.expr], Shape | None],
) -> Number | None:
    """An integer expression as a sum; None where it is none, or not known.

    Parameters
    ----------
    node : ast.expr
        The expression.
    known : mapping of str to (Linear, tuple or None)
        Variables.
    imports : mapping of str to str
        Local names and where they come from.
    shape_of : callable
        The extents of an array expression, without looking at its indices.
    """
    if isinstance(node, ast.Name):
        value = known.get(node.id)
        return value if isinstance(value, Linear) else None
    if isinstance(node, ast.Constant):
        return whole_number(node.value) if type(node.value) is int else None
    if isinstance(node, ast.BinOp):
        left = read_number(node.left, known, imports, shape_of)
        if left is None:
            return None
        right = read_number(node.right, known, imports, shape_of)
        return None if right is None else _combined(node.op, left, right)
    if isinstance(node, ast.UnaryOp):
        inner = read_number(node.operand, known, imports, shape_of)
        if inner is None or isinstance(node.op, ast.Not | ast.Invert):
            return None
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.Subscript):
        return _extent(_shaped(node.value, known, imports), node.slice, shape_of)
    if isinstance(node, ast.Attribute) and node.attr == "size":
        return _only(shape_of(node.value))
    if isinstance(node, ast.Call) and node.args and not node.keywords:
        return _called(node, known, imports, shape_of)
    return None


def _combined(op: ast.operator, left: Number, right: Number) -> Number | None:
    if isinstance(op, ast.Add):
        return left + right
    if isinstance(op, ast.Sub):
        return left - right
    if isinstance(op, ast.Mult):
        if not left.terms:
            return right * left.number
        return None if right.terms else left * right.number
    if left.terms or right.terms or right.number <= 0:
        return None
    if isinstance(op, ast.FloorDiv):
        return whole_number(left.number // right.number)
    return whole_number(left.number % right.number) if isinstance(op, ast.Mod) else None


def _shaped(
    node: ast.expr, known: Mapping[str, Value | None], imports: Mapping[str, str]
) -> ast.expr | None:
    """The array of ``x.shape`` or ``np.shape(x)``."""
    if isinstance(node, ast.Attribute):
        return node.value if node.attr == "shape" else None
    if isinstance(node, ast.Call) and len(node.args) == 1:
        is_shape = called_name(node.func, known, imports) == "numpy.shape"
        return node.args[0] if is_shape else None
    return None


def shaped(
    node: ast.expr,
    known: Mapping[str, Value | None],
    imports: Mapping[str, str],
    shape_of: Callable[[ast.expr], Shape | None],
) -> Shape | None:
    """The extents that ``x.shape`` or ``np.shape(x)`` is; None for anything else."""
    array = _shaped(node, known, imports)
    return None if array is None else shape_of(array)


def is_shape(node: ast.expr, known: Mapping[str, Value | None], imports: Mapping[str, str]) -> bool:
    """Whether this is ``x.shape`` or ``np.shape(x)``, of whatever array."""
    return _shaped(node, known, imports) is not None


def _extent(
    array: ast.expr | None, index: ast.expr, shape_of: Callable[[ast.expr], Shape | None]
) -> Number | None:
    shape = None if array is None else shape_of(array)
    if not shape:
        return None
    from_end = literal_from_end(index)
    if from_end is not None:
        return shape[-from_end] if from_end <= len(shape) else None
    if isinstance(index, ast.Constant) and type(index.value) is int and index.value < len(shape):
        return shape[index.value]
    return None


def _only(shape: Shape | None) -> Number | None:
    return shape[0] if shape is not None and len(shape) == 1 else None


def _called(
    node: ast.Call,
    known: Mapping[str, Value | None],
    imports: Mapping[str, str],
    shape_of: Callable[[ast.expr], Shape | None],
) -> Number | None:
    name = called_name(node.func, known, imports)
    if name == "len" and len(node.args) == 1:
        shape = shape_of(node.args[0])
        return shape[0] if shape else None
    if name == "numpy.size":
        if len(node.args) == 1:
            return _only(shape_of(node.args[0]))
        return _extent(node.args[0], node.args[1], shape_of)
    if name == "int" and len(node.args) == 1:
        return read_number(node.args[0], known, imports, shape_of)
    return None

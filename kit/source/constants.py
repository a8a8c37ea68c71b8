"""Constants of a cell, such as defaults, evaluated from their source without running it."""

from __future__ import annotations

import ast
import cmath
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["NotConstant", "evaluate_constant"]

_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_NUMPY_TO_MATH: Final[Mapping[str, str]] = {
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "arctan2": "atan2",
}
_CASTS: Final[Mapping[str, Callable[[Any], object]]] = {
    "int": int,
    "float": float,
    "bool": bool,
    "complex": complex,
    "abs": abs,
}
# 2 ** 10 ** 9 would take for ever; no default needs more.
_LARGEST_POWER: Final = 1024


class NotConstant(ValueError):
    """The expression is not one that can be evaluated without running the cell."""


def evaluate_constant(
    node: ast.expr,
    constants: Mapping[str, object] | None = None,
    imports: Mapping[str, str] | None = None,
) -> object:
    """The value of a literal, of arithmetic on literals, constants, `np.pi`, `math.sqrt(2)`.

    Raises
    ------
    NotConstant
        For everything else.

    Examples
    --------
    >>> evaluate_constant(ast.parse("2 * -3.0", mode="eval").body)
    -6.0
    """
    try:
        return _evaluate(node, constants or {}, imports or {})
    except (ArithmeticError, TypeError, ValueError, RecursionError) as error:
        raise NotConstant(str(error)) from error


def _evaluate(node: ast.expr, constants: Mapping[str, object], imports: Mapping[str, str]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        if node.id in constants:
            return constants[node.id]
        return _member(imports.get(node.id, ""))
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return _member(f"{imports.get(node.value.id, '')}.{node.attr}")
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_evaluate(node.operand, constants, imports))
    if isinstance(node, ast.BinOp):
        return _binary(node, constants, imports)
    if isinstance(node, ast.Tuple):
        return tuple(_evaluate(one, constants, imports) for one in node.elts)
    if isinstance(node, ast.Call) and not node.keywords:
        return _call(node, constants, imports)
    raise NotConstant(ast.unparse(node))


def _binary(node: ast.BinOp, constants: Mapping[str, object], imports: Mapping[str, str]) -> Any:
    left = _evaluate(node.left, constants, imports)
    right = _evaluate(node.right, constants, imports)
    if isinstance(node.op, ast.Pow):
        if abs(right) > _LARGEST_POWER:
            raise NotConstant(ast.unparse(node))
        return left**right
    if type(node.op) not in _BINARY or isinstance(left, str) or isinstance(right, str):
        raise NotConstant(ast.unparse(node))
    return _BINARY[type(node.op)](left, right)


def _call(node: ast.Call, constants: Mapping[str, object], imports: Mapping[str, str]) -> object:
    values = [_evaluate(one, constants, imports) for one in node.args]
    function = node.func
    if isinstance(function, ast.Name) and function.id in _CASTS and function.id not in imports:
        return _CASTS[function.id](*values)
    found: object = _evaluate(function, constants, imports)
    if not callable(found):
        raise NotConstant(ast.unparse(node))
    return found(*values)


def _member(origin: str) -> object:
    """A name of `math`, `cmath` or, where `math` has the same, NumPy."""
    module, _, name = origin.rpartition(".")
    if module in {"math", "numpy"}:
        found: object = getattr(math, _NUMPY_TO_MATH.get(name, name), None)
    elif module == "cmath":
        found = getattr(cmath, name, None)
    else:
        found = None
    if found is None or name.startswith("_"):
        raise NotConstant(origin)
    return found

"""The value of an ``#if`` whose names have been replaced by numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Final

__all__ = ["condition_value"]


_ONE = dict[type[ast.AST], Callable[[int], int]]
_TWO = dict[type[ast.AST], Callable[[int, int], int]]

_OF_ONE: Final = _ONE(
    {
        ast.Not: lambda a: not a,
        ast.USub: lambda a: -a,
        ast.UAdd: lambda a: a,
        ast.Invert: lambda a: ~a,
    }
)
_OF_TWO: Final = _TWO(
    {
        ast.Add: lambda a, b: a + b,
        ast.Sub: lambda a, b: a - b,
        ast.Mult: lambda a, b: a * b,
        ast.Div: lambda a, b: a // b if b else 0,
        ast.Mod: lambda a, b: a % b if b else 0,
        ast.LShift: lambda a, b: a << b if 0 <= b < 64 else 0,
        ast.RShift: lambda a, b: a >> b if 0 <= b < 64 else 0,
        ast.BitAnd: lambda a, b: a & b,
        ast.BitOr: lambda a, b: a | b,
        ast.BitXor: lambda a, b: a ^ b,
        ast.Lt: lambda a, b: a < b,
        ast.LtE: lambda a, b: a <= b,
        ast.Gt: lambda a, b: a > b,
        ast.GtE: lambda a, b: a >= b,
        ast.Eq: lambda a, b: a == b,
        ast.NotEq: lambda a, b: a != b,
    }
)


def condition_value(condition: str) -> int:
    """The value of a condition of numbers, as the preprocessor computes it.

    Parameters
    ----------
    condition : str
        In C, without names.

    Returns
    -------
    int
        1 for a condition that is not understood: its code is looked at.

    Examples
    --------
    >>> condition_value("!0 && (201703L >= 0x3u)")
    1
    """
    text = condition.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\b", lambda one: str(_integer(one[1])), text)
    try:
        return int(_fold(ast.parse(text.strip(), mode="eval").body))
    except (SyntaxError, ValueError, KeyError, RecursionError, MemoryError):
        return 1


def _integer(text: str) -> int:
    octal = len(text) > 1 and text[0] == "0" and text[1] not in "xX"
    return int(text, 8 if octal else 0)


def _fold(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.BoolOp):
        values = [_fold(one) != 0 for one in node.values]
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if isinstance(node, ast.UnaryOp):
        return _OF_ONE[type(node.op)](_fold(node.operand))
    if isinstance(node, ast.BinOp):
        return _OF_TWO[type(node.op)](_fold(node.left), _fold(node.right))
    if isinstance(node, ast.Compare):
        left = _fold(node.left)
        for compared, right in zip(node.ops, node.comparators, strict=True):
            left = _OF_TWO[type(compared)](left, _fold(right))  # from the left, as in C
        return left
    raise ValueError(ast.dump(node))

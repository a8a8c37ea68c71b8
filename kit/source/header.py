"""The head of a function: its parameters, and its `def` line as text to paste."""

from __future__ import annotations

import ast

__all__ = ["every_argument", "header_text"]


def every_argument(node: ast.arguments) -> list[ast.arg]:
    """Every parameter, ``*args`` and ``**kwargs`` last."""
    every = [*node.posonlyargs, *node.args, *node.kwonlyargs]
    return every + [one for one in (node.vararg, node.kwarg) if one is not None]


def header_text(node: ast.FunctionDef, *, name: str | None = None) -> str:
    """One line, without decorators and body; under another name where one is given.

    Examples
    --------
    >>> header_text(ast.parse("@pure\\ndef f(x: int) -> int:\\n    return x").body[0])
    'def f(x: int) -> int:'
    """
    bare = ast.FunctionDef(
        name=name or node.name,
        args=node.args,
        body=[ast.Pass()],
        decorator_list=[],
        returns=node.returns,
        lineno=node.lineno,
        col_offset=node.col_offset,
    )
    return ast.unparse(bare).partition("\n")[0]

"""The names that belong to one function."""

from __future__ import annotations

import ast

from kit.source.header import every_argument
from kit.source.imports import imported_names

__all__ = ["array_parameters", "bound_names"]


def bound_names(node: ast.FunctionDef) -> tuple[set[str], set[str]]:
    """Names that a function, or one nested in it, binds; and those that it binds anew."""
    bound: set[str] = set()
    anew: set[str] = set()
    own = {id(one) for one in every_argument(node.args)}
    pending: list[ast.AST] = [node]
    while pending:  # half of the time of ast.walk
        one = pending.pop()
        if isinstance(one, ast.Name):
            if not isinstance(one.ctx, ast.Load):
                anew.add(one.id)
            continue
        if isinstance(one, ast.arg):
            (bound if id(one) in own else anew).add(one.arg)
        elif isinstance(one, ast.FunctionDef) and one is not node:
            bound.add(one.name)
        elif isinstance(one, ast.Import | ast.ImportFrom):
            bound.update(imported_names(one))
        # Not __dict__: nodes such as Load() are shared by all trees, and `executing` (IPython's
        # tracebacks) hangs a `parent` on them, which leads from here around in its own trees.
        for value in (getattr(one, name, None) for name in one._fields):
            if isinstance(value, ast.AST):
                pending.append(value)
            elif isinstance(value, list):
                pending.extend(part for part in value if isinstance(part, ast.AST))  # pyright: ignore[reportUnknownVariableType]
    return bound | anew, anew


def array_parameters(node: ast.FunctionDef) -> set[str]:
    """Parameters whose annotation is the text of an array's.

    Examples
    --------
    >>> array_parameters(ast.parse("def f(x: 'float64[:]', n: int): pass").body[0])
    {'x'}
    """
    return {one.arg for one in every_argument(node.args) if _is_array(one.annotation)}


def _is_array(annotation: ast.expr | None) -> bool:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return "[:" in annotation.value.replace(" ", "") and "tuple" not in annotation.value
    return False

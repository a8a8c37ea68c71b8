"""The head of a function: its parameters, and its `def` line as text to paste."""

from __future__ import annotations

import ast
import copy

from kit.source.place import Source

__all__ = ["check_keyword_order", "every_argument", "header_text"]


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


def check_keyword_order(node: ast.FunctionDef, source: Source) -> None:
    """Refuse a required keyword before one with a default: its wrapper (2.2.3) takes no call.

    Raises
    ------
    CellError
        At the parameter with the default, with the head in an order that works.
    """
    pairs = list(zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True))
    defaults_first = sorted(pairs, key=lambda one: one[1] is None)
    if pairs == defaults_first:
        return
    required = [default for _, default in pairs].index(None)
    after = next(one for one, default in pairs[required:] if default is not None)
    head = copy.copy(node)
    head.args = copy.copy(node.args)
    head.args.kwonlyargs = [one for one, _ in defaults_first]
    head.args.kw_defaults = [default for _, default in defaults_first]
    raise source.error(
        f"{after.arg!r} has a default and follows a keyword-only parameter without one, which "
        "cannot be called when compiled; those with defaults come first",
        after,
        header_text(head),
    )

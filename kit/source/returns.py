"""Functions that return a value on one way and nothing on another (Pyccel 2.2.3).

Python gives None there. Compiled C gives whatever lies in the register, compiled Fortran the value
of an earlier call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kit.source.place import Source

__all__ = ["check_returns", "returns_value"]


def check_returns(function: ast.FunctionDef, source: Source) -> None:
    """Refuse a function that returns a value and can also end without one.

    Raises
    ------
    CellError
        At the bare ``return``, or at the last statement of the way that ends without one.
    """
    returns = list(_returns(function.body))
    values = [one for one in returns if not _is_nothing(one)]
    if not values:
        return
    bare = next((one for one in returns if _is_nothing(one)), None)
    if bare is None and not _goes_on(function.body):
        return
    example = ast.unparse(values[0].value) if values[0].value is not None else "0.0"
    raise source.error(
        f"{function.name!r} returns a value in line {values[0].lineno} and nothing on this way, "
        "where compiled code gives a number that means nothing",
        bare or function.body[-1],
        f"return {example}  # "
        + ("in place of this line" if bare else f"as the last line of {function.name}"),
    )


def returns_value(text: str) -> bool:
    """Whether a function's text has a return statement with a value; nested functions do not count.

    Examples
    --------
    >>> returns_value("def f(x: float):\\n    return 2.0 * x\\n")
    True
    >>> returns_value("def f(x: 'float[:]'):\\n    x[0] = 1.0\\n    return\\n")
    False
    """
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return False
    functions = [one for one in body if isinstance(one, ast.FunctionDef)]
    return any(not _is_nothing(one) for each in functions for one in _returns(each.body))


def _is_nothing(node: ast.Return) -> bool:
    return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)


def _returns(body: Sequence[ast.stmt]) -> Iterator[ast.Return]:
    """Those of the function itself, not of functions inside it."""
    for one in body:
        if isinstance(one, ast.Return):
            yield one
        elif not isinstance(one, ast.FunctionDef | ast.ClassDef):
            for block in _blocks(one):
                yield from _returns(block)


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block: list[ast.stmt] = getattr(node, name, [])
        yield block


def _goes_on(body: Sequence[ast.stmt]) -> bool:
    """Whether what stands after the statements can be reached; may say so where it cannot."""
    return all(_passes(one) for one in body)


def _passes(node: ast.stmt) -> bool:
    if isinstance(node, ast.Return | ast.Raise):
        return False
    if isinstance(node, ast.If):
        return _goes_on(node.body) or _goes_on(node.orelse)
    if isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value:
        return _breaks(node.body)
    return True


def _breaks(body: Sequence[ast.stmt]) -> bool:
    """Whether a ``break`` belongs to the loop around these statements."""
    for one in body:
        if isinstance(one, ast.Break):
            return True
        if isinstance(one, ast.If) and (_breaks(one.body) or _breaks(one.orelse)):
            return True
    return False

"""Statements that Pyccel does not compile, or compiles to something else than Python means.

Tried with Pyccel 2.2.3. Each check raises a `CellError` that says what to write instead.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Final

from kit.source.header import every_argument, header_text
from kit.source.place import Source
from kit.source.vocabulary import DECORATORS

__all__ = [
    "NO_STATEMENT",
    "check_assigned",
    "check_assignment",
    "check_augmented",
    "check_decorator",
    "check_loop",
    "check_module_value",
    "check_with",
    "typed_parameters",
]

NO_STATEMENT: Final[Mapping[type[ast.stmt], tuple[str, str]]] = {
    ast.Try: (
        "try is not compiled",
        "if condition:  # test before, instead of catching after\n    pass",
    ),
    ast.TryStar: ("try is not compiled", "if condition:\n    pass"),
    ast.Raise: ("raise is not compiled", "return  # or set a flag in an output array"),
    ast.AsyncFunctionDef: ("an async function is not compiled", "# write def instead of async def"),
    ast.AsyncFor: ("async for is not compiled", "# write for instead of async for"),
    ast.AsyncWith: ("async with is not compiled", "# open it in another cell"),
    ast.Match: ("match is not compiled", "if n == 1:\n    pass\nelif n == 2:\n    pass"),
    ast.Global: ("global is not compiled", "# pass a one-element array and write its element 0"),
    ast.Nonlocal: (
        "nonlocal is not compiled",
        "# pass a one-element array and write its element 0",
    ),
}
"""Statements that are refused wherever they stand: the message and the fix."""

_NUMBA: Final = frozenset({"njit", "jit", "vectorize", "guvectorize", "stencil"})
_NO_AUGMENTED: Final[Mapping[type[ast.operator], str]] = {
    ast.Pow: "**",
    ast.BitXor: "^",
    ast.MatMult: "@",
}


def check_decorator(
    node: ast.expr,
    on: ast.FunctionDef,
    source: Source,
    *,
    imports: Mapping[str, str],
    is_method: bool,
) -> None:
    """Refuse a decorator that Pyccel ignores, or that belongs to another compiler."""
    target = node.func if isinstance(node, ast.Call) else node
    text = ast.unparse(target)
    last = text.rpartition(".")[2]
    if last == "types":
        return  # check_parameters makes its arguments into annotations
    if isinstance(target, ast.Name):
        origin = imports.get(text, text).rpartition(".")[2]
        if origin == "elemental" and len(every_argument(on.args)) > 1:
            raise source.error(
                "@elemental is for functions of one parameter",
                node,
                f"# remove the line @{text}",
            )
        if origin in DECORATORS or (is_method and text == "property"):
            return
    if last in _NUMBA or "cuda" in text:
        raise source.error(
            f"@{text} is Numba's; %%pyccel_kernel compiles the function already",
            node,
            f"# remove the line @{text}",
        )
    if isinstance(target, ast.Attribute) and last in DECORATORS:
        raise source.error(
            "Pyccel does not read a decorator with a dot",
            node,
            f"from pyccel.decorators import {last}\n@{last}\n{header_text(on)}",
        )
    raise source.error(
        f"Pyccel does not know the decorator @{text}", node, f"# remove the line @{text}"
    )


def check_module_value(
    node: ast.Assign | ast.AnnAssign, source: Source, *, aliases: Collection[str]
) -> None:
    """Refuse a value at the top level that is neither a number nor an array."""
    value = node.value
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Name):
        return
    if isinstance(node, ast.AnnAssign) and target.id in aliases:
        return
    name = target.id
    if name == "__all__" and isinstance(value, ast.List):
        return  # compiled to nothing
    if name == "__all__":
        raise source.error(
            "'__all__' is compiled where it is a list only", node, "# remove this line"
        )
    if isinstance(value, ast.Tuple | ast.List):
        elements = ", ".join(map(ast.unparse, value.elts))
        raise source.error(
            f"{name!r}: a tuple or list at the top level of a cell is not compiled",
            node,
            f"import numpy as np\n{name} = np.array([{elements}])",
        )
    if isinstance(value, ast.Dict | ast.Set) or (
        isinstance(value, ast.Constant) and isinstance(value.value, str | bytes | None)
    ):
        raise source.error(
            f"{name!r}: only numbers and arrays can be constants of a cell",
            node,
            f"{name}_: 'float64[:]'  # as a parameter",
        )
    if isinstance(value, ast.Lambda):
        raise source.error(
            "a lambda at the top level of a cell is not compiled",
            node,
            f"def {name}({typed_parameters(value.args)}):\n    return {ast.unparse(value.body)}",
        )


def check_assignment(node: ast.Assign, source: Source, *, arrays: Collection[str]) -> None:
    """Refuse ``a = b = c``, and targets that `check_assigned` refuses."""
    if len(node.targets) > 1:
        value = ast.unparse(node.value)
        lines = "\n".join(f"{ast.unparse(one)} = {value}" for one in node.targets)
        raise source.error("Pyccel reads one '=' a line", node, lines)
    check_assigned(node.targets[0], source, arrays=arrays)


def check_assigned(target: ast.expr, source: Source, *, arrays: Collection[str]) -> None:
    """Refuse a target that is not compiled, or whose value is lost."""
    if isinstance(target, ast.List):
        # 2.2.3 writes one after the other, so that [a, b] = [b, a] loses a.
        values = ", ".join(map(ast.unparse, target.elts))
        raise source.error(
            "a list as the target of an assignment is compiled to another meaning",
            target,
            f"{values} = 1.0, 2.0  # without brackets on both sides",
        )
    if isinstance(target, ast.Tuple):
        for one in target.elts:
            if isinstance(one, ast.Starred):
                raise source.error(
                    "'*' in an assignment is not compiled", one, "# take a slice instead"
                )
            check_assigned(one, source, arrays=arrays)
    if (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id in arrays
        and target.attr not in {"real", "imag"}
    ):
        raise source.error(
            f"assigning to {ast.unparse(target)} is not compiled",
            target,
            "# make a second array with np.zeros and fill it in a loop",
        )
    base = target.value if isinstance(target, ast.Subscript) else target
    if (
        isinstance(base, ast.Attribute)
        and base.attr in {"real", "imag"}
        and isinstance(base.value, ast.Name)
        and base.value.id in arrays
    ):
        # 2.2.3 writes into a temporary and loses it.
        name = base.value.id
        raise source.error(
            f"assigning to {name}.{base.attr} writes nothing when compiled",
            target,
            f"{name}[i] = complex(re, im)",
        )


def check_augmented(node: ast.AugAssign, source: Source, *, arrays: Collection[str]) -> None:
    """Refuse ``**=`` and its like, and targets that `check_assigned` refuses."""
    symbol = _NO_AUGMENTED.get(type(node.op))
    if symbol is not None:
        target, value = ast.unparse(node.target), ast.unparse(node.value)
        raise source.error(
            f"'{symbol}=' is not compiled", node, f"{target} = {target} {symbol} ({value})"
        )
    check_assigned(node.target, source, arrays=arrays)


def check_loop(node: ast.For | ast.While, source: Source) -> None:
    """Refuse the ``else`` of a loop, and a ``for`` that takes nested tuples apart."""
    if node.orelse:
        # 2.2.3 drops it without a word.
        loop = "for" if isinstance(node, ast.For) else "while"
        raise source.error(
            f"the 'else' of a '{loop}' loop is ignored when compiled",
            node.orelse[0],
            "# set a bool in the loop and test it after the loop",
        )
    if (
        isinstance(node, ast.For)
        and isinstance(node.target, ast.Tuple)
        and any(isinstance(one, ast.Tuple) for one in node.target.elts)
    ):
        raise source.error(
            "nested tuples in 'for' are not compiled", node.target, "for i in range(n): pass"
        )


def check_with(node: ast.With, source: Source, *, defined: Collection[str]) -> None:
    """Refuse a context that is no object of the cell's own."""
    for one in node.items:
        context = one.context_expr
        called = context.func if isinstance(context, ast.Call) else context
        if not (isinstance(called, ast.Name) and called.id in defined):
            raise source.error(
                "with is not compiled", node, "# open it in another cell and pass an array"
            )


def typed_parameters(node: ast.arguments) -> str:
    """The parameters of a lambda as those of a function to paste."""
    return ", ".join(f"{one.arg}: float" for one in every_argument(node))

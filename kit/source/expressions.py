"""Expressions that Pyccel does not compile, or compiles to something else than Python means.

Tried with Pyccel 2.2.3. Each check raises a `CellError` that says what to write instead.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Final

from kit.source.imports import check_member
from kit.source.place import Source
from kit.source.statements import typed_parameters
from kit.source.vocabulary import ARRAY_ATTRIBUTES, INSTEAD_OF_METHOD

__all__ = [
    "NO_EXPRESSION",
    "check_attribute",
    "check_backward",
    "check_call",
    "check_compare",
    "check_integer",
    "check_modulo",
    "check_placed",
    "check_print",
    "check_subscript",
]

NO_EXPRESSION: Final[Mapping[type[ast.expr], tuple[str, str]]] = {
    ast.JoinedStr: ("an f-string is not compiled", 'print("n =", n)'),
    ast.Yield: ("yield is not compiled", "# write into an output array"),
    ast.YieldFrom: ("yield is not compiled", "# write into an output array"),
    ast.Await: ("await is not compiled", "# do it in another cell"),
    ast.NamedExpr: (":= is not compiled", "# assign in a line of its own, before"),
    ast.DictComp: ("a dict comprehension is not compiled", "# fill an array in a loop"),
    ast.SetComp: ("a set comprehension is not compiled", "# fill an array in a loop"),
}
"""Expressions that are refused wherever they stand: the message and the fix."""

# What compiles of an expression in brackets as it does of a variable.
_PARTS: Final = frozenset({"real", "imag", "conj", "conjugate"})


def check_attribute(
    node: ast.Attribute, source: Source, *, imports: Mapping[str, str], arrays: Collection[str]
) -> None:
    """Refuse members that Pyccel's modules and arrays lack.

    Parameters
    ----------
    node : ast.Attribute
        What is read or written.
    source : Source
        Where errors point.
    imports : mapping of str to str
        Local names of modules, without those that a variable hides.
    arrays : collection of str
        Names that are known to be arrays.
    """
    base = node.value
    if isinstance(base, ast.Name) and isinstance(node.ctx, ast.Load):
        if base.id in imports:
            check_member(f"{imports[base.id]}.{node.attr}", node, source)
        elif base.id in arrays and node.attr not in ARRAY_ATTRIBUTES:
            instead = INSTEAD_OF_METHOD.get(node.attr, "a loop over {x}").format(x=base.id)
            raise source.error(f"{base.id}.{node.attr} is not compiled", node, f"# write {instead}")
    elif isinstance(base, ast.BinOp | ast.UnaryOp) and not (
        node.attr in _PARTS and not _multiplies_matrices(base)
    ):
        raise source.error(
            "an attribute of an expression is not compiled; give the expression a name",
            node,
            f"value = {ast.unparse(base)}\nvalue.{node.attr}",
        )
    elif isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
        module = imports.get(base.value.id)
        if module is not None:
            check_member(f"{module}.{base.attr}.{node.attr}", node, source)


def _multiplies_matrices(node: ast.expr) -> bool:
    return any(isinstance(one, ast.MatMult) for one in ast.walk(node))


def check_call(node: ast.Call, source: Source, *, imports: Mapping[str, str]) -> None:
    """Refuse `str.format`, `math.log` with a base, and `sys.exit`."""
    function = node.func
    if isinstance(function, ast.Attribute):
        if function.attr == "format" and isinstance(function.value, ast.Constant):
            raise source.error("str.format is not compiled", node, 'print("n =", n)')
        module = imports.get(function.value.id) if isinstance(function.value, ast.Name) else None
        if len(node.args) == 2 and (module, function.attr) == ("math", "log"):
            value, base = map(ast.unparse, node.args)
            raise source.error(
                "math.log takes one argument when compiled",
                node,
                f"{ast.unparse(function)}({value}) / {ast.unparse(function)}({base})",
            )
    elif isinstance(function, ast.Name) and imports.get(function.id) == "sys.exit":
        check_member("sys.exit", node, source)


def check_print(node: ast.Call, source: Source) -> None:
    """Refuse a text with % in print, which C (2.2.3) takes for a format: %s kills the process."""
    for one in (*node.args, *(keyword.value for keyword in node.keywords)):
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and "%" in one.value:
            raise source.error(
                "in C, print takes the text for a format, and % for a value that is not there",
                one,
                f"text = {one.value!r}\nprint(text)",
            )


def check_integer(node: ast.Constant, source: Source) -> None:
    """Refuse an integer beyond int64, which C wraps around."""
    if isinstance(node.value, int) and node.value >= 2**63:
        raise source.error(
            "integers end at 9223372036854775807 when compiled", node, f"{float(node.value)!r}"
        )


def check_subscript(node: ast.Subscript, source: Source) -> None:
    """Refuse None and masks as an index."""
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for one in items:
        if isinstance(one, ast.Constant) and one.value is None:
            raise source.error(
                "None as an index is not compiled", one, "# write a loop over the axis"
            )
        if isinstance(one, ast.Compare):
            raise source.error(
                "a mask as an index is not compiled",
                one,
                f"for i in range({ast.unparse(node.value)}.shape[0]):\n"
                f"    if {ast.unparse(one)}:  # with [i] behind each array\n        pass",
            )


def check_backward(node: ast.Subscript, source: Source) -> None:
    """Refuse ``x[::-1]``, which C (2.2.3) begins at 0 and reads on below; with a start it is right.

    Fortran begins where Python does.
    """
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for axis, one in enumerate(items):
        if (
            isinstance(one, ast.Slice)
            and one.lower is None
            and isinstance(one.step, ast.UnaryOp)
            and isinstance(one.step.op, ast.USub)
        ):
            array = ast.unparse(node.value)
            right = ast.unparse(one).removeprefix(":")
            before = "".join(f"{ast.unparse(other)}, " for other in items[:axis])
            after = "".join(f", {ast.unparse(other)}" for other in items[axis + 1 :])
            raise source.error(
                "a slice that goes backward from the end begins at 0 in C",
                one,
                f"{array}[{before}{array}.shape[{axis}] - 1:{right}{after}]",
            )


def check_compare(node: ast.Compare, source: Source) -> None:
    """Refuse ``not in``, and ``in`` with a tuple."""
    for operator, right in zip(node.ops, node.comparators, strict=True):
        left = ast.unparse(node.left)
        if isinstance(operator, ast.NotIn):
            raise source.error(
                "'not in' is not compiled",
                node,
                f"not ({left} in {ast.unparse(right)})"
                if not isinstance(right, ast.Tuple)
                else " and ".join(f"{left} != {ast.unparse(one)}" for one in right.elts),
            )
        if isinstance(operator, ast.In) and isinstance(right, ast.Tuple):
            raise source.error(
                "'in' with a tuple is not compiled",
                node,
                " or ".join(f"{left} == {ast.unparse(one)}" for one in right.elts),
            )


def check_modulo(node: ast.BinOp, source: Source) -> None:
    """Refuse ``"%d" % n``."""
    if (
        isinstance(node.op, ast.Mod)
        and isinstance(node.left, ast.Constant)
        and isinstance(node.left.value, str)
    ):
        raise source.error("'%' on text is not compiled", node, 'print("n =", n)')


def check_placed(
    node: ast.ListComp | ast.GeneratorExp | ast.Lambda, source: Source, *, is_fine: bool
) -> None:
    """Refuse comprehensions, generators and lambdas in any but the one place that compiles."""
    if is_fine:
        return
    if isinstance(node, ast.ListComp):
        raise source.error(
            "a list comprehension is compiled only behind '='",
            node,
            f"values = {ast.unparse(node)}",
        )
    if isinstance(node, ast.GeneratorExp):
        raise source.error(
            "a generator is compiled only in sum(), min() and max()", node, "# write a loop"
        )
    raise source.error(
        "a lambda is compiled only behind '='",
        node,
        f"def _step({typed_parameters(node.args)}):\n    return {ast.unparse(node.body)}",
    )

"""Answers to parameters without annotations, and a guess at what they should be."""

from __future__ import annotations

import ast
from typing import Final

from kit.source.header import header_text
from kit.source.place import Source

__all__ = ["check_parameters"]

_MOST_AXES: Final = 8


def check_parameters(node: ast.FunctionDef, source: Source, *, method_of: str | None) -> None:
    """Refuse `*args`, `**kwargs`, the old `@types`, and parameters without an annotation.

    Raises
    ------
    CellError
        With the whole `def` line to paste, annotated from how the body uses each parameter.
    """
    arguments = node.args
    for star, one in (("*", arguments.vararg), ("**", arguments.kwarg)):
        if one is not None:
            raise source.error(
                f"{star}{one.arg} is not compiled; a kernel has a fixed number of parameters",
                one,
                f"{one.arg}: 'float64[:]'",
            )
    types = next((one for one in node.decorator_list if _is_types(one)), None)
    if types is not None:
        raise source.error(
            "the @types decorator is gone from Pyccel; types stand in the def line",
            types,
            _annotated_header(node, _texts(types), method_of),
        )
    if "inline" in (marks := {ast.unparse(one) for one in node.decorator_list}) and (
        "private" in marks
    ):
        return
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for index, one in enumerate(every):
        if one.annotation is None and not (method_of and index == 0):
            if _is_called(node, one.arg):
                raise source.error(
                    f"{one.arg!r} is called, and a kernel cannot be given a function",
                    one,
                    f"def {one.arg}(x: float):  # in this cell, and no parameter of {node.name}",
                )
            hint = (
                "; a method belongs into a class"
                if one.arg == "self"
                else "; Pyccel needs the type of each parameter"
            )
            raise source.error(
                f"{one.arg!r} has no annotation{hint}",
                one,
                _annotated_header(node, [], method_of),
            )


def _is_types(node: ast.expr) -> bool:
    target = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(target).rpartition(".")[2] == "types"


def _texts(node: ast.expr) -> list[str]:
    """The types that `@types('float[:]', int)` names, as source text."""
    return [ast.unparse(one) for one in node.args] if isinstance(node, ast.Call) else []


def _annotated_header(node: ast.FunctionDef, texts: list[str], method_of: str | None) -> str:
    """The `def` line with the given types, and a guess where there is none."""
    header = ast.parse(f"{header_text(node)} pass").body[0]
    assert isinstance(header, ast.FunctionDef)
    if not method_of:
        # Outside a class, self is one more thing that was pasted along.
        header.args.args = [one for one in header.args.args if one.arg != "self"]
    every = [*header.args.posonlyargs, *header.args.args, *header.args.kwonlyargs]
    given = iter(texts)
    for one in every[1:] if method_of else every:
        text = next(given, None)
        if one.annotation is None or text is not None:
            one.annotation = ast.parse(text or _guess(node, one.arg), mode="eval").body
    return header_text(header)


def _guess(node: ast.FunctionDef, name: str) -> str:
    """An annotation from the use: the most indices that any subscript gives, or a scalar."""
    axes = 0
    counted = False
    for one in ast.walk(node):
        if isinstance(one, ast.Subscript):
            if _is(one.value, name):
                items = one.slice
                axes = max(axes, len(items.elts) if isinstance(items, ast.Tuple) else 1)
            counted = counted or any(_is(part, name) for part in ast.walk(one.slice))
        elif isinstance(one, ast.Attribute | ast.For):
            of = one.value if isinstance(one, ast.Attribute) else one.iter
            axes = max(axes, 1 if _is(of, name) else 0)
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Name):
            given = any(_is(part, name) for arg in one.args for part in ast.walk(arg))
            if one.func.id == "len" and given:
                axes = max(axes, 1)
            counted = counted or (one.func.id == "range" and given)
    if axes:
        return repr(f"float64[{','.join(':' * min(axes, _MOST_AXES))}]")
    return "int" if counted else "float"


def _is_called(node: ast.FunctionDef, name: str) -> bool:
    return any(isinstance(one, ast.Call) and _is(one.func, name) for one in ast.walk(node))


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name

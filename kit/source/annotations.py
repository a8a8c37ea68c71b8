"""Pyccel's annotations, in strings or as Python types, read into `ArgumentType` alternatives."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from kit.source.annotation_refusals import AnnotationRefusals, Names, parse_text
from kit.source.parameters import ArgumentType
from kit.source.place import Placed, Source
from kit.source.vocabulary import DTYPES, INSTEAD_OF_DTYPE, MODULES, PYTHON_SCALARS

__all__ = ["AnnotationReader", "Reading"]

_CONTAINERS = frozenset({"list", "tuple", "set", "dict"})


class Reading(NamedTuple):
    """One type that an annotation allows, and whether it is final."""

    type: ArgumentType
    final: bool = False


class AnnotationReader(AnnotationRefusals):
    """Reads the annotations of one cell.

    Parameters
    ----------
    names : Names
        What the cell defines and imports.
    source : Source
        Where errors point.
    """

    def __init__(self, names: Names, source: Source) -> None:
        super().__init__(names, source)
        self._bound: Mapping[str, tuple[Reading, ...]] = {}

    def read(
        self,
        annotation: ast.expr,
        bound: Mapping[str, tuple[Reading, ...]] | None = None,
        *,
        name: str = "x",
    ) -> tuple[Reading, ...]:
        """The alternatives that an annotation allows, with each TypeVar standing for `bound`.

        Raises
        ------
        CellError
            Where Pyccel would not understand it.
        """
        self._bound = bound or {}
        self._at = annotation
        self._name = name
        self._written = ast.unparse(annotation)
        return tuple(dict.fromkeys(self._read(annotation, False)))

    def used_typevars(self, annotation: ast.expr) -> tuple[str, ...]:
        """TypeVars that an annotation mentions, each once, in order."""
        if not self._names.typevars:
            return ()
        return tuple(dict.fromkeys(n for n in _names_in(annotation) if n in self._names.typevars))

    def constraints(self, typevar: str, at: Placed) -> tuple[tuple[Reading, ...], ...]:
        """The alternatives of each constraint of a TypeVar."""
        readings: list[tuple[Reading, ...]] = []
        for text in self._names.typevars[typevar]:
            self._at, self._written, self._bound = at, text, {}
            readings.append(tuple(dict.fromkeys(self._read_source(text))))
            # Pyccel does not find Final inside a constraint.
            if readings[-1][0].final:
                raise self._refused(
                    f"Final inside the TypeVar {typevar} is not understood",
                    f"x: Final[{typevar}]",
                )
        return tuple(readings)

    # ---- the forms ----------------------------------------------------------------------

    def _read(self, node: ast.expr, in_text: bool) -> tuple[Reading, ...]:
        if isinstance(node, ast.Constant):
            return self._read_constant(node, in_text)
        if isinstance(node, ast.Name):
            return self._read_name(node.id)
        if isinstance(node, ast.Attribute):
            return self._read_dotted(node, in_text)
        if isinstance(node, ast.Subscript):
            return self._read_subscript(node, in_text)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._read_union(node, in_text)
        if isinstance(node, ast.Call) and in_text:
            return self._read_call(node)
        raise self._refused_form()

    def _read_constant(self, node: ast.Constant, in_text: bool) -> tuple[Reading, ...]:
        if not isinstance(node.value, str):
            raise self._refused_form()
        text = node.value
        inner = parse_text(text)
        if inner is None:
            raise self._refused_text(text)
        # Two spellings that Python reads as `[:]` and `[:, :]` and Pyccel's grammar does not.
        if "::" in text.replace(" ", "") or ",]" in text.replace(" ", ""):
            raise self._refused_text(text)
        return self._read(inner, True)

    def _read_name(self, name: str) -> tuple[Reading, ...]:
        if name in self._bound:
            return self._bound[name]
        names = self._names
        if name in names.typevars:
            return tuple(r for text in names.typevars[name] for r in self._read_source(text))
        if name in names.aliases:
            return self._read_source(names.aliases[name])
        if name in names.classes:
            return (_of_class(name),)
        if name in names.imports:
            return self._read_origin(names.imports[name], name)
        if name in PYTHON_SCALARS or name == "str":
            return (_scalar(name),)
        if name in DTYPES:
            return (_dtype(DTYPES[name]),)
        raise self._refused_name(name)

    def _read_source(self, text: str) -> tuple[Reading, ...]:
        inner = parse_text(text)
        if inner is None:
            raise self._refused_text(text)
        return self._read(inner, False)

    def _read_dotted(self, node: ast.Attribute, in_text: bool) -> tuple[Reading, ...]:
        dotted = _dotted(node)
        if dotted is None:
            raise self._refused_form()
        if in_text:
            short = dotted.rpartition(".")[2]
            raise self._refused(
                f"an annotation string names types without their module, {dotted!r} has one",
                self._in_place(self._written.replace(dotted, short)),
            )
        first, _, rest = dotted.partition(".")
        origin = self._names.imports.get(first)
        if origin is None:
            module = {"np": "numpy", "t": "typing"}.get(first, first)
            line = f"import {module}" + (f" as {first}" if module != first else "")
            raise self._refused(
                f"{first!r} is not imported in this cell; a cell sees no import of the notebook",
                line,
            )
        return self._read_origin(f"{origin}.{rest}", dotted)

    def _read_origin(self, origin: str, written: str) -> tuple[Reading, ...]:
        module, _, name = origin.rpartition(".")
        if module == "numpy" and name in MODULES["numpy"]:
            if name == "bool":
                return (_scalar("bool"),)
            if name in DTYPES:
                return (_dtype(DTYPES[name]),)
            if name in PYTHON_SCALARS:
                return (_dtype(PYTHON_SCALARS[name]),)
        if name in {"ndarray", "NDArray", "ArrayLike", "array"}:
            raise self._shapeless(written)
        if name in INSTEAD_OF_DTYPE:
            raise self._refused_name(name)
        if module == "typing":
            raise self._refused_typing(name)
        raise self._refused(
            f"{written} is no type that Pyccel knows", self._in_place("'float64[:]'")
        )

    def _read_union(self, node: ast.BinOp, in_text: bool) -> tuple[Reading, ...]:
        for side in (node.left, node.right):
            if isinstance(side, ast.Constant) and side.value is None:
                other = node.right if side is node.left else node.left
                raise self._refused(
                    "a parameter that may be None says so by its default",
                    self._in_place(ast.unparse(other)) + " = None",
                )
        return (*self._read(node.left, in_text), *self._read(node.right, in_text))

    def _read_subscript(self, node: ast.Subscript, in_text: bool) -> tuple[Reading, ...]:
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if items and all(isinstance(item, ast.Slice) for item in items):
            return self._read_array(node.value, items, in_text)
        base = _dotted(node.value) or ""
        first, _, rest = base.partition(".")
        origin = self._names.imports.get(first, first) + (f".{rest}" if rest else "")
        if base == "Final" and "Final" not in self._names.imports:
            raise self._refused("Final is not imported in this cell", "from typing import Final")
        if origin == "typing.Final":
            return self._read_final(items, in_text)
        if origin == "typing.Annotated":
            return self._read(items[0], in_text)
        if origin in _CONTAINERS:
            return self._read_container(origin, items, in_text)
        if origin.startswith("typing."):
            raise self._refused_typing(origin.removeprefix("typing."), items)
        if base in {"Optional", "Union", "List", "Tuple", "Set", "Dict", "Callable", "Sequence"}:
            raise self._refused_typing(base, items)
        if isinstance(node.value, ast.Name | ast.Attribute):
            self._read(node.value, in_text)  # raises where the name itself is at fault
            raise self._refused_extent(base, len(items))
        raise self._refused_form()

    def _read_array(
        self, base: ast.expr, items: list[ast.expr], in_text: bool
    ) -> tuple[Reading, ...]:
        for item in items:
            assert isinstance(item, ast.Slice)
            if item.lower or item.upper or item.step:
                raise self._refused_extent(ast.unparse(base), len(items))
        elements = self._read(base, in_text)
        return tuple(self._array(element, len(items)) for element in elements)

    def _array(self, element: Reading, rank: int) -> Reading:
        one = element.type
        if one.rank or one.container or one.dtype == "str":
            raise self._refused(
                f"an array's elements are numbers, {one.text} is none",
                self._in_place("'float64[:]'"),
            )
        text = f"{one.dtype}[{','.join(':' * rank)}]"
        return Reading(type=ArgumentType(dtype=one.dtype, rank=rank, order="C", text=text))

    def _read_final(self, items: list[ast.expr], in_text: bool) -> tuple[Reading, ...]:
        if len(items) != 1:
            raise self._refused_form()
        if in_text and isinstance(items[0], ast.BinOp):
            raise self._refused(
                "a union inside Final inside a string is not understood",
                self._in_place(f"Final[{ast.unparse(items[0])!r}]"),
            )
        return tuple(one._replace(final=True) for one in self._read(items[0], in_text))

    def _read_container(
        self, kind: str, items: list[ast.expr], in_text: bool
    ) -> tuple[Reading, ...]:
        kinds = [item for item in items if not _is_ellipsis(item)]
        readings = [self._read(item, in_text) for item in kinds]
        inner = [one[0].type for one in readings]
        texts = [one.text for one in inner] + ["..."] * (len(items) - len(kinds))
        alike = {one.dtype for one in inner}
        return (
            Reading(
                type=ArgumentType(
                    dtype=alike.pop() if len(alike) == 1 else "object",
                    rank=0 if kind == "dict" else 1 + max(one.rank for one in inner),
                    order=None,
                    container=kind,
                    elements=inner[0] if len(readings) == len(readings[0]) == 1 else None,
                    text=f"{kind}[{', '.join(texts)}]",
                )
            ),
        )

    def _read_call(self, node: ast.Call) -> tuple[Reading, ...]:
        words = {word.arg: word.value for word in node.keywords}
        order = words.get("order")
        if not node.args and set(words) == {"order"} and isinstance(order, ast.Name):
            return self._read_order(node.func, order.id)
        if not words and isinstance(node.func, ast.Name | ast.Tuple | ast.Subscript):
            text = ast.unparse(node)
            kind = ArgumentType(dtype="object", rank=0, order=None, container="function", text=text)
            return (Reading(type=kind),)
        raise self._refused_form()

    def _read_order(self, base: ast.expr, order: str) -> tuple[Reading, ...]:
        if order not in {"C", "F", "c", "f"}:
            # Pyccel takes every letter but C for F.
            raise self._refused(
                f"order={order} is neither C (last axis fastest) nor F (first axis fastest)",
                self._in_place(self._written.replace(f"order={order}", "order=F")),
            )
        if not isinstance(base, ast.Subscript):
            raise self._refused(
                "(order=...) stands behind the brackets of an array",
                self._in_place("'float64[:,:](order=F)'"),
            )
        readings = self._read(base, True)
        if len(readings) > 1:
            # Pyccel drops the order without a word here.
            both = " | ".join(f"{one.type.text}(order={order})" for one in readings)
            raise self._refused(
                "(order=...) behind a union of types is ignored", self._in_place(repr(both))
            )
        return tuple(_ordered(one, order) for one in readings)


def _names_in(annotation: ast.expr) -> Iterable[str]:
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            inner = parse_text(node.value)
            if inner is not None:
                yield from _names_in(inner)


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _scalar(name: str) -> Reading:
    return Reading(
        type=ArgumentType(
            dtype=PYTHON_SCALARS.get(name, name),
            rank=0,
            order=None,
            python_scalar=name != "str",
            text=name,
        )
    )


def _dtype(name: str) -> Reading:
    return Reading(type=ArgumentType(dtype=name, rank=0, order=None, text=name))


def _of_class(name: str) -> Reading:
    return Reading(type=ArgumentType(dtype=name, rank=0, order=None, container="class", text=name))


def _ordered(reading: Reading, order: str) -> Reading:
    one = reading.type
    if one.rank < 2 or order.upper() == "C":
        return reading
    return reading._replace(type=replace(one, order="F", text=f"{one.text}(order=F)"))

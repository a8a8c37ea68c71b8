"""What an annotation that Pyccel does not understand is answered with."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from kit.errors import CellError
from kit.source.nearest import nearest
from kit.source.place import Placed, Source
from kit.source.vocabulary import DTYPES, INSTEAD_OF_DTYPE, PYTHON_SCALARS

__all__ = ["AnnotationRefusals", "Names", "parse_text"]


class Names(NamedTuple):
    """What the names in an annotation may stand for, beside builtin types and dtypes.

    Parameters
    ----------
    typevars : mapping of str to tuple of str
        Constraints of each TypeVar, as annotation text.
    aliases : mapping of str to str
        Text that each `TypeAlias` stands for.
    classes : frozenset of str
        Classes of the cell.
    imports : mapping of str to str
        Local names and where they come from: `{"np": "numpy", "Final": "typing.Final"}`.
    """

    typevars: Mapping[str, tuple[str, ...]]
    aliases: Mapping[str, str]
    classes: frozenset[str]
    imports: Mapping[str, str]


@lru_cache(maxsize=1024)
def parse_text(text: str) -> ast.expr | None:
    """The expression in an annotation string; None where it is none."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


class AnnotationRefusals:
    """Composes the errors for one annotation at a time.

    Parameters
    ----------
    names : Names
        What the cell defines and imports.
    source : Source
        Where errors point.
    """

    def __init__(self, names: Names, source: Source) -> None:
        self._names = names
        self._source = source
        self._at: Placed | None = None
        self._written = ""
        self._name = "x"

    def _in_place(self, annotation: str) -> str:
        return f"{self._name}: {annotation}"

    def _refused(self, message: str, fix: str) -> CellError:
        assert self._at is not None
        return self._source.error(f"{message}", self._at, fix)

    def _shapeless(self, written: str) -> CellError:
        return self._refused(
            f"{written} says neither the dtype nor the number of axes",
            self._in_place("'float64[:]'") + "  # one ':' an axis: 'float64[:,:]' for two",
        )

    def _refused_form(self) -> CellError:
        return self._refused(
            f"{self._written} is no annotation that Pyccel understands",
            self._in_place("'float64[:]'") + "  # or float, int, bool, complex for a scalar",
        )

    def _refused_text(self, text: str) -> CellError:
        words = text.split()
        if words and words[0] == "const" and len(words) > 1:
            rest = " ".join(words[1:])
            return self._refused(
                "'const' is gone from Pyccel; an argument that is only read is Final",
                f"from typing import Final\n{self._in_place(repr(f'Final[{rest}]'))}",
            )
        base = text.partition("[")[0].strip()
        if "[" in text and base.isidentifier():
            return self._refused_extent(base, max(1, text.count(",") + (text[-2:] != ",]")))
        return self._refused_form()

    def _refused_extent(self, base: str, rank: int) -> CellError:
        return self._refused(
            f"{self._written}: an array's annotation has one ':' an axis and no extents; "
            "the extents come with the array",
            self._in_place(repr(f"{base}[{','.join(':' * rank)}]")),
        )

    def _refused_name(self, name: str) -> CellError:
        if name in INSTEAD_OF_DTYPE:
            near = INSTEAD_OF_DTYPE[name]
            what = "unsigned integers" if name.startswith("u") else f"{name!r}"
            return self._refused(
                f"Pyccel has no {what}" if what != repr(name) else f"Pyccel does not know {name!r}",
                self._in_place(self._respelled(name, near)),
            )
        if name in {"Final", "Annotated", "TypeVar"}:
            return self._refused(
                f"{name} is not imported in this cell", f"from typing import {name}"
            )
        if name in {"NDArray", "ndarray", "ArrayLike"}:
            return self._shapeless(name)
        if name in {"Optional", "Union", "List", "Tuple", "Dict", "Callable", "Sequence"}:
            return self._refused_typing(name)
        if name in {"list", "tuple", "set", "dict"}:
            inside = "int, ..." if name == "tuple" else "int"
            return self._refused(
                f"{name} does not say of what",
                self._in_place("'float64[:]'" if name == "dict" else repr(f"{name}[{inside}]")),
            )
        known = [*PYTHON_SCALARS, *DTYPES, *self._names.classes, *self._names.typevars]
        near = nearest(name, known, at_least=0.7) or "float64"
        return self._refused(
            f"{name!r} is no type that this cell defines or that Pyccel knows",
            self._in_place(self._respelled(name, near)),
        )

    def _respelled(self, name: str, near: str) -> str:
        """The annotation with another dtype, in a string so that no import is needed."""
        node = parse_text(self._written)
        plain = node.value if isinstance(node, ast.Constant) else self._written
        dotted = [f"{m}.{name}" for m, o in self._names.imports.items() if o == "numpy"]
        text = str(plain)
        for spelling in (*dotted, name):
            text = text.replace(spelling, near)
        return repr(text)

    def _refused_typing(self, name: str, items: Sequence[ast.expr] = ()) -> CellError:
        texts = [
            one.value
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
            else ast.unparse(one)
            for one in items
        ]
        fix = "'float64[:]'"
        if name == "Optional" and texts:
            fix = f"{texts[0]!r} = None"
        elif name == "Union" and texts:
            fix = repr(" | ".join(texts))
        elif name in {"List", "Tuple", "Set"} and texts:
            fix = repr(f"{name.lower()}[{', '.join(texts)}]")
        return self._refused(f"typing.{name} is not understood by Pyccel", self._in_place(fix))

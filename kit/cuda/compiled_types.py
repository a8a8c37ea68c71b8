"""Types that the compiler answered, as what arguments are checked against."""

from __future__ import annotations

import re
from typing import NamedTuple

from kit.cuda.answers import (
    ClassType,
    OtherType,
    ParameterType,
    PointerType,
    ScalarType,
    Type,
    ViewArguments,
    VoidType,
)
from kit.cuda.codes import VECTORS
from kit.cuda.signature import Element, ParameterKind, StructField
from kit.cuda.text.found import FoundStruct

__all__ = ["Described", "UnsupportedTypeError", "describe_parameter", "readable_element"]

_VIEWS: dict[str, ParameterKind] = {"kit::ArrayView": "view", "kit::CArrayView": "cview"}
_COMPLEX = {"float32": "complex64", "float64": "complex128"}
_VECTOR_NAMES = {of: name for name, of in reversed(VECTORS.items())}
_CU_COMPLEX = re.compile(r"\bcu(?:Float|Double)?Complex\b")


class UnsupportedTypeError(Exception):
    """A type that no argument can be passed for.

    Attributes
    ----------
    reason, fix : str
        Why, and what to write instead.
    """

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fix = fix


class Described(NamedTuple):
    """What a parameter takes.

    Parameters
    ----------
    kind : ParameterKind
        How an argument reaches the kernel.
    element : Element
        What it points at, or what it is.
    ndim : int or None
        Number of axes of a view.
    const : bool
        Whether the kernel can only read it.
    """

    kind: ParameterKind
    element: Element
    ndim: int | None
    const: bool


def describe_parameter(
    parameter: ParameterType, name: str, text: str, structs: tuple[FoundStruct, ...]
) -> Described:
    """What a parameter takes.

    Parameters
    ----------
    parameter : ParameterType
        The compiler's answer.
    name, text : str
        Of the parameter, for fixes; `text` is its type as written in the cell.
    structs : tuple of FoundStruct
        Of the cell.

    Raises
    ------
    UnsupportedTypeError
        Nothing can be passed for it.
    """
    kind = parameter.type
    if isinstance(kind, PointerType):
        return Described("pointer", _pointed(kind, name, text, structs), None, kind.const)
    if isinstance(kind, ClassType):
        view = _VIEWS.get(_stem(kind))
        if view is not None and kind.arguments is not None:
            element = _element(kind.arguments.element, structs)
            return Described(view, element, kind.arguments.number, kind.arguments.const)
        if _stem(kind).startswith("cuda::std::") and _stem(kind).endswith("::mdspan"):
            raise UnsupportedTypeError(
                "cuda::std::mdspan parameters come with a later version",
                f"Array2D<double> {name or 'x'}  // of <kit/array_view.cuh>: any strides",
            )
        element = _element(kind, structs)
        return Described("scalar" if element.dtype else "struct", element, None, True)
    if isinstance(kind, ScalarType):
        element = _as_declared(_element(kind, structs), text)
        plain = kind.width == 0 or element.dtype.startswith("complex")
        return Described("scalar" if plain else "vector", element, None, True)
    raise UnsupportedTypeError(*_why_not(text, name))


def _pointed(
    pointer: PointerType, name: str, text: str, structs: tuple[FoundStruct, ...]
) -> Element:
    name = name or "x"
    target = pointer.target
    if isinstance(target, VoidType):
        raise UnsupportedTypeError(
            "a void* does not say what an array's elements are",
            f"double* {name}  // the type of the elements",
        )
    if isinstance(target, PointerType):
        raise UnsupportedTypeError(
            "a pointer to pointers cannot be made from an array",
            f"double* {name}, long long columns  // one array: {name}[row * columns + column]",
        )
    if target is None or isinstance(target, OtherType):
        raise UnsupportedTypeError(*_why_not_pointed(target, name, text))
    if isinstance(target, ClassType) and _stem(target) in _VIEWS:
        raise UnsupportedTypeError(
            "views are passed by value", f"{_stem(target)} by value: no * in front of {name}"
        )
    element = _as_declared(_element(target, structs), text)
    if element.size == 0:
        raise UnsupportedTypeError(
            f"the cell does not say what {element.text} is, so that arrays cannot be checked",
            f"struct {element.text.rpartition('::')[2]} {{ ... }};  // define it in the cell",
        )
    return element


def _why_not_pointed(target: OtherType | None, name: str, text: str) -> tuple[str, str]:
    if target is not None and target.is_array:
        element = re.split(r"[\[(*]", text)[0].strip() or "double"
        return (
            f"'{text}' has extents in its type, which no array from Python has",
            f"{element}* {name}  // elements in C order, one after another",
        )
    return (
        f"'{text}' points at a function, and Python has none for the device",
        "template<int operation>  // and --template operation=1: choose inside of the kernel",
    )


def _why_not(text: str, name: str) -> tuple[str, str]:
    if "&" in text:
        return (
            "a kernel's parameter cannot be a reference",
            f"{' '.join(text.replace('&', ' ').split())} {name or 'x'}  // or a pointer: * for &",
        )
    return (
        f"nothing in Python can be passed for '{text}'",
        f"double* {name or 'x'}  // a pointer, a number, a vector type, a struct or a view",
    )


def _element(kind: Type, structs: tuple[FoundStruct, ...]) -> Element:
    """The type of one element.

    Raises
    ------
    UnsupportedTypeError
        It is no number, vector, complex number or struct.
    """
    if isinstance(kind, ScalarType):
        text = _VECTOR_NAMES[kind.spelling, kind.width] if kind.width else kind.spelling
        return Element(kind.dtype, max(kind.width, 1), kind.size, kind.alignment, text)
    if isinstance(kind, ClassType):
        return _complex(kind) or Element(
            "", 1, kind.size, kind.alignment, kind.name, _fields(kind, structs)
        )
    if isinstance(kind, PointerType):
        return Element("uint64", 1, kind.size, kind.alignment, "void*")
    raise UnsupportedTypeError("not a type of elements", "double")


def readable_element(kind: Type, structs: tuple[FoundStruct, ...]) -> Element | None:
    """The type of a variable's elements; None where Python cannot read them, as of pointers."""
    if not isinstance(kind, ScalarType | ClassType):
        return None
    element = _element(kind, structs)
    return element if element.dtype or element.fields is not None else None


def _stem(kind: ClassType) -> str:
    return kind.name.partition("<")[0]


def _complex(kind: ClassType) -> Element | None:
    """``complex<T>`` of libcu++ or Thrust; both are aligned to their size."""
    family = _stem(kind).partition("::")[0]
    arguments: ViewArguments | None = kind.arguments
    if family not in ("cuda", "thrust") or not _stem(kind).endswith("::complex"):
        return None
    if arguments is None or not isinstance(arguments.element, ScalarType):
        return None
    part = arguments.element
    if part.dtype not in _COMPLEX:
        return None
    size = kind.size or 2 * part.size
    space = "cuda::std" if family == "cuda" else "thrust"
    text = f"{space}::complex<{part.spelling}>"
    return Element(_COMPLEX[part.dtype], 1, size, kind.alignment or size, text)


def _fields(kind: ClassType, structs: tuple[FoundStruct, ...]) -> tuple[StructField, ...] | None:
    """Fields of a struct of the cell; None where some of it has no name or no element's type."""
    if kind.struct is None:
        return None
    fields: list[StructField] = []
    for name, one in zip(structs[kind.struct].fields, kind.fields, strict=True):
        if one is None or isinstance(one.type, VoidType | OtherType):
            return None
        element = _element(one.type, structs)
        if not element.dtype and element.fields is None:
            return None
        fields.append(StructField(name, element, one.shape, one.offset))
    # Not always in the order of the text, where #if has a part in it.
    return tuple(sorted(fields, key=lambda one: one.offset))


def _as_declared(element: Element, text: str) -> Element:
    """``cuComplex`` is another name of ``float2``, which only the text tells."""
    named = _CU_COMPLEX.search(text)
    if named is None or element.width != 2 or element.dtype not in _COMPLEX:
        return element
    return element._replace(dtype=_COMPLEX[element.dtype], width=1, text=named.group())

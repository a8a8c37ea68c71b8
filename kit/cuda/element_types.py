"""NumPy's types of elements against those that the compiler laid out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from kit.cuda.cpp_types import CPP_TYPES
from kit.cuda.signature import Element, StructField

__all__ = [
    "component_text",
    "dtype_text",
    "holds_components",
    "is_opaque",
    "is_struct",
    "why_not_element",
]

Dtype = np.dtype[Any]

_AXES: Final = "xyzw"


def is_struct(element: Element) -> bool:
    """Whether elements are structs, which NumPy has as records."""
    return element.dtype == ""


def holds_components(dtype: Dtype | None, element: Element) -> bool:
    """Whether `dtype` is that of the element, or of the components of a vector type.

    Examples
    --------
    >>> float4 = Element("float32", 4, 16, 16, "float4")
    >>> holds_components(np.dtype("f4"), float4), holds_components(np.dtype(">f4"), float4)
    (True, False)
    """
    if dtype is None or is_struct(element):
        return False
    # bfloat16 is ml_dtypes', which is recognised by its name, without an import.
    if element.dtype == "bfloat16":
        return dtype.name == "bfloat16" and dtype.itemsize == 2
    return dtype == np.dtype(element.dtype)  # long long is equal to int64, too


def is_opaque(dtype: Dtype, element: Element) -> bool:
    """Whether `dtype` says nothing but the size, which is that of the element: ``V24``."""
    plain = dtype.type is np.void and dtype.names is None and dtype.subdtype is None
    return plain and dtype.itemsize == element.size


def component_text(element: Element) -> str:
    """The elements in NumPy's words.

    Examples
    --------
    >>> component_text(Element("float32", 4, 16, 16, "float4"))
    'float4 (float32, 4 on the last axis)'
    """
    if is_struct(element):
        return f"{element.text} (records)"
    if element.width == 1:
        return element.dtype
    return f"{element.text} ({element.dtype}, {element.width} on the last axis)"


# ---- records ----------------------------------------------------------------------------------


def why_not_element(dtype: Dtype, element: Element) -> str | None:
    """Why records of `dtype` are not the struct or the vector type `element`; None where they are.

    Examples
    --------
    >>> real = Element("float32", 1, 4, 4, "float")
    >>> double = Element("float64", 1, 8, 8, "double")
    >>> fields = (StructField("a", real, (), 0), StructField("b", double, (), 8))
    >>> pair = Element("", 1, 16, 8, "Pair", fields)
    >>> why_not_element(np.dtype([("a", "f4"), ("b", "f8")]), pair)
    'field b lies at byte 4, and at byte 8 in Pair: the records are packed, without its padding'
    >>> why_not_element(np.dtype([("a", "f4"), ("b", "f8")], align=True), pair) is None
    True
    """
    if is_opaque(dtype, element):
        return None
    if dtype.names is None:
        return f"{dtype} elements are no records"
    fields = _fields(element)
    if fields is None:
        return f"the fields of {element.text} are not known from the cell"
    problem = _wrong_names(dtype.names, fields, element) or _wrong_types(dtype, fields, element)
    if problem is not None:
        return problem
    moved = _wrong_places(dtype, fields, element)
    if moved is not None and _is_packed(dtype):
        return f"{moved}: the records are packed, without its padding"
    return moved


def _fields(element: Element) -> tuple[StructField, ...] | None:
    """The fields of a struct, and those of a vector type: x, y, z, w."""
    if is_struct(element):
        return element.fields
    size = element.size // element.width
    one = Element(element.dtype, 1, size, size, CPP_TYPES.get(element.dtype, element.dtype))
    names = _AXES[: element.width]
    return tuple(StructField(name, one, (), size * k) for k, name in enumerate(names))


def _wrong_names(
    names: Sequence[str], fields: Sequence[StructField], element: Element
) -> str | None:
    wanted = [one.name for one in fields]
    if list(names) == wanted:
        return None
    return f"fields {', '.join(names)}, and {element.text} has {', '.join(wanted) or 'none'}"


def _wrong_types(dtype: Dtype, fields: Sequence[StructField], element: Element) -> str | None:
    for one in fields:
        problem = _wrong_field(_places(dtype)[one.name][0], one)
        if problem is not None:
            return f"field {one.name} of {element.text}: {problem}"
    return None


def _wrong_field(found: Dtype, field: StructField) -> str | None:
    element = field.element
    base, shape = found.subdtype or (found, ())
    if element.width > 1 and holds_components(base, element):
        wanted = (*field.shape, element.width)
        return None if shape == wanted else f"shape {shape}, and {wanted} in the cell"
    if shape != field.shape:
        return f"shape {shape}, and {field.shape} in the cell"
    if holds_components(base, element):
        return None
    if is_struct(element) or base.names is not None:
        return why_not_element(base, element)
    return f"{base}, and {element.text} in the cell"


def _wrong_places(dtype: Dtype, fields: Sequence[StructField], element: Element) -> str | None:
    places = _places(dtype)
    for one in fields:
        offset = places[one.name][1]
        if offset != one.offset:
            return (
                f"field {one.name} lies at byte {offset}, and at byte {one.offset} "
                f"in {element.text}"
            )
    if dtype.itemsize != element.size:
        return f"records of {dtype.itemsize} bytes, and {element.text} has {element.size}"
    return None


def _is_packed(dtype: Dtype) -> bool:
    """Whether records have no padding anywhere, as NumPy lays them out unless told otherwise."""
    return dtype.itemsize == sum(one[0].itemsize for one in _places(dtype).values())


def _places(dtype: Dtype) -> Mapping[str, tuple[Any, ...]]:
    """Field -> its type and offset [bytes]."""
    return cast("Mapping[str, tuple[Any, ...]]", dtype.fields or {})


# ---- what to paste ----------------------------------------------------------------------------


def dtype_text(element: Element) -> str:
    """The dtype of an element, as Python source that uses ``np``.

    Examples
    --------
    >>> real = Element("float32", 1, 4, 4, "float")
    >>> double = Element("float64", 1, 8, 8, "double")
    >>> fields = (StructField("a", real, (2,), 0), StructField("b", double, (), 8))
    >>> dtype_text(Element("", 1, 16, 8, "Pair", fields))
    'np.dtype([("a", "float32", (2,)), ("b", "float64")], align=True)'
    >>> dtype_text(double)
    'np.float64'
    """
    if element.dtype == "bfloat16":
        return "ml_dtypes.bfloat16"
    if not is_struct(element):
        return "np.bool_" if element.dtype == "bool" else f"np.{element.dtype}"
    if element.fields is None:
        return f'np.dtype("V{element.size}")'
    formats = [_format(one) for one in element.fields]
    names = [one.name for one in element.fields]
    pairs = zip(names, formats, strict=True)
    listed = ", ".join(f'("{name}", {", ".join(format_)})' for name, format_ in pairs)
    if _aligned_by_numpy(element):
        return f"np.dtype([{listed}], align=True)"
    plain = ", ".join(one[0] if len(one) == 1 else f"({', '.join(one)})" for one in formats)
    return (
        f'np.dtype({{"names": {names}, "formats": [{plain}], '
        f'"offsets": {[one.offset for one in element.fields]}, "itemsize": {element.size}}})'
    )


def _format(field: StructField) -> list[str]:
    """Type and shape of a field, as source."""
    element = field.element
    shape = field.shape if element.width == 1 else (*field.shape, element.width)
    plain = f'"{element.dtype}"' if element.dtype != "bfloat16" else dtype_text(element)
    text = dtype_text(element) if is_struct(element) else plain
    return [text, *([str(shape)] if shape else [])]


def _aligned_by_numpy(element: Element) -> bool:
    """Whether NumPy's ``align=True`` puts the fields where the compiler did."""
    end, largest = 0, 1
    for one in element.fields or ():
        alignment = _numpy_alignment(one.element)
        end += -end % alignment
        if end != one.offset:
            return False
        end += one.element.size * int(np.prod(one.shape, dtype=object))
        largest = max(largest, alignment)
    return end + -end % largest == element.size


def _numpy_alignment(element: Element) -> int:
    if is_struct(element):
        # What is written with offsets has no alignment of its own.
        inner = [_numpy_alignment(one.element) for one in element.fields or ()]
        return max(inner, default=1) if _aligned_by_numpy(element) else 1
    if element.dtype == "bfloat16":
        return 2
    return np.dtype(element.dtype).alignment

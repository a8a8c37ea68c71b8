"""One number by value: as the compiler's type, exactly, or refused with the fix."""

from __future__ import annotations

import reprlib
from typing import Any, Final, cast

import numpy as np

from kit.boundary.refusals import describe_value
from kit.boundary.verdict import ErrorKind
from kit.cuda.cpp_types import cpp_type
from kit.cuda.element_types import dtype_text, holds_components
from kit.cuda.judged import Judged, accepted, refused
from kit.cuda.signature import CudaParameter, Element
from kit.exact import (
    INT_RANGES,
    InexactError,
    cast_text,
    family_of,
    family_of_dtype,
    rounded_text,
    to_exact_number,
)

__all__ = ["judge_number", "packed_number", "value_text"]

_PYTHON_TYPES: Final = {"bool": bool, "int": int, "float": float, "complex": complex}
_NEEDS: Final = {
    "bool": "a bool",
    "int": "an integer that {} holds; a float is not converted",
    "float": "a real number that {} holds exactly",
    "complex": "a number that {} holds exactly",
}


def packed_number(value: Any, dtype: str) -> bytes:
    """The bytes of a number, converted with no loss.

    Raises
    ------
    TypeError
        `value` is no number of a kind that can become the expected one.
    InexactError
        It is, and `dtype` has no such number.

    Examples
    --------
    >>> packed_number(3, "float32").hex(), packed_number(1.5, "bfloat16").hex()
    ('00004040', 'c03f')
    """
    if isinstance(value, np.generic):
        own = cast(Any, value)
        if holds_components(own.dtype, Element(dtype, 1, own.dtype.itemsize, 1, dtype)):
            return own.tobytes()  # a NaN with all its bits
        value = float(own) if own.dtype.name == "bfloat16" else own
    if dtype == "bfloat16":  # the upper half of a float
        wide = packed_number(value, "float32")
        if wide[:2] != b"\0\0" and value == value:
            raise InexactError
        return wide[2:]
    return cast(bytes, getattr(np, _scalar_name(dtype))(to_exact_number(value, dtype)).tobytes())


def _scalar_name(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype


def judge_number(parameter: CudaParameter, value: Any) -> Judged:
    """Whether `value` passes, converts exactly or is refused."""
    name, element = parameter.name, parameter.element
    try:
        data = packed_number(value, element.dtype)
    except TypeError:
        return _wrong_kind(parameter, value)
    except InexactError:
        rounded = _bfloat16_text if element.dtype == "bfloat16" else rounded_text
        fix = f"{name} = {rounded(name, value, element.dtype, dtype_text(element))}"
        return _number_refused("value", parameter, value, fix)
    if _is_natural(value, element.dtype):
        return accepted(data)
    reason = f"{type(value).__name__} to {element.dtype}, exact"
    return accepted(data, action="CONVERT", reason=reason)


def _is_natural(value: object, dtype: str) -> bool:
    """Whether a number is of the type itself, or of Python's own of that kind."""
    if dtype == "bfloat16":
        return type(value) is float or type(value).__name__ == dtype
    python = _PYTHON_TYPES[family_of_dtype(dtype)]
    return type(value) in (python, getattr(np, _scalar_name(dtype)))


def _wrong_kind(parameter: CudaParameter, value: Any) -> Judged:
    name, element = parameter.name, parameter.element
    text, number = name, value
    if issubclass(type(value), np.ndarray) and value.size:
        size: int = value.size
        text, number = f"{name}.flat[0]" if size > 1 else f"{name}.item()", value.flat[0]
    elif hasattr(value, "__cuda_array_interface__"):
        return _number_refused("type", parameter, value, f"{name} = {name}.item()")
    dtype = "float32" if element.dtype == "bfloat16" else element.dtype
    fits = number is not value and family_of(number) == family_of_dtype(dtype)
    fix = text if fits else cast_text(text, number, dtype, dtype_text(element))
    return _number_refused("type", parameter, value, f"{name} = {fix}")


def _bfloat16_text(text: str, value: object, dtype: str, to: str) -> str:
    return f"{to}({text})  # rounds; import ml_dtypes"


def _number_refused(error: ErrorKind, parameter: CudaParameter, value: Any, fix: str) -> Judged:
    dtype = parameter.element.dtype
    family = "float" if dtype == "bfloat16" else family_of_dtype(dtype)
    need = _NEEDS[family]
    need = need.format(parameter.text)
    if dtype in INT_RANGES:
        need += ": {} to {}".format(*INT_RANGES[dtype])
    wider = _wider(parameter, value)
    if wider is not None:
        fix += f"\n# or declare it in line {parameter.line} of the cell: {wider} {parameter.name}"
    return refused(error, found=value_text(value), need=need, fix=fix)


def _wider(parameter: CudaParameter, value: Any) -> str | None:
    """The C++ type that would take a number as it is."""
    if family_of(value) in (None, "bool") or parameter.element.dtype == "bool":
        return None
    wanted = cpp_type(np.asarray(value).dtype)  # of too large an int, object
    return None if wanted == cpp_type(_dtype_or_none(parameter.element)) else wanted


def _dtype_or_none(element: Element) -> np.dtype[Any] | None:
    return None if element.dtype == "bfloat16" else np.dtype(element.dtype)


def value_text(value: Any) -> str:
    """What was passed by value, for the line "found"."""
    kind = cast("type[Any]", type(value))
    if issubclass(kind, np.void):
        return f"a record of {value.dtype}"
    if not issubclass(kind, (int, float, complex, np.generic)):
        return describe_value(value)
    return f"{kind.__name__} {reprlib.repr(value)}"

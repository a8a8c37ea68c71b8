"""Scalars: which pass as they are, which convert exactly, and which are refused.

Pyccel's wrappers take exactly one Python or NumPy type for each scalar, read ``np.True_`` as False
and run with -1 for an int outside int64 (2.2.3), so every scalar is checked, and converted where
that loses nothing.
"""

from __future__ import annotations

import reprlib
from typing import Any, Final, cast

import numpy as np

from kit.boundary.verdict import PASS, Verdict, refuse
from kit.exact import (
    FAMILIES,
    INT_RANGES,
    Family,
    InexactError,
    cast_text,
    family_of,
    family_of_dtype,
    in_range,
    rounded_text,
    to_exact_number,
)
from kit.signature import ArgumentType

__all__ = ["INT_RANGES", "convert_scalar", "is_mangled", "judge_scalar", "passing_types"]

# What Pyccel's own checks accept (cwrapper.h of 2.2.3): PyLong_CheckExact, PyFloat_Check,
# PyComplex_Check, and the NumPy scalar type itself for the typed ones.
_PYTHON_TYPES: Final[dict[Family, tuple[type, ...]]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (float, np.float64),
    "complex": (complex, np.complex128),
}


def passing_types(expected: ArgumentType) -> tuple[type, ...]:
    """Exact types whose values the compiled function takes as they are (ints: within range).

    Examples
    --------
    >>> passing_types(ArgumentType(dtype="int32", rank=0, order=None, text="int32"))
    (<class 'numpy.int32'>,)
    """
    if expected.dtype == "str":
        return (str,)
    if expected.python_scalar or expected.dtype == "bool":
        return _PYTHON_TYPES[family_of_dtype(expected.dtype)]
    return (cast(type, getattr(np, expected.dtype)),)


def judge_scalar(name: str, value: object, expected: ArgumentType) -> Verdict:
    """Whether `value` passes, converts exactly or is refused; changes nothing.

    Parameters
    ----------
    name : str
        The parameter's name, for the fix.
    value : object
        What was passed.
    expected : ArgumentType
        A type of rank 0 that is no container.
    """
    if expected.dtype == "str":
        return _judge_str(name, value)
    if is_mangled(value):
        return _mangled(name, value, expected)
    if type(value) in passing_types(expected) and in_range(value, expected.dtype):
        return PASS
    try:
        converted = convert_scalar(value, expected)
    except TypeError:
        return _wrong_kind(name, value, expected)
    except InexactError:
        return _not_exact(name, value, expected)
    reason = f"{type(value).__name__} to {type(converted).__name__}, exact"
    return Verdict(action="CONVERT", reason=reason)


def is_mangled(value: object) -> bool:
    """Whether a wrapper makes another number of it.

    2.2.3 multiplies the imaginary part with i, so that ``complex(0, inf)`` becomes nan + inf i.
    """
    if not isinstance(value, (complex, np.complexfloating)):
        return False
    return not np.isfinite(cast("complex | np.complexfloating[Any]", value).imag)


def convert_scalar(value: object, expected: ArgumentType) -> object:
    """`value` as the one type that the compiled function takes.

    Raises
    ------
    TypeError
        If the value is no number of a kind that can become the expected one.
    InexactError
        If it is, and the expected type has no such number.
    """
    if expected.dtype == "str":
        return str(value)
    plain = to_exact_number(value, expected.dtype)
    if expected.python_scalar or expected.dtype == "bool":
        return plain
    return getattr(np, expected.dtype)(plain)


def _judge_str(name: str, value: object) -> Verdict:
    if not isinstance(value, str):
        return refuse(
            "type",
            found=_describe(value),
            need="a str",
            fix=f'{name} = {name}.decode("ascii", "ignore")'
            if isinstance(value, bytes)
            else f"{name} = str({name})",
        )
    if value.isascii() and "\0" not in value:
        return PASS if type(value) is str else Verdict(action="CONVERT", reason="to str, exact")
    # 2.2.3: Fortran cuts the text where its UTF-8 is longer than its characters, C counts bytes in
    # len(), both end at a NUL, and a lone surrogate is a null pointer.
    return refuse(
        "value",
        found=f"text with characters outside ASCII, or a NUL: {ascii(value)[:60]}",
        need="ASCII text, because compiled code counts bytes",
        fix=f'{name} = {name}.replace("\\0", "").encode("ascii", "replace").decode()',
    )


def _describe(value: object) -> str:
    shown = reprlib.repr(value)
    return f"{type(value).__name__} {shown}" if len(shown) <= 60 else type(value).__name__


def _need(expected: ArgumentType) -> str:
    exact = _type_name(expected)
    is_same = exact in (expected.text, f"np.{expected.text}")
    head = exact if is_same else f"{exact}, as {expected.text}"
    others: dict[Family, str] = {
        "bool": "",
        "int": ", or another integer of the same value; a float is not converted",
        "float": ", or another real number of the same value",
        "complex": ", or another number of the same value",
    }
    return head + others[family_of_dtype(expected.dtype)]


def _type_name(expected: ArgumentType) -> str:
    if expected.python_scalar or expected.dtype == "bool":
        return family_of_dtype(expected.dtype)
    return f"np.{expected.dtype}"


def _not_exact(name: str, value: object, expected: ArgumentType) -> Verdict:
    """The refusal of a number that does not fit: too large, or more digits than there are."""
    need = _need(expected)
    fix = f"{name} = {rounded_text(name, value, expected.dtype, _type_name(expected))}"
    wider = {"float32": "float64", "complex64": "complex128"}
    wide = wider.get(expected.dtype) if fix.endswith("# rounds") else None
    if expected.dtype in INT_RANGES:
        low, high = INT_RANGES[expected.dtype]
        need = f"{expected.text}, from {low} to {high}"
        wide = "int64" if expected.dtype != "int64" else None
    if wide is not None:
        fix += f"\n# or annotate {name}: '{wide}'"
    return refuse("value", found=_describe(value), need=need, fix=fix)


def _mangled(name: str, value: Any, expected: ArgumentType) -> Verdict:
    if not expected.dtype.startswith("complex"):
        return _wrong_kind(name, value, expected)
    return refuse(
        "value",
        found=_describe(value),
        need=f"{expected.text} with a finite imaginary part, because Pyccel changes others",
        fix=f"{name} = {_type_name(expected)}({name}.real)  # without the imaginary part\n"
        f"# or annotate {name}: '{expected.dtype}[:]', and pass np.array([{name}])",
    )


def _wrong_kind(name: str, value: object, expected: ArgumentType) -> Verdict:
    """The refusal of what is no number, or a number of a wider kind."""
    if isinstance(value, np.ndarray):
        return _array_for_scalar(name, cast("np.ndarray[Any, Any]", value), expected)
    expression = cast_text(name, value, expected.dtype, _type_name(expected))
    return refuse(
        "type", found=_describe(value), need=_need(expected), fix=f"{name} = {expression}"
    )


def _array_for_scalar(name: str, value: np.ndarray[Any, Any], expected: ArgumentType) -> Verdict:
    found = f"an array of shape {value.shape} and dtype {value.dtype}"
    if value.size == 0:
        fix = f"{name} = {_type_name(expected)}(0)  # the array is empty"
    else:
        element = value.flat[0]
        one = f"{name}.item()" if value.size == 1 else f"{name}.flat[0]"
        needed = family_of(element)
        fits = needed is not None and FAMILIES.index(needed) <= FAMILIES.index(
            family_of_dtype(expected.dtype)
        )
        if not fits:
            one = cast_text(one, element, expected.dtype, _type_name(expected))
        fix = f"{name} = {one}"
        if value.size > 1:
            axes = ",".join(":" * value.ndim)
            fix += f"  # one element; or annotate {name}: '{value.dtype.name}[{axes}]'"
    return refuse("type", found=found, need=_need(expected), fix=fix)

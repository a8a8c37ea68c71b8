"""Scalars: which pass as they are, which convert exactly, and which are refused.

Pyccel's wrappers take exactly one Python or NumPy type for each scalar, read ``np.True_`` as False
and run with -1 for an int outside int64 (2.2.3), so every scalar is checked, and converted where
that loses nothing.
"""

from __future__ import annotations

import reprlib
from typing import Any, Final, Literal, cast

import numpy as np

from kit.boundary.verdict import PASS, Verdict, refuse
from kit.signature import ArgumentType

__all__ = ["INT_RANGES", "convert_scalar", "is_mangled", "judge_scalar", "passing_types"]

Family = Literal["bool", "int", "float", "complex"]
_FAMILIES: Final[tuple[Family, ...]] = ("bool", "int", "float", "complex")

INT_RANGES: Final = {
    f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)
}
"""Lowest and highest value of each integer type."""

# What Pyccel's own checks accept (cwrapper.h of 2.2.3): PyLong_CheckExact, PyFloat_Check,
# PyComplex_Check, and the NumPy scalar type itself for the typed ones.
_PYTHON_TYPES: Final[dict[Family, tuple[type, ...]]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (float, np.float64),
    "complex": (complex, np.complex128),
}


class _InexactError(Exception):
    """The value is of a fitting kind and cannot be represented."""


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
        return _PYTHON_TYPES[_family_of_dtype(expected.dtype)]
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
    if type(value) in passing_types(expected) and _in_range(value, expected):
        return PASS
    try:
        converted = convert_scalar(value, expected)
    except TypeError:
        return _wrong_kind(name, value, expected)
    except _InexactError:
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
    """
    if expected.dtype == "str":
        return str(value)
    target = _family_of_dtype(expected.dtype)
    source = _family_of(value)
    if source is None or _FAMILIES.index(source) > _FAMILIES.index(target):
        raise TypeError
    if (target == "bool") != (source == "bool") and target == "bool":
        raise TypeError
    convert = {"bool": bool, "int": int, "float": _exact_float, "complex": _exact_complex}[target]
    plain = convert(cast(Any, value))
    if not _in_range(plain, expected):
        raise _InexactError
    if expected.python_scalar or target == "bool":
        return plain
    return _exact_numpy(plain, expected.dtype)


def _family_of_dtype(dtype: str) -> Family:
    return next(one for one in _FAMILIES if dtype.startswith(one))


def _family_of(value: object) -> Family | None:
    # timedelta64 is a signedinteger to NumPy, and no number to anyone else.
    if isinstance(value, np.timedelta64):
        return None
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, np.integer)):
        return "int"
    if isinstance(value, (float, np.floating)):
        return "float"
    return "complex" if isinstance(value, (complex, np.complexfloating)) else None


def _in_range(value: object, expected: ArgumentType) -> bool:
    if expected.dtype not in INT_RANGES:
        return True
    low, high = INT_RANGES[expected.dtype]
    return low <= int(cast(int, value)) <= high


def _exact_float(value: Any) -> float:
    if _family_of(value) != "float":
        value = int(value)  # NumPy compares int64 with float in float64, Python compares exactly
    try:
        result = float(value)
    except OverflowError:
        raise _InexactError from None
    if result == value or value != value:  # NaN is equal to nothing and converts to NaN
        return result
    raise _InexactError


def _exact_complex(value: Any) -> complex:
    if _family_of(value) != "complex":
        return complex(_exact_float(value))
    return complex(_exact_float(value.real), _exact_float(value.imag))


def _exact_numpy(plain: Any, dtype: str) -> object:
    with np.errstate(all="ignore"):
        result = getattr(np, dtype)(plain)
    # item() is exact: every narrower number is also a Python one.
    parts = ((plain.real, result.real), (plain.imag, result.imag))
    if all(after.item() == before or before != before for before, after in parts):
        return result
    raise _InexactError


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
    return head + others[_family_of_dtype(expected.dtype)]


def _type_name(expected: ArgumentType) -> str:
    if expected.python_scalar or expected.dtype == "bool":
        return _family_of_dtype(expected.dtype)
    return f"np.{expected.dtype}"


def _not_exact(name: str, value: object, expected: ArgumentType) -> Verdict:
    """The refusal of a number that does not fit: too large, or more digits than there are."""
    need = _need(expected)
    if expected.dtype in INT_RANGES:
        low, high = INT_RANGES[expected.dtype]
        need = f"{expected.text}, from {low} to {high}"
        fix = f"{name} = min(max(int({name}), {low}), {high})  # the nearest that fits"
        if expected.dtype != "int64":
            fix += f"\n# or annotate {name}: 'int64'"
    elif _rounds_to_finite(value, expected):
        fix = f"{name} = {_type_name(expected)}({name})  # rounds"
        if expected.dtype in ("float32", "complex64"):
            wide = "float64" if expected.dtype == "float32" else "complex128"
            fix += f"\n# or annotate {name}: '{wide}'"
    else:
        fix = f"{name} = {_type_name(expected)}(float('inf'))  # too large for {expected.text}"
    return refuse("value", found=_describe(value), need=need, fix=fix)


def _rounds_to_finite(value: Any, expected: ArgumentType) -> bool:
    convert = complex if expected.dtype.startswith("complex") else float
    kind = getattr(np, expected.dtype)
    try:
        with np.errstate(all="ignore"):
            return bool(np.isfinite(kind(convert(value))))
    except OverflowError:
        return False


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
    expression = _cast(name, _family_of(value), expected, value)
    return refuse(
        "type", found=_describe(value), need=_need(expected), fix=f"{name} = {expression}"
    )


def _cast(expression: str, source: Family | None, expected: ArgumentType, value: Any) -> str:
    target = _family_of_dtype(expected.dtype)
    to = _type_name(expected)
    if target == "bool":
        return f"bool({expression})"
    if source == "complex":
        expression = f"{expression}.real"
        value = value.real
        if target == "float":
            return f"{to}({expression})"
    if source is not None and target == "int" and not np.isfinite(value):
        return f"{to}(0)  # {value} is no integer"
    try:
        number = {"int": int, "float": float, "complex": complex}[target](value)
    except Exception:  # whatever __int__ and the like of a stranger raise
        return f"{to}(0)  # a number"
    if target == "int" and not _in_range(number, expected):
        low, high = INT_RANGES[expected.dtype]
        return f"min(max(int({expression}), {low}), {high})  # the nearest that fits"
    return f"{to}({expression})"


def _array_for_scalar(name: str, value: np.ndarray[Any, Any], expected: ArgumentType) -> Verdict:
    found = f"an array of shape {value.shape} and dtype {value.dtype}"
    if value.size == 0:
        fix = f"{name} = {_type_name(expected)}(0)  # the array is empty"
    elif isinstance(value, np.ma.MaskedArray):
        fix = f"{name} = {_type_name(expected)}(0)  # a masked element has no value"
    else:
        element = value.flat[0]
        one = f"{name}.item()" if value.size == 1 else f"{name}.flat[0]"
        needed = _family_of(element)
        fits = needed is not None and _FAMILIES.index(needed) <= _FAMILIES.index(
            _family_of_dtype(expected.dtype)
        )
        fix = f"{name} = {one if fits else _cast(one, needed, expected, element)}"
        if value.size > 1:
            axes = ",".join(":" * value.ndim)
            fix += f"  # one element; or annotate {name}: '{value.dtype.name}[{axes}]'"
    return refuse("type", found=found, need=_need(expected), fix=fix)

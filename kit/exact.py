"""One number as another type, exactly: what converts without loss, and what does not.

Both users need the same answer: a scalar argument of a kernel, an element of an `ArrayView`. And
where there is none, the same text for what to write instead.
"""

from __future__ import annotations

from typing import Any, Final, Literal, cast

import numpy as np

__all__ = [
    "FAMILIES",
    "INT_RANGES",
    "Family",
    "InexactError",
    "cast_text",
    "family_of",
    "family_of_dtype",
    "in_range",
    "rounded_text",
    "to_exact_number",
]

Family = Literal["bool", "int", "float", "complex"]
FAMILIES: Final[tuple[Family, ...]] = ("bool", "int", "float", "complex")
"""Kinds of numbers; each converts to the ones after it, but only bool to bool."""

INT_RANGES: Final = {
    f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)
} | {f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)}
"""Lowest and highest value of each integer type."""


class InexactError(Exception):
    """The value is of a fitting kind and cannot be represented."""


def to_exact_number(value: object, dtype: str) -> bool | int | float | complex:
    """`value` as the Python number that `dtype` holds with no loss.

    Parameters
    ----------
    value : object
        A Python or NumPy scalar.
    dtype : str
        NumPy's name of a bool, integer, floating or complex type.

    Raises
    ------
    TypeError
        `value` is no number of a kind that can become the expected one.
    InexactError
        It is, and `dtype` has no such number: too large, or more digits than there are.

    Examples
    --------
    >>> to_exact_number(np.int8(3), "float32"), to_exact_number(True, "uint8")
    (3.0, 1)
    >>> to_exact_number(0.1, "float32")
    Traceback (most recent call last):
    kit.exact.InexactError
    """
    target = family_of_dtype(dtype)
    source = family_of(value)
    if source is None or FAMILIES.index(source) > FAMILIES.index(target):
        raise TypeError
    if target == "bool" and source != "bool":
        raise TypeError
    convert = {"bool": bool, "int": int, "float": _exact_float, "complex": _exact_complex}[target]
    plain = convert(cast(Any, value))
    if not in_range(plain, dtype):
        raise InexactError
    if target in ("float", "complex"):
        _check_digits(plain, dtype)
    return plain


def family_of_dtype(dtype: str) -> Family:
    """The kind of numbers that a dtype of this name holds."""
    return next(one for one in FAMILIES if dtype.removeprefix("u").startswith(one))


def family_of(value: object) -> Family | None:
    """The kind of a Python or NumPy scalar; None where it is no number."""
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


def in_range(value: object, dtype: str) -> bool:
    """Whether an integer type has the integer `value`; True for every other type."""
    if dtype not in INT_RANGES:
        return True
    low, high = INT_RANGES[dtype]
    return low <= int(cast(int, value)) <= high


def _exact_float(value: Any) -> float:
    if family_of(value) != "float":
        value = int(value)  # NumPy compares int64 with float in float64, Python compares exactly
    try:
        result = float(value)
    except OverflowError:
        raise InexactError from None
    if result == value or value != value:  # NaN is equal to nothing and converts to NaN
        return result
    raise InexactError


def _exact_complex(value: Any) -> complex:
    if family_of(value) != "complex":
        return complex(_exact_float(value))
    return complex(_exact_float(value.real), _exact_float(value.imag))


def _check_digits(plain: Any, dtype: str) -> None:
    with np.errstate(all="ignore"):
        result = getattr(np, dtype)(plain)
    # item() is exact: every narrower number is also a Python one.
    parts = ((plain.real, result.real), (plain.imag, result.imag))
    if not all(after.item() == before or before != before for before, after in parts):
        raise InexactError


# ---- what to write instead --------------------------------------------------------------------


def cast_text(text: str, value: Any, dtype: str, to: str) -> str:
    """An expression for a number of `dtype`, from a value whose kind does not fit.

    Parameters
    ----------
    text : str
        The expression for `value`.
    value : object
        What it stands for; no array.
    dtype : str
        NumPy's name of the type that is needed.
    to : str
        The expression for that type, which is called.

    Examples
    --------
    >>> cast_text("x", 2j, "float32", "np.float32"), cast_text("x", 1e9, "int8", "np.int8")
    ('np.float32(x.real)', 'min(max(int(x), -128), 127)  # the nearest that fits')
    """
    target, source = family_of_dtype(dtype), family_of(value)
    if source == "complex" and target != "bool":
        text, value = f"{text}.real", value.real
        if target == "float":
            return f"{to}({text})"
    if source is not None and target == "int" and not np.isfinite(value):
        return f"{to}(0)  # {value} is no integer"
    try:
        number = {"bool": bool, "int": int, "float": float, "complex": complex}[target](value)
    except Exception:  # whatever __int__ and the like of a stranger raise
        return f"{to}(0)  # a number"
    return f"{to}({text})" if in_range(number, dtype) else _nearest_text(text, dtype)


def rounded_text(text: str, value: Any, dtype: str, to: str) -> str:
    """An expression for a number of `dtype`, from one that is too large or has too many digits.

    The parameters are those of `cast_text`.

    Examples
    --------
    >>> rounded_text("x", 0.1, "float32", "np.float32")
    'np.float32(x)  # rounds'
    >>> rounded_text("x", -1e99, "float32", "np.float32")
    "np.float32(float('-inf'))  # too large for float32"
    """
    if dtype in INT_RANGES:
        return _nearest_text(text, dtype)
    if _rounds_to_finite(value, dtype):
        return f"{to}({text})  # rounds"
    sign = "-" if value.real < 0 else ""
    return f"{to}(float('{sign}inf'))  # too large for {dtype}"


def _nearest_text(text: str, dtype: str) -> str:
    low, high = INT_RANGES[dtype]
    return f"min(max(int({text}), {low}), {high})  # the nearest that fits"


def _rounds_to_finite(value: Any, dtype: str) -> bool:
    convert = complex if family_of_dtype(dtype) == "complex" else float
    try:
        with np.errstate(all="ignore"):
            return bool(np.isfinite(getattr(np, dtype)(convert(value))))
    except OverflowError:
        return False

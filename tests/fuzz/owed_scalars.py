"""Which scalars must be refused, and which arrive exactly, as fractions compare."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

ErrorKind = Literal["type", "value"]
_FAMILIES = ("bool", "int", "float", "complex")


class Reason(NamedTuple):
    """Why an argument must be refused, and as which error."""

    error: ErrorKind
    why: str


# ---- scalars --------------------------------------------------------------------------------


def refuse_scalar(value: Any, dtype: str) -> Iterator[Reason]:
    if dtype == "str":
        if not isinstance(value, str):
            yield Reason("type", "no str")
        elif not value.isascii() or "\0" in value:
            yield Reason("value", "more than ASCII")
        return
    found, wanted = family_of(value), next(one for one in _FAMILIES if dtype.startswith(one))
    if found is None or (found == "bool") < (wanted == "bool"):
        yield Reason("type", "no number of this kind")
        return
    if _FAMILIES.index(found) > _FAMILIES.index(wanted):
        # A complex whose imaginary part is lost on the way anyway may be told so first.
        yield Reason("type", "a wider kind of number")
        return
    if wanted in ("float", "complex"):
        exact = arrives_exactly(value, dtype)
    else:
        exact = _in_range(value, dtype)
    if not exact:
        yield Reason("value", "would become another number")


def family_of(value: Any) -> str | None:
    if isinstance(value, np.timedelta64):
        return None
    for name, kinds in zip(
        _FAMILIES,
        ((bool, np.bool_), (int, np.integer), (float, np.floating), (complex, np.complexfloating)),
        strict=True,
    ):
        if isinstance(value, kinds):
            return name
    return None


def _in_range(value: Any, dtype: str) -> bool:
    bits = {"bool": 64, "int": 64}.get(dtype) or int(dtype.removeprefix("int"))
    return -(2 ** (bits - 1)) <= int(value) < 2 ** (bits - 1)


def arrives_exactly(value: Any, dtype: str) -> bool:
    """Whether a float or complex parameter can hold this number, as fractions compare."""
    bits = {"float": 53, "float64": 53, "complex": 53, "complex128": 53}.get(dtype, 24)
    if isinstance(value, (complex, np.complexfloating)):
        if not np.isfinite(value.imag):  # 2.2.3 makes nan + inf i of inf i
            return False
        return _fits(value.real, bits) and _fits(value.imag, bits)
    return _fits(value, bits)


def _fits(value: Any, bits: int) -> bool:
    if isinstance(value, (float, np.floating)) and not np.isfinite(value):
        return True
    number = Fraction(int(value)) if not isinstance(value, (float, np.floating)) else None
    if number is None:
        number = Fraction(*value.as_integer_ratio())
    if not number:
        return True
    top, bottom = (127, -149) if bits == 24 else (1023, -1074)
    odd = number.numerator // (number.numerator & -number.numerator)
    if number.denominator & (number.denominator - 1) or abs(odd).bit_length() > bits:
        return False
    low = (number.numerator & -number.numerator).bit_length() - number.denominator.bit_length()
    high = low + abs(odd).bit_length() - 1
    return low >= bottom and high <= top

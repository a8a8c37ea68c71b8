"""Scalars of every kind, and what is no scalar at all."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from tests.fuzz.memory import Workshop


class Level(enum.IntEnum):
    LOW = 3
    HIGH = 2**40


class Meters(float):
    """A float with another name."""


class Count(int):
    """An int with another name."""


class Text(str):
    """A str with another name."""


class Vague:
    """Can be asked for a number, and is none."""

    def __float__(self) -> float:
        return 1.5

    def __int__(self) -> int:
        return 1

    def __index__(self) -> int:
        return 1

    def __complex__(self) -> complex:
        return 1j

    def __bool__(self) -> bool:
        return True


_INTS: Final = [0, 1, -1, 7, 127, 128, -128, -129, 2**15, 2**31 - 1, 2**31, -(2**31) - 1]
_INTS_WIDE: Final = [2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**400]
_FLOATS: Final = [0.0, -0.0, 0.5, 0.1, -2.0, 1e300, 5e-324, 2.0**24 + 1]
_FLOATS_MORE: Final = [math.nan, math.inf, -math.inf]
_COMPLEX: Final = [0j, 1 + 2j, 0.5j, 0.1 + 0.1j, complex(math.inf, 1), complex(1, math.inf)]
_COMPLEX_NAN: Final = [complex(math.nan, 2), complex(1, math.nan), complex(-0.0, -0.0)]
_NUMPY: Final = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
_NUMPY_MORE: Final = ["longlong", "ulonglong", "intc", "float16", "float32", "float64"]
_NUMPY_WIDE: Final = ["longdouble", "complex64", "complex128", "clongdouble"]
_STRANGE: Final[list[Callable[[], Any]]] = [
    lambda: None,
    lambda: "12",
    lambda: "",
    lambda: b"ab",
    lambda: "é",
    lambda: "a\0b",
    lambda: Decimal("1.5"),
    lambda: Decimal(2),
    lambda: Fraction(1, 2),
    lambda: Fraction(4),
    lambda: np.array(4),
    lambda: np.array(0.5),
    lambda: np.array([4]),
    lambda: np.array([1.5, 2.5]),
    lambda: np.zeros(0),
    lambda: np.ma.masked,
    lambda: np.ma.array(3.0),
    lambda: np.timedelta64(3, "s"),
    lambda: np.datetime64("2020-01-01"),
    lambda: np.str_("abc"),
    lambda: np.bytes_(b"abc"),
    lambda: np.void(b"ab"),
    lambda: [1],
    lambda: (1.0,),
    dict,
    lambda: range(3),
    lambda: ...,
    lambda: float,
    Vague,
]


def make_scalar(shop: Workshop, dtype: str) -> Any:
    """Anything, at random; often what is just within or just beyond `dtype`."""
    if shop.chance(0.3):
        return _borderline(shop, dtype)
    kind = shop.pick(["python", "numpy", "subclass", "strange"], [4, 5, 1, 4])
    if kind == "python":
        pool = [[True, False], _INTS, _INTS_WIDE, _FLOATS, _FLOATS_MORE, _COMPLEX, _COMPLEX_NAN]
        return shop.pick(shop.pick(pool))
    if kind == "numpy":
        return _numpy_scalar(shop, shop.pick([*_NUMPY, *_NUMPY_MORE, *_NUMPY_WIDE]))
    if kind == "subclass":
        return shop.pick([Level.LOW, Level.HIGH, Meters(2.5), Meters("nan"), Count(5), Text("ab")])
    return shop.pick(_STRANGE)()


def _borderline(shop: Workshop, dtype: str) -> Any:
    if dtype.startswith("int"):
        bits = 64 if dtype == "int" else int(dtype.removeprefix("int"))
        value = shop.pick([1, -1]) * 2 ** (bits - 1) + shop.integer(-1, 1)
        return value if bits == 64 or shop.chance(0.5) else np.int64(value)
    if dtype.startswith("complex"):
        value = shop.pick([*_COMPLEX, *_COMPLEX_NAN])
        return shop.pick([complex, np.complex64, np.complex128])(value)
    if dtype.startswith("float"):
        return shop.pick([2**24 + 1, 2**53 + 1, np.float64(0.1), *_FLOATS, *_FLOATS_MORE])
    return shop.pick([np.True_, np.False_, 0, 1, np.int8(1)])


def _numpy_scalar(shop: Workshop, name: str) -> Any:
    kind = np.dtype(name)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return kind.type(shop.pick([0, 1, 5, int(limits.max), int(limits.min)]))
    value = shop.pick([0.0, 1.0, 0.1, 0.5, math.nan, math.inf, 3.0])
    if kind.kind == "f" and kind.itemsize > 8 and shop.chance(0.3):
        return kind.type(1) + np.finfo(kind).eps
    if kind.kind == "c":
        return kind.type(complex(value, shop.pick([0.0, 2.0, 0.1, math.inf])))
    return kind.type(value)


def make_fitting(shop: Workshop, dtype: str) -> Any:
    """A small number that must arrive, not always of the declared type; text that need not."""
    if dtype == "str":
        odd = ["é", "a\0b", "\ud800", b"ab", 12, None]
        return shop.pick([*odd, *["", "abc", "x " * 30, np.str_("abc"), Text("ab")] * 3])
    if dtype == "bool":
        return shop.pick([True, False, np.True_, np.False_])
    whole = shop.integer(-3, 9)
    names = ["int8", "int16", "int32", "int64", "longlong"]
    choices: list[Any] = [whole, whole, np.dtype(shop.pick(names)).type(whole), Count(whole)]
    choices += [True, np.uint8(abs(whole)), Level.LOW]
    if dtype.startswith(("float", "complex")):
        names = ["float16", "float32", "float64", "longdouble"]
        choices += [whole / 2, whole / 2, np.dtype(shop.pick(names)).type(whole), Meters(whole)]
    if dtype.startswith("complex"):
        choices += [complex(whole, 2), np.complex64(whole - 1j), np.complex128(whole + 0.5j)]
    if shop.chance(0.5):  # the type that the compiled function takes as it is
        exact = {"int": int, "float": float, "complex": complex}.get(dtype)
        return (exact or np.dtype(dtype).type)(whole)
    return shop.pick(choices)

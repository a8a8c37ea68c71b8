"""What is refused where an array is wanted, and arrays with a class, a mask or no writing."""

from __future__ import annotations

import array as array_module
from typing import Any, Final, cast

import numpy as np

from tests.fuzz.arrays import make_array, make_shape
from tests.fuzz.kernels import DTYPES
from tests.fuzz.layouts import Shape, contiguous
from tests.fuzz.memory import Array, Workshop


class Plain(np.ndarray[Any, Any]):
    """A subclass that changes nothing."""


class Quantity(np.ndarray[Any, Any]):
    """Numbers with a unit: arithmetic of its own."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        raise TypeError("units do not agree")


class Shy(np.ndarray[Any, Any]):
    """Its attributes say something else than its memory."""

    def __array_finalize__(self, other: Any) -> None:
        self.note = getattr(other, "note", "new")

    @property
    def T(self) -> Any:
        raise AttributeError("T")

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]


class ArrayLike:
    """Gives an array to who asks."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self.array, dtype=dtype)

    def __len__(self) -> int:
        return len(self.array)


class Interface:
    """Shows its memory by NumPy's own protocol."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


OTHER_DTYPES: Final = (
    *DTYPES,
    *("uint8", "uint16", "uint32", "uint64", "float16", "longdouble", "clongdouble"),
    *("O", "S4", "U3", "M8[s]", "m8[ms]", "V8"),
)


def wrong_dtype(shop: Workshop, shape: Shape, dtype: str, order: str) -> Array:
    """An array of other elements."""
    other = shop.pick([one for one in OTHER_DTYPES if one != dtype])
    if shop.chance(0.1):
        fields = [("n", "i4"), ("v", "f8")]
        made = np.zeros(shape, fields)
        made["v"] = shop.numbers(shape, "f8")
        return made
    # Not the long ones: their padding is anything, and would count as changed.
    if np.dtype(other).kind in "biufc" and "long" not in other and shop.chance(0.5):
        return make_array(shop, shape, other, order)
    made = np.empty(shape, other, order=order)  # type: ignore[call-overload]
    if other == "V8":
        made[...] = b"12345678"
    else:
        made[...] = shop.numbers(shape, "int64").astype(other)
    return made


def wrong_rank(shop: Workshop, rank: int, dtype: str, order: str) -> Array:
    other = shop.pick([one for one in range(6) if one != rank])
    if other == 0:
        return np.asarray(shop.numbers((), dtype)).astype(dtype)
    return make_array(shop, make_shape(shop, other), dtype, order)


def no_array(shop: Workshop, shape: Shape, dtype: str, order: str) -> Any:
    """Lists and the like, scalars, None, and objects that only show an array."""
    plain = contiguous(shop, shape, dtype, order)
    return shop.pick(
        [
            plain.tolist,
            lambda: tuple(plain.tolist()),
            lambda: range(3),
            lambda: 5.0,
            lambda: plain.dtype.type(1),
            lambda: None,
            lambda: memoryview(cast(Any, plain)),
            lambda: array_module.array("d", [1.0, 2.0]),
            lambda: "text",
            lambda: b"bytes",
            lambda: {"a": 1},
            lambda: iter([1.0]),
            lambda: [[1.0], [2.0, 3.0]],
            lambda: ArrayLike(plain),
            lambda: Interface(plain),
            lambda: np.ma.masked,
            lambda: plain.ctypes,
            lambda: type(plain),
            lambda: np.dtype(dtype),
        ]
    )()


def with_class(shop: Workshop, array: Array) -> Array:
    """The same memory under a subclass, with a mask, or under another name of its dtype."""
    kind = shop.pick(
        ["plain", "quantity", "shy", "recarray", "matrix", "masked", "masked", "metadata"]
    )
    shop.kinds.append("subclasses and masks")
    if kind == "plain":
        return array.view(Plain)
    if kind == "quantity":
        return array.view(Quantity)
    if kind == "shy":
        return array.view(Shy)
    if kind == "recarray":
        return array.view(np.recarray)
    if kind == "matrix" and array.ndim == 2:
        return array.view(np.matrix)
    if kind == "masked":
        return _masked(shop, array)
    return _renamed(shop, array)


def _masked(shop: Workshop, array: Array) -> Array:
    mask: Any = np.ma.nomask
    if shop.chance(0.7):
        mask = np.zeros(array.shape, bool)
        if mask.size and shop.chance(0.7):
            mask.reshape(-1)[shop.integer(0, mask.size - 1)] = True
    made = np.ma.MaskedArray(array, mask, hard_mask=shop.chance(0.2), shrink=False)
    shop.keep.append(mask)
    return made


def _renamed(shop: Workshop, array: Array) -> Array:
    """long long is another type number with the same elements; metadata makes another object."""
    kind = array.dtype
    if kind == np.dtype("int64") and shop.chance(0.7):
        return array.view(np.longlong)
    if kind.kind in "iufcb" and kind.isnative:
        return array.view(np.dtype(kind.str, metadata={"unit": "m"}))
    return array


def make_read_only(shop: Workshop, array: Array) -> Array:
    shop.kinds.append("read-only")
    if shop.chance(0.5):
        array = array[...]
    array.flags.writeable = False
    return array

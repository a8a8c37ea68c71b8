"""Every way in which the elements of a source can lie, with elements that differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

__all__ = ["EMPTY", "LAYOUTS", "TYPES", "elements", "numbers"]

Array = np.ndarray[Any, Any]

TYPES: Final = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip


def elements(count: int, dtype: str) -> Array:
    """So many elements; those that are near in memory differ."""
    counted = np.arange(1, count + 1)
    if dtype == "bool":
        return counted % 3 == 0
    if dtype.startswith("complex"):
        return (counted % 50 + 1j * (counted % 7)).astype(dtype)
    return (counted % 50).astype(dtype)


def numbers(dtype: str) -> tuple[Any, Any]:
    """Two numbers that differ, as Python has them."""
    if dtype == "bool":
        return False, True
    if dtype.startswith("complex"):
        return 3 - 2.5j, -1j
    return (3.5, -0.25) if dtype.startswith("float") else (3, 101)


def _block(*shape: int, order: Any = "C") -> Callable[[str], Array]:
    def make(dtype: str) -> Array:
        return np.array(elements(int(np.prod(shape)), dtype).reshape(shape), order=order)

    return make


def _strided(base: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """As numpy.lib.stride_tricks makes them, but with the memory as their base."""
    return np.ndarray(shape, base.dtype, base, strides=[one * base.itemsize for one in strides])


def _of(shape: tuple[int, ...], cut: Callable[[Array], Array], order: Any = "C") -> Any:
    return lambda dtype: cut(_block(*shape, order=order)(dtype))


LAYOUTS: Final[dict[str, Callable[[str], Array]]] = {
    "one axis": _block(7),
    "no axis": _block(),
    "C": _block(3, 4),
    "F": _block(3, 4, order="F"),
    "C, three axes": _block(2, 3, 4),
    "sliced": _of((5, 6), lambda a: a[1:4, 2:5]),
    "sliced F": _of((5, 6), lambda a: a[1:4, 2:5], "F"),
    "stepped": _of((6, 7), lambda a: a[::2, ::3]),
    "stepped middle": _of((3, 5, 2), lambda a: a[:, ::2]),
    "one column": _of((4, 5), lambda a: a[:, 2]),
    "negative": _of((7,), lambda a: a[::-1]),
    "negative inner": _of((3, 4), lambda a: a[:, ::-1]),
    "negative outer, stepped": _of((6, 4), lambda a: a[::-2, 1:]),
    "transposed": _of((3, 4), lambda a: a.T),
    "permuted": _of((2, 3, 4), lambda a: a.transpose(1, 0, 2)),
    "all at once": _of((4, 6, 5), lambda a: a[::-1, ::2, 1:4].transpose(2, 0, 1)),
    "unit axes": _of((3, 4), lambda a: a[:, None, 1:2]),
    "diagonal": _of((4, 4), lambda a: _strided(a, (4,), (5,))),
    "repeated": _of((4,), lambda a: _strided(a, (3, 4), (0, 1))),
    "windows": _of((6,), lambda a: _strided(a, (4, 3), (1, 1))),
    "long": _block(1000),
}
"""Name -> an array of the dtype that is given, new each time."""

EMPTY: Final = ((0,), (0, 3), (3, 0), (0, 0), (3, 0, 2))

"""New memory: of a given order, at an address that is a multiple of what was asked for."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final, SupportsIndex, cast

import numpy as np

from kit.errors import argument_refused
from kit.memory.indexing import checked_order
from kit.terms import Order

__all__ = ["ALIGNMENTS", "allocate", "read_alignment", "read_shape"]

ALIGNMENTS: Final = (0, 16, 32, 64, 128)
"""What the start of storage can be a multiple of; 0 leaves it to NumPy [bytes]."""

NdArray = np.ndarray[Any, Any]


def read_shape(shape: object) -> tuple[int, ...]:
    """Extents as integers; one integer is a shape of one axis.

    Raises
    ------
    IndexError
        An extent is negative.
    ArgumentRefused
        Also a TypeError: an entry is no integer.
    """
    entries = (shape,) if isinstance(shape, SupportsIndex) else shape
    try:
        extents = tuple(operator.index(one) for one in cast("Sequence[SupportsIndex]", entries))
    except TypeError:
        is_array = hasattr(shape, "dtype")
        raise argument_refused(
            TypeError,
            "ArrayView",
            "shape",
            found=f"an object of type {type(shape).__name__}",
            need="an integer for each axis",
            fix="ArrayView(array=shape)  # shares the memory of an array"
            if is_array
            else "shape = (3, 4)",
        ) from None
    for axis, extent in enumerate(extents):
        if extent < 0:
            raise IndexError(f"extent {extent} on axis {axis} is negative")
    return extents


def read_alignment(alignment: object) -> int:
    """One of `ALIGNMENTS`.

    Raises
    ------
    ArgumentRefused
        It is none of them; also a ValueError.
    """
    # By __index__, because 16.0 is equal to 16 and is no integer.
    if hasattr(alignment, "__index__") and alignment in ALIGNMENTS:
        return operator.index(cast(SupportsIndex, alignment))
    raise argument_refused(
        ValueError,
        "ArrayView",
        "alignment",
        found=f"alignment={alignment!r}",
        need="one of " + ", ".join(map(str, ALIGNMENTS)),
        fix="alignment = 64  # a line of the cache",
    )


def allocate(shape: tuple[int, ...], dtype: np.dtype[Any], order: Order, alignment: int) -> NdArray:
    """A contiguous array of uninitialised elements.

    Parameters
    ----------
    shape : tuple of int
        Extents, ghosts included.
    dtype : numpy.dtype
        Of the elements.
    order : {"C", "F"}
        Which axis is fastest.
    alignment : {0, 16, 32, 64, 128}
        What the address of the first element is a multiple of [bytes].

    Examples
    --------
    >>> made = allocate((3, 5), np.dtype("float32"), "F", 128)
    >>> made.ctypes.data % 128, made.strides
    (0, (4, 12))
    """
    checked_order(order)
    if alignment == 0:
        return np.empty(shape, dtype, order)
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    raw = np.empty(size + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return np.ndarray(shape, dtype, buffer=raw, offset=start, order=order)

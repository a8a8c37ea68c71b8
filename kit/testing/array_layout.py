"""One way for an array to lie in memory, and arrays that lie so."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

__all__ = ["ArrayLayout", "new_storage"]

NdArray = np.ndarray[Any, Any]

_ALIGNMENT: Final = 64
"""Of storage [bytes]: more than any element needs, so that only the layout decides."""

_UNWRITTEN: Final = 0xA5
"""Fills storage, so that what lies between elements is no number that a kernel computes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayLayout:
    """One way for an array to lie in memory; holds no array.

    Parameters
    ----------
    name : str
        What it is, ``"reversed axis 0"``; `layouts` gives each name once.
    shape : tuple of int
        Extents [elements].
    dtype : numpy.dtype
        Of the elements, with their byte order.
    storage_bytes : int
        Memory that the array is part of [bytes].
    offset : int
        Of the element at index 0, from the start of the storage [bytes].
    strides_bytes : tuple of int
        Step along each axis; 0 where the array repeats itself, negative where it is reversed
        [bytes].
    writeable : bool
        Whether NumPy lets it be written.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    storage_bytes: int
    offset: int
    strides_bytes: tuple[int, ...]
    writeable: bool = True

    @property
    def native(self) -> bool:
        """Whether the byte order is the processor's."""
        return self.dtype.isnative

    @property
    def aligned(self) -> bool:
        """Whether every element lies at a multiple of what its type needs."""
        alignment = self.dtype.alignment
        return all(place % alignment == 0 for place in (self.offset, *self.strides_bytes))

    @property
    def strides_elements(self) -> tuple[int, ...] | None:
        """Step along each axis; None where one is no whole number of elements [elements]."""
        size = self.dtype.itemsize
        if any(stride % size for stride in self.strides_bytes):
            return None
        return tuple(stride // size for stride in self.strides_bytes)

    @property
    def is_for_views(self) -> bool:
        """Whether an ``ArrayND<const T>`` and an `ArrayView` take it without a copy."""
        return self.native and self.aligned and self.strides_elements is not None

    def array(self, values: Any = None) -> NdArray:
        """A new array that lies like this.

        Parameters
        ----------
        values : array_like, shape `shape`, optional
            Its elements; by default 0, 1, 2, ... in C order (of bool, every other is true). Where
            an axis repeats itself, those at index 0 of that axis.

        Examples
        --------
        >>> from kit.testing import layouts
        >>> [layout] = [one for one in layouts((2, 3)) if one.name == "reversed axis 1"]
        >>> layout.array()
        array([[0., 1., 2.],
               [3., 4., 5.]])
        >>> layout.array().strides
        (24, -8)
        """
        array = self.over(new_storage(self.storage_bytes))
        given = self._default() if values is None else values
        repeated = tuple(slice(1) if step == 0 else slice(None) for step in self.strides_bytes)
        array[repeated] = np.broadcast_to(given, self.shape)[repeated]
        array.flags.writeable = self.writeable
        return array

    def over(
        self, storage: NdArray, dtype: np.dtype[Any] | None = None, inner: tuple[int, ...] = ()
    ) -> NdArray:
        """The array as part of given memory, which is shared; always writeable.

        Parameters
        ----------
        storage : array of uint8, shape (storage_bytes,)
            The memory.
        dtype : numpy.dtype, optional
            Of what lies in one element, where that is an array itself.
        inner : tuple of int
            Extents of that array, which is in C order.
        """
        dtype = dtype or self.dtype
        inner_strides = np.empty(inner, dtype).strides
        return np.ndarray(
            (*self.shape, *inner),
            dtype,
            buffer=storage,
            offset=self.offset,
            strides=(*self.strides_bytes, *inner_strides),
        )

    def _default(self) -> NdArray:
        count: NdArray = np.arange(prod(self.shape)).reshape(self.shape)
        return count % 2 == 1 if self.dtype.kind == "b" else count

    def __str__(self) -> str:
        return self.name


def new_storage(n_bytes: int) -> NdArray:
    """Memory of its own, aligned and filled with a pattern; shape (n_bytes,), dtype uint8."""
    memory = np.full(n_bytes + _ALIGNMENT, _UNWRITTEN, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + n_bytes]

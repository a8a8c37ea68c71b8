"""Array arguments of one call: copies of generated values, in memory that is looked at after."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from kit.arrayview import ArrayView
from kit.testing.array_layout import ArrayLayout, new_storage
from kit.testing.every_layout import layouts

__all__ = ["LaidOut", "Values", "generated_layouts"]

NdArray = np.ndarray[Any, Any]

_MOST_MARGIN: Final = 1 << 20


class Values(NamedTuple):
    """A generated array: what its copies hold, however they lie.

    Parameters
    ----------
    elements : numpy.ndarray
        All of them, those of ghost layers too; components of vector types in the last axis.
    nghost : tuple of (int, int) or None
        Ghost layers where the argument is an `ArrayView`.
    width : int
        Components of one element; 1 where the last axis is like the others.
    """

    elements: NdArray
    nghost: tuple[tuple[int, int], ...] | None = None
    width: int = 1

    @property
    def outer(self) -> tuple[int, ...]:
        """Extents that a layout is about."""
        return self.elements.shape[:-1] if self.width > 1 else self.elements.shape

    @property
    def element(self) -> np.dtype[Any]:
        """What a layout takes as one element."""
        dtype = self.elements.dtype
        return np.dtype((np.void, dtype.itemsize * self.width)) if self.width > 1 else dtype


def generated_layouts(values: Values) -> tuple[ArrayLayout, ...]:
    """Every layout of one argument; C order comes first."""
    return layouts(values.outer, values.element)


class LaidOut:
    """One array argument of one call.

    Parameters
    ----------
    values : Values
        What it holds at first.
    layout : ArrayLayout
        How it lies, of `generated_layouts`.
    on_device : bool
        Whether the memory is the GPU's.
    """

    def __init__(self, values: Values, layout: ArrayLayout, *, on_device: bool) -> None:
        self._values = values
        self._layout = layout
        self._margin = margin = _margin(layout.storage_bytes)
        memory = new_storage(layout.storage_bytes + 2 * margin)
        array = self._array_in(memory)
        array[...] = values.elements
        self._before = memory.copy()
        self._device: Any = None
        if on_device:
            from kit.backends.device_memory import array_in_device_memory, copy_to_device

            self._device = copy_to_device(memory)
            array = array_in_device_memory(
                self._device, array.shape, array.dtype, margin + layout.offset, array.strides
            )
        else:
            array.flags.writeable = layout.writeable
        self._memory = memory
        self.argument: Any = array
        if values.nghost is not None:
            readonly = not layout.writeable
            self.argument = ArrayView(array=array, nghost=values.nghost, readonly=readonly)

    def elements(self) -> NdArray:
        """What it holds now, as a host array; waits for the device."""
        self._fetch()
        return self._array_in(self._memory)

    def is_written_around(self) -> bool:
        """Whether memory between or around the elements has changed."""
        self._fetch()
        changed = (self._memory != self._before).view(np.uint8)
        one_element = (self._layout.dtype.itemsize,)
        self._layout.over(self._storage_in(changed), np.dtype(np.uint8), one_element)[...] = 0
        return bool(changed.any())

    def _fetch(self) -> None:
        if self._device is not None:
            from kit.backends.device_memory import copy_to_host

            self._memory = copy_to_host(self._device)

    def _storage_in(self, memory: NdArray) -> NdArray:
        return memory[self._margin : self._margin + self._layout.storage_bytes]

    def _array_in(self, memory: NdArray) -> NdArray:
        values = self._values
        inner = (values.width,) if values.width > 1 else ()
        dtype = values.elements.dtype if values.width > 1 else self._layout.dtype
        return self._layout.over(self._storage_in(memory), dtype, inner)


def _margin(n_bytes: int) -> int:
    """Memory on both sides of an array, for what is written beside it.

    As much as the array has, up to a limit: a kernel that takes every stride for 1, or every index
    for positive, then writes there, and not where the process has something else.
    """
    return -(-min(n_bytes, _MOST_MARGIN) // 64) * 64 + 64

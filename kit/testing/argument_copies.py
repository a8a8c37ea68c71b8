"""Array arguments of one call: copies of generated values, in memory that is looked at after."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kit.arrayview import ArrayView
from kit.testing.array_layout import ArrayLayout, new_storage
from kit.testing.every_layout import layouts

__all__ = ["LaidOut", "Values", "generated_layouts"]

NdArray = np.ndarray[Any, Any]


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
        storage = new_storage(layout.storage_bytes)
        repeated = tuple(slice(1) if step == 0 else slice(None) for step in layout.strides_bytes)
        array = self._over(storage)
        array[repeated] = values.elements[repeated]
        self._before = storage.copy()
        self._device: Any = None
        if on_device:
            from kit.backends.device_memory import array_in_device_memory, copy_to_device

            self._device = copy_to_device(storage)
            array = array_in_device_memory(
                self._device, array.shape, array.dtype, layout.offset, array.strides
            )
        else:
            array.flags.writeable = layout.writeable
        self._storage = storage
        self.argument: Any = array
        if values.nghost is not None:
            readonly = not layout.writeable
            self.argument = ArrayView(array=array, nghost=values.nghost, readonly=readonly)

    def elements(self) -> NdArray:
        """What it holds now, as a host array; waits for the device."""
        self._fetch()
        return self._over(self._storage)

    def is_written_between(self) -> bool:
        """Whether memory between or around the elements has changed."""
        self._fetch()
        changed = self._storage != self._before
        self._over(changed.view(np.uint8), bytes_only=True)[...] = 0
        return bool(changed.any())

    def _fetch(self) -> None:
        if self._device is not None:
            from kit.backends.device_memory import copy_to_host

            self._storage = copy_to_host(self._device)

    def _over(self, storage: NdArray, *, bytes_only: bool = False) -> NdArray:
        if bytes_only:
            size = self._layout.dtype.itemsize
            return self._layout.over(storage, np.dtype(np.uint8), (size,))
        values = self._values
        inner = (values.width,) if values.width > 1 else ()
        dtype = values.elements.dtype if values.width > 1 else self._layout.dtype
        return self._layout.over(storage, dtype, inner)

"""A view's memory as other libraries take it: all of the storage, ghosts included."""

from __future__ import annotations

from typing import Any

import numpy as np

from kit.views.device import cuda_array_interface, export_dlpack
from kit.views.laid_out import LaidOut

__all__ = ["Exported"]

NdArray = np.ndarray[Any, Any]

_DLPACK_CPU = (1, 0)  # kDLCPU, its only device


class Exported(LaidOut):
    """The protocols by which a view shares its memory; the base type exports the buffer."""

    __slots__ = ()

    @property
    def ndarray(self) -> NdArray:
        """A new array that shares the memory, from the start of storage, ghosts included.

        It keeps the memory alive, also when the view is gone, and is writeable unless the view is
        read-only.
        """
        return self._storage("ndarray").view()

    @property
    def owner(self) -> object:
        """What the memory belongs to: the outermost ndarray, or another library's device array."""
        found = self._array
        if found is None:
            return self._device.owner
        while isinstance(found.base, np.ndarray):
            found = found.base
        return found

    @property
    def is_from_python(self) -> bool:
        """Whether the memory belongs to an object that was wrapped; False where kit allocated."""
        return self._extra.is_from_python

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NdArray:
        # One thing of NumPy: what copy means, and which conversions need one.
        return np.array(self.ndarray, dtype=dtype, copy=copy)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self._array is None:
            raise AttributeError("the elements lie on a device: __cuda_array_interface__")
        return self._array.__array_interface__

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._array is not None:
            raise AttributeError("the elements lie on the host: __array_interface__")
        return cuda_array_interface(self._device)

    def __dlpack__(self, **options: Any) -> object:
        if self._array is None:
            return export_dlpack(self._device, **options)
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        if self._array is None:
            export: Any = getattr(self._device.owner, "__dlpack_device__", None)
            if export is None:
                raise BufferError("the owner of this device memory knows no DLPack")
            return export()
        return _DLPACK_CPU

"""Memory of the GPU as plain bytes, and arrays of any layout in it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["array_in_device_memory", "copy_to_device", "copy_to_host"]


def copy_to_device(storage: np.ndarray[Any, Any]) -> Any:
    """A CuPy array of uint8 that holds the same bytes."""
    cupy: Any = import_module("cupy")
    return cupy.asarray(storage)


def copy_to_host(memory: Any) -> np.ndarray[Any, Any]:
    """The bytes as they are once all work of the current stream is done."""
    return memory.get()


def array_in_device_memory(
    memory: Any,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    offset: int,
    strides_bytes: tuple[int, ...],
) -> Any:
    """A CuPy array over part of memory, which lives as long as the array.

    Parameters
    ----------
    memory : cupy.ndarray of uint8
        The memory.
    shape : tuple of int
        Extents [elements].
    dtype : numpy.dtype
        Of the elements.
    offset : int
        Of the element at index 0 [bytes].
    strides_bytes : tuple of int
        Steps [bytes].
    """
    cupy: Any = import_module("cupy")
    return cupy.ndarray(shape, dtype, memptr=memory.data + offset, strides=strides_bytes)

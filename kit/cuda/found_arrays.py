"""What was passed as an array: where its elements lie, of what type, and for whom to wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from kit.arrays import array_kind, cupy_type
from kit.layout import LayoutFacts, inspect_layout
from kit.views.base import View, parts_of
from kit.views.device import body_facts
from kit.views.ghosts import Ghosts
from kit.views.rest import PLAIN, DeviceMemory

__all__ = ["FoundArray", "find_array", "is_cupy"]

NdArray = np.ndarray[Any, Any]


class FoundArray(NamedTuple):
    """An array that a kernel could reach, of NumPy, of kit, or of a device's library.

    Parameters
    ----------
    facts : LayoutFacts
        From index 0 on: of an `ArrayView`, its body. Strides are 0 where nothing can be reached.
    storage : LayoutFacts
        Every element that can be reached, ghosts included.
    ghosts : tuple of (int, int) or None
        Layers below and above, for each axis; None where there are none.
    dtype : numpy.dtype
        Of the elements, with the fields of records.
    array : numpy.ndarray or None
        The array itself, where it lies on the host.
    owner : object
        What the elements belong to, where they lie on a device.
    stream : int or None
        On which the device may still be writing them.
    """

    facts: LayoutFacts
    storage: LayoutFacts
    ghosts: Ghosts | None
    dtype: np.dtype[Any]
    array: NdArray | None = None
    owner: object = None
    stream: int | None = None


def find_array(value: object) -> FoundArray | None:
    """What `value` is as an array; None where it is none that a kernel can reach.

    Raises
    ------
    Exception
        Whatever a stranger raises that has a protocol and refuses to serve it.

    Notes
    -----
    Arrays of other libraries on the host, those that only know DLPack and plain buffers are None:
    `numpy.asarray` and its like share their memory. No library is imported, no element is read.
    """
    if isinstance(value, View):
        array, rest = parts_of(value)
        ghosts = (rest or PLAIN).ghosts
        if array is None:
            memory = cast(DeviceMemory, (rest or PLAIN).device)
            return _on_device(memory.facts, ghosts, memory.owner, np.dtype(memory.facts.dtype))
        return _on_host(array, ghosts)
    if isinstance(value, np.ndarray):
        return _on_host(cast(NdArray, value), None)
    if is_cupy(value):
        facts = _of_cupy(value)
        return _on_device(facts, None, value, cast(Any, value).dtype)
    if array_kind(value) == "cuda":
        return _on_device(inspect_layout(value), None, value, _device_dtype(value))
    return None


def _on_host(array: NdArray, ghosts: Ghosts | None) -> FoundArray:
    storage = inspect_layout(array)
    storage = storage if storage.size else _without_steps(storage)
    return FoundArray(body_facts(storage, ghosts), storage, ghosts, array.dtype, array)


def _on_device(
    storage: LayoutFacts, ghosts: Ghosts | None, owner: object, dtype: np.dtype[Any]
) -> FoundArray:
    storage = storage if storage.size else _without_steps(storage)
    facts = body_facts(storage, ghosts)
    return FoundArray(facts, storage, ghosts, dtype, owner=owner, stream=_stream(owner))


def _stream(owner: Any) -> int | None:
    # CuPy names its current stream, on which kernels are launched anyway.
    if is_cupy(owner):
        return None
    return getattr(owner, "__cuda_array_interface__", {}).get("stream")


def _of_cupy(array: Any) -> LayoutFacts:
    # Not by __cuda_array_interface__: it asks the driver for the current stream.
    return LayoutFacts(
        shape=array.shape,
        strides_bytes=array.strides,
        itemsize=array.itemsize,
        place="device",
        dtype=array.dtype.name,
        pointer=array.data.ptr,
    )


def _device_dtype(owner: Any) -> np.dtype[Any]:
    from kit.memory.interfaces import interface_dtype

    dtype = interface_dtype(owner.__cuda_array_interface__)
    own: Any = getattr(owner, "dtype", None)
    # Of bfloat16 the interface says just that it has two bytes.
    if dtype.names is None and dtype.kind == "V" and isinstance(own, np.dtype):
        return cast("np.dtype[Any]", own) if own.itemsize == dtype.itemsize else dtype
    return dtype


def is_cupy(value: object) -> bool:
    """Whether `value` is an array of CuPy, which an instance of shows to be imported."""
    kind = cupy_type()
    return kind is not None and isinstance(value, kind)


def _without_steps(facts: LayoutFacts) -> LayoutFacts:
    return replace(facts, strides_bytes=(0,) * facts.ndim)

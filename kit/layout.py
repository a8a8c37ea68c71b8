"""`inspect_layout`: the layout of any array, of any library, without importing it."""

from __future__ import annotations

import sys
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kit.arrays import array_kind
from kit.memory.facts import LayoutFacts

if TYPE_CHECKING:
    from kit.memory.foreign import ForeignMemory

__all__ = ["LayoutFacts", "inspect_layout"]

_WRITEABLE = 0x0400  # NPY_ARRAY_WRITEABLE


def inspect_layout(array: object) -> LayoutFacts:
    """Where the elements of `array` lie; reads none of them and copies nothing.

    Parameters
    ----------
    array : array of any library
        A NumPy array, or an object with ``__cuda_array_interface__``, ``__array_interface__`` or
        DLPack, looked for in this order (see `kit.arrays.array_kind`). Its library is not
        imported.

    Returns
    -------
    LayoutFacts
        Holds no reference: `array` can be freed, and the addresses are then stale.

    Raises
    ------
    TypeError
        `array` is none of these, or its elements have no addresses.
    ValueError
        What `array` says about itself is contradictory.
    Exception
        Whatever `array` raises where it has a protocol and refuses to serve it.

    Notes
    -----
    Does not synchronise a device. Strides of None in an interface are C-contiguous. DLPack
    calls ``__dlpack__``, which some libraries make visible (a PyTorch tensor counts its export).

    Examples
    --------
    >>> facts = inspect_layout(np.zeros((3, 4), order="F"))
    >>> facts.order, facts.strides_bytes, facts.has_gaps, facts.overlaps
    ('F', (8, 24), False, False)
    """
    if isinstance(array, np.ndarray):
        return _inspect_numpy(cast("np.ndarray[Any, np.dtype[Any]]", array))
    return _from_foreign(_read_foreign(array))


def _inspect_numpy(array: np.ndarray[Any, np.dtype[Any]]) -> LayoutFacts:
    masked = False
    if type(array) is not np.ndarray:
        masked = _is_masked(array)
        # Subclasses may redefine what their attributes mean; a plain view may not.
        array = np.ndarray.view(array, np.ndarray)
    dtype, native = _dtype_facts(array.dtype)
    flags = array.flags
    return LayoutFacts(
        shape=array.shape,
        strides_bytes=array.strides,
        itemsize=array.itemsize,
        place="host",
        dtype=dtype,
        pointer=array.ctypes.data,
        native=native,
        aligned=flags.aligned,
        # By its bit: reading flags.writeable of what broadcast_arrays gives is a FutureWarning.
        writeable=bool(flags.num & _WRITEABLE),
        masked=masked,
    )


@lru_cache(maxsize=256)
def _dtype_facts(dtype: np.dtype[Any]) -> tuple[str, bool]:
    # dtype.name is composed anew each time, which costs as much as all the rest.
    return dtype.name, dtype.isnative


def _is_masked(array: object) -> bool:
    # An instance exists only where somebody has imported numpy.ma, which NumPy itself does not.
    ma = sys.modules.get("numpy.ma")
    if ma is None or not isinstance(array, ma.MaskedArray):
        return False
    return ma.getmask(array) is not ma.nomask


def _read_foreign(array: Any) -> ForeignMemory:
    # Imported here: most sessions inspect NumPy arrays only.
    kind = array_kind(array)
    if kind == "cuda":
        from kit.memory.interfaces import read_array_interface

        return read_array_interface(array.__cuda_array_interface__, place="device")
    if kind == "array_interface":
        from kit.memory.interfaces import read_array_interface

        return read_array_interface(array.__array_interface__, place="host", owner=array)
    if kind == "dlpack":
        from kit.memory.dlpack import read_dlpack

        return read_dlpack(array)
    raise TypeError(
        f"found {type(array).__name__}, need an array (NumPy, __cuda_array_interface__, "
        "__array_interface__ or DLPack); numpy.asarray makes one of lists, scalars and buffers"
    )


def _from_foreign(memory: ForeignMemory) -> LayoutFacts:
    shape, strides = memory.shape, memory.strides_bytes
    if any(extent < 0 for extent in shape):
        raise ValueError(f"shape {shape} has a negative extent")
    if strides is None:
        strides = _c_strides(shape, memory.itemsize)
    if len(strides) != len(shape):
        raise ValueError(f"shape {shape} and strides {strides} differ in their number of axes")
    if memory.pointer == 0 and prod(shape) * memory.itemsize:
        raise ValueError(f"the address is 0 (NULL), yet shape {shape} has {prod(shape)} elements")
    return LayoutFacts(
        shape=shape,
        strides_bytes=strides,
        itemsize=memory.itemsize,
        place=memory.place,
        dtype=memory.dtype,
        pointer=memory.pointer,
        native=memory.native,
        aligned=_is_aligned(memory.pointer, shape, strides, memory.alignment),
        writeable=memory.writeable,
        masked=memory.masked,
    )


def _c_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides: list[int] = []
    step = itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)  # a stride of 0 would read as a repeated element
    return tuple(strides[::-1])


def _is_aligned(
    pointer: int, shape: tuple[int, ...], strides: tuple[int, ...], alignment: int
) -> bool:
    # NumPy's rule: an array without elements is aligned, and so is an axis of one index.
    if 0 in shape:
        return True
    used = (stride for extent, stride in zip(shape, strides, strict=True) if extent > 1)
    return all(place % alignment == 0 for place in (pointer, *used))

"""Memory of others, as it lies: what can be viewed without a copy, and why the rest cannot."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, cast

import numpy as np

from kit.arrays import array_kind
from kit.errors import argument_refused
from kit.layout import LayoutFacts, inspect_layout
from kit.views.base import View, parts_of, share
from kit.views.elements import element_type, named_element_type, refuse_dtype
from kit.views.rest import PLAIN, DeviceMemory
from kit.views.rules import MASKED, why_misaligned, why_no_steps

__all__ = ["not_writeable", "view_source"]

NdArray = np.ndarray[Any, Any]

_WRITEABLE = 0x0400  # NPY_ARRAY_WRITEABLE


def view_source(source: object, dtype: object, *, readonly: bool) -> NdArray | DeviceMemory:
    """The memory of `source`, seen by an array of the view's own, or on a device.

    Parameters
    ----------
    source : array or buffer of any library
        NumPy's, one with an array interface or DLPack, an exporter of the buffer protocol, or
        another view.
    dtype : data type or None
        What the elements must be.
    readonly : bool
        Whether the view may not be written.

    Raises
    ------
    ArgumentRefused
        Also a TypeError or a ValueError: no array, other elements, or they lie so that no step of
        whole elements reaches them.
    ValueError
        ``array is not writeable``, without `readonly`.

    Notes
    -----
    Copies nothing.
    """
    need = None if dtype is None else named_element_type(dtype)
    found = _memory_of(source)
    if isinstance(found, DeviceMemory):
        return _check_device(found, need, readonly=readonly)
    array = share(found)  # before anything is asked of it: a subclass may answer as it likes
    dtype = _check_host(array, need)
    if array.dtype is not dtype:  # long long under its usual name
        array = array.view(dtype)
    if readonly:
        array.flags.writeable = False
    # By its bit: reading flags.writeable of what broadcast_arrays gives is a FutureWarning.
    elif not array.flags.num & _WRITEABLE:
        raise not_writeable("array = array.copy()  # or ArrayView(array=array, readonly=True)")
    return array


def not_writeable(fix: str) -> ValueError:
    """The error of writing what may only be read, in the words that NumPy's users know."""
    error = ValueError("array is not writeable")
    error.add_note(f"  fix:   {fix}")
    return error


# ---- where the memory is ----------------------------------------------------------------------


def _memory_of(source: object) -> NdArray | DeviceMemory:
    if isinstance(source, View):
        array, rest = parts_of(source)
        return cast(DeviceMemory, (rest or PLAIN).device) if array is None else array
    kind = array_kind(source)
    if kind == "numpy":
        if _is_masked(cast(NdArray, source)):
            raise _refuse_mask()
        return cast(NdArray, source)
    if kind is not None:
        facts = inspect_layout(source)
        if facts.masked:
            raise _refuse_mask()
        if facts.place == "device":
            return DeviceMemory(facts=facts, owner=source, is_whole=True)
        if kind == "dlpack":
            return _from_dlpack(source)
        return np.array(source, copy=False)
    return _from_buffer(source)


def _is_masked(array: NdArray) -> bool:
    ma = sys.modules.get("numpy.ma")  # as in kit.layout: imported wherever an instance exists
    return ma is not None and isinstance(array, ma.MaskedArray) and bool(ma.is_masked(array))


def _refuse_mask() -> Exception:
    found, need = MASKED
    return argument_refused(
        ValueError,
        "ArrayView",
        "array",
        found=found,
        need=need,
        fix="array = array.filled(0)  # or array = array.data, the elements beneath",
    )


def _from_dlpack(source: Any) -> NdArray:
    try:
        return np.from_dlpack(source, copy=False)
    except TypeError:  # an exporter of before 2023, which cannot copy either
        return np.from_dlpack(source)


def _from_buffer(source: Any) -> NdArray:
    # NumPy's scalars export a buffer of a copy.
    if not isinstance(cast(object, source), np.generic):
        try:
            return np.asarray(memoryview(source))
        except (TypeError, ValueError):  # no buffer, or one whose format NumPy cannot read
            pass
    raise argument_refused(
        TypeError,
        "ArrayView",
        "array",
        found=f"an object of type {type(cast(object, source)).__name__}",
        need="an array whose memory can be shared (NumPy, an array interface, DLPack, a buffer)",
        fix="array = np.array(array)",
    )


# ---- how the elements lie ---------------------------------------------------------------------


def _check_host(array: NdArray, need: np.dtype[Any] | None) -> np.dtype[Any]:
    dtype = element_type(array.dtype)
    if dtype is None or (need is not None and need is not dtype):
        raise refuse_dtype(array.dtype, need, "array")
    if array.size:
        _check_layout(array.strides, array.itemsize, array.ctypes.data, dtype)
    return dtype


def _check_device(
    memory: DeviceMemory, need: np.dtype[Any] | None, *, readonly: bool
) -> DeviceMemory:
    facts = memory.facts
    dtype = element_type(_dtype_of(facts))
    if dtype is None or (need is not None and need is not dtype):
        raise refuse_dtype(_dtype_of(facts), need, "array")
    if facts.size:
        _check_layout(facts.strides_bytes, facts.itemsize, facts.pointer, dtype)
    if readonly:
        return replace(memory, facts=replace(facts, writeable=False), is_whole=False)
    if not facts.writeable:
        raise not_writeable("array = array.copy()  # or ArrayView(array=array, readonly=True)")
    return memory


def _dtype_of(facts: LayoutFacts) -> np.dtype[Any]:
    try:
        dtype: np.dtype[Any] = np.dtype(facts.dtype)
    except TypeError:  # bfloat16 and the like
        return np.dtype((np.void, facts.itemsize))
    return dtype if facts.native else dtype.newbyteorder()


def _check_layout(
    strides: tuple[int, ...], itemsize: int, pointer: int, dtype: np.dtype[Any]
) -> None:
    problem = why_no_steps(strides, itemsize) or why_misaligned(
        pointer, dtype.alignment, dtype.name
    )
    if problem is not None:
        found, need = problem
        raise argument_refused(
            ValueError, "ArrayView", "array", found=found, need=need, fix="array = array.copy()"
        )

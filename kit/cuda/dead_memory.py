"""Arrays whose memory is gone: NumPy keeps their owner alive, and owners can let go of it."""

from __future__ import annotations

import sys
from typing import Any, cast

import numpy as np

from kit.layout import inspect_layout

__all__ = ["dead_text", "why_dead", "why_value_dead"]

NdArray = np.ndarray[Any, Any]


def why_dead(array: NdArray, low: int, end: int) -> str | None:
    """Why the memory of an array cannot be there any more, or None where nothing says so.

    Parameters
    ----------
    array : numpy.ndarray
        Any array; no element is read.
    low, end : int
        Lowest address that it uses, and one past the highest.

    Notes
    -----
    Seen are closed memory maps, released memoryviews, and arrays, bytearrays and `array.array`
    that were resized after `array` was made of them. Other owners are taken at their word.

    Examples
    --------
    >>> memory = memoryview(bytearray(8))
    >>> array = np.frombuffer(memory)
    >>> why_dead(array, array.ctypes.data, array.ctypes.data + 8) is None
    True
    """
    if low == end:
        return None
    owner: Any = _base(array)
    last = array
    while isinstance(owner, np.ndarray):
        last = cast(NdArray, owner)
        owner = _base(last)
    if owner is None:
        if last is array or _lies_in(last, low, end):
            return None
        return "the array that it is a view of was resized"
    if isinstance(owner, memoryview):
        return _why_released(cast("memoryview[Any]", owner))
    return _why_moved(owner, low, end)


def why_value_dead(value: object) -> str | None:
    """The same of a value whose elements are about to be read; None of what is no array.

    Parameters
    ----------
    value : object
        An array, or a record, which NumPy takes out of an array without copying it.
    """
    array = cast(Any, value).base if isinstance(value, np.void) else value
    if not isinstance(array, np.ndarray):
        return None
    plain = cast(NdArray, array)
    return why_dead(plain, *inspect_layout(plain).byte_span)


def dead_text(name: str, why: str) -> tuple[str, str, str]:
    """What was found, what is needed and what to do about a dead array."""
    found = f"an array whose memory is gone: {why}"
    return found, "memory that is still there", f"# make {name} anew, and keep what it is made of"


def _base(array: NdArray) -> object:
    # Not array.base: a subclass may answer as it likes.
    return cast(Any, np.ndarray.base).__get__(array)


def _lies_in(owner: NdArray, low: int, end: int) -> bool:
    plain = np.ndarray.view(owner, np.ndarray)
    start = plain.ctypes.data
    return start <= low and end <= start + plain.nbytes


def _why_released(view: memoryview[Any]) -> str | None:
    try:
        len(view.shape or ())
    except ValueError:
        return "the memoryview that it was made of was released"
    return None


def _why_moved(owner: Any, low: int, end: int) -> str | None:
    """Of owners that give out their address without remembering to whom."""
    mmap, array = sys.modules.get("mmap"), sys.modules.get("array")
    if mmap is not None and isinstance(owner, mmap.mmap) and owner.closed:
        return "its memory map was closed"
    kinds = [bytearray, *([mmap.mmap] if mmap else []), *([array.array] if array else [])]
    if not isinstance(owner, tuple(kinds)):
        return None
    if _lies_in(np.asarray(memoryview(owner)), low, end):
        return None
    return f"the {type(owner).__name__} that it was made of was resized"

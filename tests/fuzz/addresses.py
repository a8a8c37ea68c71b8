"""Where the elements of an array lie, by brute force over their addresses."""

from __future__ import annotations

import warnings

import numpy as np

from tests.fuzz.memory import Array


def is_writeable(array: Array) -> bool:
    with warnings.catch_warnings():
        # NumPy warns at the question where broadcast_arrays made the array.
        warnings.simplefilter("ignore")
        return array.flags.writeable


def element_starts(array: Array) -> Array:
    """The address of every element."""
    starts = np.array(array.__array_interface__["data"][0], dtype=np.int64)
    for extent, stride in zip(array.shape, array.strides, strict=True):
        starts = starts[..., None] + np.arange(extent, dtype=np.int64) * stride
    return starts.reshape(-1)


def used_bytes(array: Array) -> Array:
    """The address of every byte of every element, repeated where elements share it."""
    return (element_starts(array)[:, None] + np.arange(array.itemsize)).reshape(-1)


def overlaps_itself(array: Array) -> bool:
    used = used_bytes(array)
    return len(np.unique(used)) < len(used)


def share_bytes(a: Array, b: Array) -> bool:
    return bool(np.intersect1d(used_bytes(a), used_bytes(b)).size)


def is_plain_layout(array: Array, order: str) -> bool:
    """Contiguous, with gaps, or stepped along the fastest or slowest axis, in `order`.

    Axes of extent 1 are left out: their strides are anybody's.
    """
    strides = np.array(array.strides if order == "F" else array.strides[::-1])
    shape = array.shape if order == "F" else array.shape[::-1]
    if not (array.dtype.isnative and array.flags.aligned and all(n > 1 for n in shape)):
        return False
    if array.base is None and not (
        array.flags.c_contiguous if order == "C" else array.flags.f_contiguous
    ):
        return False
    reach = array.itemsize
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        multiple = array.itemsize if axis < 2 else strides[axis - 1]
        if stride < reach or stride % multiple:
            return False
        reach = extent * stride
    return True

"""Random arrays for the layout tests, each in a real buffer, and what brute force says of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

DTYPES = ("u1", "<i2", ">f4", "f8", "c16")

AnyArray = np.ndarray[Any, np.dtype[Any]]


@st.composite
def strided_arrays(
    draw: st.DrawFn, *, max_rank: int = 5, min_extent: int = 0, dtypes: tuple[str, ...] = DTYPES
) -> AnyArray:
    """Rank 0 to `max_rank`; strides negative, zero, odd, overlapping, or as a slice makes them."""
    shape = tuple(draw(st.lists(st.integers(min_extent, 4), max_size=max_rank)))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    if draw(st.booleans()):
        return _sliced(draw, shape, dtype)
    whole = st.integers(-6, 6).map(dtype.itemsize.__mul__)
    strides = tuple(draw(whole | st.integers(-70, 70)) for _ in shape)
    return place_in_buffer(shape, strides, dtype, pad=draw(st.integers(0, 9)))


def place_in_buffer(
    shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any, *, pad: int = 0
) -> AnyArray:
    """An array of just these strides, with `pad` bytes before the lowest one that it uses."""
    dtype = np.dtype(dtype)
    ends = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    low, high = (
        (0, 0) if 0 in shape else (sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends))
    )
    buffer = np.zeros(pad + high - low + dtype.itemsize + 16, np.uint8)
    return np.ndarray(shape, dtype, buffer=buffer, offset=pad - low, strides=strides)


def _sliced(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> AnyArray:
    """What users make: a larger array in either order, cut, stepped, reversed, axes permuted."""
    margins = [draw(st.integers(0, 2)) for _ in shape]
    steps = [draw(st.sampled_from((1, 1, 1, 2, -1))) for _ in shape]
    parent = np.zeros(
        [
            extent * abs(step) + margin
            for extent, step, margin in zip(shape, steps, margins, strict=True)
        ],
        dtype,
        order="C" if draw(st.booleans()) else "F",
    )
    # The ellipsis keeps an array without axes an array.
    cut = parent[(..., *(slice(None, None, step) for step in steps))]
    view = cut[(..., *(slice(0, extent) for extent in shape))]
    return view.transpose(draw(st.permutations(range(len(shape)))))


def element_addresses(array: AnyArray) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every index in C order with the address at which its element starts."""
    pointer = array.ctypes.data
    for index in product(*map(range, array.shape)):
        offset = sum(entry * stride for entry, stride in zip(index, array.strides, strict=True))
        yield index, pointer + offset


def used_bytes(array: AnyArray) -> list[int]:
    """The address of every byte of every element, repeated where elements share it."""
    return [start + k for _, start in element_addresses(array) for k in range(array.itemsize)]

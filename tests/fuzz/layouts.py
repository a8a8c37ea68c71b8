"""Layouts in memory of one's own: slices, strides, windows, repeated elements."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from tests.fuzz.memory import Array, Workshop

Shape = tuple[int, ...]


# ---- layouts --------------------------------------------------------------------------------


def contiguous(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    return shop.plain(shape, dtype, order)


def owned(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """Memory of its own, and no base."""
    made = np.empty(shape, dtype, order=as_order(order))
    shop.fill(made)
    shop.watch(made)
    return made


def other_order(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    return shop.plain(shape, dtype, "F" if order == "C" else "C")


def gaps(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """Crops, and a step along the fastest or the slowest axis."""
    rank = len(shape)
    fast, slow = (rank - 1, 0) if order == "C" else (0, rank - 1)
    steps = [1] * rank
    if rank and shop.chance(0.6):
        steps[shop.pick([fast, slow])] = shop.integer(2, 3)
    return _cut(shop, shape, dtype, order, steps)


def middle_steps(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """A positive step along any axis: wrong in the bare functions where axes lie further out."""
    steps = [shop.pick([1, 1, 2, 3]) for _ in shape]
    return _cut(shop, shape, dtype, order, steps)


def sliced(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """A chain of what users write: slices, reversals, None, transposes, reshapes."""
    made = _cut(shop, shape, dtype, shop.pick("CF"), [shop.pick([1, 1, 2, -1, -2]) for _ in shape])
    for _ in range(shop.integer(0, 3)):
        what = shop.pick(["flip", "transpose", "newaxis", "unit", "reshape"])
        if what == "flip" and shape:
            made = np.flip(made, shop.integer(0, len(shape) - 1))
        elif what == "transpose" and len(set(shape)) == 1:
            made = made.transpose(shop.permutation(len(shape)))
        elif what == "newaxis" and 1 in shape:
            axis = shape.index(1)
            made = np.expand_dims(made[(slice(None),) * axis + (0, ...)], axis)
        elif what == "unit" and 1 in shape:
            axis = shape.index(1)
            made = made[(slice(None),) * axis + (0, ...)][(slice(None),) * axis + (None,)]
        elif what == "reshape":
            made = _reshaped(made, shape)
    return made


def _reshaped(made: Array, shape: Shape) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flat = made.reshape(-1)  # a copy where it has to be: then memory of its own
    return made if not np.shares_memory(flat, made) else flat.reshape(shape)


def permuted(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    axes = shop.permutation(len(shape))
    inner = shop.plain([shape[axis] for axis in axes], dtype, order)
    return inner.transpose([axes.index(axis) for axis in range(len(shape))])


def nested_strides(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """What slicing gives, with gaps, steps and turned axes at random."""
    item = np.dtype(dtype).itemsize
    axes = list(range(len(shape)))
    if (order == "C") != shop.chance(0.2):
        axes.reverse()
    strides = [0] * len(shape)
    step = item
    for axis in axes:
        step *= shop.pick([1, 1, 1, 2, 3])
        strides[axis] = -step if shop.chance(0.1) else step
        step *= max(1, shape[axis] + shop.pick([0, 0, 0, 1, 2]))
    return _with_strides(shop, shape, dtype, strides)


def random_strides(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """Whole elements, in any direction, over each other or not."""
    item = np.dtype(dtype).itemsize
    steps = [-6, -3, -2, -1, 0, 1, 1, 1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 24, 60]
    return _with_strides(shop, shape, dtype, [shop.pick(steps) * item for _ in shape])


def odd_strides(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """Steps of any number of bytes."""
    if shop.chance(0.3):
        strides = [shop.integer(-40, 40) for _ in shape]
    else:
        like = shop.pick([contiguous, nested_strides])(shop, shape, dtype, order)
        strides = [stride + shop.pick([0, 0, 1, -1, 2, 3, 4, -4]) for stride in like.strides]
    return _with_strides(shop, shape, dtype, strides, shift=shop.pick([0, 0, 1, 4]))


def unit_axes(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """Axes of extent 1 with strides that nobody uses."""
    made = contiguous(shop, shape, dtype, order)
    item = made.itemsize
    odd = [0, item, -item, 2 * item, 3, 1, 7 * item, 2**40, made.nbytes]
    strides = [
        shop.pick(odd) if n == 1 else stride for n, stride in zip(shape, made.strides, strict=True)
    ]
    return as_strided(made, shape, strides)


def zero_strides(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """One element under many indices."""
    axis_is_repeated = [shop.chance(0.5) for _ in shape]
    inner = [1 if again else n for n, again in zip(shape, axis_is_repeated, strict=True)]
    made = shop.plain(inner, dtype, order)
    how = shop.pick(["broadcast_to", "strided", "broadcast_arrays"])
    if how == "broadcast_to":
        return np.broadcast_to(made, shape)
    if how == "broadcast_arrays":
        # Writeable so far, with a warning for who asks (NumPy 2.4).
        return np.broadcast_arrays(made, np.empty(shape, "i1"))[0]
    strides = [
        0 if again else stride for stride, again in zip(made.strides, axis_is_repeated, strict=True)
    ]
    return as_strided(made, shape, strides)


def windows(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """Sliding windows; the elements of neighbours are the same."""
    if len(shape) < 2 or 0 in shape:
        return random_strides(shop, shape, dtype, order)
    lead, width = shape[:-1], shape[-1]
    made = shop.plain((*lead[:-1], lead[-1] + width - 1), dtype)
    return sliding_window_view(made, width, axis=len(lead) - 1, writeable=shop.chance(0.5))


def diagonals(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    if not shape:
        return contiguous(shop, shape, dtype, order)
    n = shape[-1]
    made = shop.plain((*shape[:-1], n, n), dtype).diagonal(axis1=-2, axis2=-1)
    return made if shop.chance(0.5) else as_strided(made, made.shape, made.strides, writeable=True)


# ---- small steps ----------------------------------------------------------------------------


def as_order(order: str) -> Any:
    return order


def _cut(shop: Workshop, shape: Shape, dtype: Any, order: str, steps: Sequence[int]) -> Array:
    """A piece of a larger array in `order`."""
    whole: list[int] = []
    pieces: list[slice] = []
    for n, step in zip(shape, steps, strict=True):
        before, after = shop.integer(0, 2), shop.integer(0, 2)
        whole.append(before + n * abs(step) + after)
        first, last = (before, before + n * step) if step > 0 else (before + n * -step - 1, None)
        if step < 0 and before > 0:
            last = before - 1
        pieces.append(slice(first, last, step) if n else slice(before, before))
    return shop.plain(whole, dtype, order)[(..., *pieces)]


def _with_strides(
    shop: Workshop, shape: Shape, dtype: Any, strides: Sequence[int], *, shift: int = 0
) -> Array:
    """An array of just these strides, filled, in memory with guard zones."""
    kind = np.dtype(dtype)
    ends = [(n - 1) * s for n, s in zip(shape, strides, strict=True) if n]
    low, high = sum(min(one, 0) for one in ends), sum(max(one, 0) for one in ends)
    memory = shop.raw(high - low + kind.itemsize, shift=shift)
    made = np.ndarray(shape, kind, memory, -low, tuple(strides))
    shop.fill(made)
    return made

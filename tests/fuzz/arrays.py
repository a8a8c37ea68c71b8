"""Hostile arrays: every way in which memory can be seen as an array of a wanted shape and dtype."""

from __future__ import annotations

import array as array_module
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from tests.fuzz.memory import Array, Workshop

Shape = tuple[int, ...]


def make_shape(shop: Workshop, rank: int) -> Shape:
    """Extents: mostly small, often 1, sometimes 0; at most some 200 elements."""
    extents = [0, 1, 2, 3, 4, 5, 7, 9]
    weights = [0.04, 0.16, 0.22, 0.24, 0.16, 0.1, 0.04, 0.04]
    if rank == 1 and shop.chance(0.15):
        return (shop.integer(60, 160),)  # from 64 on, compilers vectorise
    shape = [shop.pick(extents, weights) for _ in range(rank)]
    while math.prod(shape) > 200:
        largest = shape.index(max(shape))
        shape[largest] = 2
    return tuple(shape)


# ---- layouts --------------------------------------------------------------------------------


def contiguous(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    return shop.plain(shape, dtype, order)


def owned(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """Memory of its own, and no base."""
    made = np.empty(shape, dtype, order=_order(order))
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


def parts_of_complex(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    wide = {"f4": "c8", "f8": "c16"}.get(np.dtype(dtype).str[1:])
    if wide is None or not np.dtype(dtype).isnative:
        return gaps(shop, shape, dtype, order)
    made = shop.plain(shape, wide, order)
    return made.real if shop.chance(0.5) else made.imag


def records(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """A field of packed, aligned or nested records."""
    align = shop.chance(0.5)
    fields = [("flag", "i1"), ("value", dtype), ("more", shop.pick(["i1", "i2", "f8", "S3"]))]
    if shop.chance(0.3):
        fields.reverse()
    kind = np.dtype(fields, align=align)
    path = ["value"]
    if shop.chance(0.2):
        kind, path = np.dtype([("pad", "i2"), ("inner", kind)]), ["inner", "value"]
    count = math.prod(shape)
    made: Any = shop.raw(count * kind.itemsize).view(kind).reshape(shape, order=_order(order))
    if shop.chance(0.3):
        made = made.view(np.recarray)
    for name in path:
        made = made[name]
    shop.fill(made)
    return np.asarray(made)


def misaligned(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    return shop.plain(shape, dtype, order, shift=shop.integer(1, 7))


def without_base(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """Strides assigned on an array that owns its memory: no base says that it is a view."""
    made = owned(shop, shape, dtype, order)
    item = made.itemsize
    for _ in range(4):
        strides = [shop.pick([0, item, item, 2 * item, item + 1, *made.strides]) for _ in shape]
        if sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True)) < made.nbytes:
            break
    else:
        strides = list(np.empty(shape, dtype, order="F" if order == "C" else "C").strides)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # since NumPy 2.4
        try:
            made.strides = tuple(strides)
        except ValueError:  # beyond the memory
            return made
    return made


def from_buffer(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """Memory of other owners: bytes, bytearray, array.array, memoryview, DLPack."""
    plain = np.empty(shape, dtype, order=_order(order))
    shop.fill(plain)
    content = plain.tobytes(order="A")
    how = shop.pick(["bytes", "bytearray", "memoryview", "array", "dlpack", "ndarray"])
    if not content:
        return plain
    if how == "dlpack" and plain.dtype.isnative:
        shop.watch(plain)
        return np.from_dlpack(plain)
    if how == "memoryview" and plain.dtype.isnative:
        shop.watch(plain)
        return np.asarray(memoryview(cast(Any, plain)))
    if how == "array":
        owner: Any = array_module.array("B", content)
    elif how == "bytes":
        owner = content
    else:
        owner = bytearray(content)
    shop.watch(np.frombuffer(owner, np.uint8))
    if how == "ndarray":
        return np.ndarray(shape, dtype, buffer=owner, order=_order(order))
    return np.frombuffer(owner, dtype).reshape(shape, order=_order(order))


def memory_map(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    plain = np.empty(shape, dtype, order=_order(order))
    shop.fill(plain)
    if not plain.size:
        return plain
    offset = shop.pick([0, 0, 8, 64, 3])
    content = np.concatenate([np.zeros(offset, np.uint8), plain.ravel("K").view(np.uint8)])
    path = shop.file(content)
    mode: Any = shop.pick(["r", "c", "r+"])
    made = np.memmap(path, dtype, mode, offset, shape, _order(order))
    shop.watch(made)
    if shop.chance(0.3):
        return np.asarray(made)
    return made[::-1] if shop.chance(0.2) and shape else made


LAYOUTS: Final[list[tuple[str, Callable[[Workshop, Shape, Any, str], Array], float]]] = [
    ("contiguous", contiguous, 6),
    ("owns its memory", owned, 5),
    ("other order", other_order, 5),
    ("gaps, inner and outer steps", gaps, 8),
    ("steps along any axis", middle_steps, 8),
    ("slices of slices", sliced, 10),
    ("axes permuted", permuted, 4),
    ("nested strides", nested_strides, 10),
    ("random strides", random_strides, 8),
    ("odd byte strides", odd_strides, 8),
    ("unit axes", unit_axes, 5),
    ("zero strides", zero_strides, 6),
    ("sliding windows", windows, 3),
    ("diagonals", diagonals, 3),
    ("real and imaginary parts", parts_of_complex, 3),
    ("fields of records", records, 6),
    ("misaligned", misaligned, 4),
    ("strides without a base", without_base, 4),
    ("memory of other owners", from_buffer, 5),
    ("memory maps", memory_map, 3),
]


def make_array(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    """An array of this shape and kind of elements, laid out at random."""
    kind = np.dtype(dtype)
    if shop.chance(0.1) and kind.itemsize > 1:
        kind = kind.newbyteorder()
        shop.kinds.append("other byte order")
    labels, makers, weights = zip(*LAYOUTS, strict=True)
    index = shop.pick(range(len(labels)), weights)
    shop.kinds.append(labels[index])
    if 0 in shape:
        shop.kinds.append("no elements")
    if not shape and labels[index] in ("sliding windows", "diagonals"):
        index = 0
    return makers[index](shop, shape, kind, order)


# ---- small steps ----------------------------------------------------------------------------


def _order(order: str) -> Any:
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

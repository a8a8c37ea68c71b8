"""Hostile arrays: every way in which memory can be seen as an array of a wanted shape and dtype."""

from __future__ import annotations

import array as array_module
import math
import warnings
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from tests.fuzz.layouts import (
    Shape,
    as_order,
    contiguous,
    diagonals,
    gaps,
    middle_steps,
    nested_strides,
    odd_strides,
    other_order,
    owned,
    permuted,
    random_strides,
    sliced,
    unit_axes,
    windows,
    zero_strides,
)
from tests.fuzz.memory import Array, Workshop


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
    made: Any = shop.raw(count * kind.itemsize).view(kind).reshape(shape, order=as_order(order))
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
    plain = np.empty(shape, dtype, order=as_order(order))
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
        return np.ndarray(shape, dtype, buffer=owner, order=as_order(order))
    return np.frombuffer(owner, dtype).reshape(shape, order=as_order(order))


def memory_map(shop: Workshop, shape: Shape, dtype: Any, order: str) -> Array:
    plain = np.empty(shape, dtype, order=as_order(order))
    shop.fill(plain)
    if not plain.size:
        return plain
    offset = shop.pick([0, 0, 8, 64, 3])
    content = np.concatenate([np.zeros(offset, np.uint8), plain.ravel("K").view(np.uint8)])
    path = shop.file(content)
    mode: Any = shop.pick(["r", "c", "r+"])
    made = np.memmap(path, dtype, mode, offset, shape, as_order(order))
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

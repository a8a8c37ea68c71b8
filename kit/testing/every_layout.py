"""Every layout of an array that is worth testing a kernel with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from kit.errors import KitError
from kit.testing.array_layout import ArrayLayout

__all__ = ["layouts"]

NdArray = np.ndarray[Any, Any]


def layouts(
    shape: SupportsIndex | Sequence[SupportsIndex], dtype: Any = "float64"
) -> tuple[ArrayLayout, ...]:
    """Every layout worth testing a kernel with, in a fixed order; the first one is C order.

    Parameters
    ----------
    shape : int or sequence of int
        Extents of the array, at most 16 [elements].
    dtype : numpy.dtype or what makes one
        Of its elements.

    Returns
    -------
    tuple of ArrayLayout
        C and F order, both with gaps, a window; each axis stepped, reversed; all axes reversed;
        permuted axes; read-only; each axis repeated (stride 0, read-only); not aligned, odd
        strides, the other byte order. What is the same for this shape and type as an earlier one
        is left out.

    Examples
    --------
    >>> for one in layouts(4, "int32"):
    ...     print(one, one.strides_bytes)
    C order (4,)
    window (4,)
    stepped axis 0 (8,)
    reversed axis 0 (-4,)
    read-only (4,)
    repeated axis 0 (0,)
    unaligned (4,)
    odd strides (5,)
    byte-swapped (4,)
    """
    extents = tuple(int(one) for one in np.atleast_1d(np.asarray(shape, dtype=int)))
    if len(extents) > 16 or any(extent < 0 for extent in extents):
        raise KitError(f"layouts: {extents} is no shape; need 16 extents or fewer, none negative")
    element = np.dtype(dtype)
    seen: set[tuple[object, ...]] = set()
    found: list[ArrayLayout] = []
    for one in _all_layouts(extents, element):
        identity = (one.offset, one.strides_bytes, one.writeable, one.dtype.str, one.storage_bytes)
        if identity not in seen:
            seen.add(identity)
            found.append(one)
    return tuple(found)


class _Cut(NamedTuple):
    """A layout as a cut out of C-contiguous memory.

    Parameters
    ----------
    extents : tuple of int
        Of the memory.
    parts : tuple of slice
        What of each of its axes the array has.
    axes : tuple of int or None
        Which of its axes each axis of the array is; None where they are the same.
    """

    extents: tuple[int, ...]
    parts: tuple[slice, ...] = ()
    axes: tuple[int, ...] | None = None


def _all_layouts(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Iterator[ArrayLayout]:
    if 0 in shape:  # there is no element to lie anywhere
        cuts = [("C order", _Cut(shape))]
    else:
        cuts = list(_cuts(shape))
    for name, cut in cuts:
        yield _laid_out(name, shape, dtype, cut)
    plain = _laid_out("read-only", shape, dtype, _Cut(shape))
    yield replace(plain, writeable=False)
    if 0 in shape:
        return
    for axis, extent in enumerate(shape):
        if extent > 1:
            once = tuple(1 if k == axis else n for k, n in enumerate(shape))
            layout = _laid_out(f"repeated axis {axis}", once, dtype, _Cut(once))
            steps = tuple(0 if k == axis else n for k, n in enumerate(layout.strides_bytes))
            yield replace(layout, shape=shape, strides_bytes=steps, writeable=False)
    yield from _foreign(plain)


def _foreign(plain: ArrayLayout) -> Iterator[ArrayLayout]:
    """What compiled code cannot read where it lies."""
    n_bytes, size = plain.storage_bytes, plain.dtype.itemsize
    if plain.dtype.alignment > 1:
        yield replace(plain, name="unaligned", offset=1, storage_bytes=n_bytes + 1)
        if plain.shape:
            # As a field of packed records has them.
            steps = tuple(stride // size * (size + 1) for stride in plain.strides_bytes)
            more = n_bytes // size * (size + 1)
            yield replace(plain, name="odd strides", strides_bytes=steps, storage_bytes=more)
    swapped = plain.dtype.newbyteorder("S")
    if swapped != plain.dtype:
        yield replace(plain, name="byte-swapped", dtype=swapped)


def _cuts(shape: tuple[int, ...]) -> Iterator[tuple[str, _Cut]]:
    rank = len(shape)
    back, backwards = tuple(range(rank - 1, -1, -1)), slice(None, None, -1)
    yield "C order", _Cut(shape)
    if rank > 1:
        first, last = slice(shape[0]), slice(shape[-1])
        others = (slice(None),) * (rank - 1)
        yield "F order", _Cut(shape[::-1], (), back)
        yield "C order with gaps", _Cut((*shape[:-1], shape[-1] + 3), (*others, last))
        yield "F order with gaps", _Cut((*shape[:0:-1], shape[0] + 3), (*others, first), back)
    if rank > 0:
        inside = tuple(slice(1, 1 + extent) for extent in shape)
        yield "window", _Cut(tuple(extent + 2 for extent in shape), inside)
    for axis, extent in enumerate(shape):
        longer = (*shape[:axis], 2 * extent + 1, *shape[axis + 1 :])
        yield f"stepped axis {axis}", _Cut(longer, _along(axis, slice(1, None, 2)))
    for axis in range(rank):
        yield f"reversed axis {axis}", _Cut(shape, _along(axis, backwards))
    if rank > 1:
        yield "reversed", _Cut(shape, (backwards,) * rank)
    if rank > 2:
        yield "permuted", _Cut((*shape[1:], shape[0]), (), (rank - 1, *range(rank - 1)))


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, part)


def _laid_out(name: str, shape: tuple[int, ...], dtype: np.dtype[Any], cut: _Cut) -> ArrayLayout:
    memory: NdArray = np.empty(cut.extents, np.dtype((np.void, dtype.itemsize)))
    view: NdArray = memory[(*cut.parts, ...)].transpose(cut.axes or range(len(shape)))
    assert view.shape == shape
    offset = view.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    return ArrayLayout(
        name=name,
        shape=shape,
        dtype=dtype,
        storage_bytes=memory.nbytes,
        offset=offset,
        strides_bytes=view.strides,
    )

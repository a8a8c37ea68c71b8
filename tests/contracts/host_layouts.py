"""Every row of the measured table of array layouts (facts/pyccel.md), as arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

Array = np.ndarray[Any, Any]
Outcome = Literal["PASS", "COPY", "REFUSE"]
EXTENTS = (3, 4, 5, 2)


@dataclass(frozen=True, kw_only=True)
class LayoutCase:
    """One array of one row.

    Parameters
    ----------
    row : str
        The row of the table.
    dtype, rank, order
        Of the parameter that it is passed to.
    make : callable
        Gives a new array with the same elements each time.
    read, written : {"PASS", "COPY", "REFUSE"}
        What the boundary owes where the parameter is only read, and where it is written.
    """

    row: str
    dtype: str
    rank: int
    order: str
    make: Callable[[], Array]
    read: Outcome
    written: Outcome

    @property
    def label(self) -> str:
        """A name for reports."""
        return f"{self.row} [{self.dtype} {self.rank}-D {self.order}]"


def filled(shape: tuple[int, ...], dtype: str, order: Any = "C") -> Array:
    """An array whose elements differ."""
    count = int(np.prod(shape, dtype=int))
    numbers = np.arange(1, count + 1)
    if dtype == "bool":
        values: Array = numbers % 3 == 0
    elif dtype.startswith("complex"):
        values = numbers % 50 + 1j * (numbers % 7)
    else:
        values = numbers % 50
    return np.array(values.reshape(shape), dtype=dtype, order=order)


def _in_order(shape: tuple[int, ...], dtype: str, order: str) -> Array:
    return filled(shape, dtype, order)


def cases(folder: Path) -> Iterator[LayoutCase]:
    """All cases; files for the memory maps go to `folder`."""
    shapes = [("float64", rank, order) for order in "CF" for rank in range(1, 5)]
    shapes += [(dtype, 2, order) for dtype in ("int32", "complex128", "bool") for order in "CF"]
    shapes += [(dtype, 1, "C") for dtype in ("float32", "int8", "int16", "int64", "complex64")]
    for dtype, rank, order in shapes:
        if (rank, order) != (1, "F"):
            for row, make, read, written in _rows(dtype, rank, order, folder):
                yield LayoutCase(
                    row=row,
                    dtype=dtype,
                    rank=rank,
                    order=order,
                    make=make,
                    read=read,
                    written=written,
                )


Row = tuple[str, Callable[[], Array], Outcome, Outcome]


def _rows(dtype: str, rank: int, order: str, folder: Path) -> Iterator[Row]:
    shape = EXTENTS[:rank]

    def base(shape: tuple[int, ...] = shape, order: str = order) -> Array:
        return _in_order(shape, dtype, order)

    inner = rank - 1 if order == "C" else 0
    outer = 0 if order == "C" else rank - 1
    other = "F" if order == "C" else "C"

    def at(axis: int, piece: slice) -> tuple[slice, ...]:
        return tuple(piece if one == axis else slice(None) for one in range(rank))

    bigger = tuple(extent * 2 for extent in shape)
    yield "contiguous", base, "PASS", "PASS"
    crop = tuple(slice(1, 1 + extent) for extent in shape)
    yield "crop", lambda: base(bigger)[crop], "PASS", "PASS"
    yield "inner step", lambda: base(bigger)[at(inner, slice(None, None, 2))], "PASS", "PASS"
    yield "outer step", lambda: base(bigger)[at(outer, slice(None, None, 2))], "PASS", "PASS"
    if rank == 1:
        yield "diagonal", lambda: _writeable_diagonal(filled((4, 4), dtype)), "PASS", "PASS"
        yield "length 1, stride 0", lambda: filled((), dtype)[None], "COPY", "COPY"
    else:
        yield "transposed into order", lambda: base(shape[::-1], other).T, "PASS", "PASS"
        yield "wrong order", lambda: base(shape, other), "COPY", "COPY"
        yield from _unit_axes(dtype, rank, order)
    if rank > 2:
        permuted = (
            (1, 0, *range(2, rank)) if order == "C" else (*range(rank - 2), rank - 1, rank - 2)
        )
        yield "permuted axes", lambda: base().transpose(permuted), "COPY", "COPY"
        # The middle axis next to the fastest: its extents 5 and 4 are no multiples of the steps.
        middle = rank - 2 if order == "C" else 1
        for extent, step in ((5, 2), (4, 3)):
            wide = tuple(extent if one == middle else n for one, n in enumerate(shape))
            yield (
                f"middle axis of {extent} stepped by {step}",
                lambda wide=wide, step=step: base(wide)[at(middle, slice(None, None, step))],
                "COPY",
                "COPY",
            )
        yield "negative middle stride", lambda: base()[at(1, slice(None, None, -1))], "COPY", "COPY"
    yield "negative outer stride", lambda: base()[at(outer, slice(None, None, -1))], "COPY", "COPY"
    yield "negative inner stride", lambda: base()[at(inner, slice(None, None, -1))], "COPY", "COPY"
    yield "all reversed, wrong order", lambda: np.flip(base(shape[::-1], order).T), "COPY", "COPY"
    yield from _shared_elements(dtype, rank, order, at, inner, outer)
    yield from _odd_memory(dtype, shape, order, folder)
    yield from _empty(dtype, rank, order)


def _writeable_diagonal(array: Array) -> Array:
    size, step = len(array), array.strides[0] + array.strides[1]
    return as_strided(array, (size,), (step,))  # what diagonal() gives, but writeable


def _unit_axes(dtype: str, rank: int, order: str) -> Iterator[Row]:
    shape = EXTENTS[:rank]
    fast = rank - 1 if order == "C" else 0

    def with_unit_inner() -> Array:
        rest = tuple(n for axis, n in enumerate(shape) if axis != fast)
        array = _in_order(rest, dtype, order)
        # An index with None, which gives stride 0; expand_dims gives another one.
        return array[tuple(None if axis == fast else slice(None) for axis in range(rank))]

    yield "x[:, None]", with_unit_inner, "COPY", "COPY"

    def equal_strides() -> Array:
        array = _in_order((shape[0],) + (1,) * (rank - 1), dtype, "C")
        return array.T if order == "C" else array[:]

    yield "unit axis with equal strides", equal_strides, "COPY", "COPY"


def _shared_elements(
    dtype: str, rank: int, order: str, at: Any, inner: int, outer: int
) -> Iterator[Row]:
    shape = EXTENTS[:rank]

    def repeated(axis: int) -> Array:
        one = tuple(1 if other == axis else n for other, n in enumerate(shape))
        array = _in_order(one, dtype, order)
        strides = tuple(0 if a == axis else s for a, s in enumerate(array.strides))
        return as_strided(array, shape, strides)

    yield "zero inner stride", lambda: repeated(inner), "COPY", "REFUSE"
    yield "zero outer stride", lambda: repeated(outer), "COPY", "REFUSE"

    def broadcast() -> Array:
        return np.broadcast_to(filled((), dtype), shape)

    yield "broadcast_to", broadcast, "COPY", "REFUSE"
    if rank == 2:
        axes = (filled((shape[1],), dtype), filled((shape[0],), dtype))
        for which in (0, 1):
            yield (
                f"meshgrid {which}",
                lambda which=which: np.meshgrid(*axes, copy=False)[which],
                "COPY",
                "REFUSE",
            )
    if rank == 2:
        yield (
            "sliding window",
            lambda: sliding_window_view(filled((7,), dtype), 3),
            "COPY",
            "REFUSE",
        )
    item = np.dtype(dtype).itemsize
    yield (
        "overlapping as_strided",
        lambda: as_strided(filled((99,), dtype), shape, (item,) * rank if rank > 1 else (0,)),
        "COPY",
        "REFUSE",
    )


def _odd_memory(dtype: str, shape: tuple[int, ...], order: str, folder: Path) -> Iterator[Row]:
    kind = np.dtype(dtype)

    def packed() -> Array:
        record = np.zeros(shape, dtype=[("flag", "i1"), ("value", dtype)], order=_o(order))
        record["value"] = filled(shape, dtype)
        return record["value"]

    def aligned() -> Array:
        fields = np.dtype([("value", dtype), ("flag", "i1")], align=True)
        record = np.zeros(shape, dtype=fields, order=_o(order))
        record["value"] = filled(shape, dtype)
        return record["value"]

    if kind.itemsize > 1:
        yield "packed records", packed, "COPY", "COPY"
        swapped = kind.newbyteorder()
        yield "big endian", lambda: filled(shape, dtype, order).astype(swapped), "COPY", "COPY"
        yield "misaligned", lambda: _misaligned(shape, dtype, order), "COPY", "COPY"
    if kind.kind == "c":
        yield "aligned records of complex", aligned, "COPY", "COPY"
    if dtype == "float64":
        yield "real part", lambda: filled(shape, "complex128", order).real, "PASS", "PASS"
    yield "strides without a base", lambda: _assigned(shape, dtype, order), "COPY", "REFUSE"

    def read_only() -> Array:
        array = filled(shape, dtype, order)
        array.flags.writeable = False
        return array

    yield "read-only", read_only, "PASS", "REFUSE"

    def mapped(mode: Any) -> Array:
        path = folder / f"{dtype}{len(shape)}{order}.bin"
        filled(shape, dtype, order).ravel(order="K").tofile(path)
        return np.memmap(path, dtype=dtype, mode=mode, shape=shape, order=_o(order))

    yield "memmap read-only", lambda: mapped("r"), "PASS", "REFUSE"
    yield "memmap copy on write", lambda: mapped("c"), "PASS", "PASS"
    yield "memmap", lambda: mapped("r+"), "PASS", "PASS"
    yield "recarray view", lambda: filled(shape, dtype, order).view(np.recarray), "PASS", "PASS"
    yield "matrix", lambda: filled(shape, dtype, order).view(_Plain), "PASS", "PASS"
    yield "masked, no mask", lambda: np.ma.array(filled(shape, dtype, order)), "PASS", "PASS"

    def masked() -> Array:
        array = np.ma.array(filled(shape, dtype, order))
        array[(0,) * len(shape)] = np.ma.masked
        return array

    yield "masked", masked, "REFUSE", "REFUSE"
    if dtype == "int64":
        yield "long long", lambda: filled(shape, dtype, order).view(np.longlong), "PASS", "PASS"


class _Plain(np.ndarray[Any, Any]):
    """A subclass that changes nothing."""


def _o(order: str) -> Any:
    return order


def _misaligned(shape: tuple[int, ...], dtype: str, order: str) -> Array:
    kind = np.dtype(dtype)
    count = int(np.prod(shape))
    raw = np.zeros(count * kind.itemsize + 1, dtype=np.uint8)
    array = raw[1:].view(kind).reshape(shape, order=_o(order))
    array[...] = filled(shape, dtype)
    return array


def _assigned(shape: tuple[int, ...], dtype: str, order: str) -> Array:
    """Strides that are not the memory's own, on an array without a base."""
    array = filled(shape, dtype, order)
    item = array.itemsize
    fast = len(shape) - 1 if order == "C" else 0
    # Monotone in the declared order, so that the wrapper does not notice.
    strides = tuple(item if axis == fast else 2 * item for axis in range(len(shape)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # setting strides, since NumPy 2.4
        array.strides = strides if len(shape) > 1 else (0,)
    return array


def _empty(dtype: str, rank: int, order: str) -> Iterator[Row]:
    for axis in range(rank):
        shape = tuple(0 if one == axis else n for one, n in enumerate(EXTENTS[:rank]))
        yield f"empty along {axis}", lambda shape=shape: filled(shape, dtype, order), "PASS", "PASS"

    def view() -> Array:
        return filled(EXTENTS[:rank], dtype, order)[..., 2:2]

    yield "empty view", view, "PASS", "PASS"

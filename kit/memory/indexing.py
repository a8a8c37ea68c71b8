"""Index arithmetic: linear and multi-dimensional indices, and the index at a byte offset."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import gcd, prod
from typing import SupportsIndex

from kit.memory.overlap import is_nested
from kit.terms import Order

__all__ = ["checked_index", "checked_order", "index_at_offset", "linear_index", "multi_index"]

_WORK_LIMIT = 100_000


def checked_order(order: Order) -> Order:
    """`order` itself where it is "C" or "F", else ValueError."""
    if order not in ("C", "F"):
        raise ValueError(f"order is 'C' or 'F', found {order!r}")
    return order


def checked_index(
    index: SupportsIndex | Sequence[SupportsIndex], shape: tuple[int, ...]
) -> tuple[int, ...]:
    """`index` as integers within `shape`; a bare integer serves for one axis.

    Raises
    ------
    IndexError
        As many entries as axes are needed, each from 0 to the extent less one; negative ones do
        not count from the end here, since an offset below the first element is a real place.

    Examples
    --------
    >>> checked_index((1, 2), (3, 4))
    (1, 2)
    >>> checked_index((1, -2), (3, 4))
    Traceback (most recent call last):
    IndexError: index -2 on axis 1 is outside 0 .. 3 of shape (3, 4); negative ones do not wrap
    """
    entries = (index,) if isinstance(index, SupportsIndex) else index
    found = tuple(operator.index(entry) for entry in entries)
    if len(found) != len(shape):
        raise IndexError(f"index {found} has {len(found)} entries, shape {shape} has {len(shape)}")
    for axis, (entry, extent) in enumerate(zip(found, shape, strict=True)):
        if not 0 <= entry < extent:
            valid = f"outside 0 .. {extent - 1}" if extent else "on an axis without elements"
            hint = "; negative ones do not wrap" if entry < 0 else ""
            raise IndexError(f"index {entry} on axis {axis} is {valid} of shape {shape}{hint}")
    return found


def linear_index(
    index: SupportsIndex | Sequence[SupportsIndex], shape: tuple[int, ...], order: Order
) -> int:
    """Position of `index` when all indices of `shape` are counted in `order`.

    The sum over k of ``n_k * prod(d_m for m > k)`` in C order, ``m < k`` in F order, for an
    index n and a shape d.

    Examples
    --------
    >>> linear_index((1, 2), (3, 4), "C"), linear_index((1, 2), (3, 4), "F")
    (6, 7)
    """
    found = checked_index(index, shape)
    axes = list(zip(found, shape, strict=True))
    total = 0
    # Horner's scheme, from the slowest axis to the fastest.
    for entry, extent in axes if checked_order(order) == "C" else reversed(axes):
        total = total * extent + entry
    return total


def multi_index(n: SupportsIndex, shape: tuple[int, ...], order: Order) -> tuple[int, ...]:
    """The index whose `linear_index` is `n`.

    Examples
    --------
    >>> multi_index(6, (3, 4), "C"), multi_index(7, (3, 4), "F")
    ((1, 2), (1, 2))
    """
    rest = operator.index(n)
    size = prod(shape)
    if not 0 <= rest < size:
        valid = f"outside 0 .. {size - 1}" if size else "in an array without elements,"
        hint = "; negative ones do not wrap" if rest < 0 else ""
        raise IndexError(f"linear index {rest} is {valid} of shape {shape}{hint}")
    fastest_first = shape[::-1] if checked_order(order) == "C" else shape
    entries: list[int] = []
    for extent in fastest_first:
        rest, entry = divmod(rest, extent)
        entries.append(entry)
    return tuple(entries[::-1] if order == "C" else entries)


def index_at_offset(
    offset: int, shape: tuple[int, ...], strides_bytes: tuple[int, ...], itemsize: int
) -> tuple[int, ...] | None:
    """The first index in C order whose element starts `offset` bytes from the first element's.

    Raises
    ------
    ValueError
        The elements interleave so that more than 100,000 partial sums would not tell.

    Examples
    --------
    >>> index_at_offset(-8, (3, 4), (32, -8), 8)
    (0, 1)
    >>> index_at_offset(4, (3, 4), (32, -8), 8) is None
    True
    """
    if 0 in shape:
        return None
    axes = [
        (k, extent - 1, stride)
        for k, (extent, stride) in enumerate(zip(shape, strides_bytes, strict=True))
        if extent > 1 and stride != 0  # the first index of any other axis is 0
    ]
    by_stride = sorted(axes, key=lambda axis: abs(axis[2]))
    if is_nested([(last, abs(stride)) for _, last, stride in by_stride], max(itemsize, 1)):
        found = _divide(offset, by_stride[::-1])
    else:
        found = _search(offset, axes, [_WORK_LIMIT])
    if found is None:
        return None
    return tuple(found.get(k, 0) for k in range(len(shape)))


_PlacedAxis = tuple[int, int, int]  # (axis, last index, stride)


def _divide(offset: int, axes: list[_PlacedAxis]) -> dict[int, int] | None:
    """By repeated division, largest stride first: every address has at most one index."""
    found: dict[int, int] = {}
    # Count from the lowest address: there, every term of the sum is positive.
    rest = offset - sum(last * stride for _, last, stride in axes if stride < 0)
    if rest < 0:
        return None
    for k, last, stride in axes:
        entry = min(rest // abs(stride), last)
        rest -= entry * abs(stride)
        found[k] = entry if stride > 0 else last - entry
    return found if rest == 0 else None


def _search(rest: int, axes: list[_PlacedAxis], budget: list[int]) -> dict[int, int] | None:
    """Axis by axis from the first, trying only entries that the remaining axes may complete."""
    if not axes:
        return {} if rest == 0 else None
    (k, last, stride), remaining = axes[0], axes[1:]
    low = sum(other_last * other for _, other_last, other in remaining if other < 0)
    high = sum(other_last * other for _, other_last, other in remaining if other > 0)
    divisor = gcd(*(other for _, _, other in remaining))
    for entry in _candidates(rest, last, stride, low, high, divisor):
        budget[0] -= 1
        if budget[0] < 0:
            raise ValueError("the elements interleave too much to find the index at an address")
        found = _search(rest - entry * stride, remaining, budget)
        if found is not None:
            return {k: entry, **found}
    return None


def _candidates(rest: int, last: int, stride: int, low: int, high: int, divisor: int) -> range:
    """Entries x in 0 .. last with ``low <= rest - x * stride <= high``, a multiple of `divisor`."""
    if stride < 0:
        rest, stride, low, high = -rest, -stride, -high, -low
    first = max(0, -((high - rest) // stride))
    last = min(last, (rest - low) // stride)
    if divisor == 0:  # no axis remains: low == high == 0 leaves at most the exact quotient
        return range(first, last + 1)
    common = gcd(stride, divisor)
    if rest % common:
        return range(0)
    step = divisor // common
    wanted = rest // common * pow(stride // common, -1, step) % step
    return range(first + (wanted - first) % step, last + 1, step)

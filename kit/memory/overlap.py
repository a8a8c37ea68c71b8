"""Do strided elements share bytes: exact number theory with bounded work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd, prod

__all__ = ["WORK_LIMIT", "Axis", "block_reach", "elements_overlap", "is_nested", "sums_hit"]

WORK_LIMIT = 3_000
"""Partial sums that one search visits before it gives up and answers True (some 30 ms at worst)."""

Axis = tuple[int, int]
"""(last index, stride): an axis that contributes ``x * stride`` for x in 0 .. last index."""


class _WorkLimitError(Exception):
    """The search was not finished; its caller answers conservatively."""


def block_reach(axes: Iterable[Axis], itemsize: int) -> int:
    """Bytes from the lowest to the highest byte used, for positive strides [bytes].

    Examples
    --------
    >>> block_reach([(2, 16)], 8)  # 3 elements, every other one
    40
    """
    return sum(last * stride for last, stride in axes) + itemsize


def is_nested(axes: Iterable[Axis], itemsize: int) -> bool:
    """Whether each axis, in the order given, steps over all that the axes before it span.

    Examples
    --------
    >>> is_nested([(3, 8), (2, 32)], 8), is_nested([(3, 8), (2, 8)], 8)
    (True, False)
    """
    reach = itemsize
    for last, stride in axes:
        if stride < reach:
            return False
        reach += last * stride
    return True


def elements_overlap(shape: Sequence[int], strides_bytes: Sequence[int], itemsize: int) -> bool:
    """Whether two different indices of one array share a byte.

    Exact for at most two axes of more than one index (of different step), and for every array
    in which each stride steps over what the smaller ones span, or which has no gaps. For others
    the search is exact up to `WORK_LIMIT` partial sums; past those the answer is True.

    Parameters
    ----------
    shape, strides_bytes : sequence of int
        Extents [elements] and steps [bytes]; steps may be 0 or negative.
    itemsize : int
        Size of one element [bytes].

    Notes
    -----
    Index i and index j share a byte where ``|sum((i_k - j_k) * stride_k)| < itemsize``, so the
    question is whether a bounded linear Diophantine inequality has a solution other than 0. It
    is NP-hard in the number of axes [1]_, hence the limit.

    References
    ----------
    .. [1] numpy/_core/src/common/mem_overlap.c

    Examples
    --------
    >>> elements_overlap((3, 4), (32, 8), 8), elements_overlap((3, 4), (8, 8), 8)
    (False, True)
    >>> elements_overlap((3, 3), (16, 24), 8)  # indices (0, 2) and (3, 0) would meet; 3 is no index
    False
    >>> elements_overlap((4, 3), (16, 24), 8)
    True
    """
    if itemsize == 0 or 0 in shape:
        return False
    axes = _long_axes(shape, strides_bytes)
    if any(stride == 0 for _, stride in axes):
        return True
    if is_nested(axes, itemsize):
        return False
    if prod(shape) * itemsize > block_reach(axes, itemsize):
        return True  # more element bytes than bytes: two must coincide
    return _two_meet(axes, itemsize)


def _long_axes(shape: Sequence[int], strides_bytes: Sequence[int]) -> list[Axis]:
    """Axes of more than one index by growing magnitude of their stride; the sign is dropped.

    Reversing an axis renames its indices and moves no element.
    """
    pairs = zip(shape, strides_bytes, strict=True)
    axes = [(extent - 1, abs(stride)) for extent, stride in pairs if extent > 1]
    axes.sort(key=lambda axis: axis[1])
    return axes


def _two_meet(axes: list[Axis], itemsize: int) -> bool:
    budget = [WORK_LIMIT]
    for k, (last, stride) in enumerate(axes):
        # The difference of two indices, up to its sign: its component of largest stride is
        # 1 .. last, those of smaller stride are -last .. last, those of larger stride 0.
        smaller = axes[:k]
        shift = sum(other_last * other for other_last, other in smaller) - stride
        differences = [(2 * other_last, other) for other_last, other in smaller]
        differences.append((last - 1, stride))
        if _hit(shift - itemsize + 1, shift + itemsize - 1, differences, budget):
            return True
    return False


def sums_hit(low: int, high: int, axes: Iterable[Axis]) -> bool:
    """Whether some ``sum(x_k * stride_k)`` lies in ``low .. high``; True where undecided.

    Parameters
    ----------
    low, high : int
        Bounds, both included.
    axes : iterable of (int, int)
        Last index and positive stride of each term.

    Examples
    --------
    >>> sums_hit(7, 7, [(9, 6), (9, 10)]), sums_hit(22, 22, [(9, 6), (9, 10)])
    (False, True)
    """
    return _hit(low, high, axes, [WORK_LIMIT])


def _hit(low: int, high: int, axes: Iterable[Axis], budget: list[int]) -> bool:
    merged = _merge(axes)
    reaches, divisors = [0], [0]
    for last, stride in merged:
        reaches.append(reaches[-1] + last * stride)
        divisors.append(gcd(divisors[-1], stride))
    try:
        return _search(low, high, merged, reaches, divisors, budget)
    except _WorkLimitError:
        return True


def _merge(axes: Iterable[Axis]) -> list[Axis]:
    """Fewer axes with the same sums, by growing stride.

    Where a stride is a multiple of a smaller one and leaves no hole in its multiples, the two
    axes make all multiples up to their joint end: one longer axis.
    """
    merged: list[Axis] = []
    for last, stride in sorted((axis for axis in axes if axis[0] > 0), key=lambda axis: axis[1]):
        for k, (other_last, other) in enumerate(merged):
            factor, rest = divmod(stride, other)
            if rest == 0 and factor <= other_last + 1:
                merged[k] = (other_last + factor * last, other)
                break
        else:
            merged.append((last, stride))
    return merged


def _search(
    low: int,
    high: int,
    axes: list[Axis],
    reaches: list[int],
    divisors: list[int],
    budget: list[int],
) -> bool:
    """`sums_hit` for merged axes: branch over the largest strides, solve the last two exactly."""
    n_axes = len(axes)
    if high < 0 or low > reaches[n_axes]:
        return False
    if n_axes == 0:
        return True
    if high - high % divisors[n_axes] < low:
        return False  # every sum is a multiple of the divisor, and none lies in between
    last, stride = axes[-1]
    first = max(0, -((reaches[n_axes - 1] - low) // stride))
    last = min(last, high // stride)
    if first > last or n_axes == 1:
        return first <= last
    if n_axes == 2:
        return _pair_hits(low, high - low, stride, axes[0][1], first, last)
    rest = axes[:-1]
    for x in range(first, last + 1):
        budget[0] -= 1
        if budget[0] < 0:
            raise _WorkLimitError
        if _search(low - x * stride, high - x * stride, rest, reaches, divisors, budget):
            return True
    return False


def _pair_hits(low: int, width: int, stride: int, small: int, first: int, last: int) -> bool:
    """Whether ``x * stride`` lies at most `width` above ``low`` modulo `small`, first <= x <= last.

    The caller has cut ``first .. last`` so that the multiple of `small` that closes the sum is
    then in range by itself.
    """
    if width >= small - 1:
        return True
    begin = (low - first * stride) % small
    if begin == 0 or begin + width >= small:
        return True  # x = first is one
    found = _first_multiple(stride % small, small, begin, begin + width)
    return found is not None and found <= last - first


def _first_multiple(step: int, modulus: int, low: int, high: int) -> int | None:
    """Smallest x >= 0 with ``low <= x * step % modulus <= high``, in Euclid's number of steps.

    Needs ``0 < low <= high < modulus`` and ``0 <= step < modulus``.
    """
    if step == 0:
        return None
    x = -(-low // step)
    if x * step <= high:
        return x
    # No multiple of `step` lies in low .. high: the answer has wrapped `turns` times, and
    # `turns` is the smallest one that leaves room for a multiple, the same question mod `step`.
    turns = _first_multiple(modulus % step, step, -high % step, -low % step)
    return None if turns is None else -(-(low + turns * modulus) // step)

"""Which parts of an array are copied one after the other, so that caches serve both sides; pure.

A copy from C to F order walks one side against its grain: for every element a cache line is fetched
of which the next use comes a whole column later. A tile is short along the axis that is fastest in
the target and long along the one that is fastest in the source: the lines that one inner loop
fetches are then still there for the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

__all__ = ["Tile", "iterate_tiles", "plan_tile"]

Tile = tuple[slice, ...]

# Measured (docs/decisions/0013): lines that stay in a first-level cache, for the most part also
# where the stride is a power of 2 and few sets of the cache are hit.
SHORT_SIDE = 128
LONG_SIDE_BYTES = 32 * 2**10
# Fewer elements do not pay for the call of NumPy.
FEWEST_ELEMENTS = 4096
# So that no thread is left alone with a last large part.
PARTS_PER_THREAD = 4


def plan_tile(
    shape: Sequence[int],
    target_strides: Sequence[int],
    source_strides: Sequence[int],
    itemsize: int,
    *,
    threads: int = 1,
) -> tuple[int, ...]:
    """Extents of the tile in which a copy goes best.

    Parameters
    ----------
    shape : sequence of int
        Of both arrays; no extent is 0.
    target_strides, source_strides : sequence of int
        In bytes, of any sign.
    itemsize : int
        Of one element [bytes].
    threads : int
        How many will copy tiles.

    Returns
    -------
    tuple of int
        One extent per axis, at least 1 and at most that of the array.

    Examples
    --------
    C order to F order, then the same order on both sides:

    >>> plan_tile((1024, 1024), (8, 8192), (8192, 8), 8)
    (128, 1024)
    >>> plan_tile((1024, 1024), (8192, 8), (16384, 8), 8)
    (1024, 1024)
    """
    by_target = sorted(_long_axes(shape), key=lambda axis: abs(target_strides[axis]))
    tile = [1] * len(shape)
    if not by_target:
        return tuple(tile)
    # A stride of 0 reads the same element again: no axis to stay on.
    moving = [axis for axis in by_target if source_strides[axis]] or by_target
    source_fastest = min(moving, key=lambda axis: abs(source_strides[axis]))
    # Cache lines that NumPy, which goes along the target, fetches before it comes back to one.
    before = by_target[: by_target.index(source_fastest)]
    lines = prod(shape[axis] for axis in before if source_strides[axis])
    if lines <= SHORT_SIDE:
        # They stay anyway: NumPy's own order is best, in as few calls as threads allow.
        parts = 1 if threads == 1 else threads * PARTS_PER_THREAD
        _grow(tile, by_target, shape, -(-prod(shape) // parts))
    else:
        tile[by_target[0]] = min(shape[by_target[0]], SHORT_SIDE)
        tile[source_fastest] = min(shape[source_fastest], max(1, LONG_SIDE_BYTES // itemsize))
        _grow(tile, [source_fastest, *by_target], shape, FEWEST_ELEMENTS)
    return tuple(_even(extent, one) for extent, one in zip(shape, tile, strict=True))


def iterate_tiles(
    shape: Sequence[int], target_strides: Sequence[int], tile: Sequence[int]
) -> Iterator[Tile]:
    """The index of every tile, along the target's memory.

    Every element is in exactly one. `next` on the iterator is one step of the interpreter, so
    that threads may share it.

    Examples
    --------
    >>> [[(s.start, s.stop) for s in one] for one in iterate_tiles((3, 2), (8, 24), (2, 2))]
    [[(0, 2), (0, 2)], [(2, 4), (0, 2)]]
    """
    slow_first = sorted(range(len(shape)), key=lambda axis: -abs(target_strides[axis]))
    parts = [
        [slice(start, start + tile[axis]) for start in range(0, shape[axis], tile[axis])]
        for axis in slow_first
    ]
    place = [slow_first.index(axis) for axis in range(len(shape))]

    def in_order_of_axes(part: Tile) -> Tile:
        return tuple([part[one] for one in place])

    return map(in_order_of_axes, product(*parts))


def _long_axes(shape: Sequence[int]) -> list[int]:
    return [axis for axis, extent in enumerate(shape) if extent > 1]


def _grow(tile: list[int], axes: Sequence[int], shape: Sequence[int], elements: int) -> None:
    """Lengthen the tile, axis after axis, until it holds `elements` or is the array."""
    volume = prod(tile)
    for axis in axes:
        if volume >= elements:
            return
        rest = volume // tile[axis]
        tile[axis] = min(shape[axis], max(tile[axis], -(-elements // rest)))
        volume = rest * tile[axis]


def _even(extent: int, part: int) -> int:
    """Not longer than `part`, as often along `extent`, with no short piece left at the end."""
    return -(-extent // -(-extent // part))

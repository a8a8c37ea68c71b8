"""Ghost layers: how many indices lie before and after the body, on each axis."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

from kit.errors import argument_refused

__all__ = ["Ghosts", "body_shape", "body_slices", "read_ghosts", "storage_shape"]

Ghosts = tuple[tuple[int, int], ...]
"""Layers below and above the body, for each axis."""


def read_ghosts(
    nghost: SupportsIndex | Sequence[SupportsIndex] | Sequence[Sequence[SupportsIndex]], rank: int
) -> Ghosts | None:
    """The layers of each axis, or None where there are none.

    Parameters
    ----------
    nghost : int, (int, int) or sequence of (int, int)
        Layers on both sides of the first axis; below and above it; or below and above each axis.
    rank : int
        Number of axes.

    Raises
    ------
    ArgumentRefused
        Also a TypeError or a ValueError: it is none of these, or a count is negative.

    Examples
    --------
    >>> read_ghosts(2, 2), read_ghosts((1, 0), 1), read_ghosts([(1, 1), (0, 2)], 2)
    (((2, 2), (0, 0)), ((1, 0),), ((1, 1), (0, 2)))
    """
    if type(nghost) is int and nghost == 0:  # the usual one, without more thought
        return None
    try:
        pairs = _as_pairs(nghost, rank)
    except (TypeError, ValueError):
        raise _refuse(nghost, rank, TypeError) from None
    if len(pairs) != rank or any(count < 0 for pair in pairs for count in pair):
        raise _refuse(nghost, rank, ValueError)
    return pairs if any(count for pair in pairs for count in pair) else None


def _as_pairs(nghost: Any, rank: int) -> Ghosts:
    # isinstance(nghost, SupportsIndex) would take 8 us (Python 3.11).
    if hasattr(nghost, "__index__"):
        both = operator.index(nghost)
        first = (both, both)
    else:
        entries = list(nghost)
        if not entries or not hasattr(entries[0], "__index__"):
            return tuple((operator.index(low), operator.index(high)) for low, high in entries)
        low, high = entries
        first = (operator.index(low), operator.index(high))
    if rank == 0 and first == (0, 0):
        return ()
    return (first, *((0, 0) for _ in range(rank - 1)))


def _refuse(nghost: object, rank: int, kind: type[TypeError] | type[ValueError]) -> Exception:
    return argument_refused(
        kind,
        "ArrayView",
        "nghost",
        found=f"nghost={nghost!r} for {rank} axes",
        need="a count of layers for the first axis, or (low, high) for each axis; none negative",
        fix=f"nghost = ({'(1, 1), ' * rank})".replace(", )", ",)" if rank == 1 else ")"),
    )


def storage_shape(shape: tuple[int, ...], ghosts: Ghosts | None) -> tuple[int, ...]:
    """Extents of the memory whose body has this `shape`."""
    if ghosts is None:
        return shape
    return tuple(low + extent + high for extent, (low, high) in zip(shape, ghosts, strict=True))


def body_shape(shape: tuple[int, ...], ghosts: Ghosts) -> tuple[int, ...]:
    """Extents of the body of memory of this `shape`.

    Raises
    ------
    ArgumentRefused
        An axis has fewer indices than ghosts; also a ValueError.
    """
    for axis, (extent, (low, high)) in enumerate(zip(shape, ghosts, strict=True)):
        if extent < low + high:
            raise argument_refused(
                ValueError,
                "ArrayView",
                "nghost",
                found=f"{low} + {high} ghost layers on axis {axis}, which has {extent} indices",
                need="at most as many layers as the array has indices on the axis",
                fix=f"nghost = {tuple((0, 0) for _ in shape)}",
            )
    return tuple(extent - low - high for extent, (low, high) in zip(shape, ghosts, strict=True))


def body_slices(shape: tuple[int, ...], ghosts: Ghosts) -> tuple[slice, ...]:
    """The part of an array of this `shape` that is its body.

    Examples
    --------
    >>> body_slices((6, 4), ((1, 2), (0, 0)))
    (slice(1, 4, None), slice(0, 4, None))
    """
    return tuple(
        slice(low, extent - high) for extent, (low, high) in zip(shape, ghosts, strict=True)
    )

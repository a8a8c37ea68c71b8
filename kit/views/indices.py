"""One integer per axis, as an index into the memory of a view."""

from __future__ import annotations

import operator
from contextlib import suppress
from typing import SupportsIndex, cast

from kit.errors import argument_refused
from kit.views.ghosts import Ghosts

__all__ = ["storage_index"]


def storage_index(index: object, shape: tuple[int, ...], ghosts: Ghosts | None) -> tuple[int, ...]:
    """The place of an element, counted from the start of storage.

    Parameters
    ----------
    index : int or tuple of int
        One entry for each axis, counted from the body's first element. Negative ones count from
        the end, but on an axis with ghosts: there -1 is the ghost right before the body.
    shape : tuple of int
        Extents of the body.
    ghosts : tuple of (int, int) or None
        Layers below and above the body.

    Raises
    ------
    IndexError
        There are too few or too many entries, or one is out of bounds.
    ArgumentRefused
        An entry is no integer; also a TypeError.

    Examples
    --------
    >>> storage_index((-1, 2), (3, 4), None), storage_index((-1, 2), (3, 4), ((1, 1), (0, 0)))
    ((2, 2), (0, 2))
    >>> storage_index((0, 4), (3, 4), None)
    Traceback (most recent call last):
    IndexError: index 4 on axis 1 is outside -4 .. 3 of shape (3, 4)
    """
    entries = cast("tuple[object, ...]", index if isinstance(index, tuple) else (index,))
    found = tuple([entry if type(entry) is int else _integer(entry) for entry in entries])
    if len(found) != len(shape):
        raise IndexError(
            f"index {found} has {len(found)} entries, and a view of shape {shape} has "
            f"{len(shape)} axes"
        )
    if ghosts is None:
        return tuple([_entry(axis, found[axis], shape, 0, 0) for axis in range(len(shape))])
    return tuple([_entry(axis, found[axis], shape, *ghosts[axis]) for axis in range(len(shape))])


def _integer(entry: object) -> int:
    # A bool counts as an integer to Python, and as a mask to NumPy.
    if not isinstance(entry, bool):
        with suppress(TypeError):
            return operator.index(cast(SupportsIndex, entry))
    raise argument_refused(
        TypeError,
        "ArrayView",
        "index",
        found=f"an index of type {type(entry).__name__}",
        need="one integer for each axis",
        fix="view.ndarray[...]  # slices, masks and the like, from the start of storage",
    )


def _entry(axis: int, entry: int, shape: tuple[int, ...], low: int, high: int) -> int:
    extent = shape[axis]
    if 0 <= entry < extent:
        return entry + low
    if low or high:
        first, last = -low, extent + high - 1
        place = entry + low
    else:
        first, last = -extent, extent - 1
        place = entry + extent if entry < 0 else entry
    if first <= entry <= last:
        return place
    bound = f"outside {first} .. {last}" if first <= last else "on an axis without elements"
    body = f", whose body is 0 .. {extent - 1}" if low or high else f" of shape {shape}"
    raise IndexError(f"index {entry} on axis {axis} is {bound}{body}")

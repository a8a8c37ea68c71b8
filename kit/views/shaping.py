"""Axes in another order, and elements in another shape, of memory that stays where it is."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, SupportsIndex, cast

import numpy as np

from kit.errors import argument_refused
from kit.memory.indexing import checked_order
from kit.terms import Order
from kit.views.allocated import read_shape
from kit.views.device import reshape_memory, transpose_memory
from kit.views.rest import PLAIN, Rest

__all__ = ["reshaped", "transposed"]

NdArray = np.ndarray[Any, Any]
Parts = tuple[NdArray | None, Rest | None]
Extents = tuple[SupportsIndex | Sequence[SupportsIndex], ...]


def transposed(array: NdArray | None, rest: Rest | None, axes: Extents) -> Parts:
    """The parts of a view with its axes in another order, ghosts along; `()` reverses them."""
    device = (rest or PLAIN).device
    rank = array.ndim if array is not None else device.facts.ndim if device is not None else 0
    order = _read_axes(axes, rank)
    if rest is not None:
        ghosts = None if rest.ghosts is None else tuple(rest.ghosts[axis] for axis in order)
        moved = None if device is None else transpose_memory(device, order)
        rest = replace(rest, ghosts=ghosts, device=moved)
    return None if array is None else array.transpose(order), rest


def _integers(given: Extents) -> tuple[int, ...]:
    """Integers, given one by one or as a sequence: a tuple, a list, an array."""
    # Not by SupportsIndex: an array of several elements has __index__, too.
    one: Any = given[0] if len(given) == 1 and np.iterable(given[0]) else given
    return tuple(operator.index(entry) for entry in one)


def _read_axes(axes: Extents, rank: int) -> tuple[int, ...]:
    is_numpys: bool = len(axes) == 1 and cast(object, axes[0]) is None  # of np.transpose(view)
    if not axes or is_numpys:
        return tuple(reversed(range(rank)))
    found = _integers(axes)
    normal = tuple(axis + rank if axis < 0 else axis for axis in found)
    if sorted(normal) != list(range(rank)):
        raise argument_refused(
            ValueError,
            "ArrayView.transpose",
            "axes",
            found=f"axes {found}",
            need=f"each axis of {rank} once",
            fix="view.transpose()  # all axes reversed",
        )
    return normal


def reshaped(array: NdArray | None, rest: Rest | None, shape: Extents, order: Order) -> Parts:
    """The parts of a view of the same elements, counted in `order`, in another shape."""
    checked_order(order)
    device = (rest or PLAIN).device
    if rest is not None and rest.ghosts is not None:
        raise _refuse("a view with ghosts", "view.body.ndarray.reshape(...)  # copies")
    found = array if array is not None else device.facts if device is not None else None
    assert found is not None  # a view has an array, or it has device memory
    extents = _read_extents(shape, found.size, found.shape)
    if array is not None:
        try:
            return array.reshape(extents, order=order, copy=False), rest
        except ValueError:
            raise _refuse(
                f"shape {array.shape} with strides_bytes {array.strides}",
                "view.ndarray.reshape(...)  # copies",
            ) from None
    assert device is not None
    assert rest is not None
    moved = reshape_memory(device, extents, order)
    if moved is None:
        raise _refuse(f"{device.facts.summary} on a device", "cupy.asarray(view).reshape(...)")
    return None, replace(rest, device=moved)


def _refuse(found: str, fix: str) -> Exception:
    return argument_refused(
        ValueError,
        "ArrayView.reshape",
        "shape",
        found=found,
        need="elements that lie so that the new shape needs no copy",
        fix=fix,
    )


def _read_extents(shape: Extents, size: int, before: tuple[int, ...]) -> tuple[int, ...]:
    """The new extents, with -1 as what is left."""
    given = found = _integers(shape)
    if found.count(-1) == 1:
        rest = prod(extent for extent in found if extent != -1)
        left = size // rest if rest > 0 else -2  # -2: matches no number of elements
        found = tuple(left if extent == -1 else extent for extent in found)
    if any(extent < 0 for extent in found) or prod(found) != size:
        raise argument_refused(
            ValueError,
            "ArrayView.reshape",
            "shape",
            found=f"{given!r} for {size} elements",
            need=f"extents whose product is {size}, of which one may be -1",
            fix=f"view.reshape({before!r})",
        )
    return read_shape(found)

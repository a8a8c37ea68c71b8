"""What the arguments of `ArrayView(...)` say: memory of somebody else, or new memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from kit.errors import argument_refused
from kit.terms import Order
from kit.views.allocated import allocate, read_alignment, read_shape
from kit.views.elements import exact_element, named_element_type
from kit.views.ghosts import Ghosts, body_shape, read_ghosts, storage_shape
from kit.views.rest import DeviceMemory, Rest
from kit.views.sources import view_source

__all__ = ["make_new", "make_wrapped"]

NdArray = np.ndarray[Any, Any]


def make_wrapped(
    array: object, dtype: object, nghost: Any, *, readonly: bool
) -> tuple[NdArray | None, Rest | None]:
    """The memory of `array`, with what goes with it; None where nothing does."""
    found = view_source(array, dtype, readonly=readonly)
    if isinstance(found, DeviceMemory):
        ghosts = _checked_ghosts(nghost, found.facts.shape)
        return None, Rest(ghosts=ghosts, device=found)
    ghosts = _checked_ghosts(nghost, found.shape)
    return found, None if ghosts is None else Rest(ghosts=ghosts)


def _checked_ghosts(nghost: Any, shape: tuple[int, ...]) -> Ghosts | None:
    ghosts = read_ghosts(nghost, len(shape))
    if ghosts is not None:
        body_shape(shape, ghosts)
    return ghosts


def make_new(
    shape: object,
    dtype: object,
    value: object,
    order: Order,
    alignment: object,
    nghost: Any,
    *,
    readonly: bool,
) -> tuple[NdArray, Rest]:
    """New memory for a body of `shape`, filled with `value` where there is one."""
    if shape is None:
        raise argument_refused(
            TypeError,
            "ArrayView",
            "array",
            found="neither an array nor a shape",
            need="array=, whose memory is shared, or a shape, for new memory",
            fix='ArrayView((3, 4), dtype="float64")',
        )
    element = named_element_type("float64" if dtype is None else dtype)
    extents = read_shape(shape)
    ghosts = read_ghosts(nghost, len(extents))
    number = None if value is None else exact_element(value, element, "value")
    multiple = read_alignment(alignment)
    array = allocate(storage_shape(extents, ghosts), element, order, multiple)
    if number is not None:
        array.fill(number)
    if readonly:
        array.flags.writeable = False
    return array, Rest(ghosts=ghosts, alignment=multiple, is_from_python=False)

"""Views of device memory: layout, copies, export to other libraries; kit reads no element of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from kit.errors import ArgumentRefused, argument_refused
from kit.layout import inspect_layout
from kit.memory.facts import LayoutFacts
from kit.terms import Order
from kit.views.ghosts import Ghosts, body_shape
from kit.views.rest import DeviceMemory

__all__ = [
    "body_facts",
    "copy_memory",
    "cuda_array_interface",
    "export_dlpack",
    "refuse_on_device",
    "reshape_memory",
    "transpose_memory",
]


def refuse_on_device(what: str) -> ArgumentRefused:
    """The refusal of what would read or write elements on the host."""
    return argument_refused(
        TypeError,
        f"ArrayView.{what}",
        "self",
        found="elements on a device",
        need="elements in the memory of the host",
        fix="cupy.asarray(view)  # shares the device's memory; .get() copies it to the host",
    )


def body_facts(facts: LayoutFacts, ghosts: Ghosts | None) -> LayoutFacts:
    """Where the body lies in memory whose full extent is `facts`."""
    if ghosts is None:
        return facts
    skipped = sum(
        low * stride for (low, _), stride in zip(ghosts, facts.strides_bytes, strict=True)
    )
    return replace(facts, shape=body_shape(facts.shape, ghosts), pointer=facts.pointer + skipped)


def transpose_memory(memory: DeviceMemory, axes: Sequence[int]) -> DeviceMemory:
    """The same elements with their axes in another order."""
    facts = memory.facts
    permuted = replace(
        facts,
        shape=tuple(facts.shape[axis] for axis in axes),
        strides_bytes=tuple(facts.strides_bytes[axis] for axis in axes),
    )
    return replace(memory, facts=permuted, is_whole=False)


def reshape_memory(
    memory: DeviceMemory, shape: tuple[int, ...], order: Order
) -> DeviceMemory | None:
    """The same elements in another shape; None where they are no gapless block in `order`."""
    facts = memory.facts
    if not facts.is_contiguous(order):
        return None
    strides: list[int] = []
    for axis in range(len(shape)):
        faster = shape[axis + 1 :] if order == "C" else shape[:axis]
        strides.append(facts.itemsize * prod(max(extent, 1) for extent in faster))
    moved = replace(facts, shape=shape, strides_bytes=tuple(strides))
    return replace(memory, facts=moved, is_whole=False)


def copy_memory(view: object, memory: DeviceMemory, order: Order) -> DeviceMemory:
    """New memory on the device with the elements of a view, where CuPy owns the memory.

    Parameters
    ----------
    view : ArrayView
        What exports `memory` by ``__cuda_array_interface__``.
    memory : DeviceMemory
        Its storage.
    order : {"C", "F"}
        Of the copy.

    Raises
    ------
    ArgumentRefused
        Also a TypeError: the memory is another library's, whose copies take no order.
    """
    library: Any = sys.modules.get(type(memory.owner).__module__.partition(".")[0])
    if not hasattr(getattr(library, "ndarray", None), "get"):
        raise refuse_on_device("clone")
    copied = library.asarray(view).copy(order=order)
    facts = replace(inspect_layout(copied), writeable=True)
    return DeviceMemory(facts=facts, owner=copied, is_whole=True)


def cuda_array_interface(memory: DeviceMemory) -> dict[str, Any]:
    """The dictionary that CuPy, Numba and PyTorch read (version 3)."""
    facts = memory.facts
    interface: dict[str, Any] = {
        "shape": facts.shape,
        "typestr": np.dtype(facts.dtype).str,
        "data": (facts.pointer, not facts.writeable),
        "strides": None if facts.is_contiguous("C") else facts.strides_bytes,
        "version": 3,
    }
    # Who reads the elements must wait for what the owner has started on this stream.
    owned = getattr(memory.owner, "__cuda_array_interface__", {})
    if "stream" in owned:
        interface["stream"] = owned["stream"]
    return interface


def export_dlpack(memory: DeviceMemory, **options: Any) -> object:
    """The owner's own capsule, where the view sees just what the owner has."""
    export: Any = getattr(memory.owner, "__dlpack__", None)
    if export is None or not memory.is_whole:
        raise BufferError(
            "the owner of this device memory exports no such view by DLPack; "
            "use __cuda_array_interface__: cupy.asarray(view)"
        )
    return export(**options)

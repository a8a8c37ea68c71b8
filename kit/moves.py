"""Device arrays as arguments of host kernels: to the host in the declared order, and back.

What a call would do is decided before anything moves, by *shadows*: host arrays without memory of
their own that lie to each other as the device arrays do. Whatever refuses an array for its dtype,
its rank, its layout or for what it shares then holds for device arrays as well.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from kit.accounting import record_transfer
from kit.arrays import array_kind
from kit.boundary.argument_plan import refuse
from kit.boundary.verdict import Refusal
from kit.layout import LayoutFacts, inspect_layout

if TYPE_CHECKING:
    from kit.boundary.argument_plan import ArgumentPlan
    from kit.plan import CallPlan

__all__ = ["Shadows", "move_to_host", "plan_moves", "shadow_arguments", "write_back_to_device"]

NdArray = np.ndarray[Any, Any]


class Shadows(NamedTuple):
    """Arguments with a shadow in the place of each device array.

    Parameters
    ----------
    values : list of object
        One for each parameter.
    indices : tuple of int
        Which of them are shadows.
    """

    values: list[object]
    indices: tuple[int, ...]


def shadow_arguments(values: Sequence[object]) -> Shadows | None:
    """The arguments with shadows of device arrays, or None where there is no device array.

    Only arrays of a library that moves them itself, as CuPy does with ``get`` and ``set``.
    Reads no element and moves nothing.
    """
    indices = tuple(index for index, one in enumerate(values) if _moves_itself(one))
    if not indices:
        return None
    facts = [inspect_layout(values[index]) for index in indices]
    shadowed = list(values)
    for index, shadow in zip(indices, _shadows(facts), strict=True):
        shadowed[index] = shadow
    return Shadows(shadowed, indices)


def _moves_itself(value: object) -> bool:
    if isinstance(value, np.ndarray | np.generic | int | float | complex | str):
        return False
    # On the class: a proxy that answers every attribute moves nothing.
    has_moves = all(callable(getattr(type(value), name, None)) for name in ("get", "set"))
    return has_moves and array_kind(value) == "cuda"


def _shadows(facts: Sequence[LayoutFacts]) -> list[NdArray]:
    """Arrays over memory that nobody touches: zeros are not there until they are read."""
    order = sorted(range(len(facts)), key=lambda index: facts[index].byte_span[0])
    shadows: list[NdArray | None] = [None] * len(facts)
    group: list[int] = []
    end = 0
    for index in order:
        low, high = facts[index].byte_span
        if group and low >= end:
            _lay_out(group, facts, shadows)
            group = []
        end = max(end, high) if group else high
        group.append(index)
    _lay_out(group, facts, shadows)
    return cast("list[NdArray]", shadows)


def _lay_out(
    group: Sequence[int], facts: Sequence[LayoutFacts], shadows: list[NdArray | None]
) -> None:
    """One memory for arrays whose spans meet, in which each lies where it does on the device."""
    start = min(facts[index].byte_span[0] for index in group)
    # As aligned as the device's memory is.
    offset = start % 64
    memory = np.zeros(max(facts[index].byte_span[1] for index in group) - start + 128, np.uint8)
    offset += -memory.ctypes.data % 64
    for index in group:
        one = facts[index]
        shadow: NdArray = np.ndarray(
            one.shape,
            np.dtype(one.dtype),
            memory,
            offset=one.pointer - start + offset if one.size else 0,
            strides=one.strides_bytes,
        )
        shadow.flags.writeable = one.writeable
        shadows[index] = shadow


def plan_moves(plan: CallPlan, shadows: Shadows) -> CallPlan:
    """The plan of a call with shadows as that of the call with the device arrays."""
    arguments = tuple(
        _planned_move(one) if index in shadows.indices and one.action != "REFUSE" else one
        for index, one in enumerate(plan.arguments)
    )
    return replace(plan, arguments=arguments)


def _planned_move(one: ArgumentPlan) -> ArgumentPlan:
    facts = cast(LayoutFacts, one.facts)
    name = one.parameter.name
    if one.parameter.kept_by:
        refusal = Refusal(
            error="value",
            found=f"{one.shows} on a device",
            need=f"{one.type.text} on the host, because the kernel leaves {name} in an object",
            fix=f'{name} = {name}.get(order="{_order_of(one)}")  # what the object then holds',
        )
        return refuse(one, refusal)
    return replace(
        one,
        action="MOVE",
        reason=f"from the device to the host in {_order_of(one)} order",
        bytes_in=0 if one.parameter.intent == "out" else facts.nbytes,
        bytes_out=facts.nbytes if one.written else 0,
        facts=replace(facts, place="device"),
    )


def _order_of(one: ArgumentPlan) -> str:
    return one.type.order or "C"


def move_to_host(values: Sequence[object], plan: CallPlan) -> list[object]:
    """The arguments with a host array in the declared order for each that moves.

    One array that is passed twice moves once. What the kernel overwrites entirely gets memory
    alone, in which anything may be found.
    """
    moved: dict[tuple[int, str], object] = {}
    hosts = list(values)
    for index, one in enumerate(plan.arguments):
        if one.action != "MOVE":
            continue
        value, order = cast(Any, values[index]), _order_of(one)
        form = (id(value), order)
        if form not in moved:
            moved[form] = _moved(value, order, one, plan.kernel)
        hosts[index] = moved[form]
    return hosts


def _moved(value: Any, order: str, one: ArgumentPlan, kernel: str) -> object:
    if not one.bytes_in:
        return np.empty(value.shape, one.type.dtype, cast(Any, order))
    facts = cast(LayoutFacts, one.facts)
    # "A" takes an array over in one piece; any other order is rearranged on the device first.
    fits = facts.is_contiguous(cast(Any, order))
    host = value.get(order="A" if fits else order)
    record_transfer(
        "to_host", one.bytes_in, kernel=kernel, argument=one.parameter.name, reason=one.reason
    )
    return host


def write_back_to_device(values: Sequence[object], hosts: Sequence[object], plan: CallPlan) -> None:
    """Fill the caller's device arrays, whatever their strides, with what the kernel wrote."""
    for value, host, one in zip(values, hosts, plan.arguments, strict=True):
        if one.action == "MOVE" and one.written:
            _fill(cast(Any, value), cast(NdArray, host))
            record_transfer(
                "to_device",
                one.bytes_out,
                kernel=plan.kernel,
                argument=one.parameter.name,
                reason="written by the kernel",
            )


def _fill(value: Any, host: NdArray) -> None:
    facts = inspect_layout(value)
    if facts.is_contiguous("C") or facts.is_contiguous("F"):
        value.set(host)
    else:
        # set() of CuPy (14.2) takes only arrays without gaps.
        library = sys.modules[type(value).__module__.partition(".")[0]]
        value[...] = library.asarray(host)

"""One array argument of a CUDA kernel: passed as it lies, or refused with the fix."""

from __future__ import annotations

import struct
from typing import Any, cast

from kit.arrays import array_kind
from kit.boundary.call_text import CallText
from kit.boundary.refusals import describe_value
from kit.cuda.array_case import ArrayCase
from kit.cuda.array_elements import refuse_elements
from kit.cuda.array_fixes import array_fix, declaration_fix, fresh_fix, moving_fix, need_text
from kit.cuda.dead_memory import dead_text, why_dead
from kit.cuda.element_types import dtype_text
from kit.cuda.found_arrays import find_array
from kit.cuda.judged import Judged, accepted, refused
from kit.cuda.signature import CudaParameter
from kit.layout import LayoutFacts
from kit.terms import Target
from kit.views.rules import why_misaligned, why_no_steps

__all__ = ["judge_array"]


def judge_array(parameter: CudaParameter, value: Any, target: Target, call: CallText) -> Judged:
    """Decide one array argument; reads no element but those of a mask, and copies nothing.

    Parameters
    ----------
    parameter : CudaParameter
        A pointer or a view.
    value : object
        What was passed.
    target : {"device", "emulator"}
        Where the kernel is to run: arrays must lie there.
    call : CallText
        The call, for the fix.
    """
    try:
        found = find_array(value)
    except Exception as error:  # a stranger that has a protocol and refuses to serve it
        return refused(
            "type",
            found=f"{describe_value(value)}, which says: {error}",
            need=need_text(parameter),
            fix=fresh_fix(parameter.name, value, "cupy" if target == "device" else "np"),
        )
    if found is None:
        return _no_array(parameter, value, target, call)
    case = ArrayCase(parameter, value, found, call)
    refusal = _of_place(case, target) or refuse_elements(case) or _of_memory(case)
    return refusal or _of_layout(case)


def _no_array(parameter: CudaParameter, value: Any, target: Target, call: CallText) -> Judged:
    name = parameter.name
    lines = array_fix(parameter, value, None, call)
    if target == "device" and array_kind(value) == "dlpack":
        lines = [f"{name} = cupy.from_dlpack({name})  # shares the memory of a device"]
    elif target == "device":
        dtype = dtype_text(parameter.element).replace("np.", "cupy.", 1)
        lines = [f"{name} = cupy.array({name}, dtype={dtype})"]
    elif array_kind(value) == "dlpack":
        lines = [f"{name} = np.from_dlpack({name})  # shares the memory"]
    elif array_kind(value) is not None or isinstance(value, (bytearray, memoryview)):
        lines = [f"{name} = np.asarray({name})  # shares the memory"]
    found = describe_value(cast(object, value))
    return refused("type", found=found, need=need_text(parameter), fix="\n".join(lines))


def _of_place(case: ArrayCase, target: Target) -> Judged | None:
    """The refusal of an array that lies elsewhere, or that nobody can wait for."""
    facts, name = case.found.facts, case.parameter.name
    if facts.place != ("device" if target == "device" else "host"):
        side = "the device's memory" if target == "device" else "the host's memory"
        return refused(
            "type",
            found=f"{case.shown()} in the memory of the {facts.place}",
            need=f"an array in {side}, because CUDA kernels copy none",
            fix=moving_fix(case.parameter, case.value, target, case.call),
        )
    if case.found.stream == 0:
        return refused(
            "value",
            found=f"{case.shown()} with stream 0 in its __cuda_array_interface__",
            need="1 (the legacy default stream), 2 (of the thread) or a stream's address",
            fix=f"{name} = cupy.asarray({name}.copy())  # the interface forbids 0",
        )
    return None


def _of_memory(case: ArrayCase) -> Judged | None:
    parameter, storage, array = case.parameter, case.found.storage, case.found.array
    dead = None if array is None else why_dead(array, *storage.byte_span)
    if dead is not None:
        found, need, fix = dead_text(parameter.name, dead)
        return refused("value", found=found, need=need, fix=fix)
    if parameter.written and not storage.writeable:
        return case.refuse(
            "value",
            found=f"{case.shown()}: array is not writeable",
            need=f"a writeable array, because the kernel writes {parameter.name}",
        )
    return None


def _of_layout(case: ArrayCase) -> Judged:
    """The packed argument, or the refusal of elements that lie where it cannot say."""
    parameter, found = case.parameter, case.found
    facts, storage = case.whole_elements(found.facts), case.whole_elements(found.storage)
    refusal = _of_strides(case, facts, storage) or _of_address(case, storage, facts.pointer)
    if refusal is not None:
        return refusal
    ghosts = found.ghosts[: facts.ndim] if found.ghosts else ((0, 0),) * facts.ndim
    data = struct.pack("<Q", facts.pointer)
    if parameter.kind != "pointer":
        data += struct.pack(f"<{facts.ndim}q", *facts.shape)
    if parameter.kind == "view":
        data += struct.pack(f"<{facts.ndim}q", *(facts.strides_elements or ()))
        data += struct.pack(f"<{facts.ndim}i", *(low for low, _ in ghosts))
        data += struct.pack(f"<{facts.ndim}i", *(high for _, high in ghosts))
    return accepted(data, facts=found.facts, storage=storage, stream=found.stream)


def _of_strides(case: ArrayCase, facts: LayoutFacts, storage: LayoutFacts) -> Judged | None:
    parameter = case.parameter
    if parameter.kind != "view":
        return _of_contiguity(case, facts)
    problem = why_no_steps(storage.strides_bytes, storage.itemsize)
    if problem is not None:
        return case.refuse("value", found=problem[0], need=problem[1])
    if parameter.written and storage.overlaps:
        return case.refuse(
            "value",
            found=_overlap_text(storage),
            need=f"one element for each index, because the kernel writes {parameter.name}",
        )
    return None


def _of_contiguity(case: ArrayCase, facts: LayoutFacts) -> Judged | None:
    parameter = case.parameter
    more = declaration_fix(parameter, case.found, strided=True)
    if case.found.ghosts is not None:
        found = f"{case.shown()} with ghost layers {case.found.ghosts}"
        fix = f"{parameter.name} = {parameter.name}.ndarray  # all of it, ghosts included"
        need = need_text(parameter)
        return refused("value", found=found, need=need, fix="\n".join([fix, *more]))
    if facts.is_contiguous("C"):
        return None
    found = f"{case.shown()}: {facts.summary}"
    return case.refuse("value", found=found, more=more)


def _of_address(case: ArrayCase, storage: LayoutFacts, pointer: int) -> Judged | None:
    element = case.parameter.element
    problem = why_misaligned(pointer, element.alignment, element.text) if storage.size else None
    if problem is None:
        return None
    return case.refuse("value", found=problem[0], need=problem[1])


def _overlap_text(facts: LayoutFacts) -> str:
    for axis, (extent, stride) in enumerate(zip(facts.shape, facts.strides_bytes, strict=True)):
        if extent > 1 and stride == 0:
            return f"axis {axis} has stride 0 ({extent} indices, one element)"
    return "elements that overlap in memory"

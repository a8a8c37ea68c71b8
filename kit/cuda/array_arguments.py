"""One array argument of a CUDA kernel: passed as it lies, or refused with the fix."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from kit.arrays import array_kind
from kit.boundary.refusals import CallText, describe_value, is_masked
from kit.boundary.verdict import ErrorKind
from kit.cuda.array_fixes import array_fix, declaration_fix, moving_fix, need_text
from kit.cuda.dead_memory import why_dead
from kit.cuda.element_types import dtype_text, holds_components, is_struct, why_not_element
from kit.cuda.found_arrays import FoundArray, find_array
from kit.cuda.judged import Judged, accepted, refused
from kit.cuda.signature import CudaParameter
from kit.layout import LayoutFacts
from kit.terms import Target
from kit.views.rules import MASKED, why_misaligned, why_no_steps

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
        name, library = parameter.name, "cupy" if target == "device" else "np"
        detach = callable(getattr(type(value), "detach", None))  # PyTorch, where a gradient is kept
        fresh = f"{name}.detach()" if detach else f"{library}.array({name}.tolist())"
        return refused(
            "type",
            found=f"{describe_value(value)}, which says: {error}",
            need=need_text(parameter),
            fix=f"{name} = {fresh}",
        )
    if found is None:
        return _no_array(parameter, value, target, call)
    judgement = _Judgement(parameter, value, found, call)
    return judgement.of_place(target) or judgement.of_elements() or judgement.of_layout()


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


class _Judgement:
    """One array against one parameter."""

    def __init__(
        self, parameter: CudaParameter, value: object, found: FoundArray, call: CallText
    ) -> None:
        self._parameter, self._value, self._found, self._call = parameter, value, found, call

    def of_place(self, target: Target) -> Judged | None:
        """The refusal of an array that lies elsewhere, or that nobody can wait for."""
        facts, name = self._found.facts, self._parameter.name
        if facts.place != ("device" if target == "device" else "host"):
            side = "the device's memory" if target == "device" else "the host's memory"
            return refused(
                "type",
                found=f"{self._shown()} in the memory of the {facts.place}",
                need=f"an array in {side}, because CUDA kernels copy none",
                fix=moving_fix(self._parameter, self._value, target, self._call),
            )
        if self._found.stream == 0:
            return refused(
                "value",
                found=f"{self._shown()} with stream 0 in its __cuda_array_interface__",
                need="1 (the legacy default stream), 2 (of the thread) or a stream's address",
                fix=f"{name} = cupy.asarray({name}.copy())  # the interface forbids 0",
            )
        return None

    # ---- elements -----------------------------------------------------------------------------

    def of_elements(self) -> Judged | None:
        """The refusal of other elements, of other axes, and of what may not be written."""
        return self._of_subclass() or self._of_dtype() or self._of_memory()

    def _of_subclass(self) -> Judged | None:
        found, array = self._found, self._found.array
        if found.storage.masked and (array is None or is_masked(array)):
            text, need = MASKED
            fix = f"{self._parameter.name} = {self._parameter.name}.filled(0)"
            return refused("value", found=text, need=need, fix=fix)
        kind: Any = type(array)
        if array is None or kind.__array_ufunc__ is np.ndarray.__array_ufunc__:
            return None
        need = f"{need_text(self._parameter)}; {kind.__name__} gives arithmetic its own meaning"
        return refused(
            "type",
            found=self._shown(),
            need=need,
            fix=f"{self._parameter.name} = np.asarray({self._parameter.name})  # the bare numbers",
        )

    def _of_dtype(self) -> Judged | None:
        parameter, dtype = self._parameter, self._found.dtype
        if holds_components(dtype, parameter.element):
            return self._of_width() or self._of_rank()
        if dtype.names is not None or is_struct(parameter.element):
            problem = why_not_element(dtype, parameter.element)
            return self._of_rank() if problem is None else self._other_records(problem)
        found = self._shown() + ("" if dtype.isnative else ", in a foreign byte order")
        return self._refused(
            "type", found=found, more=declaration_fix(parameter, self._found, strided=False)
        )

    def _other_records(self, problem: str) -> Judged:
        name, element = self._parameter.name, self._parameter.element
        shown = f"{self._shown()}: {problem}"
        if element.fields is None and self._found.dtype.itemsize == element.size:
            return refused(
                "type",
                found=shown,
                need=f"bytes of the size of {element.text}, whose layout you then answer for",
                fix=f'{name} = {name}.view("V{element.size}")',
            )
        return self._refused("type", found=shown)

    def _of_width(self) -> Judged | None:
        """The refusal of components that are not the last axis, side by side."""
        element, facts = self._parameter.element, self._found.facts
        if element.width == 1:
            return None
        size = element.size // element.width
        if not facts.ndim or facts.shape[-1] != element.width:
            return self._refused("type", found=self._shown())
        if facts.size and facts.strides_bytes[-1] != size:
            found = f"components {facts.strides_bytes[-1]} bytes apart on the last axis"
            return self._refused("value", found=found)
        if self._found.ghosts is not None and self._found.ghosts[-1] != (0, 0):
            found = f"ghost layers on the last axis, which has the components of {element.text}"
            return self._refused("value", found=found)
        return None

    def _of_rank(self) -> Judged | None:
        rank = len(self._elements(self._found.facts).shape)
        if self._parameter.ndim in (None, rank):
            return None
        more = declaration_fix(self._parameter, self._found, strided=False)
        return self._refused("type", found=self._shown(), more=more)

    def _of_memory(self) -> Judged | None:
        parameter, storage, array = self._parameter, self._found.storage, self._found.array
        dead = None if array is None else why_dead(array, *storage.byte_span)
        if dead is not None:
            return refused(
                "value",
                found=f"an array whose memory is gone: {dead}",
                need="memory that is still there",
                fix=f"# make {parameter.name} anew, and keep what it is made of",
            )
        if parameter.written and not storage.writeable:
            return self._refused(
                "value",
                found=f"{self._shown()}: array is not writeable",
                need=f"a writeable array, because the kernel writes {parameter.name}",
            )
        return None

    # ---- layout -------------------------------------------------------------------------------

    def of_layout(self) -> Judged:
        """The packed argument, or the refusal of elements that lie where it cannot say."""
        parameter, found = self._parameter, self._found
        facts, storage = self._elements(found.facts), self._elements(found.storage)
        refusal = self._of_strides(facts, storage) or self._of_address(storage, facts.pointer)
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

    def _elements(self, facts: LayoutFacts) -> LayoutFacts:
        """Where whole elements lie: the last axis holds the components of a vector type."""
        element = self._parameter.element
        if element.width == 1 or not holds_components(self._found.dtype, element):
            return facts
        return replace(
            facts,
            shape=facts.shape[:-1],
            strides_bytes=facts.strides_bytes[:-1],
            itemsize=element.size,
        )

    def _of_strides(self, facts: LayoutFacts, storage: LayoutFacts) -> Judged | None:
        parameter = self._parameter
        if parameter.kind != "view":
            return self._of_contiguity(facts)
        problem = why_no_steps(storage.strides_bytes, storage.itemsize)
        if problem is not None:
            return self._refused("value", found=problem[0], need=problem[1])
        if parameter.written and storage.overlaps:
            return self._refused(
                "value",
                found=_overlap_text(storage),
                need=f"one element for each index, because the kernel writes {parameter.name}",
            )
        return None

    def _of_contiguity(self, facts: LayoutFacts) -> Judged | None:
        parameter = self._parameter
        more = declaration_fix(parameter, self._found, strided=True)
        if self._found.ghosts is not None:
            found = f"{self._shown()} with ghost layers {self._found.ghosts}"
            fix = f"{parameter.name} = {parameter.name}.ndarray  # all of it, ghosts included"
            need = need_text(parameter)
            return refused("value", found=found, need=need, fix="\n".join([fix, *more]))
        if facts.is_contiguous("C"):
            return None
        found = f"{self._shown()}: {facts.summary}"
        return self._refused("value", found=found, more=more)

    def _of_address(self, storage: LayoutFacts, pointer: int) -> Judged | None:
        element = self._parameter.element
        problem = why_misaligned(pointer, element.alignment, element.text) if storage.size else None
        if problem is None:
            return None
        return self._refused("value", found=problem[0], need=problem[1])

    # ---- words --------------------------------------------------------------------------------

    def _shown(self) -> str:
        found = self._found
        if found.array is self._value:
            return describe_value(self._value)
        dtype = found.dtype if found.dtype.names else found.dtype.name
        kind = type(self._value).__name__
        return f"{dtype} array of shape {found.facts.shape} ({kind})"

    def _refused(
        self, error: ErrorKind, *, found: str, need: str = "", more: Sequence[str] = ()
    ) -> Judged:
        lines = array_fix(self._parameter, self._value, self._found, self._call)
        need = need or need_text(self._parameter)
        return refused(error, found=found, need=need, fix="\n".join([*lines, *more]))


def _overlap_text(facts: LayoutFacts) -> str:
    for axis, (extent, stride) in enumerate(zip(facts.shape, facts.strides_bytes, strict=True)):
        if extent > 1 and stride == 0:
            return f"axis {axis} has stride 0 ({extent} indices, one element)"
    return "elements that overlap in memory"

"""The elements and axes of an array against those that a CUDA kernel declares."""

from __future__ import annotations

from typing import Any

import numpy as np

from kit.boundary.refusals import is_masked
from kit.cuda.array_case import ArrayCase
from kit.cuda.array_fixes import declaration_fix, need_text
from kit.cuda.element_types import holds_components, is_struct, why_not_element
from kit.cuda.judged import Judged, refused
from kit.views.rules import MASKED

__all__ = ["refuse_elements"]


def refuse_elements(case: ArrayCase) -> Judged | None:
    """The refusal of other elements than the declared ones, and of other axes; or None."""
    return _of_subclass(case) or _of_dtype(case)


def _of_subclass(case: ArrayCase) -> Judged | None:
    found, array = case.found, case.found.array
    if found.storage.masked and (array is None or is_masked(array)):
        text, need = MASKED
        fix = f"{case.parameter.name} = {case.parameter.name}.filled(0)"
        return refused("value", found=text, need=need, fix=fix)
    kind: Any = type(array)
    if array is None or kind.__array_ufunc__ is np.ndarray.__array_ufunc__:
        return None
    need = f"{need_text(case.parameter)}; {kind.__name__} gives arithmetic its own meaning"
    return refused(
        "type",
        found=case.shown(),
        need=need,
        fix=f"{case.parameter.name} = np.asarray({case.parameter.name})  # the bare numbers",
    )


def _of_dtype(case: ArrayCase) -> Judged | None:
    parameter, dtype = case.parameter, case.found.dtype
    if holds_components(dtype, parameter.element):
        return _of_width(case) or _of_rank(case)
    if dtype.names is not None or is_struct(parameter.element):
        problem = why_not_element(dtype, parameter.element)
        return _of_rank(case) if problem is None else _other_records(case, problem)
    found = case.shown() + ("" if dtype.isnative else ", in a foreign byte order")
    return case.refuse(
        "type", found=found, more=declaration_fix(parameter, case.found, strided=False)
    )


def _other_records(case: ArrayCase, problem: str) -> Judged:
    name, element = case.parameter.name, case.parameter.element
    shown = f"{case.shown()}: {problem}"
    if element.fields is None and case.found.dtype.itemsize == element.size:
        return refused(
            "type",
            found=shown,
            need=f"bytes of the size of {element.text}, whose layout you then answer for",
            fix=f'{name} = {name}.view("V{element.size}")',
        )
    return case.refuse("type", found=shown)


def _of_width(case: ArrayCase) -> Judged | None:
    """The refusal of components that are not the last axis, side by side."""
    element, facts = case.parameter.element, case.found.facts
    if element.width == 1:
        return None
    size = element.size // element.width
    if not facts.ndim or facts.shape[-1] != element.width:
        return case.refuse("type", found=case.shown())
    if facts.size and facts.strides_bytes[-1] != size:
        found = f"components {facts.strides_bytes[-1]} bytes apart on the last axis"
        return case.refuse("value", found=found)
    if case.found.ghosts is not None and case.found.ghosts[-1] != (0, 0):
        name = case.parameter.name
        return refused(
            "value",
            found=f"ghost layers on the last axis, which has the components of {element.text}",
            need="all components of an element, or an element that is ghost as a whole",
            fix=f"{name} = {name}.body",
        )
    return None


def _of_rank(case: ArrayCase) -> Judged | None:
    rank = len(case.whole_elements(case.found.facts).shape)
    if case.parameter.ndim in (None, rank):
        return None
    more = declaration_fix(case.parameter, case.found, strided=False)
    return case.refuse("type", found=case.shown(), more=more)

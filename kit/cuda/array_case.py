"""An array that was passed for a parameter, in the words of a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from kit.boundary.call_text import CallText
from kit.boundary.refusals import describe_value
from kit.boundary.verdict import ErrorKind
from kit.cuda.array_fixes import array_fix, need_text
from kit.cuda.element_types import holds_components
from kit.cuda.found_arrays import FoundArray
from kit.cuda.judged import Judged, refused
from kit.cuda.signature import CudaParameter
from kit.layout import LayoutFacts

__all__ = ["ArrayCase"]


class ArrayCase(NamedTuple):
    """One array against one parameter.

    Parameters
    ----------
    parameter : CudaParameter
        A pointer or a view.
    value : object
        What was passed.
    found : FoundArray
        The same as an array.
    call : CallText
        The call, for the fix.
    """

    parameter: CudaParameter
    value: object
    found: FoundArray
    call: CallText

    def shown(self) -> str:
        """What was passed, for the line "found"."""
        found = self.found
        if found.array is self.value:
            return describe_value(self.value)
        dtype = found.dtype if found.dtype.names else found.dtype.name
        kind = type(self.value).__name__
        return f"{dtype} array of shape {found.facts.shape} ({kind})"

    def whole_elements(self, facts: LayoutFacts) -> LayoutFacts:
        """Where whole elements lie: the last axis holds the components of a vector type."""
        element = self.parameter.element
        if element.width == 1 or not holds_components(self.found.dtype, element):
            return facts
        return replace(
            facts,
            shape=facts.shape[:-1],
            strides_bytes=facts.strides_bytes[:-1],
            itemsize=element.size,
        )

    def refuse(
        self, error: ErrorKind, *, found: str, need: str = "", more: Sequence[str] = ()
    ) -> Judged:
        """The refusal whose fix is another array; `more` are lines below it."""
        lines = array_fix(self.parameter, self.value, self.found, self.call)
        need = need or need_text(self.parameter)
        return refused(error, found=found, need=need, fix="\n".join([*lines, *more]))

"""One array argument of a CUDA kernel: passed as it lies, or refused with the fix."""

from __future__ import annotations

import struct
from typing import Any, cast

import numpy as np

from kit.boundary.refusals import CallText, describe_value
from kit.cuda.judged import Judged, accepted, refused
from kit.cuda.signature import CudaParameter
from kit.layout import inspect_layout
from kit.terms import Target

__all__ = ["judge_array"]


def judge_array(parameter: CudaParameter, value: object, target: Target, call: CallText) -> Judged:
    """Decide one array argument; reads no element, and copies nothing."""
    if not isinstance(value, np.ndarray):
        return refused("type", found=describe_value(value), need="an array", fix="# an array")
    facts = inspect_layout(cast("np.ndarray[Any, Any]", value))
    data = facts.pointer.to_bytes(8, "little")
    if parameter.kind != "pointer":
        data += struct.pack(f"<{facts.ndim}q", *facts.shape)
    if parameter.kind == "view":
        strides = facts.strides_elements or ()
        data += struct.pack(f"<{facts.ndim}q", *strides) + bytes(8 * facts.ndim)
    return accepted(data, facts=facts, storage=facts)

"""One argument by value: a number, a vector type, a struct."""

from __future__ import annotations

from typing import Any

import numpy as np

from kit.boundary.refusals import describe_value
from kit.cuda.judged import Judged, accepted, refused
from kit.cuda.signature import CudaParameter
from kit.exact import InexactError, to_exact_number

__all__ = ["judge_value"]


def judge_value(parameter: CudaParameter, value: Any) -> Judged:
    """Whether `value` passes, converts exactly or is refused."""
    element = parameter.element
    try:
        plain = to_exact_number(value, element.dtype)
    except (TypeError, InexactError):
        return refused("type", found=describe_value(value), need=element.text, fix="# a number")
    return accepted(np.array(plain, element.dtype).tobytes())

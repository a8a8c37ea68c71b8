"""What the compiled packer checks and packs: a signature as plain rows, for it to walk."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from kit.cuda.signature import CudaParameter, CudaSignature
from kit.exact import INT_RANGES

__all__ = ["largest_alignment", "packer_rows"]

# As in packer.c.
_ARRAYS: Final = {"pointer": 0, "view": 1, "cview": 2}
_BOOL, _INT, _OTHER = 3, 4, 9
_NUMBERS: Final = {"bool": _BOOL, "uint64": 5, "float32": 6, "float64": 7, "complex128": 8}

Row = tuple[int, int, int, tuple[Any, ...]]


def packer_rows(signature: CudaSignature) -> tuple[Row, ...] | None:
    """Kind, place and size of each parameter, and what the kind needs.

    Returns
    -------
    tuple of tuple or None
        None where some array has elements that the compiled packer does not know: records and
        bfloat16, whose types NumPy does not have ready.
    """
    if any(one.is_array and _is_unknown(one) for one in signature.parameters):
        return None
    return tuple(_row(one) for one in signature.parameters)


def largest_alignment(signature: CudaSignature) -> int:
    """What the address of the packed arguments has to be a multiple of [bytes]."""
    return max([16, *(one.alignment for one in signature.parameters)])


def _is_unknown(parameter: CudaParameter) -> bool:
    return parameter.element.dtype in ("", "bfloat16")


def _row(one: CudaParameter) -> Row:
    element = one.element
    if one.is_array:
        rank = -1 if one.ndim is None else one.ndim
        rest = (element.width, element.size, element.alignment, one.written, one.restrict)
        return _ARRAYS[one.kind], one.offset, one.size, (np.dtype(element.dtype), rank, *rest)
    kind, needs = _OTHER, ()
    if one.kind == "scalar":
        kind = _NUMBERS.get(element.dtype, _OTHER)
        if element.dtype in INT_RANGES and kind == _OTHER:
            kind, needs = _INT, INT_RANGES[element.dtype]
    return kind, one.offset, one.size, needs

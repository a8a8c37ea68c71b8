"""What compiled code needs of the memory behind a view, in words: of `ArrayView`, of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["MASKED", "why_misaligned", "why_no_steps"]

Problem = tuple[str, str]
"""What was found, and what is needed."""

MASKED: Final[Problem] = (
    "an array with a mask",
    "an array without one, because a view sees the elements beneath it",
)


def why_no_steps(strides_bytes: Sequence[int], itemsize: int) -> Problem | None:
    """What is wrong where a stride is no multiple of the element; None where all are.

    Examples
    --------
    >>> why_no_steps((18, -9), 9) is None, why_no_steps((9,), 8)[0]
    (True, 'axis 0 has a stride of 9 bytes')
    """
    for axis, stride in enumerate(strides_bytes):
        if stride % itemsize:
            found = f"axis {axis} has a stride of {stride} bytes"
            need = f"a multiple of the element's {itemsize} bytes"
            return found, f"{need}, because compiled code counts strides in elements"
    return None


def why_misaligned(pointer: int, alignment: int, name: str) -> Problem | None:
    """What is wrong where an address is no multiple of what elements called `name` need.

    Examples
    --------
    >>> why_misaligned(4104, 16, "float4")[0]
    'the first element lies 8 bytes past a multiple of 16'
    """
    if pointer % alignment == 0:
        return None
    return (
        f"the first element lies {pointer % alignment} bytes past a multiple of {alignment}",
        f"an address that is a multiple of {alignment} bytes, as {name} needs",
    )

"""The no-copy rule: which strides Pyccel's wrappers describe rightly to the compiled code.

A wrapper (2.2.3) rebuilds an array from the ratios of its strides: each axis gets the extent
``stride of the next slower axis // stride of this axis``, and only the fastest axis may be stepped.
Where a ratio is no integer, or smaller than what it must hold, the compiled code reads other
elements, and the C back end aborts. The rule below never let a wrong case through in 60,000
measured ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from kit.terms import Language, Order

__all__ = ["C_INDEX_LIMIT", "beyond_c_index", "why_not_in_place"]

C_INDEX_LIMIT = 2**31
"""Pyccel's C arrays (STC's cspan) keep extents and strides as int32, in elements."""


def why_not_in_place(
    shape: Sequence[int],
    strides_bytes: Sequence[int],
    itemsize: int,
    order: Order,
    *,
    has_base: bool,
    language: Language,
) -> str | None:
    """Why an array of this layout must be copied, or None where it may pass as it is.

    Parameters
    ----------
    shape, strides_bytes : sequence of int
        Extents, all positive, and steps [elements, bytes].
    itemsize : int
        Size of an element [bytes].
    order : {"C", "F"}
        The order that the kernel declares.
    has_base : bool
        Whether the array is a view; a wrapper ignores the strides of one that is not.
    language : {"fortran", "c"}
        What the kernel was translated to.

    Examples
    --------
    >>> why_not_in_place((4, 2), (24, 8), 8, "C", has_base=True, language="c") is None
    True
    >>> why_not_in_place((3,), (0,), 8, "C", has_base=True, language="c")
    'axis 0 has stride 0'
    """
    axes = list(range(len(shape)))
    if order == "C":
        axes.reverse()
    # `cur` divides the next stride; it is the previous stride, but for the one of the fastest axis,
    # which becomes a step of the loop.
    cur, previous, extent, fastest = itemsize, 0, 1, True
    for axis in axes:
        step = strides_bytes[axis]
        problem = _axis_problem(axis, step, cur, previous, extent, itemsize)
        if problem is not None:
            return problem
        if language == "c" and max(step // itemsize, step // cur) >= C_INDEX_LIMIT:
            return f"axis {axis} has a stride beyond C's 32-bit index"
        extent = (shape[axis] - 1) * step // itemsize + 1 if fastest else shape[axis]
        if language == "c" and fastest and shape[axis] * step // itemsize >= C_INDEX_LIMIT:
            return f"axis {axis} reaches beyond C's 32-bit index"
        cur, previous, fastest = itemsize if fastest else step, step, False
    if not has_base and not _is_contiguous(shape, strides_bytes, itemsize, axes):
        return "strides without a base array, which the wrapper ignores"
    return None


def _axis_problem(
    axis: int, step: int, cur: int, previous: int, extent: int, itemsize: int
) -> str | None:
    if step == 0:
        return f"axis {axis} has stride 0"
    if step < 0:
        return f"axis {axis} has a negative stride"
    if step % itemsize:
        return f"axis {axis} steps {step} bytes, no multiple of an element's {itemsize}"
    if not previous:  # the fastest axis
        return None
    if step < previous:
        return f"axis {axis} is faster than the axis that the declared order puts inside it"
    if step % cur:
        return f"axis {axis} has a stride that is no multiple of the next inner one"
    if step // cur < extent:
        return f"axis {axis} steps less than the extent of the next inner axis"
    return None


def _is_contiguous(
    shape: Sequence[int], strides_bytes: Sequence[int], itemsize: int, axes: Sequence[int]
) -> bool:
    step = itemsize
    for axis in axes:
        if shape[axis] > 1 and strides_bytes[axis] != step:
            return False
        step *= shape[axis]
    return True


def beyond_c_index(shape: Sequence[int], order: Order) -> str | None:
    """Why no array of this shape can be passed to C at all, or None.

    Examples
    --------
    >>> beyond_c_index((2**31,), "C")
    'axis 0 has 2147483648 elements'
    >>> beyond_c_index((2, 2**16, 2**16), "C")
    'axis 0 has a stride of 4294967296 elements'
    """
    axes = list(range(len(shape)))
    if order == "C":
        axes.reverse()
    step = 1
    for axis in axes:
        if shape[axis] >= C_INDEX_LIMIT:
            return f"axis {axis} has {shape[axis]} elements"
        if step >= C_INDEX_LIMIT:
            return f"axis {axis} has a stride of {step} elements"
        step *= shape[axis]
    return None

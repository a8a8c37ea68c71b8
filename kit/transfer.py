"""The only module that copies array data: to the declared form, and back to the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kit.boundary.scalars import convert_scalar
from kit.signature import ArgumentType

if TYPE_CHECKING:
    from kit.boundary.argument_plan import ArgumentPlan

__all__ = ["copy_in", "copy_snapshot", "prepare_argument", "write_back"]

NdArray = np.ndarray[Any, Any]


def copy_in(value: NdArray, expected: ArgumentType, *, read: bool = True) -> NdArray:
    """A fresh array in the declared dtype and order.

    Parameters
    ----------
    value : numpy.ndarray
        An array of the declared kind of elements and rank, in any layout.
    expected : ArgumentType
        The declared array.
    read : bool
        Whether the elements are copied; False where the kernel overwrites all of them.

    Returns
    -------
    numpy.ndarray, shape of `value`, contiguous in the declared order
        It owns its memory.

    Examples
    --------
    >>> expected = ArgumentType(dtype="float64", rank=2, order="F", text="float64[:,:](order=F)")
    >>> copy_in(np.zeros((2, 3)), expected).strides
    (8, 16)
    """
    # Made by shape and order, not by copy(): strides of axes of length 1 come out canonical.
    fresh: NdArray = np.empty(value.shape, dtype=expected.dtype, order=expected.order or "C")
    if read:
        np.copyto(fresh, value.view(np.ndarray))
    return fresh


def copy_snapshot(value: NdArray) -> NdArray:
    """A copy of the elements as they are now, of the same class and order where it has one."""
    return value.copy(order="K")


def write_back(original: NdArray, buffer: NdArray) -> None:
    """Fill the caller's array, whatever its strides and byte order, with what the kernel wrote."""
    np.copyto(original.view(np.ndarray), buffer)


def prepare_argument(value: object, plan: ArgumentPlan) -> object:
    """What the compiled function is given for `value`; copies where the plan says so."""
    if plan.action == "CONVERT":
        return convert_scalar(value, plan.type)
    if plan.action == "COPY":
        return copy_in(cast(NdArray, value), plan.type, read=plan.parameter.intent != "out")
    if plan.empty:
        return copy_in(cast(NdArray, value), plan.type, read=False)
    if plan.type.is_array and plan.reason:
        # The same elements under another name of their dtype (long long is int64, too).
        return cast(NdArray, value).view(np.ndarray).view(plan.type.dtype)
    return value

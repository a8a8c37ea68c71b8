"""Arrays to the declared form, and back to the caller; `copying` does the copying."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kit.arrays import plain_array
from kit.boundary.scalars import convert_scalar
from kit.copying.blocked import copy_elements
from kit.copying.pool import BufferPool
from kit.signature import ArgumentType

if TYPE_CHECKING:
    from kit.boundary.argument_plan import ArgumentPlan

__all__ = [
    "copy_in",
    "copy_snapshot",
    "prepare_argument",
    "prepare_arguments",
    "write_back",
    "write_back_outputs",
]

NdArray = np.ndarray[Any, Any]


def copy_in(
    value: NdArray,
    expected: ArgumentType,
    *,
    read: bool = True,
    pool: BufferPool | None = None,
) -> NdArray:
    """An array of the kernel's own in the declared dtype and order.

    Parameters
    ----------
    value : numpy.ndarray
        An array of the declared kind of elements and rank, in any layout.
    expected : ArgumentType
        The declared array.
    read : bool
        Whether the elements are copied; False where the kernel overwrites all of them: it then
        finds what happens to lie in that memory, as in `numpy.empty`.
    pool : BufferPool, optional
        Where the memory of a large copy comes from.

    Returns
    -------
    numpy.ndarray, shape of `value`, contiguous in the declared order
        It shares memory with nothing that is in use, and is as large as its elements. Without
        elements it owns its memory: Pyccel takes no such view.

    Examples
    --------
    >>> expected = ArgumentType(dtype="float64", rank=2, order="F", text="float64[:,:](order=F)")
    >>> copy_in(np.zeros((2, 3)), expected).strides
    (8, 16)
    """
    # Made by shape and order, not by copy(): strides of axes of length 1 come out canonical.
    dtype, order = np.dtype(expected.dtype), expected.order or "C"
    if pool is None:
        buffer: NdArray = np.empty(value.shape, dtype, order)
    else:
        buffer = pool.take(value.shape, dtype, order)
    if read:
        copy_elements(buffer, plain_array(value))
    return buffer


def copy_snapshot(value: NdArray) -> NdArray:
    """A copy of the elements as they are now, of the same class and order where it has one."""
    return value.copy(order="K")


def write_back(original: NdArray, buffer: NdArray) -> None:
    """Fill the caller's array, whatever its strides and byte order, with what the kernel wrote."""
    copy_elements(plain_array(original), buffer)


def prepare_argument(value: object, plan: ArgumentPlan, pool: BufferPool | None = None) -> object:
    """What the compiled function is given for `value`; copies where the plan says so."""
    if plan.action == "CONVERT":
        if plan.type.container is not None:
            return cast("list[object] | set[object]", value).copy()
        return convert_scalar(value, plan.type)
    if plan.action == "COPY":
        read = plan.parameter.intent != "out"
        return copy_in(cast(NdArray, value), plan.type, read=read, pool=pool)
    if plan.empty:
        return copy_in(cast(NdArray, value), plan.type, read=False)
    if plan.type.is_array and plan.reason:
        # The same elements under another name of their dtype (long long is int64, too).
        return plain_array(cast(NdArray, value)).view(plan.type.dtype)
    return value


def prepare_arguments(
    values: Sequence[object], plans: Sequence[ArgumentPlan], pool: BufferPool
) -> list[object]:
    """What the compiled function is given; one array that is read twice alike is copied once."""
    copies: dict[tuple[int, str, str | None], object] = {}
    prepared: list[object] = []
    for value, plan in zip(values, plans, strict=True):
        if plan.action != "COPY" or plan.written:
            prepared.append(prepare_argument(value, plan, pool))
            continue
        form = (id(value), plan.type.dtype, plan.type.order)
        if form not in copies:
            copies[form] = prepare_argument(value, plan, pool)
        prepared.append(copies[form])
    return prepared


def write_back_outputs(
    values: Sequence[object], prepared: Sequence[object], plans: Sequence[ArgumentPlan]
) -> None:
    """Fill the caller's arrays with what the kernel wrote."""
    for value, buffer, plan in zip(values, prepared, plans, strict=True):
        if plan.action == "COPY" and plan.written:
            write_back(cast(NdArray, value), cast(NdArray, buffer))

"""Arguments that share elements: the kernel's own business, unless it promises they do not."""

from __future__ import annotations

from collections.abc import Sequence

from kit.boundary.call_text import CallText
from kit.cuda.judged import Judged, refused
from kit.cuda.signature import CudaParameter
from kit.views.base import View

__all__ = ["refuse_shared"]


def refuse_shared(
    parameters: Sequence[CudaParameter],
    values: Sequence[object],
    judged: Sequence[Judged],
    call: CallText,
) -> list[Judged]:
    """The same verdicts, but for a written ``__restrict__`` array that shares elements.

    The compiler takes the word for it that nothing else reads or writes what is reached by such a
    pointer, and keeps values in registers across writes: results would be wrong without a sign.

    Parameters
    ----------
    parameters : sequence of CudaParameter
        Of the kernel.
    values : sequence of object
        What was passed for them.
    judged : sequence of Judged
        What was decided about each by itself.
    call : CallText
        The call, for the fix.
    """
    result = list(judged)
    for index, one in enumerate(parameters):
        storage = judged[index].storage
        if storage is None or not (one.restrict and one.written):
            continue
        for other, value, found in zip(parameters, values, judged, strict=True):
            if other is one or found.storage is None:
                continue
            if storage.shares_bytes_with(found.storage):
                result[index] = _shared(one, other, value, call)
                break
    return result


def _shared(one: CudaParameter, other: CudaParameter, value: object, call: CallText) -> Judged:
    lines = [f"# remove __restrict__ from {one.name} in line {one.line} of the cell"]
    if not other.written:  # the copy of an output would be lost
        copied = f"{other.name}_copy"
        copy = "clone" if isinstance(value, View) else "copy"
        lines = [f"{copied} = {other.name}.{copy}()", call.replacing(other.name, copied)]
        lines += [f"# or remove __restrict__ from {one.name} in line {one.line} of the cell"]
    return refused(
        "value",
        found=f"an array that shares elements with {other.name}",
        need=f"elements of its own, because {one.name} is written and declared __restrict__",
        fix="\n".join(lines),
    )

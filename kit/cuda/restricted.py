"""Arguments that share elements: the kernel's own business, unless it promises they do not."""

from __future__ import annotations

from collections.abc import Sequence

from kit.boundary.refusals import CallText
from kit.cuda.judged import Judged, refused
from kit.cuda.signature import CudaParameter

__all__ = ["refuse_shared"]


def refuse_shared(
    parameters: Sequence[CudaParameter], judged: Sequence[Judged], call: CallText
) -> list[Judged]:
    """The same verdicts, but for a written ``__restrict__`` array that shares elements.

    The compiler takes the word for it that nothing else reads or writes what is reached by such a
    pointer, and keeps values in registers across writes: results would be wrong without a sign.

    Parameters
    ----------
    parameters : sequence of CudaParameter
        Of the kernel.
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
        for other, found in zip(parameters, judged, strict=True):
            if other is one or found.storage is None:
                continue
            if storage.shares_bytes_with(found.storage):
                result[index] = _shared(one, other, call)
                break
    return result


def _shared(one: CudaParameter, other: CudaParameter, call: CallText) -> Judged:
    copied = f"{other.name}_copy"
    return refused(
        "value",
        found=f"an array that shares elements with {other.name}",
        need=f"elements of its own, because {one.name} is written and declared __restrict__",
        fix=f"{copied} = {other.name}.copy()\n{call.replacing(other.name, copied)}\n"
        f"# or remove __restrict__ from {one.name} in line {one.line} of the cell",
    )

"""One argument of a CUDA kernel, decided: what is packed for it, or why it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kit.boundary.verdict import ErrorKind, Verdict, refuse
from kit.terms import Action

if TYPE_CHECKING:
    from kit.layout import LayoutFacts

__all__ = ["Judged", "accepted", "refused"]


class Judged(NamedTuple):
    """What was decided about one argument.

    Parameters
    ----------
    verdict : Verdict
        Whether it passes, and why; its `facts` are those of the indices from 0 on.
    data : bytes
        What is packed, as many bytes as the parameter has; empty where it is refused.
    storage : LayoutFacts or None
        Of an array: every element that the kernel can reach, ghosts included.
    stream : int or None
        The stream that a device array's elements are still being written on, by its address.
    """

    verdict: Verdict
    data: bytes = b""
    storage: LayoutFacts | None = None
    stream: int | None = None


def accepted(
    data: bytes,
    *,
    action: Action = "PASS",
    reason: str = "",
    facts: LayoutFacts | None = None,
    storage: LayoutFacts | None = None,
    stream: int | None = None,
) -> Judged:
    """An argument that is packed as `data`."""
    return Judged(Verdict(action=action, reason=reason, facts=facts), data, storage, stream)


def refused(error: ErrorKind, *, found: str, need: str, fix: str) -> Judged:
    """An argument that is refused."""
    return Judged(refuse(error, found=found, need=need, fix=fix))

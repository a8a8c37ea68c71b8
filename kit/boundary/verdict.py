"""What was decided about one value for one type; pure values that hold no array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from kit.terms import Action

if TYPE_CHECKING:
    from kit.layout import LayoutFacts

__all__ = ["PASS", "ErrorKind", "Refusal", "Verdict", "refuse"]

ErrorKind = Literal["type", "value"]


# No dataclasses: making their classes takes a millisecond of every process that has a kernel.
class Refusal(NamedTuple):
    """Why a value cannot serve, and what to do about it.

    Parameters
    ----------
    error : {"type", "value"}
        Whether the refusal is also a TypeError or a ValueError.
    found, need, fix : str
        What was passed, what the kernel needs, and lines to paste.
    """

    error: ErrorKind
    found: str
    need: str
    fix: str


class Verdict(NamedTuple):
    """What happens to one value, and why.

    Parameters
    ----------
    action : {"PASS", "CONVERT", "COPY", "MOVE", "REFUSE"}
        What the boundary does.
    reason : str
        Why, in a few words; empty where the value passes as it is.
    bytes_in, bytes_out : int
        What is copied before and after the call [bytes].
    facts : LayoutFacts or None
        Layout of an array that was looked at.
    refusal : Refusal or None
        Set where `action` is "REFUSE".
    """

    action: Action
    reason: str = ""
    bytes_in: int = 0
    bytes_out: int = 0
    facts: LayoutFacts | None = None
    refusal: Refusal | None = None


PASS = Verdict(action="PASS")
"""The value goes through as it is."""


def refuse(error: ErrorKind, *, found: str, need: str, fix: str) -> Verdict:
    """The verdict that refuses a value."""
    refusal = Refusal(error=error, found=found, need=need, fix=fix)
    return Verdict(action="REFUSE", reason=found, refusal=refusal)

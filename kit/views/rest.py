"""What a view keeps beside its array: ghosts, alignment, memory that is not on the host."""

from __future__ import annotations

from dataclasses import dataclass

from kit.memory.facts import LayoutFacts
from kit.views.ghosts import Ghosts

__all__ = ["PLAIN", "DeviceMemory", "Rest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMemory:
    """Where the elements of a view lie on a device, and what keeps them there.

    Parameters
    ----------
    facts : LayoutFacts
        The full extent, ghosts included.
    owner : object
        The array of another library whose memory it is.
    is_whole : bool
        Whether `facts` are the owner's own, so that it can export them in the view's place.
    """

    facts: LayoutFacts
    owner: object
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What a view keeps beside its array.

    Parameters
    ----------
    ghosts : tuple of (int, int) or None
        Layers below and above the body, for each axis; None where there is none.
    alignment : int
        What the start of storage was asked to be a multiple of, 0 where nothing was asked [bytes].
    is_from_python : bool
        Whether the memory belongs to an object that was wrapped.
    device : DeviceMemory or None
        In place of an array.
    """

    ghosts: Ghosts | None = None
    alignment: int = 0
    is_from_python: bool = True
    device: DeviceMemory | None = None


PLAIN = Rest()
"""Of a view that was wrapped around an array as it is."""

"""Where a CUDA kernel runs when the call does not say, and why there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kit.backends.find_device import find_device
from kit.show.stability import is_stable_output
from kit.targets import CHOICES, chosen_target

if TYPE_CHECKING:
    from kit.cuda.options import CudaTarget
    from kit.terms import Target

__all__ = ["TargetChoice", "choose_target"]


class TargetChoice(NamedTuple):
    """Where a kernel runs.

    Parameters
    ----------
    target : {"device", "emulator", "host", "python", "compile"}
        The target; "compile" where calls have none.
    reason : str
        Who chose it, or what made it so.
    """

    target: Target | CudaTarget
    reason: str


def choose_target(own: CudaTarget) -> TargetChoice:
    """What a block or KIT_TARGET says, else the cell, else what is there; never a fallback.

    Parameters
    ----------
    own : {"auto", "device", "emulator", "compile"}
        What the cell says.

    Examples
    --------
    >>> from kit.targets import use_target
    >>> choose_target("emulator")
    TargetChoice(target='emulator', reason='--target emulator')
    >>> with use_target("device"):
    ...     choose_target("emulator")
    TargetChoice(target='device', reason='kit.use_target or KIT_TARGET')
    """
    chosen = chosen_target() if CHOICES else None
    if chosen is not None:
        return TargetChoice(chosen, "kit.use_target or KIT_TARGET")
    if own != "auto":
        return TargetChoice(own, f"--target {own}")
    device = find_device()
    if device is None:
        return TargetChoice("emulator", "no GPU here")
    return TargetChoice("device", "a GPU is here" if is_stable_output() else device.name)

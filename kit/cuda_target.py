"""Where a CUDA kernel runs when the call does not say, and why there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kit.backends.find_device import find_device
from kit.show.stability import is_stable_output
from kit.targets import CHOICES, chosen_target

if TYPE_CHECKING:
    from kit.cuda.options import CudaTarget
    from kit.terms import Target

__all__ = ["TargetChoice", "choose_target", "explain_target"]


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


def choose_target(own: CudaTarget) -> Target | CudaTarget:
    """What a block or KIT_TARGET says, else the cell, else what is there; never a fallback.

    Parameters
    ----------
    own : {"auto", "device", "emulator", "compile"}
        What the cell says.

    Returns
    -------
    {"device", "emulator", "host", "python", "compile"}
        The last where calls have no target.
    """
    if CHOICES:
        chosen = chosen_target()
        if chosen is not None:
            return chosen
    if own != "auto":
        return own
    return "emulator" if find_device() is None else "device"


def explain_target(own: CudaTarget) -> TargetChoice:
    """The same with its reason.

    Examples
    --------
    >>> from kit.targets import use_target
    >>> explain_target("emulator")
    TargetChoice(target='emulator', reason='--target emulator')
    >>> with use_target("device"):
    ...     explain_target("emulator")
    TargetChoice(target='device', reason='kit.use_target or KIT_TARGET')
    """
    target = choose_target(own)
    if CHOICES and chosen_target() is not None:
        return TargetChoice(target, "kit.use_target or KIT_TARGET")
    if own != "auto":
        return TargetChoice(target, f"--target {own}")
    device = find_device()
    if device is None:
        return TargetChoice(target, "no GPU here")
    return TargetChoice(target, "a GPU is here" if is_stable_output() else device.name)

"""What options of a CUDA cell can say, in a function's arguments as in a magic line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kit.launch import Launch, LaunchLimits, check_launch

__all__ = ["CHECKS", "LATER_CHECKS", "check_block", "is_architecture", "is_macro"]

CHECKS: Final = ("bounds",)

LATER_CHECKS: Final = ("races", "init", "sync")
"""Of a later version of kit."""

_ARCHITECTURE: Final = re.compile(r"sm_[1-9]\d{1,2}[af]?")
_MACRO: Final = re.compile(r"[A-Za-z_]\w*")


def is_architecture(text: str) -> bool:
    """Whether this can be an architecture of NVIDIA's, known to kit or not.

    Examples
    --------
    >>> is_architecture("sm_90"), is_architecture("sm_90a"), is_architecture("90")
    (True, True, False)
    """
    return _ARCHITECTURE.fullmatch(text) is not None


def is_macro(text: str) -> bool:
    """Whether this can be the name of a macro, or of a template parameter."""
    return _MACRO.fullmatch(text) is not None


def check_block(option: str, sizes: Sequence[int]) -> None:
    """Refuse blocks that no GPU has.

    Parameters
    ----------
    option : str
        Name for messages.
    sizes : sequence of int
        One to three: threads along x, y and z.

    Raises
    ------
    LaunchError
        One is below 1 or too large, or they are too many together.
    """
    x, y, z = (*sizes, 1, 1)[:3]
    check_launch(option, Launch((1, 1, 1), (x, y, z)), LaunchLimits())

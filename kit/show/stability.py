"""Whether what is shown must be the same from run to run, as committed notebooks want it."""

from __future__ import annotations

import os

__all__ = ["is_stable_output"]


def is_stable_output() -> bool:
    """Whether `KIT_STABLE_OUTPUT` asks for output without times, versions and keys."""
    return os.environ.get("KIT_STABLE_OUTPUT", "0") not in ("", "0")

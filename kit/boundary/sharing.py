"""Do two arrays share elements: exact with bounded work, then conservatively."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np

__all__ = ["MAX_WORK", "share_elements"]

MAX_WORK: Final = 100_000
"""Candidate solutions that NumPy may try before the answer is taken to be yes (about 1 ms)."""


def share_elements(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether some element of `a` and some element of `b` have a byte in common.

    Parameters
    ----------
    a, b : numpy.ndarray
        Any two arrays; nothing is copied.

    Returns
    -------
    bool
        True also where the exact answer would take too long.

    Examples
    --------
    >>> a = np.arange(6)
    >>> share_elements(a[::2], a[1::2]), share_elements(a[:4], a[3:])
    (False, True)
    """
    try:
        # NumPy's stub knows only the two special values of max_work.
        return bool(np.shares_memory(a, b, max_work=cast(Any, MAX_WORK)))
    except np.exceptions.TooHardError:
        return True

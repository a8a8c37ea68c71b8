"""Views as arguments: a kernel takes the ndarray of an `ArrayView`, which shares its memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["arrays_of_views"]


def arrays_of_views(values: Sequence[Any]) -> list[object] | None:
    """`values` with its ndarray for each `ArrayView` on the host; None where there is no such view.

    Views of device memory stay: they are refused as other arrays on a device are.

    Examples
    --------
    >>> import numpy as np
    >>> from kit.arrayview import ArrayView
    >>> a = np.zeros(3)
    >>> shared, number = arrays_of_views([ArrayView(array=a), 2.0])
    >>> np.shares_memory(shared, a), number
    (True, 2.0)
    >>> arrays_of_views([a, 2.0]) is None
    True
    """
    # An instance exists only where somebody has imported the module.
    module = sys.modules.get("kit.arrayview")
    if module is None:
        return None
    kind: type[Any] = module.ArrayView
    arrays: list[object] | None = None
    for index, one in enumerate(values):
        if isinstance(one, kind) and one.place == "host":
            arrays = list(values) if arrays is None else arrays
            arrays[index] = one.ndarray
    return arrays

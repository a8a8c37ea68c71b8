"""Several arguments of one call that look at the same memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tests.fuzz.kernels import Kind
from tests.fuzz.layouts import Shape
from tests.fuzz.memory import Array, Workshop


class SharedMemory:
    """Memory that several arguments of one call look at."""

    def __init__(self, shop: Workshop, shape: Shape, kinds: Sequence[Kind]) -> None:
        self._shop = shop
        self.made: list[Array] = []
        dtypes = {kind.dtype for kind in kinds if kind.rank}
        self._dtype = shop.pick(sorted(dtypes))
        order: Any = shop.pick("CF")
        self._extents = [2 * n + shop.integer(1, 3) for n in shape]
        self._whole = shop.plain(self._extents, self._dtype, order)

    def view(self, kind: Kind, shape: Shape) -> Array | None:
        """One more view of it, or None where the memory does not fit."""
        shop = self._shop
        same = [one for one in self.made if one.shape == shape and one.dtype == kind.dtype]
        if same and shop.chance(0.3):
            found = shop.pick(same)
            return found if shop.chance(0.5) else found[...]
        if kind.dtype != self._dtype:
            return self._other_dtype(kind, shape)
        if shop.chance(0.2):
            return self._strided(shape)
        if same and len(set(shape)) == 1 and shop.chance(0.3):
            return shop.pick(same).transpose()
        whole = self._whole[(0,) * (self._whole.ndim - len(shape))]
        view = whole[tuple(self._piece(n, whole.shape[axis]) for axis, n in enumerate(shape))]
        return view if view.shape == shape else None

    def _piece(self, extent: int, whole: int) -> slice:
        """Shifted, interleaved, side by side, reversed."""
        step = self._shop.pick([1, 1, 1, 2, 2])
        first = self._shop.integer(0, max(0, whole - extent * step))
        piece = slice(first, first + extent * step, step)
        if extent and self._shop.chance(0.25):
            last = first + (extent - 1) * step
            piece = slice(last, first - 1 if first else None, -step)
        return piece

    def _strided(self, shape: Shape) -> Array | None:
        """Any steps of whole elements that stay within."""
        item, flat = self._whole.itemsize, self._whole.reshape(-1, order="A")
        steps = [self._shop.pick([0, 1, 1, 2, 3, self._extents[-1]]) for _ in shape]
        reach = sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
        if 0 in shape or reach >= flat.size:
            return None
        start = self._shop.integer(0, flat.size - 1 - reach)
        return as_strided(flat[start:], shape, [step * item for step in steps])

    def _other_dtype(self, kind: Kind, shape: Shape) -> Array | None:
        """The same bytes as other elements; not as bool, which has two values only."""
        if "bool" in (kind.dtype, self._dtype) or len(shape) != 1:
            return None
        memory = self._whole.reshape(-1, order="A").view(np.uint8)
        item = np.dtype(kind.dtype).itemsize
        count = memory.size // item
        if count < shape[0]:
            return None
        first = self._shop.integer(0, count - shape[0]) * item
        if first and self._shop.chance(0.2):
            first -= 1
        return memory[first : first + shape[0] * item].view(kind.dtype)

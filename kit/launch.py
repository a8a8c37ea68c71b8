"""How a CUDA kernel is launched: grid, block, dynamic shared memory."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Launch"]


class Launch(NamedTuple):
    """One launch configuration.

    Parameters
    ----------
    grid : tuple of int
        Blocks along x, y and z.
    block : tuple of int
        Threads of a block along x, y and z.
    shared_bytes : int
        Dynamic shared memory of each block [bytes].
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0

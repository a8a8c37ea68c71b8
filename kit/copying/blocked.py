"""Copy elements between arrays of any strides: as `numpy.copyto`, in tiles where that is faster."""

from __future__ import annotations

from typing import Any

import numpy as np

from kit.copying.tiles import Tile, iterate_tiles, plan_tile

__all__ = ["copy_elements"]

NdArray = np.ndarray[Any, Any]

# Below, the caches hold what is used again, and one call of NumPy is the fastest, but for extents
# that are powers of 2 (docs/decisions/0013).
LEAST_BYTES = 4 * 2**20


def copy_elements(target: NdArray, source: NdArray) -> None:
    """Fill `target` with the elements of `source`: the same bytes as `numpy.copyto` writes.

    Parameters
    ----------
    target : numpy.ndarray
        No two of its elements share memory, and none with `source`.
    source : numpy.ndarray
        Of the same shape and kind of elements, in any layout and byte order.

    Raises
    ------
    KeyboardInterrupt, MemoryError
        Some elements are then copied, some are not.

    Examples
    --------
    >>> target = np.zeros((2, 3), order="F")
    >>> copy_elements(target, np.ones((2, 3)))
    >>> target.sum()
    np.float64(6.0)
    """
    if target.nbytes < LEAST_BYTES:
        np.copyto(target, source)
        return
    from kit.copying.threads import choose_thread_count, run_in_threads  # brings threading along

    def copy_tile(tile: Tile) -> None:
        # With the ellipsis, what has no axes is an array, too.
        np.copyto(target[(..., *tile)], source[(..., *tile)])

    threads = choose_thread_count(target.nbytes)
    shape, strides = target.shape, target.strides
    tile = plan_tile(shape, strides, source.strides, target.itemsize, threads=threads)
    run_in_threads(iterate_tiles(shape, strides, tile), copy_tile, threads)

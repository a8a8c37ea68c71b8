"""Memory of copies, kept for the next call: first use of fresh pages costs as much as the copy.

A kernel is given an array that lies in a `_Block`. While anything refers to that array, or to a
view of it - the call, an object that stored it, a result that is an alias -, the block is lent;
when the last reference goes, whichever way the call ended, the block is free for the kernel's next
call. No caller gives anything back, so that none can give it back too soon.

There is no lock that a fork, a signal handler or a finalizer could find taken: whoever removes an
entry from a list owns it, and the GIL makes that one step.
"""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable
from functools import cache, lru_cache, partial
from math import prod
from typing import Any, Literal, TypeVar

import numpy as np

from kit.copying.pressure import inspect_memory

__all__ = ["BufferPool", "release_buffers"]

NdArray = np.ndarray[Any, Any]
Made = TypeVar("Made")

# malloc itself keeps what is smaller, and asks the system for nothing.
LEAST_BYTES = 2**20
# From here on the system is asked, at most once a second, how much memory is left when a buffer
# comes back: that takes some tenths of a millisecond, the copy of as much took several.
LARGE_BYTES = 16 * 2**20
# Free buffers are no more than a share of the memory, and no more than somebody would miss.
MOST_OF_KERNEL, SHARE_OF_KERNEL = 2**30, 1 / 16
MOST_OF_PROCESS, SHARE_OF_PROCESS = 2 * 2**30, 1 / 8
# With less than this share of the memory left, nothing is kept.
SHARE_LEFT = 1 / 16
IDLE_SECONDS = 60.0


class _Block(np.ndarray[tuple[int], np.dtype[np.uint8]]):
    """Bytes. For its class, NumPy makes the lent array, not this one, the base of further views."""


class _Free:
    """A block that nothing uses; equal only to itself."""

    __slots__ = ("block", "since")

    def __init__(self, block: _Block) -> None:
        self.block = block
        self.since = time.monotonic()


class BufferPool:
    """Buffers of one kernel.

    Safe to use from several threads, and from a call within a call. It keeps no lent array alive,
    and goes with its kernel.

    Examples
    --------
    >>> pool = BufferPool()
    >>> array = pool.take((1024, 512), np.dtype("float64"), "F")
    >>> array.nbytes == 2**22, array.flags.f_contiguous, pool.free_bytes
    (True, True, 0)
    >>> view = array[1:]
    >>> del array
    >>> pool.free_bytes  # the view is still in use
    0
    >>> del view
    >>> pool.free_bytes == 2**22
    True
    """

    __slots__ = ("__weakref__", "_free", "_lent")

    def __init__(self) -> None:
        self._free: list[_Free] = []  # the longest unused first
        self._lent: dict[int, weakref.ref[NdArray]] = {}  # by their own id: arrays have no hash
        _pools[id(self)] = self

    @property
    def free_bytes(self) -> int:
        """What is kept and not in use [bytes]."""
        return sum(one.block.nbytes for one in tuple(self._free))

    def take(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], order: Literal["C", "F"]
    ) -> NdArray:
        """An array whose elements are not set, as `numpy.empty` gives it.

        Parameters
        ----------
        shape, dtype, order
            As of `numpy.empty`.

        Returns
        -------
        numpy.ndarray
            As large as its elements: a used buffer only where one has exactly as many bytes.

        Raises
        ------
        MemoryError
            Where there is no memory even after all free buffers were released.
        """
        nbytes = dtype.itemsize * prod(shape)
        if nbytes < LEAST_BYTES:
            return _allocate(lambda: np.empty(shape, dtype, order))
        _drop_idle()
        block = self._find(nbytes)
        if block is None:
            block = _allocate(lambda: _Block((nbytes,), np.uint8))
        array: NdArray = np.ndarray(shape, dtype, buffer=block, order=order)
        # The reference is to the pool, not from it: a kernel that goes takes its buffers along.
        lent = weakref.ref(array, partial(_come_back, weakref.ref(self), block))
        self._lent[id(lent)] = lent
        return array

    def drop(self, one: _Free) -> bool:
        """Make `one` the caller's; False where another was faster."""
        try:
            self._free.remove(one)
        except ValueError:
            return False
        return True

    def free(self) -> tuple[_Free, ...]:
        """What is kept and not in use, the longest unused first."""
        return tuple(self._free)

    def add(self, block: _Block, lent: weakref.ref[NdArray]) -> None:
        """Keep a block for the next call."""
        self._lent.pop(id(lent), None)
        self._free.append(_Free(block))

    def _find(self, nbytes: int) -> _Block | None:
        for one in reversed(self.free()):
            # A finalizer may have revived an array that the collector had already counted as gone.
            if one.block.nbytes == nbytes and _is_unused(one) and self.drop(one):
                return one.block
        return None


_pools: weakref.WeakValueDictionary[int, BufferPool] = weakref.WeakValueDictionary()


def release_buffers() -> int:
    """Give back the memory that kernels keep for their next copies.

    Kernels copy arguments that are not in the declared order, and keep the memory of large copies:
    for each kernel at most a sixteenth of the memory or 1 GiB, for all at most an eighth or 2 GiB,
    until another copy is made and it was unused for a minute, or memory becomes scarce. Arrays in
    use are not touched.

    Returns
    -------
    int
        How much was given back [bytes].

    Examples
    --------
    >>> freed = release_buffers()
    >>> release_buffers()
    0
    """
    dropped = [one.block.nbytes for pool in _all_pools() for one in pool.free() if pool.drop(one)]
    return sum(dropped)


def _come_back(
    pool_ref: weakref.ref[BufferPool],
    block: _Block,
    lent: weakref.ref[NdArray],
    *,
    # Bound here, because the names of this module go first when the interpreter ends.
    is_ending: Callable[[], bool] = sys.is_finalizing,
) -> None:
    """Nothing refers to the array any more: keep its block, unless memory is scarce."""
    pool = pool_ref()
    if is_ending() or pool is None:
        return
    pool.add(block, lent)
    if block.nbytes >= LARGE_BYTES and _is_scarce(int(time.monotonic())):
        release_buffers()
    else:
        _keep_bounds(pool)


def _is_unused(one: _Free) -> bool:
    return sys.getrefcount(one.block) <= 2  # by `one`, and as the argument of getrefcount


def _allocate(make: Callable[[], Made]) -> Made:
    try:
        return make()
    except MemoryError:
        if release_buffers() == 0:
            raise
    return make()


def _drop_idle() -> None:
    oldest = time.monotonic() - IDLE_SECONDS
    for pool in _all_pools():
        for one in pool.free():
            if one.since < oldest:
                pool.drop(one)


def _keep_bounds(pool: BufferPool) -> None:
    """Drop what was unused for longest, of this kernel and then of all."""
    _drop_oldest([pool], min(MOST_OF_KERNEL, int(_total_memory() * SHARE_OF_KERNEL)))
    _drop_oldest(_all_pools(), min(MOST_OF_PROCESS, int(_total_memory() * SHARE_OF_PROCESS)))


def _drop_oldest(pools: list[BufferPool], bound: int) -> None:
    excess = sum(pool.free_bytes for pool in pools) - bound
    if excess <= 0:
        return
    kept = [(one, pool) for pool in pools for one in pool.free()]
    for one, pool in sorted(kept, key=lambda pair: pair[0].since):
        if excess <= 0:
            return
        pool.drop(one)
        excess -= one.block.nbytes


def _all_pools() -> list[BufferPool]:
    return [pool for ref in _pools.valuerefs() if (pool := ref()) is not None]


@lru_cache(maxsize=1)
def _is_scarce(second: int) -> bool:
    """Whether memory was scarce when this was first asked in this second."""
    memory = inspect_memory()
    return memory.available is not None and memory.available < memory.total * SHARE_LEFT


@cache
def _total_memory() -> int:
    return inspect_memory().total

"""How a CUDA kernel is launched: grid, block, dynamic shared memory, and what limits them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, NamedTuple

from kit.architectures import Architecture, most_threads
from kit.errors import LaunchError

__all__ = [
    "Extents",
    "Launch",
    "LaunchLimits",
    "check_launch",
    "inspect_limits",
    "launch_refused",
    "shrunk_block",
    "widest_limits",
]

Extents = tuple[int, int, int]
"""Along x, y and z."""

# The same for every architecture from sm_75 to sm_121 (CUDA C++ Programming Guide, "Technical
# Specifications per Compute Capability").
_MOST_BLOCKS: Final[Extents] = (2**31 - 1, 65535, 65535)
_MOST_THREADS: Final[Extents] = (1024, 1024, 64)
_MOST_THREADS_OF_BLOCK: Final = 1024


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

    grid: Extents
    block: Extents
    shared_bytes: int = 0


class LaunchLimits(NamedTuple):
    """What limits the launches of one kernel on one target, beside what limits every kernel.

    Parameters
    ----------
    threads : int
        Of a block, at most.
    threads_of : str
        What says so: an architecture, ``__launch_bounds__(128)``, registers.
    shared_bytes : int or None
        Dynamic shared memory of a block, at most [bytes]; None where that is not known.
    shared_of : str
        What says so.
    """

    threads: int = _MOST_THREADS_OF_BLOCK
    threads_of: str = "CUDA"
    shared_bytes: int | None = None
    shared_of: str = ""


def inspect_limits(
    architecture: Architecture | None,
    *,
    max_threads: int | None = None,
    registers: int = 0,
    static_bytes: int = 0,
) -> LaunchLimits:
    """The limits of one kernel on one architecture.

    Parameters
    ----------
    architecture : Architecture or None
        Where it is to run; None for one that kit does not know.
    max_threads : int or None
        What ``__launch_bounds__`` promises.
    registers : int
        Of one thread; 0 where that is not known.
    static_bytes : int
        Static shared memory of a block [bytes].

    Examples
    --------
    >>> from kit.architectures import ARCHITECTURES
    >>> inspect_limits(ARCHITECTURES["sm_75"], max_threads=128, static_bytes=1024)
    LaunchLimits(threads=128, threads_of='__launch_bounds__(128)', shared_bytes=64512,
        shared_of='sm_75, where a block has 65536 bytes and the kernel takes 1024 of them')
    """
    threads, threads_of = _MOST_THREADS_OF_BLOCK, "CUDA"
    by_registers = most_threads(registers)
    if by_registers < threads:
        threads, threads_of = by_registers, f"the kernel's {registers} registers a thread"
    if max_threads is not None and max_threads < threads:
        threads, threads_of = max_threads, f"__launch_bounds__({max_threads})"
    if architecture is None:
        return LaunchLimits(threads, threads_of)
    most = architecture.block_shared_bytes
    shared_of = f"{architecture.name}, where a block has {most} bytes"
    if static_bytes:
        shared_of += f" and the kernel takes {static_bytes} of them"
    return LaunchLimits(threads, threads_of, max(0, most - static_bytes), shared_of)


def widest_limits(several: Sequence[LaunchLimits]) -> LaunchLimits:
    """What is possible under one of several limits, or another."""
    by_threads = max(several, key=lambda one: one.threads)
    known = [(one.shared_bytes, one.shared_of) for one in several if one.shared_bytes is not None]
    if len(known) < len(several):
        return LaunchLimits(by_threads.threads, by_threads.threads_of)
    shared_bytes, shared_of = max(known)
    return LaunchLimits(by_threads.threads, by_threads.threads_of, shared_bytes, shared_of)


def check_launch(kernel: str, launch: Launch, limits: LaunchLimits) -> None:
    """Refuse what CUDA would refuse, and say why.

    Raises
    ------
    LaunchError
        Of kind "limit".
    """
    grid, block, shared_bytes = launch
    if min(grid) < 1:
        raise launch_refused(
            kernel,
            f"an empty grid {grid}",
            "1 block or more along x, y and z",
            "n_threads=0  # launches nothing, without an error",
        )
    _check_extents(kernel, "grid", grid, _MOST_BLOCKS, "  # and a loop over the rest")
    _check_extents(kernel, "block", block, _MOST_THREADS, "")
    threads = prod(block)
    if threads > limits.threads:
        raise launch_refused(
            kernel,
            f"block {block}: {threads} threads",
            f"at most {limits.threads} threads of a block ({limits.threads_of})",
            f"block={shrunk_block(block, limits.threads)}",
        )
    most = limits.shared_bytes
    if shared_bytes < 0 or (most is not None and shared_bytes > most):
        raise launch_refused(
            kernel,
            f"{shared_bytes} bytes of dynamic shared memory",
            "0 bytes or more" if most is None else f"0 to {most} bytes ({limits.shared_of})",
            f"shared_bytes={max(0, min(shared_bytes, most or 0))}",
        )


def shrunk_block(block: tuple[int, ...], most: int) -> tuple[int, ...]:
    """A block like this one that has at most so many threads.

    Examples
    --------
    >>> shrunk_block((16, 16), 100), shrunk_block((256,), 96)
    ((8, 8), (96,))
    """
    sizes = list(block)
    while prod(sizes) > most:
        longest = max(range(len(sizes)), key=lambda axis: (sizes[axis], axis))
        rest = prod(sizes) // sizes[longest]
        # The whole limit where one axis has all the threads, else half as many along the longest.
        sizes[longest] = max(most, 1) if rest == 1 else sizes[longest] // 2
    return tuple(sizes)


def launch_refused(kernel: str, found: str, need: str, fix: str) -> LaunchError:
    """The error of a launch that was refused before anything ran."""
    text = f"launch refused\n  found: {found}\n  need:  {need}"
    return LaunchError(text, kernel=kernel, kind="limit", fix=fix)


def _check_extents(kernel: str, name: str, extents: Extents, most: Extents, advice: str) -> None:
    for axis, extent, limit in zip("xyz", extents, most, strict=True):
        if not 1 <= extent <= limit:
            better = tuple(min(max(one, 1), n) for one, n in zip(extents, most, strict=True))
            raise launch_refused(
                kernel,
                f"{name} {extents}: {extent} along {axis}",
                f"1 to {limit} along {axis}",
                f"{name}={better}{advice}",
            )

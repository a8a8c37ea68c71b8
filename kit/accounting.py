"""What moved between host and device: counted where somebody asks, and for nobody else."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple

from kit.errors import KitError

__all__ = [
    "Direction",
    "Transfer",
    "TransferCount",
    "assert_no_transfers",
    "count_transfers",
    "record_transfer",
]

Direction = Literal["to_host", "to_device"]


class Transfer(NamedTuple):
    """One array that moved.

    Parameters
    ----------
    direction : {"to_host", "to_device"}
        Which way.
    nbytes : int
        How much [bytes].
    kernel, argument : str
        For which argument of which kernel.
    reason : str
        Why it had to move.
    site : str
        File and line of the call.
    """

    direction: Direction
    nbytes: int
    kernel: str
    argument: str
    reason: str
    site: str


class TransferCount:
    """What moved in a block of `count_transfers`, also while it runs.

    Attributes
    ----------
    events : list of Transfer
        In the order in which they happened.
    """

    def __init__(self) -> None:
        self.events: list[Transfer] = []

    @property
    def bytes_to_host(self) -> int:
        """What came from devices [bytes]."""
        return sum(one.nbytes for one in self.events if one.direction == "to_host")

    @property
    def bytes_to_device(self) -> int:
        """What went to devices [bytes]."""
        return sum(one.nbytes for one in self.events if one.direction == "to_device")

    def report(self) -> str:
        """One line for each transfer, and the totals."""
        lines = [
            f"{one.kernel}({one.argument}) {one.direction.replace('_', ' ')}: "
            f"{one.nbytes} bytes, {one.reason} [{one.site}]"
            for one in self.events
        ]
        lines.append(
            f"{len(self.events)} transfers: {self.bytes_to_host} bytes to the host, "
            f"{self.bytes_to_device} bytes to devices"
        )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"TransferCount: {self.report().splitlines()[-1]}"


# Blocks may be nested, and each counts. A context's own: threads do not count for each other.
_counting: ContextVar[tuple[TransferCount, ...]] = ContextVar("kit_transfers", default=())


@contextmanager
def count_transfers() -> Generator[TransferCount]:
    """Count what kit moves between host and device in the block.

    Only kernels' arguments count; what other libraries move (`cupy.asarray(x)`) is their own.

    Examples
    --------
    >>> with count_transfers() as moved:
    ...     pass
    >>> moved.bytes_to_host, moved.events
    (0, [])
    """
    count = TransferCount()
    token = _counting.set((*_counting.get(), count))
    try:
        yield count
    finally:
        _counting.reset(token)


@contextmanager
def assert_no_transfers() -> Generator[None]:
    """Raise where kit moved something between host and device in the block.

    Raises
    ------
    KitError
        At the end of a block in which something moved, with the report.
    """
    with count_transfers() as moved:
        yield
    if moved.events:
        raise KitError(f"assert_no_transfers: {moved.report()}")


def record_transfer(
    direction: Direction, nbytes: int, *, kernel: str, argument: str, reason: str
) -> None:
    """Tell whoever counts that an argument moved."""
    counting = _counting.get()
    if counting:
        event = Transfer(direction, nbytes, kernel, argument, reason, _site_of_caller())
        for one in counting:
            one.events.append(event)


def _site_of_caller() -> str:
    """File and line of the first frame that is not kit's own."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # as in kit.kernel
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"


def _is_own(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "kit"

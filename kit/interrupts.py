"""Hold back Ctrl-C for a moment, where stopping half way would lose results."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

__all__ = ["deferred_interrupts"]


@contextmanager
def deferred_interrupts() -> Generator[None]:
    """SIGINT that comes in the block is handled when the block has ended.

    Only the main thread is interrupted at all; in others, and where no Python function handles
    SIGINT, this does nothing.

    Notes
    -----
    A compiled function cannot be interrupted, but the interrupt that came meanwhile is raised
    right after it: before what it wrote was copied back to the caller's arrays.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if arrived:
            handler(*arrived[-1])

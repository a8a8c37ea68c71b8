"""Arrays live until the launches that use them have ended; launches wait for other streams.

A launch returns at once, and nothing else keeps its arrays: one whose last name goes could be freed
and its memory given to somebody else while the kernel still runs. So each launch is followed by an
event, which holds the arrays until it has happened.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

__all__ = ["LaunchEvents"]

_MOST: Final = 256
"""Launches of one stream that are held; with more, the next launch waits for the oldest."""

_LOOK_AT: Final = 2
"""Launches that are asked about at each new one: more than come in, so that they get fewer."""

_LEGACY: Final = 1  # cudaStreamLegacy

_PER_THREAD: Final = 2  # cudaStreamPerThread

_VALUES: Final = frozenset({bool, int, float, complex})


class _Held(NamedTuple):
    event: int
    kernel: str
    arrays: tuple[object, ...]


class LaunchEvents:
    """Events of one device, which is the current one where nothing else is said.

    Parameters
    ----------
    runtime : module
        CuPy's binding to the CUDA runtime.

    Notes
    -----
    Arrays of the latest launches are let go by the next launch on their stream, by
    `kit.synchronize` and when Python collects garbage entirely.
    """

    def __init__(self, runtime: Any) -> None:
        self._runtime = runtime
        self._lock = threading.Lock()
        self._streams: dict[tuple[int, int], deque[_Held]] = {}
        self._spare: list[int] = []

    def hold(self, stream: int, kernel: str, values: Sequence[object]) -> None:
        """Right after a launch on `stream`: its arrays live until it has ended.

        Those of a launch that is captured live no longer: it runs whenever the graph does, of
        which only the graph's owner knows.
        """
        if self._runtime.streamIsCapturing(stream):
            return
        arrays = tuple(
            one for one in values if type(one) not in _VALUES and not isinstance(one, np.generic)
        )
        # Address 2 is each thread's own default stream: as many streams as threads.
        key = (stream, threading.get_ident() if stream == _PER_THREAD else 0)
        gone: list[_Held] = []
        with self._lock:
            launches = self._streams.setdefault(key, deque())
            last = launches[-1] if launches else None
            if last is not None and _same(last.arrays, arrays):
                # A loop over the same arrays: one event, which happens later now.
                launches[-1] = last._replace(kernel=kernel)
                self._runtime.eventRecord(last.event, stream)
                return
            if launches and not self._others_are_capturing():
                self._take_ended(launches, _LOOK_AT, gone)
                if len(launches) >= _MOST:
                    self._runtime.eventSynchronize(launches[0].event)
                    self._take_ended(launches, 1, gone)
            event = self._event()
            self._runtime.eventRecord(event, stream)
            launches.append(_Held(event, kernel, arrays))
        # Without the lock: a finalizer of an array may launch a kernel itself.
        gone.clear()

    def wait_for(self, other: int, stream: int) -> None:
        """What is launched on `stream` from now on waits for what is on `other` until now."""
        with self._lock:
            event = self._event()
            self._runtime.eventRecord(event, other)
            self._runtime.streamWaitEvent(stream, event)
            self._spare.append(event)  # what waits does so for the event as it is now

    def kernels(self) -> list[str]:
        """Names of the kernels whose launches may still run."""
        with self._lock:
            return [one.kernel for launches in self._streams.values() for one in launches]

    def drop_ended(self) -> None:
        """Let go of what launches have ended with; nothing where another thread is at it."""
        if not self._lock.acquire(blocking=False):  # Python collects garbage anywhere, also here
            return
        gone: list[_Held] = []
        try:
            if not self._others_are_capturing():
                for launches in self._streams.values():
                    self._take_ended(launches, len(launches), gone)
        finally:
            self._lock.release()
        gone.clear()

    def _take_ended(self, launches: deque[_Held], most: int, gone: list[_Held]) -> None:
        """Move launches that have ended to `gone`, for when the lock is released."""
        for _ in range(min(most, len(launches))):
            # 0 where it has happened; CuPy gives the number and raises nothing.
            if self._runtime.eventQuery(launches[0].event):
                return
            gone.append(launches.popleft())
            self._spare.append(gone[-1].event)

    def _others_are_capturing(self) -> bool:
        """Whether launches on some stream go into a graph, which a question about events spoils.

        The legacy stream answers for all (but non-blocking ones), by an error that leaves graphs as
        they are. Streams of earlier launches are not asked: they may be gone.
        """
        try:
            return bool(self._runtime.streamIsCapturing(_LEGACY))
        except RuntimeError:
            return True

    def _event(self) -> int:
        if self._spare:
            return self._spare.pop()
        return self._runtime.eventCreateWithFlags(self._runtime.eventDisableTiming)


def _same(these: tuple[object, ...], those: tuple[object, ...]) -> bool:
    return len(these) == len(those) and all(a is b for a, b in zip(these, those, strict=True))

"""Keep the compile worker of this process, and end it: at Ctrl-C, at exit, when it misbehaves.

Only pipes and signals, and no thread: the notebook process may fork at any time, and a fork of a
process with threads is what Python warns of. A forked copy of the notebook never shares a worker.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from kit.backends.protocol import Progress
from kit.backends.worker_process import TICK_S, Worker, WorkerEndedError
from kit.errors import BuildError

__all__ = ["ask", "prewarm", "reap", "shut_down"]

Reply = TypeVar("Reply")


@dataclass(slots=True)
class _State:
    """The worker of this process, if there is one."""

    worker: Worker | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    registered: bool = False


_state = _State()


def ask(
    request: Mapping[str, object],
    parse: Callable[[object], Reply],
    on_progress: Progress | None = None,
) -> Reply:
    """Have the worker answer a request; requests of several threads wait for each other.

    Parameters
    ----------
    request : mapping
        Plain JSON values.
    parse : callable
        Checks and converts the decoded reply; a BuildError ends the worker, like any other fault.
    on_progress : callable or None
        Called with stage and seconds at least every 0.1 s.

    Returns
    -------
    object
        What `parse` makes of the reply.

    Raises
    ------
    BuildError
        The worker cannot start, ended, or answered something else than a reply. The next request
        gets a fresh one.
    KeyboardInterrupt
        And whatever else came in between: the worker and its compilers have been ended.
    """
    with _turn(on_progress):
        for attempt in (1, 2):
            worker = _live_worker()
            try:
                return parse(worker.ask(request, on_progress))
            except WorkerEndedError as ended:
                _drop()
                # It may leave after ten idle minutes in the very moment of the request, or have
                # been killed unseen: that is no reason to fail a build which had not begun.
                if ended.begun or attempt == 2:
                    raise ended.error from None
            except BaseException:  # Ctrl-C too: the worker is in mid-request; raised again
                _drop()
                raise
    raise AssertionError("unreachable")


def prewarm() -> None:
    """Start a worker in the background if none runs; `KIT_PREWARM=0` and faults are silent."""
    if os.environ.get("KIT_PREWARM") == "0" or not _state.lock.acquire(blocking=False):
        return
    try:
        # What stands in its way is said when something is to be compiled.
        with contextlib.suppress(OSError, BuildError):
            _live_worker()
    finally:
        _state.lock.release()


def reap() -> None:
    """Collect a worker that has left, so that it does not remain as a zombie; cheap."""
    if _state.worker is not None and _state.lock.acquire(blocking=False):
        try:
            if not _state.worker.is_alive():
                _drop()
        finally:
            _state.lock.release()


def shut_down() -> None:
    """End the worker of this process, if there is one."""
    _drop()


@contextlib.contextmanager
def _turn(on_progress: Progress | None) -> Generator[None]:
    started = time.monotonic()
    while not _state.lock.acquire(timeout=TICK_S):
        if on_progress is not None:
            on_progress("waiting for another build", time.monotonic() - started)
    lock = _state.lock
    try:
        yield
    finally:
        lock.release()


def _live_worker() -> Worker:
    if _state.worker is not None and not _state.worker.is_alive():
        _drop()
    if _state.worker is None:
        if not _state.registered:
            _state.registered = True
            atexit.register(shut_down)
            os.register_at_fork(after_in_child=_forget)
        try:
            _state.worker = Worker()
        except OSError as error:
            raise BuildError(f"the compile worker cannot start: {error}") from None
    return _state.worker


def _drop() -> None:
    worker, _state.worker = _state.worker, None
    if worker is not None:
        worker.kill()


def _forget() -> None:
    """In a forked copy: another thread may have held the lock, and the worker is the parent's."""
    worker, _state.worker = _state.worker, None
    _state.lock = threading.Lock()
    if worker is not None:
        worker.disown()

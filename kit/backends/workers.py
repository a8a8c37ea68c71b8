"""Keep the compile workers of this process, and end them: at Ctrl-C, at exit, on misbehaviour.

There is at most one for each toolchain: Pyccel's, and NVRTC's.

Only pipes and signals, and no thread: the notebook process may fork at any time, and a fork of a
process with threads is what Python warns of. A forked copy of the notebook never shares a worker.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from kit.backends.protocol import Progress
from kit.backends.worker_process import TICK_S, Worker, WorkerEndedError
from kit.errors import BuildError

__all__ = ["Kind", "ask", "prewarm", "reap", "shut_down"]

Kind = Literal["pyccel", "nvrtc"]
"""Which toolchain a worker has loaded."""

Reply = TypeVar("Reply")


@dataclass(slots=True)
class _State:
    """The worker of one kind, if there is one, and what it was started with."""

    worker: Worker | None = None
    options: tuple[str, ...] = ()
    lock: threading.Lock = field(default_factory=threading.Lock)


_states: dict[Kind, _State] = {"pyccel": _State(), "nvrtc": _State()}
_registered = False


def ask(
    request: Mapping[str, object],
    parse: Callable[[object], Reply],
    on_progress: Progress | None = None,
    *,
    kind: Kind = "pyccel",
    options: Sequence[str] = (),
) -> Reply:
    """Have a worker answer a request; requests of several threads wait for each other.

    Parameters
    ----------
    request : mapping
        Plain JSON values.
    parse : callable
        Checks and converts the decoded reply; a BuildError ends the worker, like any other fault.
    on_progress : callable or None
        Called with stage and seconds at least every 0.1 s.
    kind : {"pyccel", "nvrtc"}
        Which worker.
    options : sequence of str
        Of its command line; one that was started with others is ended first.

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
    state = _states[kind]
    with _turn(state, on_progress):
        for attempt in (1, 2):
            worker = _live_worker(state, options)
            try:
                return parse(worker.ask(request, on_progress))
            except WorkerEndedError as ended:
                _drop(state)
                # It may leave after ten idle minutes in the very moment of the request, or have
                # been killed unseen: that is no reason to fail a build which had not begun.
                if ended.begun or attempt == 2:
                    raise ended.error from None
            except BaseException:  # Ctrl-C too: the worker is in mid-request; raised again
                _drop(state)
                raise
    raise AssertionError("unreachable")


def prewarm(kind: Kind = "pyccel", options: Sequence[str] = ()) -> None:
    """Start a worker in the background if none runs; `KIT_PREWARM=0` and faults are silent."""
    state = _states[kind]
    if os.environ.get("KIT_PREWARM") == "0" or not state.lock.acquire(blocking=False):
        return
    try:
        # What stands in its way is said when something is to be compiled.
        with contextlib.suppress(OSError, BuildError):
            _live_worker(state, options)
    finally:
        state.lock.release()


def reap() -> None:
    """Collect workers that have left, so that they do not remain as zombies; cheap."""
    for state in _states.values():
        if state.worker is not None and state.lock.acquire(blocking=False):
            try:
                if not state.worker.is_alive():
                    _drop(state)
            finally:
                state.lock.release()


def shut_down() -> None:
    """End the workers of this process, if there are any."""
    for state in _states.values():
        _drop(state)


@contextlib.contextmanager
def _turn(state: _State, on_progress: Progress | None) -> Generator[None]:
    started = time.monotonic()
    while not state.lock.acquire(timeout=TICK_S):
        if on_progress is not None:
            on_progress("waiting for another build", time.monotonic() - started)
    lock = state.lock
    try:
        yield
    finally:
        lock.release()


def _live_worker(state: _State, options: Sequence[str]) -> Worker:
    global _registered
    worker = state.worker
    if worker is not None and not (worker.is_alive() and state.options == tuple(options)):
        _drop(state)
    if state.worker is None:
        if not _registered:
            _registered = True
            atexit.register(shut_down)
            os.register_at_fork(after_in_child=_forget)
        try:
            state.worker = Worker(options)
        except OSError as error:
            raise BuildError(f"the compile worker cannot start: {error}") from None
        state.options = tuple(options)
    return state.worker


def _drop(state: _State) -> None:
    worker, state.worker = state.worker, None
    if worker is not None:
        worker.kill()


def _forget() -> None:
    """In a forked copy: another thread may have held a lock, and the workers are the parent's."""
    for state in _states.values():
        worker, state.worker = state.worker, None
        state.lock = threading.Lock()
        if worker is not None:
            worker.disown()

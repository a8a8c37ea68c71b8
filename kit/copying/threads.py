"""Share work among threads that live no longer than the work.

Starting a thread costs a fraction of a millisecond, and only copies that take many are shared. In
return there is nothing to lose in a fork, and nothing to wait for when the process ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

__all__ = ["choose_thread_count", "run_in_threads"]

Part = TypeVar("Part")

# A copy of less is over before a second thread has done its share.
BYTES_PER_THREAD = 8 * 2**20
# More do not make memory faster, and others have cores to use, too.
MOST_THREADS = 8


def choose_thread_count(nbytes: int) -> int:
    """How many threads copy `nbytes`, the calling one included.

    Bounded by the cores that this process may use, and by OMP_NUM_THREADS: who runs one process
    for each core says so there.

    Examples
    --------
    >>> choose_thread_count(2**20)
    1
    """
    wanted = min(nbytes // BYTES_PER_THREAD, MOST_THREADS)
    return 1 if wanted < 2 else max(1, min(wanted, _cores(), _declared_bound()))


def run_in_threads(parts: Iterator[Part], act: Callable[[Part], object], count: int) -> None:
    """Do `act` with every part, in `count` threads, of which one is the calling thread.

    Parameters
    ----------
    parts : iterator
        One whose `next` threads may share; no generator.
    act : callable
        What is done with each part; releases the GIL for most of its time.
    count : int
        Fewer are used where no more can be started.

    Raises
    ------
    BaseException
        The first one that `act` raised in any thread, or Ctrl-C. No part is worked on any more
        when it arrives; some are done, some are not.
    """
    raised: list[BaseException] = []

    def work() -> None:
        try:
            for part in parts:
                if raised:
                    return
                act(part)
        except BaseException as error:
            raised.append(error)

    others = [threading.Thread(target=work, name="kit-copy", daemon=True) for _ in range(1, count)]
    try:
        _start(others)
        work()
    except BaseException as error:  # Ctrl-C while threads were started
        raised.append(error)
    finally:
        _join(others, raised)
    if raised:
        first = raised[0]
        raised.clear()
        try:
            raise first
        finally:
            del first  # its traceback leads here: a cycle would keep the arrays


def _start(threads: list[threading.Thread]) -> None:
    for one in threads:
        try:
            one.start()
        except RuntimeError:
            return  # no more allowed, or the interpreter is ending: those that run do it all


def _join(threads: list[threading.Thread], raised: list[BaseException]) -> None:
    """Wait for all that run; Ctrl-C makes them stop after their part, and is not lost."""
    for one in threads:
        while one.is_alive():
            try:
                one.join()
            except BaseException as error:
                raised.append(error)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _declared_bound() -> int:
    """OMP_NUM_THREADS, "4" or "4,2"; what OpenMP would not understand bounds nothing."""
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(first) if first.isascii() and first.isdigit() and int(first) else MOST_THREADS

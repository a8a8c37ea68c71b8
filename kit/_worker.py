"""The compile worker: ``python -m kit._worker``, started and spoken to by `backends.workers`.

It reads one request a line from its standard input and answers with lines of JSON on its standard
output: ``{"stage": ...}`` while it works, then ``{"reply": ...}``. What Pyccel and the compilers
print goes to a log instead. On Linux each request to Pyccel runs in a forked child, so that
Pyccel's global state, its crashes and its printing end with the request; elsewhere it runs in the
worker itself. So does NVRTC (``--nvrtc LIBRARY``), which in a forked child would take half as long
again for the pages that it has to copy; a crash there ends the worker, and the next request gets a
fresh one.

No compiler outlives the notebook. The worker leads a process group of its own, and ends it when its
standard input closes, which the kernel sees to however the notebook died; a child ends it when the
worker is gone.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Protocol

from kit.backends.protocol import ToolchainFailed

__all__ = ["main"]

_IDLE_S = 600.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve requests until standard input closes or nothing comes for ten minutes.

    Parameters
    ----------
    arguments : sequence of str or None
        ``--idle SECONDS``, ``--no-fork``, and ``--nvrtc LIBRARY`` for NVRTC in the place of
        Pyccel; None takes those of the command line.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    idle_s = float(given[given.index("--idle") + 1]) if "--idle" in given else _IDLE_S
    if os.getpgrp() != os.getpid():
        os.setsid()  # started by hand: the group that ends with the worker must not be the shell's
    home = Path.cwd()
    channel = _take_channel()
    forks = "--no-fork" not in given and _fork_is_safe()
    toolchain: _Toolchain
    if "--nvrtc" in given:
        from kit.backends.nvrtc_worker import NvrtcToolchain

        toolchain = NvrtcToolchain(Path(given[given.index("--nvrtc") + 1]))
        forks = False
    else:
        from kit.backends.pyccel_worker import PyccelToolchain

        toolchain = PyccelToolchain(home)
    server = _Server(channel, home=home, toolchain=toolchain, forks=forks)
    server.prepare()
    server.serve(idle_s)
    # Not after an exception: the notebook reads the log, and removes the directory itself.
    shutil.rmtree(home, ignore_errors=True)
    return 0


def _take_channel() -> int:
    """A descriptor of standard output, which itself becomes the log."""
    channel = os.dup(1)
    os.dup2(2, 1)
    return channel


def _fork_is_safe() -> bool:
    # macOS: system libraries that NumPy loads do not survive a fork.
    return sys.platform == "linux"


_Emit = Callable[[Mapping[str, object]], None]
"""Sends one message to the notebook."""


class _Toolchain(Protocol):
    """What a worker keeps warm."""

    def prepare(self) -> None:
        """Load it, before the first request."""
        ...

    def begin(self, request: object) -> Callable[[_Emit], None]:
        """What is done in the worker for a decoded request; the rest may be done in a child."""
        ...


class _Server:
    def __init__(self, channel: int, *, home: Path, toolchain: _Toolchain, forks: bool) -> None:
        self._channel = channel
        self._home = home
        self._toolchain = toolchain
        self._forks = forks

    def prepare(self) -> None:
        """Load the toolchain; tells the notebook and ends where that fails."""
        gc.disable()  # nothing of what an import makes is garbage: saves a tenth of the time
        try:
            self._toolchain.prepare()
        except ToolchainFailed as error:
            traceback.print_exc()
            self._send({"failed": str(error)})
            raise SystemExit(1) from None
        # What is loaded now is never collected, so that a child does not copy its pages.
        gc.freeze()
        gc.enable()

    def serve(self, idle_s: float) -> None:
        buffer = b""
        while True:
            while b"\n" in buffer:
                line, _, buffer = buffer.partition(b"\n")
                self._answer(line)
            if not select.select([0], [], [], idle_s)[0]:
                return
            data = os.read(0, 1 << 16)
            if not data:
                return
            buffer += data

    def _answer(self, line: bytes) -> None:
        work = self._toolchain.begin(json.loads(line))
        if self._forks:
            self._build_in_child(work)
        else:
            with _Watch(0, self._die):
                work(self._send)
            os.chdir(self._home)

    def _build_in_child(self, work: Callable[[_Emit], None]) -> None:
        lifeline, alive = os.pipe()
        result, answers = os.pipe()
        child = os.fork()
        if child == 0:
            for descriptor in (self._channel, alive, result):
                os.close(descriptor)
            _run_child(work, answers, lifeline, self._die)
        os.close(lifeline)
        os.close(answers)
        try:
            self._forward(result)
        finally:
            os.close(result)
            os.close(alive)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code != 0:
            self._send({"died": code})

    def _forward(self, result: int) -> None:
        """Pass on what the child says, and end everything when the notebook is gone."""
        poll = select.poll()
        # No event asked for: a hang-up is always told, and the next request may wait its turn.
        poll.register(0, 0)
        poll.register(result, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if 0 in ready:
                self._die()
            data = os.read(result, 1 << 16)
            if not data:
                return
            _write_all(self._channel, data)

    def _send(self, message: Mapping[str, object]) -> None:
        _write_all(self._channel, _encode(message))

    def _die(self) -> NoReturn:
        shutil.rmtree(self._home, ignore_errors=True)
        _end_group()


def _run_child(
    work: Callable[[_Emit], None],
    answers: int,
    lifeline: int,
    die: Callable[[], NoReturn],
) -> NoReturn:
    """Do the work of a forked child, which never returns to the worker's code."""
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        with _Watch(lifeline, die):
            work(lambda message: _write_all(answers, _encode(message)))
        code = 0
    except BaseException:  # the fork must never return into the server's loop, whatever happened
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


class _Watch:
    """Calls `end` from a thread when a descriptor closes inside the ``with`` block."""

    def __init__(self, descriptor: int, end: Callable[[], NoReturn]) -> None:
        self._descriptor = descriptor
        self._end = end
        self._stop, self._stopper = os.pipe()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        os.close(self._stopper)
        self._thread.join()
        os.close(self._stop)

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self._descriptor, 0)  # hang-up only
        poll.register(self._stop, 0)
        ready = dict(poll.poll())
        if self._descriptor in ready and self._stop not in ready:
            self._end()


def _end_group() -> NoReturn:
    """End this process, the worker and every compiler, at once."""
    os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def _encode(message: Mapping[str, object]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    # Imported under its own name, so that there is one copy of this module.
    from kit._worker import main as _main

    raise SystemExit(_main())

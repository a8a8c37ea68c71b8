"""One worker process: how it is started, what its messages mean, and how it is ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from kit.backends.packages import find_package
from kit.backends.protocol import Progress
from kit.errors import BuildError

__all__ = ["TICK_S", "Worker", "WorkerEndedError", "worker_environment"]

TICK_S = 0.05
"""How often a wait looks up to tell its caller that time passes [s]."""

# Threads of numeric libraries would only slow down a process that forks; the rest are settings of
# the user's Python or Pyccel that would change what the worker does or what it prints.
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "MKL_NUM_THREADS": "1",
    "NO_COLOR": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",  # Pyccel orders libraries by sets: the same cell, the same artifact
    "PYTHONSAFEPATH": "1",
    "PYTHONUTF8": "1",
}
_REMOVED = (
    "LANGUAGE",
    "PYCCEL_DEBUG_MODE",
    "PYCCEL_DEFAULT_COMPILER",
    "PYCCEL_ERROR_MODE",
    "PYTEST_XDIST_WORKER",
    "PYTHONINSPECT",
    "PYTHONPROFILEIMPORTTIME",
    "PYTHONSTARTUP",
    "PYTHONVERBOSE",
    "PYTHONWARNINGS",
)


class WorkerEndedError(Exception):
    """The worker's output ended; `begun` if it had begun with the request."""

    def __init__(self, error: BuildError, *, begun: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.begun = begun


class Worker:
    """One worker process and the pipes to it.

    Parameters
    ----------
    options : sequence of str
        Options of ``python -m kit._worker``.
    command : sequence of str or None
        Another program to speak with; for tests.
    """

    def __init__(
        self, options: Sequence[str] = (), *, command: Sequence[str] | None = None
    ) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="kit-worker-"))
        self._buffer = b""
        try:
            self._process = self._start(command or [_python(), "-m", "kit._worker", *options])
        except BaseException:  # Ctrl-C too: nothing else knows of the directory yet; raised again
            shutil.rmtree(self._home, ignore_errors=True)
            raise
        self._input = cast("BinaryIO", self._process.stdin)
        self._output = cast("BinaryIO", self._process.stdout)

    def _start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        # A name that cannot clash with what the worker makes; it goes with the directory.
        with (self._home / "worker.log").open("wb") as errors:
            return subprocess.Popen(
                command,
                cwd=self._home,
                env=worker_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                # Ctrl-C in a terminal goes to the whole foreground group: not to the worker's.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its process, which leads a group of the same number."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether it runs; collects its exit status when it does not."""
        return self._process.poll() is None

    def ask(self, request: Mapping[str, object], on_progress: Progress | None) -> object:
        """Send a request and wait for its reply, at least every 0.1 s telling `on_progress`.

        Any exception leaves the worker in an unknown state: `kill` it then.
        """
        started = time.monotonic()
        stage = "starting"
        try:
            self._send(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            raise self._ended(begun=False) from None
        begun = False
        for message in self._messages():
            if message is None:
                pass  # time passed
            elif isinstance(message.get("stage"), str):
                stage = cast(str, message["stage"])
                begun = True
            elif "reply" in message:
                return message["reply"]
            elif isinstance(message.get("died"), int):
                raise _died("the compilation", cast(int, message["died"]), log="")
            elif "failed" in message:
                raise BuildError(str(message["failed"]), log=self._log())
            else:
                raise _rubbish(json.dumps(message), self._log())
            if on_progress is not None:
                on_progress(stage, time.monotonic() - started)
        raise self._ended(begun=begun)

    def kill(self) -> None:
        """End it and all that it started, collect its status and remove its directory."""
        # Not poll(): a leader that has been collected no longer keeps its number from new groups.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()
        self._close()
        shutil.rmtree(self._home, ignore_errors=True)

    def disown(self) -> None:
        """In a forked copy of the notebook: let go of the pipes, leave the worker alone."""
        self._close()
        # Popen warns of a process that still runs when it is collected; it is not ours to wait for.
        self._process.returncode = 0

    def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            # A signal may end a write early.
            view = view[os.write(self._input.fileno(), view) :]

    def _close(self) -> None:
        for stream in (self._input, self._output):
            with contextlib.suppress(OSError):
                stream.close()

    def _messages(self) -> Iterator[Mapping[str, object] | None]:
        """Messages as they come, and None whenever a little time has passed without one."""
        poll = select.poll()
        poll.register(self._output.fileno(), select.POLLIN | select.POLLHUP)
        while True:
            while b"\n" in self._buffer:
                line, _, self._buffer = self._buffer.partition(b"\n")
                yield self._decoded(line)
            if not poll.poll(TICK_S * 1000):
                yield None
                continue
            data = os.read(self._output.fileno(), 1 << 16)
            if not data:
                return
            self._buffer += data

    def _decoded(self, line: bytes) -> Mapping[str, object]:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise _rubbish(line[:200].decode(errors="replace"), self._log())
        return cast("Mapping[str, object]", message)

    def _ended(self, *, begun: bool) -> WorkerEndedError:
        """What its silence means; ends the compilers that it left running."""
        log = self._log()
        # Its output may close a moment before it has ended by itself.
        deadline = time.monotonic() + 1.0
        while os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() > deadline:
                break
            time.sleep(0.005)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        code = self._process.wait()
        return WorkerEndedError(_died("the compile worker", code, log), begun=begun)

    def _log(self) -> str:
        with contextlib.suppress(OSError):
            return (self._home / "worker.log").read_text(encoding="utf-8", errors="replace")
        return ""


def _python() -> str:
    if not sys.executable:
        raise BuildError(
            "this Python does not know its own program (sys.executable is empty), "
            "so that no compile worker can be started",
            fix="run kit in an ordinary Python or Jupyter",
        )
    return sys.executable


def worker_environment() -> dict[str, str]:
    """The variables that a worker starts with: this process', without what would disturb it."""
    environment = {name: text for name, text in os.environ.items() if name not in _REMOVED}
    environment |= _ENVIRONMENT
    inherited = environment.pop("PYTHONPATH", "").split(os.pathsep)
    # Relative entries mean the notebook's directory, which the worker must not look into.
    paths = _import_roots() + [path for path in inherited if Path(path).is_absolute()]
    if paths:
        environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    return environment


def _import_roots() -> list[str]:
    """Directories of kit and Pyccel, as far as the worker would not look there by itself."""
    import site

    usual = {*site.getsitepackages(), site.getusersitepackages()}
    packages = (Path(__file__).resolve().parent.parent, find_package("pyccel"))
    roots = [str(package.resolve().parent) for package in packages if package is not None]
    # In front of the standard library, site-packages would let old backports shadow it.
    return [root for root in roots if root not in {os.path.realpath(path) for path in usual}]


def _died(what: str, code: int, log: str) -> BuildError:
    if code < 0:
        try:
            how = f"was ended by signal {signal.Signals(-code).name}"
        except ValueError:
            how = f"was ended by signal {-code}"
    else:
        how = f"ended with exit status {code}"
    fix = "run the cell again: it gets a fresh worker"
    if code == -signal.SIGKILL:
        fix += "\nif it is ended again, memory may be short: see `dmesg | tail`"
    return BuildError(f"{what} {how} before it had a result", fix=fix, log=log)


def _rubbish(text: str, log: str) -> BuildError:
    return BuildError(
        f"the compile worker answered something that is no message: {text!r}",
        fix="run the cell again: it gets a fresh worker",
        log=log,
    )

"""NVRTC in its worker: loaded once, warm, and never in the notebook's process."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from kit.backends.nvrtc_library import Nvrtc, NvrtcFailure
from kit.backends.nvrtc_protocol import NvrtcProgram, NvrtcReply, NvrtcRequest, cubin_name
from kit.backends.protocol import ToolchainFailed

__all__ = ["NvrtcToolchain"]

_Emit = Callable[[Mapping[str, object]], None]

# Its first program takes NVRTC twice as long as every later one.
_WARMING = "__global__ void warm(float* x) { x[threadIdx.x] = 0.0f; }"


class NvrtcToolchain:
    """One NVRTC, loaded.

    Parameters
    ----------
    path : Path
        ``libnvrtc.so.12``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._compiler = ""
        self._supported: tuple[str, ...] = ()

    def prepare(self) -> None:
        """Load the library and compile something.

        Raises
        ------
        ToolchainFailed
            It does not load, or cannot compile two lines.
        """
        try:
            self._nvrtc = Nvrtc(self._path)
            self._compiler = f"NVRTC {self._nvrtc.version()}"
            self._supported = self._nvrtc.architectures()
            newest = f"--gpu-architecture={self._supported[-1]}"
            self._nvrtc.compile(_WARMING, "warm", [newest], [])
        except NvrtcFailure as failure:
            raise ToolchainFailed(str(failure)) from failure

    def begin(self, request: object) -> Callable[[_Emit], None]:
        """The work of one request."""
        checked = NvrtcRequest.from_json(request)
        return lambda emit: self._build(checked, emit)

    def _build(self, request: NvrtcRequest, emit: _Emit) -> None:
        unknown = [one for one in request.architectures if one not in self._known(request)]
        programs: Sequence[NvrtcProgram] = ()
        if not unknown:
            emit({"stage": "nvrtc " + " ".join(request.architectures)})
            programs = self._compile_all(request)
        reply = NvrtcReply(
            programs=tuple(programs), compiler=self._compiler, supported=self._supported
        )
        emit({"reply": reply.to_json()})

    def _known(self, request: NvrtcRequest) -> frozenset[str]:
        """What can be asked for; sm_90a is not listed by NVRTC and yet compiled."""
        plain = frozenset(self._supported)
        return plain | {one for one in request.architectures if one.rstrip("af") in plain}

    def _compile_all(self, request: NvrtcRequest) -> Sequence[NvrtcProgram]:
        """The first architecture here, the others at the same time in forked children.

        Not in threads: NVRTC (12.9) lets one of them compile at a time.
        """
        first, *others = request.architectures
        most = max(1, (os.cpu_count() or 2) - 1)
        waiting, running = list(others), dict[int, str]()

        def start() -> None:
            while waiting and len(running) < most:
                architecture = waiting.pop(0)
                running[_in_child(lambda one=architecture: self._to_file(request, one))] = (
                    architecture
                )

        start()
        programs = {first: self._compile(request, first)}
        while running:
            pid, status = os.waitpid(-1, 0)
            architecture = running.pop(pid)
            code = os.waitstatus_to_exitcode(status)
            programs[architecture] = _from_file(request, architecture, code)
            start()
        later = [replace(programs[one], ptx="") for one in others]
        return [programs[first], *later]

    def _compile(self, request: NvrtcRequest, architecture: str) -> NvrtcProgram:
        started = time.perf_counter()
        options = [f"--gpu-architecture={architecture}", *request.options]
        try:
            made = self._nvrtc.compile(request.source, request.name, options, request.expressions)
        except NvrtcFailure as failure:
            return NvrtcProgram(architecture=architecture, ok=False, failure=str(failure))
        seconds = {"compile": time.perf_counter() - started}
        if made.ok:
            (Path(request.scratch) / cubin_name(architecture)).write_bytes(made.cubin)
        return NvrtcProgram(
            architecture=architecture,
            ok=made.ok,
            log=made.log,
            ptx=made.ptx,
            lowered=made.lowered,
            seconds=seconds,
        )

    def _to_file(self, request: NvrtcRequest, architecture: str) -> None:
        program = self._compile(request, architecture)
        path = Path(request.scratch) / f"{architecture}.json"
        path.write_text(json.dumps(program.to_json()), encoding="utf-8")


def _from_file(request: NvrtcRequest, architecture: str, code: int) -> NvrtcProgram:
    """What a child left, or what its end means."""
    if code == 0:
        text = (Path(request.scratch) / f"{architecture}.json").read_text(encoding="utf-8")
        return NvrtcProgram.from_json(json.loads(text))
    how = f"signal {-code}" if code < 0 else f"exit status {code}"
    failure = f"NVRTC ended with {how} while it compiled for {architecture}"
    return NvrtcProgram(architecture=architecture, ok=False, failure=failure)


def _in_child(work: Callable[[], None]) -> int:
    """Start work in a forked child, which never returns to the caller's code; its number."""
    child = os.fork()
    if child == 0:
        _run(work)
    return child


def _run(work: Callable[[], None]) -> NoReturn:
    code = 1
    try:
        work()
        code = 0
    except BaseException:  # the fork must never return into the server's loop, whatever happened
        traceback.print_exc()
    finally:
        os._exit(code)

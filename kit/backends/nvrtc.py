"""Compile CUDA C++ with NVRTC, in a worker of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from kit.backends import workers
from kit.backends.cuda_packages import CudaPackages, find_cuda_packages
from kit.backends.nvrtc_protocol import NvrtcReply, NvrtcRequest, cubin_name
from kit.backends.protocol import Progress
from kit.errors import BuildError

__all__ = ["compile_cubins", "prewarm", "read_cubins"]


def compile_cubins(
    request: NvrtcRequest, packages: CudaPackages, *, on_progress: Progress | None = None
) -> NvrtcReply:
    """Compile one text in the worker; writes below `request.scratch` only.

    Parameters
    ----------
    request : NvrtcRequest
        What to compile.
    packages : CudaPackages
        Whose NVRTC.
    on_progress : callable or None
        Called with the stage that runs and the seconds so far, at least every 0.1 s.

    Returns
    -------
    NvrtcReply
        Errors in the text are in the logs of its programs; without programs where one of the
        architectures is not among its `supported`.

    Raises
    ------
    BuildError
        The worker failed: it crashed, or memory was short.
    KeyboardInterrupt
        As in any Python call; the worker is ended first.
    """
    return workers.ask(
        request.to_json(),
        lambda value: _parse_reply(value, request),
        on_progress,
        kind="nvrtc",
        options=_options(packages),
    )


def read_cubins(reply: NvrtcReply, scratch: Path) -> Mapping[str, bytes]:
    """Architecture -> machine code that the worker left in `scratch`."""
    return {
        one.architecture: (scratch / cubin_name(one.architecture)).read_bytes()
        for one in reply.programs
        if one.ok
    }


def prewarm() -> None:
    """Start the worker in the background, so that the first cell finds NVRTC loaded and warm.

    Returns within milliseconds. Nothing happens where NVRTC is not installed, and with
    ``KIT_PREWARM=0``.
    """
    # What is missing is said when something is to be compiled.
    with contextlib.suppress(BuildError):
        workers.prewarm("nvrtc", _options(find_cuda_packages()))


def _options(packages: CudaPackages) -> tuple[str, ...]:
    return ("--nvrtc", str(packages.library))


def _parse_reply(value: object, request: NvrtcRequest) -> NvrtcReply:
    reply = NvrtcReply.from_json(value)
    made = tuple(one.architecture for one in reply.programs)
    if made not in ((), request.architectures):
        raise BuildError(f"the compile worker compiled for {made}, not {request.architectures}")
    return reply

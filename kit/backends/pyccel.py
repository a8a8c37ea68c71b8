"""Compile units of typed Python with Pyccel, in the worker."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from kit.backends import workers
from kit.backends.protocol import CompileReply, CompileRequest, Progress
from kit.errors import BuildError
from kit.toolchain import COMPILER_VARIABLES, find_compilers

__all__ = ["compile_unit", "prewarm"]


def compile_unit(request: CompileRequest, *, on_progress: Progress | None = None) -> CompileReply:
    """Compile one unit in the worker; writes below `request.scratch` only.

    Parameters
    ----------
    request : CompileRequest
        What to compile.
    on_progress : callable or None
        Called with the stage that runs and the seconds so far, at least every 0.1 s.

    Returns
    -------
    CompileReply
        Errors in the unit are in its `diagnostics`.

    Raises
    ------
    BuildError
        A compiler is missing, or the worker failed; its `log` holds all that was printed.
    KeyboardInterrupt
        As in any Python call; the worker and its compilers are ended first.
    """
    full = replace(
        request,
        compilers=find_compilers(request.language),
        environment={name: os.environ[name] for name in COMPILER_VARIABLES if name in os.environ},
    )
    scratch = Path(request.scratch)
    try:
        return workers.ask(full.to_json(), lambda value: _parse_reply(value, scratch), on_progress)
    except BuildError as error:
        error.log = error.log or _build_log(scratch)
        raise


def prewarm() -> None:
    """Start the worker in the background, so that the first build finds Pyccel imported.

    Returns within milliseconds; `KIT_PREWARM=0` disables it.
    """
    workers.prewarm()


def _parse_reply(value: object, scratch: Path) -> CompileReply:
    reply = CompileReply.from_json(value)
    if reply.artifact is not None and Path(reply.artifact).parent.resolve() != scratch.resolve():
        raise BuildError(
            f"the compile worker names an artifact outside its directory: {reply.artifact}"
        )
    return reply


def _build_log(scratch: Path) -> str:
    try:
        return (scratch / "log.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

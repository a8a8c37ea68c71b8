"""Pyccel in its worker: imported once, with its compiled support library at hand."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kit.backends.protocol import CompileRequest, ToolchainFailed

if TYPE_CHECKING:
    from kit.backends.wrapper_library import WrapperLibrary

__all__ = ["PyccelToolchain"]

_LOG = "log.txt"
_Emit = Callable[[Mapping[str, object]], None]


class PyccelToolchain:
    """Pyccel, imported, and its compiled support library.

    Parameters
    ----------
    home : Path
        Directory of the worker, where the library is made.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._library: WrapperLibrary | None = None

    def prepare(self) -> None:
        """Import Pyccel; meanwhile the C compiler makes its support library."""
        # Only a head start: what stands in its way is said when something is to be compiled.
        with contextlib.suppress(Exception):
            self._library = _start_library(self._home / "cwrapper")
        from kit.backends.pipeline import load_pyccel

        try:
            load_pyccel()
        except Exception as error:
            raise ToolchainFailed(
                f"Pyccel cannot be imported: {type(error).__name__}: {error}"
            ) from error

    def begin(self, request: object) -> Callable[[_Emit], None]:
        """The build of one unit, once the support library is there."""
        checked = CompileRequest.from_json(request)
        if self._library is not None:
            self._library.finish()
        return lambda emit: _build(checked, emit, self._library)


def _start_library(directory: Path) -> WrapperLibrary | None:
    from kit.backends.packages import find_package
    from kit.backends.wrapper_library import WrapperLibrary
    from kit.toolchain import COMPILER_VARIABLES, find_compilers

    pyccel, numpy = find_package("pyccel"), find_package("numpy")
    if pyccel is None or numpy is None:
        return None
    return WrapperLibrary.start(
        directory,
        pyccel=pyccel,
        numpy=numpy,
        compiler=find_compilers("c")["c"],
        environment={name: os.environ[name] for name in COMPILER_VARIABLES if name in os.environ},
    )


def _build(request: CompileRequest, emit: _Emit, library: WrapperLibrary | None) -> None:
    from kit.backends.pipeline import translate

    log = Path(request.scratch) / _LOG
    with _printing_to(log):
        reply = translate(
            request,
            on_stage=lambda stage: emit({"stage": stage}),
            read_log=lambda: log.read_text(encoding="utf-8", errors="replace"),
            library=library,
        )
    emit({"reply": reply.to_json()})


@contextlib.contextmanager
def _printing_to(log: Path) -> Generator[None]:
    """Send what this process and its children print to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = os.dup(1), os.dup(2)
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.dup2(target, 1)
        os.dup2(target, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for saved, descriptor in zip(before, (1, 2), strict=True):
            os.dup2(saved, descriptor)
            os.close(saved)
        os.close(target)

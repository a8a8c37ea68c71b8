"""Run the compilers of one build: what can run at the same time does, and all of it is logged."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from kit.backends.wrapper_library import WrapperLibrary

__all__ = ["WRAPPER_MARK", "CommandSettings", "Commands", "CompilerError"]

WRAPPER_MARK = "-DKIT_WRAPPER_FLAGS"
"""Stands in Pyccel's configuration where the flags for wrapper code belong."""

_WRAPPER_FLAGS = ("-O1", "-fwrapv", "-w")
"""The wrapper only unpacks arguments: -O3 doubles its compile time and calls are no faster."""

_LINK_FLAGS = ("-l", "-L", "-Wl,", "-flto", "-fsanitize", "-fopenmp", "-pthread", "-static-")
"""User flags that mean something to the linker. Not -ffast-math: with it GCC 12 links start-up
code that makes the whole process flush denormal numbers to zero."""


class CompilerError(Exception):
    """A compiler or the linker refused; `output` is what it printed."""

    def __init__(self, command: Sequence[str], output: str) -> None:
        super().__init__(f"{Path(command[0]).name} failed")
        self.output = output


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSettings:
    """What is added to Pyccel's own command lines.

    Parameters
    ----------
    scratch : Path
        Directory of the build.
    unit_flags : mapping of str to tuple of str
        Language -> flags for the translated code.
    run_path : tuple of str
        Directories where the artifact finds the compilers' own libraries.
    library : WrapperLibrary or None
        Compiled copy of Pyccel's run-time support, if there is one.
    """

    scratch: Path
    unit_flags: Mapping[str, tuple[str, ...]]
    run_path: tuple[str, ...] = ()
    library: WrapperLibrary | None = None


@dataclass(slots=True, kw_only=True)
class Commands:
    """Starts compilers as soon as their source exists; the link waits for all of them.

    Parameters
    ----------
    settings : CommandSettings
        What is added to each command line.
    on_stage : callable
        Called with ``"compiling"`` and ``"linking"`` when these begin.
    log : callable
        Takes one text.
    """

    settings: CommandSettings
    on_stage: Callable[[str], None]
    log: Callable[[str], None]
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(4))
    _jobs: list[tuple[bool, Future[None]]] = field(
        default_factory=list[tuple[bool, "Future[None]"]]
    )

    def run(self, command: Sequence[str]) -> None:
        """Start a command line of Pyccel; a link runs to its end, a compilation goes on behind."""
        if "-c" in command:
            self.on_stage("compiling")
            self._start(list(command))
        else:
            self.finish()
            self.on_stage("linking")
            self._execute(self._link_line(command))

    def finish(self) -> None:
        """Wait for the compilations; raises the first one's CompilerError."""
        jobs, self._jobs = self._jobs, []
        failures = [job.exception() for _, job in jobs]
        for failure in failures:
            if failure is not None:
                raise failure

    def close(self) -> None:
        """Wait until no compiler runs and end the threads."""
        self._pool.shutdown()

    def _start(self, command: list[str]) -> None:
        source = next(part for part in command if part.endswith((".c", ".f90", ".F90")))
        fortran = not source.endswith(".c")
        # Fortran's module files order its compilations; C ones depend on nothing that is built.
        earlier = [job for is_fortran, job in self._jobs if is_fortran and fortran]

        def work() -> None:
            for job in earlier:
                job.result()
            self._compile(command, "fortran" if fortran else "c", Path(source))

        self._jobs.append((fortran, self._pool.submit(work)))

    def _compile(self, command: list[str], language: str, source: Path) -> None:
        library = self.settings.library
        if WRAPPER_MARK not in command:
            command[1:1] = self.settings.unit_flags[language]
        elif library is not None and source.name == "cwrapper.c" and library.matches(source):
            target = command[command.index("-o") + 1]
            self.log(f"copied from this worker's store: {Path(target).name}")
            shutil.copyfile(library.target, target)
            return
        else:
            place = command.index(WRAPPER_MARK)
            command[place : place + 1] = _WRAPPER_FLAGS
        self._execute(command)

    def _link_line(self, command: Sequence[str]) -> list[str]:
        parts = list(command)
        # Pyccel adds its own installation and Python's to the run-time path. Neither is needed:
        # what is there is linked statically, and Python is the process that loads the artifact.
        while "-Wl,-rpath" in parts:
            place = parts.index("-Wl,-rpath")
            del parts[place : place + 2]
        users = [flag for flags in self.settings.unit_flags.values() for flag in flags]
        parts += dict.fromkeys(flag for flag in users if flag.startswith(_LINK_FLAGS))
        if sys.platform == "darwin":
            parts += ["-undefined", "dynamic_lookup"]
        else:
            # Most kernels need nothing of libgfortran: without it they load faster and cannot
            # meet another version of it in the process. RPATH, not RUNPATH, so that
            # LD_LIBRARY_PATH cannot bring in the library of another compiler.
            parts[1:1] = ["-Wl,--as-needed"]
            parts += ["-Wl,--disable-new-dtags"] if self.settings.run_path else []
        return parts + [f"-Wl,-rpath,{path}" for path in self.settings.run_path]

    def _execute(self, command: Sequence[str]) -> None:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        shown = shlex.join(command).replace(f"{self.settings.scratch}/", "")
        self.log(f"$ {shown}\n{done.stdout}".rstrip())
        if done.returncode != 0:
            raise CompilerError(command, done.stdout)

"""The C++ compiler of the emulator: how it is called, and what its results depend on."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kit.backends.identity import cpu_digest, describe_compilers, run_time_path
from kit.errors import BuildError
from kit.toolchain import find_cxx_compiler

__all__ = ["INCLUDE", "CompilerFailed", "Toolchain", "find_toolchain"]

INCLUDE: Final = Path(__file__).parent / "include"
"""Where the emulator's own headers are."""

_COMMON: Final = (
    "-fPIC",
    "-fvisibility=hidden",
    "-w",
    # A throw in a kernel is refused with its line, as NVRTC refuses it.
    "-fno-exceptions",
    # A large frame must touch the page below a fiber's stack, which faults.
    "-fstack-clash-protection",
    # A switch of fibers is a call that the compiler does not see.
    "-fno-ipa-ra",
)
_CELL: Final = (
    "-O3",
    # Lines of faults: addr2line reads them.
    "-g1",
    # CUDA programs look at memory as other types: floats as float4, the bits of a float as an int.
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-fno-trapping-math",
    # Merging straight-line code into vectors keeps GCC from vectorising the loop over threads.
    "-fno-tree-slp-vectorize",
    # Two faults or barriers that were merged would share a line.
    "-fno-crossjumping",
    "-fno-tree-tail-merge",
    # Dynamic shared memory is declared in the cell and has no constructors.
    "-fno-extern-tls-init",
    "-fno-plt",
)
_X86: Final = (
    "-march=native",
    # With AVX-512's width, scattered stores took four times as long.
    "-mprefer-vector-width=256",
    # Halves the time of kernels that live on shared memory.
    "-mtls-dialect=gnu2",
)
_RUNTIME: Final = ("-std=c++17", "-O2", "-fno-rtti")
_LINK: Final = (
    "-shared",
    "-static-libstdc++",
    "-static-libgcc",
    "-Wl,--as-needed",
    "-Wl,-z,defs",
    # The heap is not left half changed where a stop comes in between (runtime/allocation.cpp).
    *(f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc", "aligned_alloc", "free")),
)


class CompilerFailed(Exception):
    """The compiler or the linker refused; `output` is what it said."""

    def __init__(self, output: str) -> None:
        super().__init__("the C++ compiler failed")
        self.output = output


class Toolchain(NamedTuple):
    """A C++ compiler and the flags for this processor.

    Parameters
    ----------
    compiler : str
        Absolute path of g++.
    is_portable : bool
        Whether fibers are switched by ucontext, which every processor has.
    """

    compiler: str
    is_portable: bool

    @property
    def runtime_flags(self) -> tuple[str, ...]:
        """For the runtime library, which runs on any processor of this kind."""
        return (*_RUNTIME, *_COMMON, *self._fibers)

    def cell_flags(self, std: str) -> tuple[str, ...]:
        """For a cell, for this very processor."""
        return (f"-std={std}", *_CELL, *_COMMON, *_native(), *self._fibers)

    @property
    def _fibers(self) -> tuple[str, ...]:
        return ("-DKIT_EMULATOR_PORTABLE",) if self.is_portable else ()

    def identity(self) -> dict[str, str]:
        """What the runtime library depends on besides its source."""
        return {
            "platform": f"{sys.platform} {os.uname().machine}",
            "compiler": describe_compilers({"c++": self.compiler})["c++"],
            "run_time_path": run_time_path(),
            "runtime flags": shlex.join((*self.runtime_flags, *_LINK)),
        }

    def cell_identity(self, std: str) -> dict[str, str]:
        """What a cell depends on besides its source and the runtime library."""
        return {"flags": shlex.join(self.cell_flags(std)), "cpu": cpu_digest()}

    def compile(self, arguments: Sequence[str], *, scratch: Path) -> str:
        """Run the compiler; what it printed, command line first.

        Raises
        ------
        CompilerFailed
            It refused.
        """
        return _run([self.compiler, *arguments], scratch)

    def link(self, arguments: Sequence[str], *, scratch: Path) -> str:
        """Link a shared library that has everything it needs; as `compile`."""
        return _run([self.compiler, *_LINK, *arguments], scratch)


def find_toolchain() -> Toolchain:
    """The C++ compiler of the environment; starts no process.

    ``KIT_EMULATOR_FIBERS=portable`` asks for the fibers that every processor has.

    Raises
    ------
    BuildError
        There is none, or the platform is not Linux.
    """
    if not sys.platform.startswith("linux"):
        raise BuildError(
            f"CUDA cells run on the CPU on Linux only, and this is {sys.platform}",
            fix="# run the notebook on Linux (WSL2 on Windows), or on a machine with a GPU",
        )
    return Toolchain(
        compiler=find_cxx_compiler(),
        is_portable=os.environ.get("KIT_EMULATOR_FIBERS") == "portable",
    )


def _native() -> tuple[str, ...]:
    machine = os.uname().machine
    if machine == "x86_64":
        return _X86
    # Others' -march=native is not always known; Arm's -mcpu=native includes the tuning.
    return ("-mcpu=native",) if machine == "aarch64" else ()


def _run(command: list[str], scratch: Path) -> str:
    """Run a command that dies with this call: Ctrl-C ends the compiler and what it started."""
    import signal
    import subprocess

    process = subprocess.Popen(
        command,
        cwd=scratch,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # Messages are read by kit: in English, without typographic quotation marks.
        env={**os.environ, "LC_ALL": "C", "TMPDIR": str(scratch)},
        start_new_session=True,
    )
    try:
        output, _ = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    finally:
        if process.stdout is not None:
            process.stdout.close()
    if process.returncode != 0:
        raise CompilerFailed(output)
    return f"$ {shlex.join(command).replace(f'{scratch}/', '')}\n{output}".rstrip()

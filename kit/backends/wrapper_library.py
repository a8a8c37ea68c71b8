"""Compile Pyccel's run-time support once per worker, instead of once per build.

Pyccel copies `cwrapper.c` into every build and compiles it there, which takes longer than all else
of a small kernel. It depends on Pyccel, NumPy, Python and the C compiler only. The object lives and
dies with the worker that made it, so it needs no rules of trust of its own.
"""

from __future__ import annotations

import filecmp
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["WrapperLibrary"]

_FLAGS = ("-O2", "-DNDEBUG", "-fPIC", "-fwrapv", "-w")


@dataclass(slots=True, kw_only=True)
class WrapperLibrary:
    """One compiled copy of `cwrapper.c`.

    Parameters
    ----------
    directory : Path
        Private directory with the copy of the sources.
    compiler : str
        Path of the C compiler.
    environment : mapping of str to str
        Variables that direct it.
    process : subprocess.Popen
        The compilation, which may still run.
    """

    directory: Path
    compiler: str
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes] | None
    ready: bool = False

    @classmethod
    def start(
        cls,
        directory: Path,
        *,
        pyccel: Path,
        numpy: Path,
        compiler: str,
        environment: Mapping[str, str],
    ) -> WrapperLibrary:
        """Copy the sources and start the compiler, without waiting and without importing Pyccel.

        Parameters
        ----------
        directory : Path
            Where to; created.
        pyccel, numpy : Path
            Directories of the two packages.
        compiler : str
            Path of the C compiler.
        environment : mapping of str to str
            Variables that direct it.
        """
        shutil.copytree(pyccel / "stdlib" / "cwrapper", directory)
        # As pyccel.ast.numpy_wrapper.get_numpy_max_acceptable_version_file writes it for NumPy 2.
        # A build compares it with the real one.
        (directory / "numpy_version.h").write_text(
            "#ifndef NPY_NO_DEPRECATED_API\n"
            "# define NPY_NO_DEPRECATED_API NPY_1_19_API_VERSION\n"
            "#endif"
        )
        python = sysconfig.get_config_vars()["INCLUDEPY"]
        includes = (directory, python, numpy / "_core" / "include")
        command = [compiler, *_FLAGS, *(f"-I{path}" for path in includes)]
        command += ["-c", str(directory / "cwrapper.c"), "-o", str(directory / "cwrapper.o")]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return cls(directory=directory, compiler=compiler, environment=environment, process=process)

    @property
    def target(self) -> Path:
        """The object file."""
        return self.directory / "cwrapper.o"

    def finish(self) -> None:
        """Wait for the compiler; a failure only means that builds compile their own copy."""
        if self.process is not None:
            self.ready = self.process.wait() == 0
            self.process = None

    def serves(self, compiler: str, environment: Mapping[str, str]) -> bool:
        """Whether a build with this compiler and these variables would make the same object."""
        return self.ready and (compiler, environment) == (self.compiler, self.environment)

    def matches(self, source: Path) -> bool:
        """Whether the sources beside `source`, a build's copy, are those that were compiled."""
        names = ("cwrapper.c", "cwrapper.h", "numpy_version.h")
        _, differ, failed = filecmp.cmpfiles(source.parent, self.directory, names, shallow=False)
        return not differ and not failed

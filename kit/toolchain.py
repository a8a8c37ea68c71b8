"""Find the compilers that a build runs, and say what is missing and where it comes from."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kit.errors import BuildError
from kit.terms import Language

__all__ = [
    "COMPILER_VARIABLES",
    "DEFAULT_FLAGS",
    "find_compilers",
    "find_cxx_compiler",
]

# Variables that change what GCC includes, links or runs. All are handed to the worker, because the
# notebook may have changed them after it started, and all but PATH are part of the identity: of
# PATH only what was found there counts.
COMPILER_VARIABLES = (
    "PATH",
    "COMPILER_PATH",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "C_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "LD_LIBRARY_PATH",
    "LD_RUN_PATH",
    "LIBRARY_PATH",
    "MACOSX_DEPLOYMENT_TARGET",
    "SDKROOT",
)

_NAMES = {"fortran": "gfortran", "c": "gcc", "c++": "g++"}
_GNU = {
    "fortran": r"(.*-)?gfortran(-[\d.]+)?",
    "c": r"(.*-)?(gcc|gnu-cc)(-[\d.]+)?",
    "c++": r"(.*-)?(g\+\+|gnu-c\+\+)(-[\d.]+)?",
}
_VARIABLES = {"fortran": "FC", "c": "CC", "c++": "CXX"}

_INSTALL = {
    "fortran": "sudo apt-get install gfortran        (Debian, Ubuntu)\n"
    "conda install -c conda-forge compilers (conda)",
    "c": "sudo apt-get install gcc               (Debian, Ubuntu)\n"
    "conda install -c conda-forge compilers (conda)",
    "c++": "sudo apt-get install g++               (Debian, Ubuntu)\n"
    "conda install -c conda-forge compilers (conda)",
}


def _default_flags() -> tuple[str, ...]:
    """Optimise for this processor; change no value but by contraction to fused multiply-add."""
    machine = "" if sys.platform == "win32" else os.uname().machine
    native = ("-march=native",)
    if machine in {"aarch64", "arm64"}:
        # On Arm, GCC's -march=native leaves out the tuning that -mcpu=native includes. Apple's
        # compilers already target the first Apple processor and some refuse "native" there.
        native = () if sys.platform == "darwin" else ("-mcpu=native",)
    return ("-O3", *native, "-fno-math-errno", "-fno-trapping-math")


DEFAULT_FLAGS: tuple[str, ...] = _default_flags()
"""Flags that a build without ``--flags`` uses."""


def find_compilers(language: Language) -> dict[str, str]:
    """The absolute path of each compiler that a build in `language` runs; starts no process.

    The environment that holds the running Python comes first, then ``FC`` and ``CC`` where they
    name GNU compilers, an activated conda environment, and `PATH`.

    Parameters
    ----------
    language : {"fortran", "c"}
        What Pyccel translates to. Its wrapper is C either way.

    Returns
    -------
    dict
        Language -> path, with ``"c"`` always and ``"fortran"`` where `language` needs it.

    Raises
    ------
    BuildError
        A compiler is missing, or this is native Windows.
    """
    if sys.platform == "win32":
        raise BuildError(
            "native Windows cannot compile kernels",
            fix="use WSL2: run `wsl --install` once, then start Jupyter inside it",
        )
    found = {"c": _find_compiler("c")}
    if language == "fortran":
        found["fortran"] = _find_compiler("fortran")
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise _missing(missing, found)
    return {name: path for name, path in found.items() if path is not None}


def find_cxx_compiler() -> str:
    """The absolute path of g++, looked for as `find_compilers` does; starts no process.

    Raises
    ------
    BuildError
        There is none.
    """
    found = _find_compiler("c++")
    if found is None:
        where = f"in the environment of {sys.executable} or on PATH ({os.environ.get('PATH', '')})"
        raise BuildError(f"no C++ compiler (g++) {where}", fix=_INSTALL["c++"])
    return found


def _find_compiler(language: str) -> str | None:
    wrapper = None
    for candidate in _candidates(language):
        if os.access(candidate, os.X_OK) and candidate.is_file():
            # A compiler cache stands in front of the compiler and hides which one it is.
            if candidate.resolve().name != "ccache":
                return str(candidate)
            wrapper = wrapper or str(candidate)
    return wrapper


def _candidates(language: str) -> Iterator[Path]:
    names = _compiler_names(language)
    for directory in _environment_directories():
        yield from (directory / name for name in names)
    # FC, CC or CXX, where it is the absolute path of a GNU compiler; kit knows no others' flags.
    variable = Path(os.environ.get(_VARIABLES[language], ""))
    if variable.is_absolute() and re.fullmatch(_GNU[language], variable.name):
        yield variable
    conda = os.environ.get("CONDA_PREFIX")
    searched = [f"{conda}/bin"] if conda else []
    searched += os.environ.get("PATH", os.defpath).split(os.pathsep)
    for directory in map(Path, searched):
        # A relative entry would mean another compiler in every directory, and in the worker's.
        if directory.is_absolute():
            yield from (directory / name for name in names)


def _environment_directories() -> list[Path]:
    """Where the environment of the running Python keeps its programs, most specific first."""
    directories: list[Path] = []
    if sys.prefix != sys.base_prefix:
        directories.append(Path(sys.prefix, "bin"))
    # A prefix such as /usr is on PATH, in the place that its owner chose for it.
    if Path(sys.base_prefix, "conda-meta").is_dir():
        directories.append(Path(sys.base_prefix, "bin"))
    return directories


def _compiler_names(language: str) -> tuple[str, ...]:
    plain = _NAMES[language]
    if sys.platform == "darwin":
        host = os.environ.get("HOST", f"{os.uname().machine}-apple-darwin20.0.0")
        # conda-forge's C compiler for macOS is clang; Apple's own answers to "gcc" as well.
        return (f"{host}-{'clang' if language == 'c' else plain}", plain)
    return (plain, f"{os.uname().machine}-conda-linux-gnu-{plain}")


def _missing(missing: Sequence[str], found: Mapping[str, str | None]) -> BuildError:
    if "c" in missing:
        names = "no C compiler (gcc)" + (" and no gfortran" if "fortran" in missing else "")
        fix = _INSTALL["fortran" if "fortran" in missing else "c"]
        if "fortran" in missing:
            fix = fix.replace("install gfortran    ", "install gcc gfortran")
    else:
        names = f"no Fortran compiler (gfortran); the C compiler is {found['c']}"
        fix = _INSTALL["fortran"] + "\nor compile this cell as C:\n%%pyccel_kernel --language c"
    where = f"in the environment of {sys.executable} or on PATH ({os.environ.get('PATH', '')})"
    return BuildError(f"{names} {where}", fix=fix)

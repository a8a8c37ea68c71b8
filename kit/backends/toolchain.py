"""Find the compilers, and say in a few short texts what an artifact built with them depends on."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.machinery
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kit.errors import BuildError
from kit.terms import Language

__all__ = [
    "COMPILER_VARIABLES",
    "DEFAULT_FLAGS",
    "describe_compilers",
    "find_compilers",
    "find_package",
    "identify_toolchain",
]

# Raised whenever kit builds differently from the same inputs, so that old artifacts are not found.
_RECIPE = "1"

# Inclusive and exclusive: kit replaces parts of Pyccel's pipeline (backends.pipeline), which only
# the tested series is known to bear. pyproject.toml holds the same range.
_PYCCEL_FROM, _PYCCEL_BELOW = (2, 2, 3), (2, 3)

# Variables that change what GCC includes, links or runs. All are handed to the worker, because the
# notebook may have changed them after it started, and all but PATH are part of the identity: of
# PATH only what was found there counts.
COMPILER_VARIABLES = (
    "PATH",
    "COMPILER_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "LD_LIBRARY_PATH",
    "LD_RUN_PATH",
    "LIBRARY_PATH",
    "MACOSX_DEPLOYMENT_TARGET",
    "SDKROOT",
)

_NAMES = {"fortran": "gfortran", "c": "gcc"}
_GNU = {"fortran": r"(.*-)?gfortran(-[\d.]+)?", "c": r"(.*-)?(gcc|gnu-cc)(-[\d.]+)?"}

_INSTALL = {
    "fortran": "sudo apt-get install gfortran        (Debian, Ubuntu)\n"
    "conda install -c conda-forge compilers (conda)",
    "c": "sudo apt-get install gcc               (Debian, Ubuntu)\n"
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


def describe_compilers(compilers: Mapping[str, str]) -> dict[str, str]:
    """Language -> resolved path, size and modification time of each compiler [bytes, ns]."""
    described: dict[str, str] = {}
    for name, path in sorted(compilers.items()):
        real = Path(path).resolve()
        facts = real.stat()
        described[name] = f"{path} -> {real} {facts.st_size} {facts.st_mtime_ns}"
    return described


def identify_toolchain(
    language: Language, flags: Sequence[str] | None, openmp: bool
) -> Mapping[str, str]:
    """All that an artifact depends on besides its source; starts no process, imports no Pyccel.

    Parameters
    ----------
    language : {"fortran", "c"}
        What Pyccel translates to.
    flags : sequence of str or None
        Flags that replace `DEFAULT_FLAGS`; None keeps those.
    openmp : bool
        Whether pragmas count.

    Returns
    -------
    mapping of str to str
        What belongs in a cache key.

    Raises
    ------
    BuildError
        A compiler or Pyccel is missing, or Pyccel is not of the supported series.
    """
    import numpy as np

    used = DEFAULT_FLAGS if flags is None else tuple(flags)
    compilers = describe_compilers(find_compilers(language))
    identity = {
        "recipe": _RECIPE,
        "platform": f"{sys.platform} {os.uname().machine}",
        "pyccel": _pyccel_version(),
        "numpy": np.__version__,
        "python": f"{sys.hexversion:x} {importlib.machinery.EXTENSION_SUFFIXES[0]}",
        "language": language,
        "flags": shlex.join(used),
        "openmp": str(openmp),
        "run_time_path": _run_time_path(),
    }
    identity |= {f"compiler {name}": text for name, text in compilers.items()}
    # A response file may hold such a flag: take it as one.
    if any("native" in flag or flag.startswith("@") for flag in used):
        identity["cpu"] = _cpu()
    return identity


def find_package(name: str) -> Path | None:
    """The directory of an installed top-level package, which is not imported.

    A file or folder of that name beside the notebook is not it, where there is another: workers do
    not look there.
    """
    from importlib.util import find_spec

    spec = getattr(sys.modules.get(name), "__spec__", None)
    with contextlib.suppress(ValueError):  # a module without a spec is in its place
        spec = spec or find_spec(name)
    package = _package_directory(spec)
    if package is not None and package.parent != _working_directory():
        return package
    for entry in sys.path:
        if entry and Path(entry) != _working_directory():
            spec = importlib.machinery.PathFinder.find_spec(name, [entry])
            elsewhere = _package_directory(spec)
            if elsewhere is not None:
                return elsewhere
    return package


def _package_directory(spec: importlib.machinery.ModuleSpec | None) -> Path | None:
    """Where a package lies; None for a module, and for a mere directory."""
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


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
    # FC or CC, where one is an absolute path of a GNU compiler; kit knows no others' flags.
    variable = Path(os.environ.get("FC" if language == "fortran" else "CC", ""))
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


def _pyccel_version() -> str:
    package = find_package("pyccel")
    fix = 'python -m pip install "pyccel>=2.2.3,<2.3"'
    if package is None:
        raise BuildError("Pyccel is not installed for this Python", fix=fix)
    try:
        text = (package / "version.py").read_text(encoding="utf-8")
    except OSError:
        text = ""
    version = re.search(r"""__version__\s*=\s*["']([^"']+)["']""", text)
    if version is None:
        raise BuildError(f"the version of Pyccel in {package} cannot be read", fix=fix)
    numbers = tuple(int(part) for part in re.findall(r"\d+", version[1])[:3])
    if not _PYCCEL_FROM <= numbers < _PYCCEL_BELOW:
        raise BuildError(
            f"Pyccel {version[1]} is not supported: kit is tested with 2.2.3 to before 2.3",
            fix=fix,
        )
    return version[1]


def _run_time_path() -> str:
    """The variables that direct compiler, linker and loader; empty where none is set."""
    return " ".join(
        f"{name}={shlex.quote(os.environ[name])}"
        for name in COMPILER_VARIABLES
        if name != "PATH" and os.environ.get(name)
    )


_cpu_text: str | None = None


def _cpu() -> str:
    """Digest of the processor's model and features; it cannot change while the process runs."""
    global _cpu_text
    if _cpu_text is None:
        _cpu_text = hashlib.sha256(_read_cpu().encode()).hexdigest()[:16]
    return _cpu_text


def _read_cpu() -> str:
    if sys.platform == "darwin":
        import subprocess

        # Once a process and about 3 ms; macOS offers no file that says it.
        names = ("machdep.cpu.brand_string", "machdep.cpu.features", "machdep.cpu.leaf7_features")
        told = subprocess.run(
            ["/usr/sbin/sysctl", "-n", *names], capture_output=True, text=True, check=False
        )
        return told.stdout
    try:
        # The kernel makes this file while it is read, a processor at a time, with a pause for each
        # clock: on a big machine all of it takes tens of milliseconds.
        with Path("/proc/cpuinfo").open("rb", buffering=0) as file:
            text = (file.read(4096) + file.read(4096)).decode(errors="replace")
    except OSError:
        return os.uname().machine
    first = text.split("\n\n", 1)[0]
    kept = r"(?:model name|flags|Features|cpu family|model|stepping|CPU \w+)\s*:.*"
    return "\n".join(re.findall(rf"^{kept}$", first, re.MULTILINE))

"""In a few short texts, all that an artifact depends on besides its source."""

from __future__ import annotations

import hashlib
import importlib.machinery
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from kit.backends.packages import find_package
from kit.errors import BuildError
from kit.terms import Language
from kit.toolchain import COMPILER_VARIABLES, DEFAULT_FLAGS, find_compilers

__all__ = ["cpu_digest", "describe_compilers", "identify_toolchain", "run_time_path"]

# Raised whenever kit builds differently from the same inputs, so that old artifacts are not found.
_RECIPE = "2"

# Inclusive and exclusive: kit replaces parts of Pyccel's pipeline (backends.pipeline), which only
# the tested series is known to bear. pyproject.toml holds the same range.
_PYCCEL_FROM, _PYCCEL_BELOW = (2, 2, 3), (2, 3)


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
        "run_time_path": run_time_path(),
    }
    identity |= {f"compiler {name}": text for name, text in compilers.items()}
    # A response file may hold such a flag: take it as one.
    if any("native" in flag or flag.startswith("@") for flag in used):
        identity["cpu"] = cpu_digest()
    return identity


def describe_compilers(compilers: Mapping[str, str]) -> dict[str, str]:
    """Language -> resolved path, size and modification time of each compiler [bytes, ns]."""
    described: dict[str, str] = {}
    for name, path in sorted(compilers.items()):
        real = Path(path).resolve()
        facts = real.stat()
        described[name] = f"{path} -> {real} {facts.st_size} {facts.st_mtime_ns}"
    return described


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


def run_time_path() -> str:
    """The variables that direct compiler, linker and loader; empty where none is set."""
    return " ".join(
        f"{name}={shlex.quote(os.environ[name])}"
        for name in COMPILER_VARIABLES
        if name != "PATH" and os.environ.get(name)
    )


_cpu_text: str | None = None


def cpu_digest() -> str:
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

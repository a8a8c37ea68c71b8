"""What compilers say of themselves; each question is a process of some milliseconds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

__all__ = ["compiler_version", "find_run_path"]

# What every loader searches by itself.
_SYSTEM_LIBRARIES = ("/lib", "/usr/lib")


def compiler_version(compiler: str | None) -> str:
    """The first line of what a compiler says of itself: name, packager, version."""
    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(
            [compiler or "", "--version"], capture_output=True, text=True, check=True
        ).stdout
        return told.partition("\n")[0].strip()
    return ""


def find_run_path(compilers: Mapping[str, str]) -> tuple[str, ...]:
    """Directories of the compilers' own run-time libraries that the loader does not search."""
    suffix = "dylib" if sys.platform == "darwin" else "so"
    asked = {"fortran": f"libgfortran.{suffix}", "c": "libgcc_s.so.1"}
    found: dict[str, None] = {}
    for language, compiler in compilers.items():
        with suppress(OSError, subprocess.SubprocessError):
            told = subprocess.run(
                [compiler, f"-print-file-name={asked[language]}"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            path = Path(told)
            if path.is_absolute():
                # Of links such as /usr/lib/gcc/.../libgfortran.so the end counts.
                found[str(path.resolve().parent)] = None
    return tuple(path for path in found if not path.startswith(_SYSTEM_LIBRARIES))

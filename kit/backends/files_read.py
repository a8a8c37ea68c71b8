"""Which files of the user's a build reads, so that a change of one of them makes a new build."""

from __future__ import annotations

import hashlib
import os
import site
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["FilesRead"]

_SYSTEM = ("/bin", "/dev", "/etc", "/lib", "/proc", "/sys", "/usr")


class FilesRead:
    """Notes the Python files and stubs that this process opens for reading in the ``with`` block.

    Files of Python, of installed packages, of kit and of the system are left out: the cache key
    covers them in other ways.

    Parameters
    ----------
    exclude : sequence of str
        Further directories to leave out.

    Notes
    -----
    A hook of `sys.addaudithook` cannot be removed: it stays, and does nothing after the block.
    """

    def __init__(self, *, exclude: Sequence[str] = ()) -> None:
        kit = Path(__file__).resolve().parent.parent
        installed = (sys.prefix, sys.base_prefix, str(kit), *site.getsitepackages())
        installed += (site.getusersitepackages(),) if site.ENABLE_USER_SITE else ()
        # Not real paths alone: a venv's links and /tmp on macOS have two names.
        given = {*installed, *exclude}
        given |= {os.path.realpath(path) for path in given}
        self._excluded = (*_SYSTEM, *(path.rstrip("/") for path in given))
        self._found: dict[str, str | None] = {}
        self._active = False

    def __enter__(self) -> Self:
        self._active = True
        sys.addaudithook(self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._active = False

    def note(self, path: Path, content: bytes) -> None:
        """Note a file of which this content was used, wherever the file is."""
        self._found[str(path)] = hashlib.sha256(content).hexdigest()

    def digests(self) -> dict[str, str]:
        """Path -> SHA-256 of what was used, or else of what is there now if anything is."""
        digests: dict[str, str] = {}
        for path, known in self._found.items():
            file = Path(path)
            if known is not None:
                digests[path] = known
            elif file.is_file():
                digests[path] = hashlib.sha256(file.read_bytes()).hexdigest()
        return digests

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "open" or not self._active:
            return
        path, _, flags = arguments
        writes = isinstance(flags, int) and flags & os.O_ACCMODE != os.O_RDONLY
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if writes or not isinstance(path, str):
            return
        # Pyccel reads modules and stubs; packages that it imports on the way read all sorts.
        if not path.endswith((".py", ".pyi")):
            return
        path = os.path.abspath(path)  # noqa: PTH100 - inside every open: a Path costs ten times as much
        if not any(path == one or path.startswith(one + "/") for one in self._excluded):
            self._found.setdefault(path, None)

"""The directories of one store, opened by the rules of `kit.store.trust`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from pathlib import Path
from typing import Literal, TypeAlias

from kit.store.trust import open_directory, open_file, read_descriptor

__all__ = ["FORMAT", "Shelf", "Shelves"]

FORMAT = "v1"
"""Directory below the root; a store of another layout lies beside this one and is left alone."""

Shelf: TypeAlias = Literal["entries", "objects", "locks", "scratch"]


class Shelves:
    """The shelves of a store, each opened when it is first needed.

    A context manager that closes what it opened. Everything below the root is reached from the
    root's own descriptor, so a path that is exchanged meanwhile changes nothing.

    Parameters
    ----------
    root : Path
        The store.
    create : bool
        Whether missing directories are made. Otherwise they are a `FileNotFoundError`.
    is_private : bool
        Whether a root that is made is closed to other readers.
    """

    def __init__(self, root: Path, *, create: bool = False, is_private: bool = True) -> None:
        self._root = root
        self._create = create
        self._is_private = is_private
        self._descriptors: dict[Path, int] = {}

    def __enter__(self) -> Shelves:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open; it is opened anew when it is needed again."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    def path(self, shelf: Shelf, name: str = "") -> Path:
        """Where a shelf, or something on it, lies."""
        return self._root / FORMAT / shelf / name

    def descriptor(self, shelf: Shelf) -> int:
        """The open directory of a shelf; closed with this object.

        Raises
        ------
        CacheError
            If it, or a directory above it down from the root, cannot be trusted.
        OSError
            If it is missing or cannot be made.
        """
        path = self.path(shelf)
        if path not in self._descriptors:
            root = self._open(self._root, None)
            store = self._open(self._root / FORMAT, root)
            self._open(path, store)
        return self._descriptors[path]

    def read(self, shelf: Shelf, name: str) -> tuple[bytes, float]:
        """Content and modification time of a trusted file."""
        with self.open(shelf, name) as descriptor:
            return read_descriptor(descriptor), os.fstat(descriptor).st_mtime

    @contextlib.contextmanager
    def open(self, shelf: Shelf, name: str) -> Generator[int]:
        """The descriptor of a trusted file, for the time of the block."""
        descriptor = open_file(self.path(shelf, name), parent=self.descriptor(shelf))
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def names(self, shelf: Shelf) -> list[str]:
        """What lies on a shelf, sorted; nothing where there is none."""
        try:
            return sorted(os.listdir(self.descriptor(shelf)))  # noqa: PTH208 -- a descriptor
        except FileNotFoundError:
            return []

    def facts(self, shelf: Shelf, name: str) -> os.stat_result | None:
        """`os.lstat` of something on a shelf; None where it is missing."""
        try:
            return os.stat(name, dir_fd=self.descriptor(shelf), follow_symlinks=False)
        except FileNotFoundError:
            return None

    def touch(self, shelf: Shelf, name: str) -> None:
        """Note that a file was used, where that can be written."""
        with contextlib.suppress(OSError):
            os.utime(name, dir_fd=self.descriptor(shelf), follow_symlinks=False)

    def remove(self, shelf: Shelf, name: str) -> bool:
        """Remove a file; whether it was there."""
        try:
            os.unlink(name, dir_fd=self.descriptor(shelf))
        except FileNotFoundError:
            return False
        return True

    def remove_tree(self, name: str) -> None:
        """Remove a directory of the scratch shelf, as far as possible."""
        import shutil

        with contextlib.suppress(OSError):
            shutil.rmtree(name, ignore_errors=True, dir_fd=self.descriptor("scratch"))

    def _open(self, path: Path, parent: int | None) -> int:
        if path in self._descriptors:
            return self._descriptors[path]
        try:
            descriptor = open_directory(path, parent=parent)
        except FileNotFoundError:
            if not self._create:
                raise
            self._make(path, parent)
            descriptor = open_directory(path, parent=parent)
        self._descriptors[path] = descriptor
        return descriptor

    def _make(self, path: Path, parent: int | None) -> None:
        # Never writable by others, whatever the umask: the store would refuse itself.
        with contextlib.suppress(FileExistsError):
            if parent is not None:
                os.mkdir(path.name, 0o755, dir_fd=parent)
                return
            # One by one: `parents=True` would leave the mode of the parents to the umask.
            for directory in (*reversed(path.parents), path):
                if not directory.is_dir():
                    directory.mkdir(0o700 if self._is_private else 0o755)

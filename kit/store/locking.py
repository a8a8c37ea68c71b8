"""One lock a key: held through an open file, so that it is gone the moment its owner is.

`flock` directly rather than a lock library: where a file system has no locks, libraries fall back
to "the file exists", which outlives a killed owner and then blocks everybody. Here such a file
system means at worst that something is built twice; publication is atomic either way.
"""

from __future__ import annotations

import errno
import os
from typing import NamedTuple

__all__ = ["KeyLock", "Owner"]

_NO_LOCKS_HERE = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL}
_held: set[KeyLock] = set()


class Owner(NamedTuple):
    """The process that holds a lock, and what it says it is doing."""

    pid: int
    label: str


class KeyLock:
    """The lock on one key, in an already trusted directory.

    Two threads of one process exclude each other as two processes do, because each opens the file.

    Parameters
    ----------
    directory : int
        Descriptor of the directory of locks; must stay open as long as the lock is used.
    key : str
        What is locked; the file is called `key + ".lock"` and is gone once its owner is done.
    """

    def __init__(self, directory: int, key: str) -> None:
        self._directory = directory
        self._name = key + ".lock"
        self._descriptor: int | None = None
        self.is_exclusive = False

    def try_acquire(self) -> bool:
        """Take the lock if nobody holds it, without waiting.

        Returns
        -------
        bool
            Whether the caller may go on. Also True on a file system without locks; then
            `is_exclusive` is False.

        Raises
        ------
        OSError
            If the lock file cannot be made.
        """
        import fcntl

        while True:
            if self._descriptor is None:
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
                self._descriptor = os.open(self._name, flags, 0o644, dir_fd=self._directory)
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # The owner may have removed the file and another process made a new one.
                if self._is_current():
                    return False
            except OSError as error:
                if error.errno not in _NO_LOCKS_HERE:
                    raise
                return True
            else:
                if self._is_current():
                    _held.add(self)
                    self.is_exclusive = True
                    return True
            self._close()

    def announce(self, label: str) -> None:
        """Leave a note for those who wait; a note that cannot be written is left out."""
        import contextlib
        import json

        assert self._descriptor is not None
        note = {"pid": os.getpid(), "host": os.uname().nodename, "label": label}
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, json.dumps(note).encode(), 0)

    def owner(self) -> Owner | None:
        """Who holds the lock, as far as the note says; None before it is written."""
        import json

        assert self._descriptor is not None
        try:
            note = json.loads(os.pread(self._descriptor, 65536, 0))
            pid, label, host = int(note["pid"]), str(note["label"]), str(note["host"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        # A home directory can be shared by machines; a bare number would name another process.
        return Owner(pid, label if host == os.uname().nodename else f"{label} on {host}")

    def release(self) -> None:
        """Remove the lock file and let the next one in; does nothing where nothing is held."""
        import contextlib

        if self.is_exclusive:
            # Before the lock goes: whoever then gets it on this file sees that it is not current.
            with contextlib.suppress(OSError):
                os.unlink(self._name, dir_fd=self._directory)
        self._close()

    def _is_current(self) -> bool:
        assert self._descriptor is not None
        try:
            there = os.stat(self._name, dir_fd=self._directory, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(self._descriptor))

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        self.is_exclusive = False
        _held.discard(self)
        if descriptor is not None:
            os.close(descriptor)


def _forget_in_child() -> None:
    # A forked child shares the open file: it would keep the lock of a parent that is killed.
    for lock in list(_held):
        lock._close()  # pyright: ignore[reportPrivateUsage]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)

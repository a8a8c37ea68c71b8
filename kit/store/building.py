"""Build a key in one store, once, and tell a failing build from a failing store."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeAlias

from kit.store.entry import Built, Entry
from kit.store.locking import KeyLock, Owner
from kit.store.publishing import publish
from kit.store.shelves import Shelves

__all__ = ["OnWait", "StoreUnwritable", "build_in"]

OnWait: TypeAlias = Callable[[int, str], None]

_FULL = {errno.ENOSPC, errno.EDQUOT}
# Compilers remove what they had written before they report a full disk, so the room that is left
# afterwards can be a build's worth.
_LITTLE_ROOM = 8 << 20


class StoreUnwritable(Exception):
    """A store cannot take a build: it is full, read-only or broken."""


class _Vanished(Exception):
    """Somebody removed the store while it was used."""


def build_in(
    shelves: Shelves,
    key: str,
    build: Callable[[Path], Built],
    *,
    label: str,
    on_wait: OnWait | None,
    find: Callable[[], Entry | None],
) -> tuple[Entry, bool]:
    """The entry that `find` gives as soon as there is one, else the one that is built here.

    Parameters
    ----------
    shelves : Shelves
        The store, opened with ``create=True``; closed again and again when it vanishes.
    key, build, label, on_wait
        As in `kit.cache.Store.build_once`.
    find : callable
        Looks the key up; None always, if it is to be built in any case.

    Returns
    -------
    entry : Entry
        The build.
    was_built : bool
        Whether it was built here.

    Raises
    ------
    StoreUnwritable
        If the store is full, read-only or broken.
    """
    try:
        return _build_locked(shelves, key, build, label, on_wait, find)
    except _Vanished:
        shelves.close()
    try:
        return _build_locked(shelves, key, build, label, on_wait, find)
    except _Vanished as error:
        raise StoreUnwritable("it was removed twice during one build") from error


def _build_locked(
    shelves: Shelves,
    key: str,
    build: Callable[[Path], Built],
    label: str,
    on_wait: OnWait | None,
    find: Callable[[], Entry | None],
) -> tuple[Entry, bool]:
    with _storing():
        lock = KeyLock(shelves.descriptor("locks"), key)
    try:
        with _storing():
            found = _wait(lock, find, on_wait)
            if found is not None:
                return found, False
            lock.announce(label)
            scratch = f"{key}.{os.urandom(8).hex()}"
            os.mkdir(scratch, 0o755, dir_fd=shelves.descriptor("scratch"))
        try:
            built = _run(build, shelves, scratch)
            with _storing():
                return publish(shelves, key, built, scratch=scratch), True
        finally:
            shelves.remove_tree(scratch)
    finally:
        lock.release()


def _wait(lock: KeyLock, find: Callable[[], Entry | None], on_wait: OnWait | None) -> Entry | None:
    """Wait for the lock or the entry, whichever comes first."""
    told: Owner | None = None
    pause = 0.01
    while not lock.try_acquire():
        found = find()
        if found is not None:
            return found
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)
        # Not before the first pause: the owner writes its note after it has the lock.
        owner = lock.owner()
        if on_wait is not None and owner is not None and owner != told:
            told = owner
            on_wait(*owner)
    return find()


def _run(build: Callable[[Path], Built], shelves: Shelves, scratch: str) -> Built:
    directory = shelves.path("scratch", scratch)
    try:
        return build(directory)
    except Exception as error:  # passed on, unless the store is what failed
        if not directory.exists():
            raise _Vanished from error
        if _is_for_want_of_room(error, directory):
            raise StoreUnwritable(os.strerror(errno.ENOSPC)) from error
        raise


def _is_for_want_of_room(error: Exception, directory: Path) -> bool:
    """Whether a build failed because the disk is full: it may say so itself, or its compiler."""
    text = f"{error} {getattr(error, 'log', '')}"
    if any(os.strerror(number) in text for number in _FULL):
        return True
    room = os.statvfs(directory)
    return room.f_bavail * room.f_frsize < _LITTLE_ROOM


@contextlib.contextmanager
def _storing() -> Generator[None]:
    """Tell what goes wrong with the store from what goes wrong with a build."""
    try:
        yield
    except FileNotFoundError as error:
        raise _Vanished from error
    except OSError as error:
        raise StoreUnwritable(error.strerror) from error

"""Shared libraries from the store that are no Python modules."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kit.cache import ArtifactUnusable, Built, Entry, Store, open_store
from kit.errors import BuildError

if TYPE_CHECKING:
    import ctypes

    from kit.store.building import OnWait
else:
    OnWait = Callable[[int, str], None]

__all__ = ["OnWait", "obtain_library"]

_owned: set[str] = set()  # names of builds whose library of the process somebody has for himself
_lock = threading.RLock()


def obtain_library(
    key: str,
    build: Callable[[Path], Built],
    *,
    label: str,
    on_wait: OnWait | None = None,
    force: bool = False,
    own: bool = False,
) -> tuple[ctypes.CDLL, Entry, bool]:
    """The library of `key`, loaded: from the store, else built into it.

    Parameters
    ----------
    key, build, label, on_wait, force
        As in `kit.cache.Store.build_once`.
    own : bool
        Whether the caller needs variables that nobody else has.

    Returns
    -------
    library : ctypes.CDLL
        Loaded; the same object in one process, unless it is one's own.
    entry : Entry
        Where it comes from.
    was_built : bool
        Whether it was built here and now.

    Raises
    ------
    BuildError
        `build` failed, or what it made does not load, twice.
    CacheError
        The store cannot be used.
    """
    store = open_store()
    entry, was_built = store.build_once(key, build, label=label, on_wait=on_wait, force=force)
    try:
        return _open(store, entry, own), entry, was_built
    except ArtifactUnusable as error:
        if was_built:
            raise _unusable(error) from error
    # Another C library, a damaged file, an object that was evicted this moment.
    entry, _ = store.build_once(key, build, label=label, on_wait=on_wait, force=True)
    try:
        return _open(store, entry, own), entry, True
    except ArtifactUnusable as error:
        raise _unusable(error) from error


def _open(store: Store, entry: Entry, own: bool) -> ctypes.CDLL:
    if not own:
        return store.open_library(entry)
    with _lock:
        is_first = entry.module_name not in _owned
        library = store.open_library(entry) if is_first else store.open_library_copy(entry)
        _owned.add(entry.module_name)
    return library


def _unusable(error: ArtifactUnusable) -> BuildError:
    return BuildError(
        f"what the C++ compiler made does not load: {error.found}",
        fix="# use the compilers of the environment whose Python runs this notebook, then\n"
        "%kit_cache clear",
    )


def _renew_lock() -> None:
    # Another thread may have held it at the fork.
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)

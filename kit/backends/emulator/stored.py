"""Shared libraries from the store that are no Python modules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kit.cache import ArtifactUnusable, Built, Entry, open_store
from kit.errors import BuildError

if TYPE_CHECKING:
    import ctypes

    from kit.store.building import OnWait
else:
    OnWait = Callable[[int, str], None]

__all__ = ["OnWait", "obtain_library"]


def obtain_library(
    key: str,
    build: Callable[[Path], Built],
    *,
    label: str,
    on_wait: OnWait | None = None,
    force: bool = False,
) -> tuple[ctypes.CDLL, Entry, bool]:
    """The library of `key`, loaded: from the store, else built into it.

    Parameters
    ----------
    key, build, label, on_wait, force
        As in `kit.cache.Store.build_once`.

    Returns
    -------
    library : ctypes.CDLL
        Loaded; the same object in one process.
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
        return store.open_library(entry), entry, was_built
    except ArtifactUnusable as error:
        if was_built:
            raise _unusable(error) from error
    # Another C library, a damaged file, an object that was evicted this moment.
    entry, _ = store.build_once(key, build, label=label, on_wait=on_wait, force=True)
    try:
        return store.open_library(entry), entry, True
    except ArtifactUnusable as error:
        raise _unusable(error) from error


def _unusable(error: ArtifactUnusable) -> BuildError:
    return BuildError(
        f"what the C++ compiler made does not load: {error.found}",
        fix="# use the compilers of the environment whose Python runs this notebook, then\n"
        "%kit_cache clear",
    )

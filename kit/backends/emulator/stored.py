"""Shared libraries from the store that are no Python modules."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kit.cache import ArtifactUnusable, Built, Entry, open_store
from kit.errors import BuildError
from kit.store.loading import sha256_hex, unique_alias
from kit.store.shelves import Shelves
from kit.store.trust import read_descriptor

if TYPE_CHECKING:
    from kit.store.building import OnWait
else:
    OnWait = Callable[[int, str], None]

__all__ = ["OnWait", "obtain_library"]

# Of this process, by the name of the build. A library is never unloaded.
_loaded: dict[str, ctypes.CDLL] = {}


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
        return _load(entry), entry, was_built
    except (OSError, ArtifactUnusable) as error:
        if was_built:
            raise _unusable(error) from error
    # Another C library, a damaged file, an object that was evicted this moment.
    entry, _ = store.build_once(key, build, label=label, on_wait=on_wait, force=True)
    try:
        return _load(entry), entry, True
    except (OSError, ArtifactUnusable) as error:
        raise _unusable(error) from error


def _load(entry: Entry) -> ctypes.CDLL:
    known = _loaded.get(entry.module_name)
    if known is not None:
        return known
    with (
        Shelves(entry.artifact.parents[2]) as shelves,
        shelves.open("objects", entry.artifact.name) as descriptor,
    ):
        if sha256_hex(read_descriptor(descriptor)) != entry.sha256:
            raise ArtifactUnusable(
                f"{entry.artifact.name} is not what was published: its content has changed",
                need="the content that was built",
                fix="%kit_cache verify",
            )
        # What runs is what was hashed: the loader opens the same descriptor.
        alias = unique_alias(descriptor, entry.artifact)
        library = ctypes.CDLL(alias, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    return _loaded.setdefault(entry.module_name, library)


def _unusable(error: Exception) -> BuildError:
    return BuildError(
        f"what the C++ compiler made does not load: {error}",
        fix="# use the compilers of the environment whose Python runs this notebook, then\n"
        "%kit_cache clear",
    )

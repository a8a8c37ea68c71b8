"""The content-addressed store of compiled kernels: one build for each key, whoever asks.

::

    <root>/v1/entries/<key>.json      what is known of a build; replaced atomically
    <root>/v1/objects/<module>.so     what was compiled; never changed, a new name for each build
    <root>/v1/locks/<key>.lock        held while <key> is built
    <root>/v1/scratch/<key>.<random>/ where it is built

A hit takes no lock and creates nothing. Nothing is ever written to the working directory.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from kit.errors import CacheError, KitWarning
from kit.store.entry import JSON, Built, Entry, Problem
from kit.store.finding import find_entry
from kit.store.keys import check_key, digest, unique_module_name
from kit.store.loading import (
    ArtifactUnusable,
    load_copy,
    load_descriptor,
    load_library,
    loaded_library,
    loaded_module,
    read_published,
)
from kit.store.location import DEFAULT_LIMIT, store_limit, store_location
from kit.store.shelves import Shelves

# What only a miss or upkeep needs is imported there: a hit is to cost as little as can be.
if TYPE_CHECKING:
    import ctypes

    from kit.store.building import OnWait, StoreUnwritable

__all__ = [
    "JSON",
    "ArtifactUnusable",
    "Built",
    "Entry",
    "Problem",
    "Store",
    "digest",
    "open_store",
    "unique_module_name",
]

# Without descriptors for directories (Windows) nothing can be built either; see docs, WSL2.
_SUPPORTED = hasattr(os, "geteuid")
_stores: dict[Path, Store] = {}


class Store:
    """A directory of compiled kernels, shared by processes and safe against all but its owner.

    Nothing is created before the first build.

    Parameters
    ----------
    root : Path
        The directory (absolute). It and what lies below must belong to the user or to root, be
        writable by nobody else and be no symbolic links; the parents of `root` may be.
    limit : int
        What it may hold [bytes]; enforced after each build, least recently used first.
    is_private : bool
        Whether `root`, if it is made, is closed to other readers.

    Attributes
    ----------
    last_miss_reason : str
        Why the latest `lookup` gave None ("" after a hit); of whichever thread came last.
    """

    def __init__(self, root: Path, *, limit: int = DEFAULT_LIMIT, is_private: bool = True) -> None:
        self.root = root
        self.limit = limit
        self.last_miss_reason = ""
        self._is_private = is_private
        self._rejected: set[str] = set()
        self._temporary: Store | None = None

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    def lookup(self, key: str) -> Entry | None:
        """The build of `key`, or None; writes nothing but the time of use, once an hour.

        Raises
        ------
        CacheError
            If a directory or the entry could have been written by someone else.
        """
        entry, self.last_miss_reason = self.inspect(key)
        return entry

    def inspect(self, key: str) -> tuple[Entry | None, str]:
        """As `lookup`, together with the reason for a miss.

        Returns
        -------
        entry : Entry or None
            The build.
        reason : str
            "" for a hit, else "new", "corrupt", "evicted" (the entry is there and its object is
            not), "file changed: NAME" or "not readable: WHY".
        """
        check_key(key)
        if self._temporary is not None:
            entry, _ = self._temporary.inspect(key)
            if entry is not None:
                return entry, ""
        with Shelves(self.root) as shelves:
            return find_entry(shelves, key, rejected=self._rejected)

    def load(self, entry: Entry) -> ModuleType:
        """Import an entry's module; runs its code, once for each process.

        Raises
        ------
        ArtifactUnusable
            If the object is gone, is not what was published, or does not load. The entry is then
            forgotten, so that `build_once` builds it again.
        CacheError
            If the object could have been written by someone else.
        """
        module = loaded_module(entry.module_name)
        if module is not None:
            return module
        with self._opened(entry) as descriptor:
            return load_descriptor(
                descriptor, module_name=entry.module_name, sha256=entry.sha256, path=entry.artifact
            )

    def open_library(self, entry: Entry) -> ctypes.CDLL:
        """An entry's shared library that is no Python module, once for each process.

        Raises
        ------
        ArtifactUnusable, CacheError
            As `load`.
        """
        library = loaded_library(entry.module_name)
        if library is not None:
            return library
        with self._opened(entry) as descriptor:
            return load_library(
                descriptor, name=entry.module_name, sha256=entry.sha256, path=entry.artifact
            )

    def open_library_copy(self, entry: Entry) -> ctypes.CDLL:
        """The same with variables of its own, once more at each call.

        Raises
        ------
        ArtifactUnusable, CacheError
            As `load`.
        """
        with self._opened(entry) as descriptor:
            return load_copy(descriptor, sha256=entry.sha256, path=entry.artifact)

    def read_artifact(self, entry: Entry) -> bytes:
        """The content of an entry's artifact, which is no library: cubins, say.

        Raises
        ------
        ArtifactUnusable, CacheError
            As `load`.
        """
        with self._opened(entry) as descriptor:
            return read_published(descriptor, sha256=entry.sha256, path=entry.artifact)

    @contextlib.contextmanager
    def _opened(self, entry: Entry) -> Generator[int]:
        """The open, trusted file of an entry, which is forgotten if it turns out unusable."""
        try:
            with (
                Shelves(entry.artifact.parents[2]) as shelves,
                shelves.open("objects", entry.artifact.name) as descriptor,
            ):
                yield descriptor
        except OSError as error:
            self._reject(entry)
            raise ArtifactUnusable(
                f"{entry.artifact.name} cannot be read: {error.strerror}",
                need="what was built",
                fix="%kit_cache clear",
            ) from error
        except ArtifactUnusable:
            self._reject(entry)
            raise

    def build_once(
        self,
        key: str,
        build: Callable[[Path], Built],
        *,
        label: str,
        on_wait: OnWait | None = None,
        force: bool = False,
    ) -> tuple[Entry, bool]:
        """The build of `key`, by this process or by another that is at it already.

        Parameters
        ----------
        key : str
            What is built, as `digest` gives it.
        build : callable
            Builds in the directory that it is given. It may be called again, in another
            directory, when the store turned out to be full or was deleted meanwhile. What it
            raises is passed on; nothing is published then, and the next one waiting builds.
        label : str
            What others are told while they wait.
        on_wait : callable, optional
            Called with process number and label of the process waited for: once for each, not
            repeatedly.
        force : bool
            Build even if there is an entry.

        Returns
        -------
        entry : Entry
            The build.
        was_built : bool
            Whether it was built here and now.

        Raises
        ------
        CacheError
            If the store cannot be trusted, or neither it nor any directory for temporary files
            can be written.

        Warns
        -----
        KitWarning
            Once, if the store cannot be written: builds of this process then go to a temporary
            directory.
        """
        if not _SUPPORTED:
            raise CacheError(
                "kernels cannot be stored on native Windows",
                need="Linux or macOS",
                fix="wsl --install",
            )
        check_key(key)
        if not force:
            entry, _ = self.inspect(key)
            if entry is not None:
                return entry, False
        if self._temporary is not None:
            return self._temporary.build_once(key, build, label=label, on_wait=on_wait, force=force)
        from kit.store.building import StoreUnwritable

        try:
            return self._build_here(key, build, label, on_wait, force)
        except StoreUnwritable as problem:
            return self._build_temporarily(key, build, label, problem)

    def list(self) -> tuple[Entry, ...]:
        """Every entry, most recently used first."""
        from kit.store import upkeep

        with self._open_for_upkeep() as shelves:
            found = upkeep.entries(shelves)
        return found + (self._temporary.list() if self._temporary else ())

    def size_bytes(self) -> int:
        """What entries and objects take [bytes]."""
        from kit.store import upkeep

        with self._open_for_upkeep() as shelves:
            used = upkeep.used_bytes(shelves)
        return used + (self._temporary.size_bytes() if self._temporary else 0)

    def clear(self) -> int:
        """Remove everything that is not being built; how many entries.

        Kernels that are loaded, here or in other processes, keep working.

        Raises
        ------
        CacheError
            If the store cannot be written.
        """
        from kit.store import upkeep

        with self._open_for_upkeep() as shelves:
            removed = upkeep.clear(shelves)
            upkeep.sweep(shelves)
        return removed + (self._temporary.clear() if self._temporary else 0)

    def verify(self) -> tuple[Problem, ...]:
        """Hash every object and say what is not as it was published; changes nothing."""
        from kit.store import upkeep

        with self._open_for_upkeep() as shelves:
            found = upkeep.find_problems(shelves)
        return found + (self._temporary.verify() if self._temporary else ())

    @contextlib.contextmanager
    def _open_for_upkeep(self) -> Generator[Shelves]:
        try:
            with Shelves(self.root) as shelves:
                yield shelves
        except OSError as error:
            import shlex

            raise CacheError(
                f"{error.filename or self.root}: {error.strerror}",
                need="permission to read the store, and to write it for clearing",
                fix=f"ls -ldn {shlex.quote(str(self.root))}",
            ) from error

    def _build_here(
        self,
        key: str,
        build: Callable[[Path], Built],
        label: str,
        on_wait: OnWait | None,
        force: bool,
    ) -> tuple[Entry, bool]:
        from kit.store import upkeep
        from kit.store.building import build_in

        with Shelves(self.root, create=True, is_private=self._is_private) as shelves:

            def find() -> Entry | None:
                return None if force else find_entry(shelves, key, rejected=self._rejected)[0]

            result = build_in(shelves, key, build, label=label, on_wait=on_wait, find=find)
            if result[1]:
                # Whatever goes wrong with the tidying, the kernel is there.
                with contextlib.suppress(OSError, CacheError):
                    upkeep.sweep(shelves)
                    upkeep.evict(shelves, self.limit, keep=key)
            return result

    def _build_temporarily(
        self, key: str, build: Callable[[Path], Built], label: str, problem: StoreUnwritable
    ) -> tuple[Entry, bool]:
        from kit.store.temporary import first_writable

        def attempt(root: Path) -> tuple[Store, tuple[Entry, bool]]:
            store = Store(root, limit=self.limit)
            return store, store._build_here(key, build, label, None, False)

        self._temporary, result = first_writable(attempt, instead_of=self.root, problem=problem)
        warnings.warn(
            f"compiled kernels are not kept: the store {self.root} cannot be written "
            f"({problem}). Those of this process go to {self._temporary.root} until it ends. "
            'To use another store: export KIT_CACHE_DIR="$HOME/kit-store"',
            KitWarning,
            stacklevel=3,
        )
        return result

    def _reject(self, entry: Entry) -> None:
        """Forget an entry that cannot be used, here and, unless it was replaced, on disk."""
        from kit.store import upkeep

        self._rejected.add(entry.module_name)
        with (
            contextlib.suppress(OSError, CacheError),
            Shelves(entry.artifact.parents[2]) as shelves,
        ):
            upkeep.forget(shelves, entry)


def open_store() -> Store:
    """The store of ``KIT_CACHE_DIR`` or of the user's cache directory; creates nothing.

    The same object each time, as long as the place is the same.

    Raises
    ------
    CacheError
        If ``KIT_CACHE_DIR`` or ``KIT_CACHE_LIMIT`` cannot be used.

    Warns
    -----
    KitWarning
        Once, if this process is root and its home belongs to someone else: the store then lies in
        the directory for temporary files.
    """
    location = store_location()
    limit = store_limit()
    store = _stores.get(location.root)
    if store is None:
        store = _stores.setdefault(
            location.root, Store(location.root, limit=limit, is_private=location.is_private)
        )
        if location.warning is not None:
            warnings.warn(location.warning, KitWarning, stacklevel=2)
    store.limit = limit
    return store

"""Keep a store small and clean: least recently used goes first, and what dead builders left."""

from __future__ import annotations

import contextlib
import time

from kit.store.entry import Entry, Problem
from kit.store.finding import ENTRY_SUFFIX, read_entry
from kit.store.loading import sha256_hex
from kit.store.locking import KeyLock
from kit.store.shelves import Shelf, Shelves

__all__ = [
    "clear",
    "entries",
    "evict",
    "find_problems",
    "forget",
    "remove",
    "sweep",
    "used_bytes",
]

# An object is on its shelf a moment before the entry that names it.
_ORPHAN_AGE = 3600.0
_NEVER_A_KEY = "evict"


def entries(shelves: Shelves) -> tuple[Entry, ...]:
    """Every readable entry, most recently used first; reads all of them."""
    found: list[Entry] = []
    for name in shelves.names("entries"):
        entry = read_entry(shelves, name)
        if entry is not None:
            found.append(entry)
    return tuple(sorted(found, key=lambda entry: entry.last_used, reverse=True))


def used_bytes(shelves: Shelves) -> int:
    """Size of all entries and objects [bytes]; scratch of running builds does not count."""
    total = 0
    shelf: Shelf
    for shelf in ("entries", "objects"):
        for name in shelves.names(shelf):
            facts = shelves.facts(shelf, name)
            total += 0 if facts is None else facts.st_size
    return total


def evict(shelves: Shelves, limit: int, *, keep: str) -> int:
    """Remove least recently used entries until the store fits; how many.

    Parameters
    ----------
    shelves : Shelves
        The store.
    limit : int
        What it may hold [bytes].
    keep : str
        Key that stays in any case: the one just published.
    """
    excess = used_bytes(shelves) - limit
    if excess <= 0:
        return 0
    lock = KeyLock(shelves.descriptor("locks"), _NEVER_A_KEY)
    try:
        if not lock.try_acquire():  # another process is at it
            return 0
        excess = used_bytes(shelves) - limit - _remove_orphans(shelves)
        removed = 0
        for entry in reversed(entries(shelves)):
            if excess <= 0:
                break
            if entry.key == keep:
                continue
            facts = shelves.facts("entries", entry.key + ENTRY_SUFFIX)
            excess -= entry.artifact_bytes + (0 if facts is None else facts.st_size)
            remove(shelves, entry)
            removed += 1
        return removed
    finally:
        lock.release()


def sweep(shelves: Shelves) -> None:
    """Remove the scratch directories and lock files of builders that are gone.

    A builder holds the lock of its key all the time, so what can be locked has no builder; the
    lock is held while the rest is removed, so none can start meanwhile. Where the file system has
    no locks nobody can tell, and nothing is removed.
    """
    scratch = shelves.names("scratch")
    keys = {name.split(".")[0] for name in (*scratch, *shelves.names("locks"))}
    for key in keys:
        lock = KeyLock(shelves.descriptor("locks"), key)
        try:
            if lock.try_acquire() and lock.is_exclusive:
                for name in scratch:
                    if name.split(".")[0] == key:
                        shelves.remove_tree(name)
        finally:
            lock.release()


def clear(shelves: Shelves) -> int:
    """Remove every entry and object; how many entries.

    Processes that have loaded one keep it, running builds go on and are published afterwards.
    """
    removed = sum(shelves.remove("entries", name) for name in shelves.names("entries"))
    for name in shelves.names("objects"):
        shelves.remove("objects", name)
    return removed


def find_problems(shelves: Shelves) -> tuple[Problem, ...]:
    """Hash every object and compare it with its entry; changes nothing.

    Raises
    ------
    CacheError
        If a directory or file cannot be trusted.
    """
    found: list[Problem] = []
    for name in shelves.names("entries"):
        entry = read_entry(shelves, name)
        if entry is None:
            found.append(Problem(name=name, text="the entry is not readable"))
            continue
        try:
            content = shelves.read("objects", entry.artifact.name)[0]
        except FileNotFoundError:
            found.append(Problem(name=entry.key, text=f"{entry.artifact.name} is missing"))
        else:
            if sha256_hex(content) != entry.sha256:
                found.append(Problem(name=entry.key, text=f"{entry.artifact.name} has changed"))
    return tuple(found)


def remove(shelves: Shelves, entry: Entry) -> None:
    """Remove an entry and its object."""
    # The entry first: whoever finds one also finds its object.
    shelves.remove("entries", entry.key + ENTRY_SUFFIX)
    shelves.remove("objects", entry.artifact.name)


def forget(shelves: Shelves, entry: Entry) -> None:
    """Remove an entry unless it was replaced meanwhile, or is being built again."""
    lock = KeyLock(shelves.descriptor("locks"), entry.key)
    try:
        if lock.try_acquire():
            now = read_entry(shelves, entry.key + ENTRY_SUFFIX)
            if now is not None and now.module_name == entry.module_name:
                remove(shelves, entry)
    finally:
        lock.release()


def _remove_orphans(shelves: Shelves) -> int:
    """Remove what no lookup can reach (publishers were killed, files damaged); its size [bytes]."""
    named: set[str] = set()
    damaged: list[str] = []
    for name in shelves.names("entries"):
        entry = read_entry(shelves, name)
        if entry is None:
            damaged.append(name)
        else:
            named.add(entry.artifact.name)
    unnamed = [name for name in shelves.names("objects") if name not in named]
    lost = [*_on("entries", damaged), *_on("objects", unnamed)]
    freed = 0
    for shelf, name in lost:
        facts = shelves.facts(shelf, name)
        if facts is not None and time.time() - facts.st_ctime > _ORPHAN_AGE:
            with contextlib.suppress(OSError):
                freed += facts.st_size if shelves.remove(shelf, name) else 0
    return freed


def _on(shelf: Shelf, names: list[str]) -> list[tuple[Shelf, str]]:
    return [(shelf, name) for name in names]

"""Find the entry of a key, or the reason why there is none that can be used."""

from __future__ import annotations

import time
from collections.abc import Set
from pathlib import Path

from kit.store.entry import Entry, parse_entry
from kit.store.loading import sha256_hex
from kit.store.shelves import Shelves

__all__ = ["ENTRY_SUFFIX", "find_entry", "read_entry"]

ENTRY_SUFFIX = ".json"
# A use is noted to the hour: a write for each hit would cost more than the hit.
_RECENT = 3600.0


def find_entry(shelves: Shelves, key: str, *, rejected: Set[str]) -> tuple[Entry | None, str]:
    """The entry of `key`; without locks, and without a write but its time of use.

    Parameters
    ----------
    shelves : Shelves
        The store.
    key : str
        What to look for.
    rejected : set of str
        Module names that this process could not use.

    Returns
    -------
    entry : Entry or None
        An entry whose object is there with its full size, and whose files are as they were.
        The object's content is not read; that is for `load_descriptor`.
    reason : str
        Why there is none; as `kit.cache.Store.inspect` says.
    """
    name = key + ENTRY_SUFFIX
    try:
        content, last_used = shelves.read("entries", name)
        entry = parse_entry(content, key=key, objects=shelves.path("objects"), last_used=last_used)
        if entry is None or entry.module_name in rejected:
            return None, "corrupt"
        facts = shelves.facts("objects", entry.artifact.name)
    except FileNotFoundError:
        return None, "new"
    except OSError as error:
        return None, f"not readable: {error.strerror}"
    if facts is None:
        return None, "evicted"
    if facts.st_size != entry.artifact_bytes:
        return None, "corrupt"
    for path, sha256 in entry.files.items():
        if not _is_unchanged(Path(path), sha256):
            return None, f"file changed: {Path(path).name}"
    if time.time() - last_used > _RECENT:
        shelves.touch("entries", name)
    return entry, ""


def read_entry(shelves: Shelves, name: str) -> Entry | None:
    """The entry in the file `name`; None where it is missing or damaged."""
    try:
        content, used = shelves.read("entries", name)
    except FileNotFoundError:
        return None
    return parse_entry(
        content,
        key=name.removesuffix(ENTRY_SUFFIX),
        objects=shelves.path("objects"),
        last_used=used,
    )


def _is_unchanged(path: Path, sha256: str) -> bool:
    try:
        return sha256_hex(path.read_bytes()) == sha256
    except OSError:
        return False

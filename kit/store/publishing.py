"""Put a finished build into the store, so that others see all of it or nothing."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from kit.store.entry import Built, Entry, format_entry
from kit.store.finding import ENTRY_SUFFIX, read_entry
from kit.store.loading import sha256_hex
from kit.store.shelves import Shelves
from kit.store.trust import read_descriptor

__all__ = ["publish"]


def publish(shelves: Shelves, key: str, built: Built, *, scratch: str) -> Entry:
    """Move a build's artifact onto its shelf, then put the entry in place; replaces an older one.

    The caller holds the lock on `key`.

    Parameters
    ----------
    shelves : Shelves
        The store, opened with ``create=True``.
    key : str
        What the artifact was built from.
    built : Built
        What the builder returned.
    scratch : str
        Name of its scratch directory.

    Raises
    ------
    ValueError, TypeError
        If `built` breaks its contract; nothing is published.
    OSError
        If something cannot be written; nothing is published.
    """
    directory = shelves.path("scratch", scratch)
    if directory not in built.artifact.parents:
        raise ValueError(f"the artifact must lie in the scratch directory {directory}")
    name = built.module_name + EXTENSION_SUFFIXES[0]
    if shelves.facts("objects", name) is not None:
        raise ValueError(
            f"{built.module_name} was published before; take a new name for each build"
        )
    content = _seal(built.artifact, directory)
    entry = Entry(
        key=key,
        artifact=shelves.path("objects", name),
        module_name=built.module_name,
        sha256=sha256_hex(content),
        artifact_bytes=len(content),
        meta=built.meta,
        last_used=time.time(),
    )
    document = format_entry(entry)
    older = read_entry(shelves, key + ENTRY_SUFFIX)
    try:
        os.rename(built.artifact, name, dst_dir_fd=shelves.descriptor("objects"))
        _flush(shelves.descriptor("objects"))
        _replace(shelves, key + ENTRY_SUFFIX, document, scratch)
    except BaseException:
        with contextlib.suppress(OSError):
            shelves.remove("objects", name)
        raise
    if older is not None:
        with contextlib.suppress(OSError):
            shelves.remove("objects", older.artifact.name)
    return entry


def _seal(artifact: Path, directory: Path) -> bytes:
    """Make the artifact unwritable for others and durable; its content."""
    try:
        descriptor = os.open(artifact, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ELOOP or (error.errno == errno.ENOENT and directory.is_dir()):
            raise ValueError(f"the artifact {artifact} is missing, or a link") from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"the artifact {artifact.name} is no regular file")
        # Compilers use the umask, and 002 is common: the store would refuse its own file.
        os.fchmod(descriptor, 0o644)
        _flush(descriptor)
        return read_descriptor(descriptor)
    finally:
        os.close(descriptor)


def _replace(shelves: Shelves, name: str, content: bytes, scratch: str) -> None:
    # Written in scratch, which is swept when this process dies here.
    draft = f"{scratch}/{os.urandom(8).hex()}.entry"
    directory = shelves.descriptor("scratch")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(draft, flags, 0o644, dir_fd=directory), "wb") as file:
        file.write(content)
        file.flush()
        _flush(file.fileno())
    os.replace(draft, name, src_dir_fd=directory, dst_dir_fd=shelves.descriptor("entries"))
    _flush(shelves.descriptor("entries"))


def _flush(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network and FUSE file systems have no fsync for directories. What a power failure
        # then leaves is caught by the hash.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise

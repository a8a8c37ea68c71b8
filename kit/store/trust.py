"""Who may have written what is about to be loaded: ownership checks on open descriptors.

Loading an artifact runs its code, so trust comes from who can write it and not from a checksum
that lies beside it. Every directory from the store's root down, and every file read from it, is
opened without following a symbolic link and then judged by its descriptor, so that nothing can be
exchanged between the check and the use.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from kit.errors import CacheError

__all__ = ["open_directory", "open_file", "read_descriptor", "refuse"]

# A FIFO in place of a file must not block the open; it is refused once its type is known.
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_DIRECTORY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def open_directory(path: Path, *, parent: int | None = None) -> int:
    """Open a directory that only the user (or root) can change; the caller closes the descriptor.

    Parameters
    ----------
    path : Path
        The directory. Its parents may be symbolic links, it may not.
    parent : int, optional
        Descriptor of the directory that holds it; only the last part of `path` is then looked up.

    Returns
    -------
    int
        A descriptor that is not inherited by child processes.

    Raises
    ------
    CacheError
        If it is a symbolic link or no directory, belongs to someone else, or others may write it.
    OSError
        If it cannot be opened: missing, no permission.
    """
    return _open(path, _DIRECTORY, parent)


def open_file(path: Path, *, parent: int) -> int:
    """Open a regular file for reading by the rules of `open_directory`.

    Parameters
    ----------
    path : Path
        The file; only its name is looked up, in `parent`.
    parent : int
        Descriptor of its (already trusted) directory.

    Returns
    -------
    int
        A descriptor that is not inherited by child processes; the caller closes it.
    """
    return _open(path, _FILE, parent)


def read_descriptor(descriptor: int) -> bytes:
    """All bytes of an open regular file, from its beginning.

    Reads until the end and not up to the size that `fstat` gave, because a file can grow.
    """
    chunks: list[bytes] = []
    offset = 0
    wanted = os.fstat(descriptor).st_size + 1
    while chunk := os.pread(descriptor, wanted, offset):
        chunks.append(chunk)
        offset += len(chunk)
    return b"".join(chunks)


def refuse(found: str, *, need: str, command: str | None = None) -> CacheError:
    """The refusal of a store, with a command to paste into a shell.

    Parameters
    ----------
    found, need : str
        What is there, and what there must be.
    command : str, optional
        What repairs it; the way out that always works (another store) is added as a comment.
    """
    other = 'export KIT_CACHE_DIR="$HOME/kit-store"'
    fix = other if command is None else f"{command}  # or another store: {other}"
    return CacheError(found, need=need, fix=fix)


def _open(path: Path, flags: int, parent: int | None) -> int:
    try:
        if parent is None:
            descriptor = os.open(path, flags)
        else:
            descriptor = os.open(path.name, flags, dir_fd=parent)
    except OSError as error:
        # A symbolic link gives ELOOP or, with O_DIRECTORY, ENOTDIR; so does a file in the way.
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK, errno.ENXIO):
            raise _wrong_type(path) from None
        raise
    try:
        _check(path, os.fstat(descriptor), is_directory=flags == _DIRECTORY)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check(path: Path, facts: os.stat_result, *, is_directory: bool) -> None:
    if not (stat.S_ISDIR if is_directory else stat.S_ISREG)(facts.st_mode):
        raise _wrong_type(path)
    if facts.st_uid not in (os.geteuid(), 0):
        raise refuse(
            f"{path} belongs to {_user(facts.st_uid)}",
            need=f"a store of {_user(os.geteuid())} or of root, because loading a kernel runs it",
        )
    if facts.st_mode & _WRITABLE_BY_OTHERS:
        raise refuse(
            f"{path} can be written by others (mode {stat.S_IMODE(facts.st_mode):04o})",
            need="only you can write it, because loading a kernel runs it",
            command=f"chmod go-w {_quoted(path)}" if _may_be_closed(facts) else None,
        )


def _may_be_closed(facts: os.stat_result) -> bool:
    """Whether this user can take others' right to write, and nobody needs it: /tmp stays open."""
    return os.geteuid() in (0, facts.st_uid) and not facts.st_mode & stat.S_ISVTX


def _wrong_type(path: Path) -> CacheError:
    if path.is_symlink():
        target = Path(os.path.realpath(path))
        return CacheError(
            f"{path} is a symbolic link to {target}",
            need="the directory itself (its parents may be links)",
            fix=f"export KIT_CACHE_DIR={_quoted(target)}",
        )
    # No `rm` as a fix: a setting that names the wrong path may name something precious.
    return refuse(
        f"{path} is of the wrong type, or lies below something that is no directory",
        need="a path for directories and files that kit makes",
    )


def _user(uid: int) -> str:
    import pwd

    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"


def _quoted(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))

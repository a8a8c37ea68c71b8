"""Where the artifact store lies, how large it may become, and where else there is to go."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kit.errors import CacheError

__all__ = [
    "DEFAULT_LIMIT",
    "Location",
    "parse_size",
    "store_limit",
    "store_location",
    "temporary_roots",
]

DEFAULT_LIMIT = 2 << 30
"""2 GiB [bytes]."""
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


class Location(NamedTuple):
    """A directory for a store, and what has to be known about it.

    Parameters
    ----------
    root : Path
        The directory; it need not exist.
    is_private : bool
        Whether only this user may look into it: all but a directory that the user named.
    warning : str, optional
        What to tell the user once.
    """

    root: Path
    is_private: bool
    warning: str | None = None


def store_location() -> Location:
    """``KIT_CACHE_DIR``, or this user's cache directory; creates nothing.

    Raises
    ------
    CacheError
        If ``KIT_CACHE_DIR`` is relative and the working directory has been deleted, or names the
        home of an unknown user.

    Notes
    -----
    For root whose home belongs to someone else (a container with a mounted home) the store lies
    in the directory for temporary files: root's files in there would lock the owner out.
    """
    named = os.environ.get("KIT_CACHE_DIR")
    if named:
        try:
            return Location(root=Path(named).expanduser().absolute(), is_private=False)
        except RuntimeError:
            raise CacheError(
                f"KIT_CACHE_DIR={named} begins with the home of a user who is unknown here",
                need="an absolute path",
                fix='export KIT_CACHE_DIR="$HOME/kit-store"',
            ) from None
        except FileNotFoundError:
            raise CacheError(
                f"KIT_CACHE_DIR={named} is relative and the working directory has been deleted",
                need="an absolute path",
                fix='export KIT_CACHE_DIR="$HOME/kit-store"',
            ) from None
    cache = _user_cache()
    if cache is None:
        return _away_from_home(f"user {os.geteuid()} has no home directory")
    root = cache / "pyccel-kit"
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        owner = _owner_of_nearest(root)
        if owner not in (None, 0):
            return _away_from_home(f"this process is root and {root} belongs to uid {owner}")
    return Location(root=root, is_private=True)


def _away_from_home(why: str) -> Location:
    me = os.geteuid()
    root = next(_temporary_bases()) / f"pyccel-kit-{me}"
    if root.is_symlink() or _owner(root) not in (None, me):  # someone was there first
        root = _unguessable(root.parent)
    command = 'export KIT_CACHE_DIR="/path/to/a/directory"'
    warning = f"compiled kernels are stored in {root}, because {why}. To choose a place: {command}"
    return Location(root=root, is_private=True, warning=warning)


def store_limit() -> int:
    """``KIT_CACHE_LIMIT`` or 2 GiB [bytes].

    Raises
    ------
    CacheError
        If the variable is no size.
    """
    text = os.environ.get("KIT_CACHE_LIMIT")
    if not text:
        return DEFAULT_LIMIT
    limit = parse_size(text)
    if limit is None:
        raise CacheError(
            f"KIT_CACHE_LIMIT={text}",
            need="a size such as 500M or 2G",
            fix="export KIT_CACHE_LIMIT=2G",
        )
    return limit


def parse_size(text: str) -> int | None:
    """A size in bytes; None where `text` is none. Units are powers of 1024.

    Examples
    --------
    >>> parse_size("500M"), parse_size("1.5 GiB"), parse_size("4096"), parse_size("much")
    (524288000, 1610612736, 4096, None)
    """
    import re

    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None:
        return None
    return int(float(match[1]) * 1024 ** _UNITS[match[2].upper()])


def temporary_roots() -> Iterator[Path]:
    """New names for a store that lives as long as this process, best place first.

    The names cannot be guessed, so nobody can have put anything there. The working directory,
    which `tempfile.gettempdir` ends with, is not among them.
    """
    for base in _temporary_bases():
        yield base / f"pyccel-kit-{os.urandom(8).hex()}"


@functools.cache  # one for this process
def _unguessable(base: Path) -> Path:
    return base / f"pyccel-kit-{os.urandom(8).hex()}"


def _temporary_bases() -> Iterator[Path]:
    seen: set[str] = set()
    for base in (*map(os.environ.get, ("TMPDIR", "TEMP", "TMP")), "/tmp", "/var/tmp", "/dev/shm"):
        if base and base not in seen and Path(base).is_absolute() and Path(base).is_dir():
            seen.add(base)
            yield Path(base)


def _user_cache() -> Path | None:
    if not sys.platform.startswith("linux"):
        import platformdirs

        return Path(platformdirs.user_cache_dir())
    # What platformdirs says (a test compares), for 0.03 ms instead of the 6.5 ms of its import:
    # that would be more than all the rest of a hit.
    named = os.environ.get("XDG_CACHE_HOME", "")
    if named.startswith("/"):
        return Path(named)
    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        import pwd

        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:  # a container that runs under a number nobody gave a name
            return None
    return Path(home, ".cache") if home.startswith("/") else None


def _owner_of_nearest(path: Path) -> int | None:
    for candidate in (path, *path.parents):
        owner = _owner(candidate)
        if owner is not None:
            return owner
    return None


def _owner(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None

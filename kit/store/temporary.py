"""A store for the rest of this process, where the usual one cannot be written."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kit.errors import CacheError
from kit.store.building import StoreUnwritable
from kit.store.location import temporary_roots

__all__ = ["first_writable"]

Result = TypeVar("Result")


def first_writable(
    attempt: Callable[[Path], Result], *, instead_of: Path, problem: StoreUnwritable
) -> Result:
    """What `attempt` gives in the first directory for temporary files that can be written.

    The directory is removed when this process ends.

    Parameters
    ----------
    attempt : callable
        Builds in a store with the root that it is given; StoreUnwritable tries the next one.
    instead_of : Path
        The store that could not be written.
    problem : StoreUnwritable
        Why not.

    Raises
    ------
    CacheError
        If none can be written, with what was tried.
    """
    tried = [(instead_of, problem)]
    for root in temporary_roots():
        atexit.register(_remove, root, os.getpid())
        try:
            return attempt(root)
        except StoreUnwritable as another:
            tried.append((root.parent, another))
            _remove(root, os.getpid())
    raise CacheError(
        "; ".join(f"{place}: {why}" for place, why in tried),
        need="a few megabytes in one of these places",
        fix=f"df -h {shlex.join(dict.fromkeys(str(place) for place, _ in tried))}",
    ) from problem


def _remove(root: Path, pid: int) -> None:
    # A forked child inherits the registration, not the directory.
    if os.getpid() == pid:
        shutil.rmtree(root, ignore_errors=True)

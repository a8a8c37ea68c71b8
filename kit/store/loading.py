"""Load what a build left, a module, a library or mere bytes: the very bytes that were checked."""

from __future__ import annotations

import os
import sys
import threading
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from kit.errors import CacheError
from kit.store.trust import read_descriptor, refuse

if TYPE_CHECKING:
    import ctypes

__all__ = [
    "ArtifactUnusable",
    "load_descriptor",
    "load_library",
    "loaded_library",
    "loaded_module",
    "read_published",
    "sha256_hex",
    "unique_alias",
]

_loaded: dict[str, ModuleType] = {}
_libraries: dict[str, ctypes.CDLL] = {}
_lock = threading.RLock()
_serial = count()


class ArtifactUnusable(CacheError):
    """An artifact is gone, has changed or does not load: building it again is worth one try."""


def sha256_hex(content: bytes) -> str:
    """The SHA-256 of `content` in hexadecimal."""
    import hashlib

    return hashlib.sha256(content).hexdigest()


def loaded_module(module_name: str) -> ModuleType | None:
    """The module of that name, if this process has loaded it from a store."""
    return _loaded.get(module_name)


def loaded_library(name: str) -> ctypes.CDLL | None:
    """The library of that build, if this process has opened it from a store."""
    return _libraries.get(name)


def load_descriptor(descriptor: int, *, module_name: str, sha256: str, path: Path) -> ModuleType:
    """Import the extension module that an open file holds; runs its code.

    Parameters
    ----------
    descriptor : int
        The open, trusted file. It may be closed afterwards.
    module_name : str
        Name that the module was compiled under. A process loads it once.
    sha256 : str
        What its content must be.
    path : Path
        Where the file lies, for `__file__` and for messages.

    Returns
    -------
    ModuleType
        The module; the same object when the name was loaded before.

    Raises
    ------
    ArtifactUnusable
        If the content is not what was published, or the dynamic linker or the module's own
        initialisation fails.

    Notes
    -----
    On Linux the file is opened by the dynamic linker through ``/proc/self/fd``, so that what runs
    is what was hashed. Elsewhere, and where ``/proc`` is not mounted, it is opened by `path`: only
    somebody who can write the store, that is the user or root, could exchange it in between.
    """
    with _lock:
        if module_name in _loaded:
            return _loaded[module_name]
        read_published(descriptor, sha256=sha256, path=path)
        module = _import(module_name, unique_alias(descriptor, path), path)
        _loaded[module_name] = module
        return module


def load_library(descriptor: int, *, name: str, sha256: str, path: Path) -> ctypes.CDLL:
    """Open the shared library that an open file holds; its constructors run.

    Parameters
    ----------
    descriptor, sha256, path
        As in `load_descriptor`, whose notes hold here, too.
    name : str
        Of the build. A process opens it once, and never closes it: code of it may be running.

    Raises
    ------
    ArtifactUnusable
        If the content is not what was published, or the dynamic linker fails.
    """
    import ctypes

    with _lock:
        if name in _libraries:
            return _libraries[name]
        read_published(descriptor, sha256=sha256, path=path)
        alias = unique_alias(descriptor, path)
        try:
            # Symbols stay the library's own, and one that is missing is an error now.
            library = ctypes.CDLL(alias, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise _does_not_load(error, path, alias) from error
        _libraries[name] = library
        return library


def load_copy(descriptor: int, *, sha256: str, path: Path) -> ctypes.CDLL:
    """Open a copy of the shared library that an open file holds, with variables of its own.

    The parameters are those of `load_library`. Each call opens another one.

    Raises
    ------
    ArtifactUnusable
        If the content is not what was published, or the dynamic linker fails.
    """
    import ctypes

    content = read_published(descriptor, sha256=sha256, path=path)
    # In memory: the dynamic linker takes two names of one file for the same library.
    with open(os.memfd_create(path.name), "w+b") as file:  # noqa: PTH123 -- has no path
        file.write(content)
        file.flush()
        alias = unique_alias(file.fileno(), path)
        try:
            return ctypes.CDLL(alias, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise _does_not_load(error, path, alias) from error


def read_published(descriptor: int, *, sha256: str, path: Path) -> bytes:
    """The content of an open, trusted file.

    Raises
    ------
    ArtifactUnusable
        If it is not what was published.
    """
    content = read_descriptor(descriptor)
    if sha256_hex(content) != sha256:
        raise ArtifactUnusable(
            f"{path.name} is not what was published: its content has changed",
            need="the content that was built",
            fix="%kit_cache verify",
        )
    return content


def unique_alias(descriptor: int, path: Path) -> str:
    """A path of an open file that no library was loaded from before.

    glibc (2.36) takes a library for loaded when its *name* is that of a loaded one, before it looks
    at the file. Descriptor numbers are reused, so ``/proc/self/fd/7`` alone gave the library that
    had number 7 earlier. A serial number, written in path segments that mean nothing (``/`` for a 0
    and ``./`` for a 1), makes each name new and keeps it short.

    Parameters
    ----------
    descriptor : int
        The open file.
    path : Path
        What to return where descriptors have no path.

    Examples
    --------
    >>> import os
    >>> with open(os.devnull) as file:
    ...     aliases = {unique_alias(file.fileno(), Path(os.devnull)) for _ in range(100)}
    >>> len(aliases) in (1, 100)  # 1 where /proc is missing
    True
    """
    if not (sys.platform.startswith("linux") and Path(f"/proc/self/fd/{descriptor}").exists()):
        return str(path)
    serial = format(next(_serial), "b").replace("0", "/").replace("1", "./")
    return f"/proc/self/fd/{serial}{descriptor}"


def _import(module_name: str, alias: str, path: Path) -> ModuleType:
    loader = ExtensionFileLoader(module_name, alias)
    spec = ModuleSpec(module_name, loader, origin=alias)
    try:
        module = loader.create_module(spec)
        loader.exec_module(module)
    except Exception as error:  # the linker's ImportError, or what the cell's own code raises
        raise _does_not_load(error, path, alias) from error
    # What tools and tracebacks show: the alias is meaningless once the descriptor is closed.
    module.__file__ = spec.origin = str(path)
    module.__spec__ = spec
    return module


def _does_not_load(error: Exception, path: Path, alias: str) -> CacheError:
    text = str(error).replace(alias, path.name)
    if _is_noexec(path):
        return refuse(
            f"{path.parent} lies on a file system that nothing may be run from (noexec): {text}",
            need="a directory that libraries can be loaded from",
        )
    return ArtifactUnusable(
        f"{path.name} does not load: {text}",
        need="a library that this Python and this machine can load",
        fix="%kit_cache clear",
    )


def _is_noexec(path: Path) -> bool:
    try:
        return bool(os.statvfs(path.parent).f_flag & os.ST_NOEXEC)
    except (OSError, AttributeError):
        return False


def _renew_lock() -> None:
    # Another thread may have held it at the fork; in the child nobody would ever let it go.
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

"""The compiled guard: part of the installed package, or built once into the store.

Where neither is possible (no compiler, no headers, nowhere to write) kernels use the Python guard,
which decides alike and takes some 0.5 us longer.
"""

from __future__ import annotations

import hashlib
import os
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kit.backends.toolchain import find_compilers
from kit.errors import BuildError, KitError

# Only where no library came with the package is more needed than this: every process loads it.
if TYPE_CHECKING:
    from types import ModuleType

    from kit.cache import Built

__all__ = ["find_guard"]

_SOURCE: Final = Path(__file__).parents[1] / "guard.c"
_FLAGS: Final = ("-O2", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-w")
_LINK: Final = (
    ("-bundle", "-undefined", "dynamic_lookup") if sys.platform == "darwin" else ("-shared",)
)
_SECONDS: Final = 60.0  # for a compilation of half a second


def find_guard() -> type[Any] | None:
    """The compiled guard's type, or None where the Python guard is to serve.

    ``KIT_GUARD=python`` asks for that one. May compile, for half a second, once for each store,
    Python and NumPy.
    """
    if os.environ.get("KIT_GUARD") == "python":
        return None
    module = _packaged() or _stored()
    return None if module is None else module.Guard


def _packaged() -> ModuleType | None:
    try:
        module = import_module("kit._guard")
    except ImportError:
        return None
    # In a checkout whose source has moved on, the library may be an older one.
    return module if hashlib.sha256(_SOURCE.read_bytes()).hexdigest() == module.SOURCE else None


def _stored() -> ModuleType | None:
    try:
        return _load_or_build()
    # A kernel must not fail for want of a faster guard.
    except (OSError, KitError, ImportError):
        return None


def _load_or_build() -> ModuleType | None:
    from kit.cache import Store
    from kit.store.location import store_location
    from kit.store.shelves import Shelves

    location = store_location()
    store = Store(location.root / "guard", is_private=location.is_private)
    key = _key()
    entry = store.lookup(key)
    if entry is None:
        compiler = find_compilers("c")["c"]
        if not Path(_include(), "Python.h").exists() or not _is_writable(location.root):
            return None
        with Shelves(location.root, create=True, is_private=location.is_private):
            entry, _ = store.build_once(
                key, lambda scratch: _build(scratch, key, compiler), label="kit's guard"
            )
    return store.load(entry)


def _key() -> str:
    """Not of the compiler: what it makes of this source runs anywhere on this kind of machine."""
    import numpy as np

    from kit.cache import digest

    return digest(
        {
            "guard": _SOURCE.read_text(encoding="utf-8"),
            "flags": " ".join(_FLAGS),
            "platform": f"{sys.platform} {os.uname().machine}",
            "python": f"{sys.hexversion:x} {EXTENSION_SUFFIXES[0]}",
            "numpy": np.__version__,
        }
    )


def _include() -> str:
    import sysconfig

    return str(sysconfig.get_config_vars()["INCLUDEPY"])


def _is_writable(root: Path) -> bool:
    """Whether a build would be kept: a temporary store is not worth half a second a process."""
    there = next(one for one in (root, *root.parents) if one.exists())
    return os.access(there, os.W_OK)


def _build(scratch: Path, key: str, compiler: str) -> Built:
    import subprocess

    import numpy as np

    from kit.cache import Built, unique_module_name

    name = unique_module_name(key)
    artifact = scratch / f"{name}.so"
    command = [compiler, *_FLAGS, *_LINK, f"-DKIT_GUARD_MODULE={name}"]
    command += [f"-I{_include()}", f"-I{np.get_include()}", str(_SOURCE), "-o", str(artifact)]
    try:
        subprocess.run(
            command,
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )
    except subprocess.SubprocessError as error:
        raise BuildError(f"the guard does not compile: {error}") from error
    return Built(artifact=artifact, module_name=name, meta={"kernels": ["kit's guard"]})

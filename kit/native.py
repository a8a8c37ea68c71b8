"""kit's own C extensions: part of the installed package, or built once into the store.

Each is one file, `kit/guard.c`, `kit/arrayview.c` and `kit/packer.c`, with a twin in Python that
does the same and takes longer. It serves where neither is possible: no compiler, no headers,
nowhere to write.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from kit.errors import BuildError, KitError
from kit.toolchain import find_compilers

# Only where no library came with the package is more needed than this: every process loads it.
if TYPE_CHECKING:
    from types import ModuleType

    from kit.cache import Built

__all__ = ["find_native"]

Name = Literal["arrayview", "guard", "packer"]

_FOLDER: Final = Path(__file__).parent
_FLAGS: Final = ("-O2", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-w")
_LINK: Final = (
    ("-bundle", "-undefined", "dynamic_lookup") if sys.platform == "darwin" else ("-shared",)
)
_SECONDS: Final = 60.0  # for a compilation of half a second


def find_native(name: Name) -> ModuleType | None:
    """The compiled module of `name`, or None where its twin in Python is to serve.

    ``KIT_GUARD=python``, ``KIT_ARRAYVIEW=python`` and ``KIT_PACKER=python`` ask for the twin. May
    compile, for half a second, once for each store, Python and NumPy.
    """
    if os.environ.get(f"KIT_{name.upper()}") == "python":
        return None
    return _packaged(name) or _stored(name)


def _source(name: Name) -> Path:
    return _FOLDER / f"{name}.c"


def _packaged(name: Name) -> ModuleType | None:
    try:
        module = import_module(f"kit._{name}")
    except ImportError:
        return None
    # In a checkout whose source has moved on, the library may be an older one.
    digest = hashlib.sha256(_source(name).read_bytes()).hexdigest()
    return module if digest == module.SOURCE else None


def _stored(name: Name) -> ModuleType | None:
    if sys.platform == "win32":  # where kit compiles nothing
        return None
    try:
        return _load_or_build(name)
    # Nothing must fail for want of a faster way.
    except (OSError, KitError, ImportError):
        return None


def _load_or_build(name: Name) -> ModuleType | None:
    from kit.cache import Store
    from kit.store.loading import ArtifactUnusable
    from kit.store.location import store_location
    from kit.store.shelves import Shelves

    location = store_location()
    store = Store(location.root / name, is_private=location.is_private)
    key = _key(name)
    entry = store.lookup(key)
    if entry is not None:
        # What does not load (another C library, a damaged file) is forgotten, and built again.
        with contextlib.suppress(ArtifactUnusable):
            return store.load(entry)
    compiler = find_compilers("c")["c"]
    if not Path(_include(), "Python.h").exists() or not _is_writable(location.root):
        return None
    with Shelves(location.root, create=True, is_private=location.is_private):
        entry, _ = store.build_once(
            key, lambda scratch: _build(scratch, name, key, compiler), label=f"kit's {name}"
        )
    return store.load(entry)


def _key(name: Name) -> str:
    """Not of the compiler: what it makes of this source runs anywhere on this kind of machine."""
    import numpy as np

    from kit.cache import digest

    return digest(
        {
            name: _source(name).read_text(encoding="utf-8"),
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


def _build(scratch: Path, name: Name, key: str, compiler: str) -> Built:
    import subprocess

    import numpy as np

    from kit.cache import Built, unique_module_name

    module = unique_module_name(key)
    artifact = scratch / f"{module}.so"
    command = [compiler, *_FLAGS, *_LINK, f"-DKIT_{name.upper()}_MODULE={module}"]
    command += [f"-I{_include()}", f"-I{np.get_include()}", str(_source(name))]
    try:
        subprocess.run(
            [*command, "-o", str(artifact)],
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )
    except subprocess.SubprocessError as error:
        raise BuildError(f"{name}.c does not compile: {error}") from error
    return Built(artifact=artifact, module_name=module, meta={"kernels": [f"kit's {name}"]})

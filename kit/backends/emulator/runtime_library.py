"""The emulator's runtime library: built once into the store, loaded once for each process."""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from kit.backends.emulator.commands import INCLUDE, CompilerFailed, Toolchain
from kit.backends.emulator.faults import FaultReport
from kit.backends.emulator.stored import OnWait, obtain_library
from kit.cache import Built, digest, unique_module_name
from kit.errors import BuildError

__all__ = ["Runtime", "load_runtime", "source_digest"]

_SOURCES: Final = Path(__file__).parent / "runtime"
_PARTS: Final = (
    "allocation", "faults", "fibers", "launch", "output", "pool", "replay", "scheduler", "signals",
)  # fmt: skip

_loaded: dict[str, Runtime] = {}
_lock = threading.Lock()


class Runtime(NamedTuple):
    """The library, as this process has it.

    Parameters
    ----------
    path : str
        Of the file in the store, for the linker.
    soname : str
        What cells need; the loader finds the library that is loaded under this name.
    launch, fault, output, free : ctypes functions
        ``kit_emulator_launch`` and what follows it (runtime/launch.cpp, output.cpp).
    """

    path: Path
    soname: str
    launch: Callable[[int, int, int, int], int]
    fault: Callable[[object], None]
    output: Callable[[object, object], int | None]
    free: Callable[[int | None], None]


@cache
def source_digest() -> str:
    """Of the emulator's own C++ files, which cells and runtime are built from; read once."""
    files = sorted([*INCLUDE.rglob("*"), *_SOURCES.glob("*")])
    hashed = hashlib.sha256()
    for file in files:
        if file.is_file():
            hashed.update(str(file.relative_to(_SOURCES.parent)).encode() + b"\0")
            hashed.update(file.read_bytes())
    return hashed.hexdigest()


def load_runtime(toolchain: Toolchain, sources: str, *, on_wait: OnWait | None = None) -> Runtime:
    """The runtime library for a toolchain; built if the store has none, in about two seconds.

    Parameters
    ----------
    toolchain : Toolchain
        What builds it.
    sources : str
        As `source_digest` gives it.
    on_wait : callable, optional
        As in `kit.cache.Store.build_once`.
    """
    key = digest({"kit emulator": sources, **toolchain.identity()})
    with _lock:
        runtime = _loaded.get(key)
        if runtime is None:
            runtime = _loaded[key] = _load(toolchain, key, on_wait)
        return runtime


def _load(toolchain: Toolchain, key: str, on_wait: OnWait | None) -> Runtime:
    soname = f"libkit_emulator_{key[:16]}.so"

    def build(scratch: Path) -> Built:
        module = unique_module_name(key)
        artifact = scratch / f"{module}.so"
        arguments = [*toolchain.runtime_flags, f"-I{INCLUDE}", f"-Wl,-soname,{soname}"]
        arguments += [str(_SOURCES / f"{part}.cpp") for part in _PARTS]
        try:
            log = toolchain.link([*arguments, "-pthread", "-o", str(artifact)], scratch=scratch)
        except CompilerFailed as failure:
            raise BuildError(
                "the emulator's runtime library does not compile",
                log=failure.output,
                fix="# use another g++ (11 or newer): export CXX=/usr/bin/g++-12",
            ) from failure
        return Built(
            artifact=artifact,
            module_name=module,
            meta={"kernels": ["kit's emulator"], "log": log},
        )

    library, entry, _ = obtain_library(key, build, label="kit's emulator", on_wait=on_wait)
    return _declare(library, entry.artifact, soname)


def _declare(library: ctypes.CDLL, path: Path, soname: str) -> Runtime:
    address, size = ctypes.c_void_p, ctypes.c_size_t
    library.kit_emulator_launch.argtypes = [address, address, address, size]
    library.kit_emulator_fault.argtypes = [ctypes.POINTER(FaultReport)]
    library.kit_emulator_fault.restype = None
    library.kit_emulator_output.argtypes = [ctypes.POINTER(size), ctypes.POINTER(size)]
    library.kit_emulator_output.restype = address
    library.kit_emulator_free.argtypes = [address]
    library.kit_emulator_free.restype = None
    library.kit_emulator_set_workers(_count_workers())
    return Runtime(
        path=path,
        soname=soname,
        launch=library.kit_emulator_launch,
        fault=library.kit_emulator_fault,
        output=library.kit_emulator_output,
        free=library.kit_emulator_free,
    )


def _count_workers() -> int:
    """``KIT_THREADS``, else the CPUs that this process may use, at most ``OMP_NUM_THREADS``."""
    cpus = len(os.sched_getaffinity(0))
    for name, most in (("KIT_THREADS", 1024), ("OMP_NUM_THREADS", cpus)):
        text = os.environ.get(name, "").strip()
        if text.isdecimal() and int(text) > 0:
            return min(int(text), most)
    return cpus


def _renew_lock() -> None:
    # Another thread may have held it at the fork.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)

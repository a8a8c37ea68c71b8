"""A unit's compiled module: from the store where it is known, else compiled into it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from kit.backends.identity import identify_toolchain
from kit.backends.imports import find_module, imported_modules
from kit.building.options import BuildOptions
from kit.cache import (
    JSON,
    ArtifactUnusable,
    Built,
    Entry,
    Store,
    digest,
    open_store,
    unique_module_name,
)
from kit.errors import BuildError
from kit.source.unit import Unit
from kit.store.loading import loaded_module
from kit.trace import BuildRecord

# What only a build needs is imported there: the same cell again shall cost milliseconds.
if TYPE_CHECKING:
    from kit.backends.protocol import CompileReply, Progress

__all__ = ["OnWait", "obtain_module"]

OnWait = Callable[[int, str], None]
"""Called with the process id of whoever compiles the same unit, and what it compiles."""

# Pyccel has these itself; anything else that a unit imports is a file of the user's.
_KNOWN_PACKAGES = frozenset({"numpy", "pyccel", "scipy"}) | sys.stdlib_module_names


class _Compilation(NamedTuple):
    """How one unit is compiled when the store does not have it."""

    unit: Unit
    names: tuple[str, ...]
    options: BuildOptions
    key: str
    search_path: tuple[str, ...]
    on_progress: Progress | None

    def build(self, scratch: Path) -> Built:
        """Compile in `scratch`; BuildError in the cell's lines."""
        from kit.backends.protocol import CompileRequest
        from kit.backends.pyccel import compile_unit
        from kit.building.diagnose import build_error

        request = CompileRequest(
            source=self.unit.text,
            module_name=unique_module_name(self.key),
            language=self.options.language,
            flags=self.options.flags,
            openmp=self.options.openmp,
            search_path=self.search_path,
            scratch=str(scratch),
        )
        reply = compile_unit(request, on_progress=self.on_progress)
        if not reply.ok:
            raise build_error(self.unit, reply)
        described = {"kernels": list(self.names), "language": self.options.language}
        return _to_store(request.module_name, reply, described)


def obtain_module(
    unit: Unit,
    names: tuple[str, ...],
    options: BuildOptions,
    *,
    on_progress: Progress | None = None,
    on_wait: OnWait | None = None,
) -> tuple[ModuleType, BuildRecord]:
    """The compiled module of a unit and how it was come by.

    Parameters
    ----------
    unit : Unit
        What to compile.
    names : tuple of str
        Its kernels; whoever waits for the same unit is told them.
    options : BuildOptions
        How.
    on_progress, on_wait : callable, optional
        As in `kit.build.build_cell`.

    Raises
    ------
    BuildError
        The toolchain failed, or what it made does not load, twice.
    CacheError
        The store cannot be used.
    """
    started = time.perf_counter()
    _collect_worker()
    search_path = _search_path(unit)
    key = digest(
        {
            "unit": unit.text,
            "modules": _modules(unit, search_path),
            **identify_toolchain(options.language, options.flags, options.openmp),
        }
    )
    store = open_store()
    compilation = _Compilation(
        unit=unit,
        names=names,
        options=options,
        key=key,
        search_path=search_path,
        on_progress=on_progress,
    )

    def build_once(force: bool) -> tuple[Entry, bool]:
        from kit.show.build_text import few_names

        label = few_names(names)
        return store.build_once(key, compilation.build, label=label, on_wait=on_wait, force=force)

    found, missing = (None, "forced") if options.force else store.inspect(key)
    is_known = found is not None and loaded_module(found.module_name) is not None
    entry, was_built = (found, False) if found is not None else build_once(options.force)
    module, entry, was_built = _load(store, entry, was_built, build_once)
    reason = f"built: {missing or 'damaged'}" if was_built else "memory" if is_known else "store"
    seconds = {"total": time.perf_counter() - started}
    return module, _record(names, options, entry, was_built, reason, seconds)


def _collect_worker() -> None:
    """A worker that left after its idle time stays a zombie until somebody looks."""
    workers = sys.modules.get("kit.backends.workers")
    if workers is not None:
        workers.reap()


def _load(
    store: Store, entry: Entry, was_built: bool, build_once: Callable[[bool], tuple[Entry, bool]]
) -> tuple[ModuleType, Entry, bool]:
    """The entry's module; an artifact that does not load is built once more."""
    try:
        return store.load(entry), entry, was_built
    except ArtifactUnusable as first:
        if was_built:
            raise _unusable(first) from first
    entry, was_built = build_once(False)
    try:
        return store.load(entry), entry, was_built
    except ArtifactUnusable as second:
        raise _unusable(second) from second


def _unusable(error: ArtifactUnusable) -> BuildError:
    return BuildError(
        f"the compiled module does not load: {error.found}",
        fix="use the compilers of the environment whose Python runs this notebook: "
        "`which gfortran` beside `which python`; then %kit_cache clear",
    )


def _to_store(module_name: str, reply: CompileReply, described: Mapping[str, JSON]) -> Built:
    warnings = [one.message for one in reply.diagnostics if one.severity == "warning"]
    meta: dict[str, JSON] = {
        **described,  # for people who list the store
        "files": dict(reply.files),
        "log": reply.log,
        "generated": dict(reply.generated),
        "seconds": dict(reply.seconds),
        "compiler": reply.compiler,
        "warnings": warnings,
    }
    return Built(
        artifact=Path(cast(str, reply.artifact)),
        module_name=module_name,
        meta=meta,
    )


def _record(
    names: tuple[str, ...],
    options: BuildOptions,
    entry: Entry,
    was_built: bool,
    reason: str,
    seconds: Mapping[str, float],
) -> BuildRecord:
    meta = cast("Mapping[str, Any]", entry.meta)
    return BuildRecord(
        kernels=names,
        language=options.language,
        flags=options.effective_flags,
        openmp=options.openmp,
        key=entry.key,
        hit=not was_built,
        reason=reason,
        seconds={**meta["seconds"], **seconds} if was_built else seconds,
        log=meta["log"],
        generated=meta["generated"],
        compiler=meta["compiler"],
        artifact_bytes=entry.artifact_bytes,
        warnings=tuple(meta["warnings"]),
    )


def _search_path(unit: Unit) -> tuple[str, ...]:
    """Where the user's own modules are looked for; empty for a unit that imports none."""
    if not any(_is_users(name) for name in imported_modules(unit.text)):
        return ()
    try:
        here = [str(Path.cwd())]
    except FileNotFoundError:  # the working directory was deleted
        here = []
    return (*here, *(one for one in sys.path if one))


def _modules(unit: Unit, search_path: tuple[str, ...]) -> str:
    """Which files the user's modules are, for the key: another directory may have others."""
    if not search_path:
        return ""
    names = sorted({name for name in imported_modules(unit.text) if _is_users(name)})
    return "\n".join(f"{name} {find_module(name, search_path)}" for name in names)


def _is_users(name: str) -> bool:
    return name.partition(".")[0] not in _KNOWN_PACKAGES

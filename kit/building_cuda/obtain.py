"""A CUDA cell's cubins and signatures: from the store where they are known, else built into it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from kit.architectures import estimate_occupancy, find_architecture
from kit.backends.cuda_packages import CudaPackages, find_cuda_packages
from kit.building_cuda.command import build_identity, check_flags, choose_architectures
from kit.cache import JSON, ArtifactUnusable, Built, Entry, digest, open_store, unique_module_name
from kit.cuda.includes import included_files
from kit.cuda.options import CudaOptions
from kit.cuda.signature import CudaSignature, CudaSymbol
from kit.cuda.stored_signature import signature_from_json, symbol_from_json
from kit.errors import BuildError, CellError
from kit.trace import BuildRecord, KernelResources

# What only a build needs is imported there: the same cell again shall cost milliseconds.
if TYPE_CHECKING:
    from kit.backends.protocol import Progress
    from kit.store.building import OnWait

__all__ = ["ObtainedCell", "obtain_cell"]

_RESOURCES: Final = ("registers", "stack", "spill_stores", "spill_loads", "shared")
_USUAL_THREADS: Final = 256  # of a block, where neither cell nor kernel says


class ObtainedCell(NamedTuple):
    """What is known of a built cell.

    Parameters
    ----------
    signatures : tuple of CudaSignature
        Of its kernels, in the cell's order.
    symbols : tuple of CudaSymbol
        Its variables.
    record : BuildRecord
        Of the build.
    refusal : CellError or None
        Why the emulator cannot run it.
    files : mapping of str to str
        The user's files that it includes -> SHA-256.
    read_cubins : callable
        Gives architecture -> machine code.
    """

    signatures: tuple[CudaSignature, ...]
    symbols: tuple[CudaSymbol, ...]
    record: BuildRecord
    refusal: CellError | None
    files: Mapping[str, str]
    read_cubins: Callable[[], Mapping[str, bytes]]


def obtain_cell(
    text: str,
    options: CudaOptions,
    *,
    on_progress: Progress | None = None,
    on_wait: OnWait | None = None,
) -> ObtainedCell:
    """What a cell's text and options give, compiled for every architecture.

    Parameters
    ----------
    text : str
        The cell; its first line stands for the magic line.
    options : CudaOptions
        How.
    on_progress, on_wait : callable, optional
        As in `kit.build_cuda.build_cuda_cell`.

    Raises
    ------
    CellError, BuildError, CacheError
        As in `kit.build_cuda.build_cuda_cell`.
    """
    started = time.perf_counter()
    check_flags(options.flags)
    packages = find_cuda_packages()
    architectures = choose_architectures(options)
    identity, files = build_identity(text, options, architectures, packages)
    key = digest(identity)
    build = _Build(text, options, architectures, packages, key, files, on_progress)
    store = open_store()

    def build_once(force: bool) -> tuple[Entry, bool]:
        return store.build_once(key, build.run, label=_label(text), on_wait=on_wait, force=force)

    found, missing = (None, "forced") if options.force else store.inspect(key)
    entry, was_built = (found, False) if found is not None else build_once(options.force)
    try:
        facts = _read_facts(entry)
    except _UNREADABLE:
        missing = "what was stored is damaged"
        entry, was_built = build_once(True)
        facts = _read_facts(entry)
    record = _record(
        entry,
        facts,
        options,
        hit=not was_built,
        reason=f"built: {missing}" if was_built else "store",
        seconds={"total": time.perf_counter() - started},
    )

    def read_cubins() -> Mapping[str, bytes]:
        try:
            return _split(entry, store.read_artifact(entry))
        except ArtifactUnusable:  # it was evicted or damaged since; the store has forgotten it
            again, _ = build_once(False)
            return _split(again, store.read_artifact(again))

    return ObtainedCell(facts.signatures, facts.symbols, record, facts.refusal, files, read_cubins)


class _Build(NamedTuple):
    """How one cell is compiled when the store does not have it."""

    text: str
    options: CudaOptions
    architectures: tuple[str, ...]
    packages: CudaPackages
    key: str
    files: Mapping[str, str]
    on_progress: Progress | None

    def run(self, scratch: Path) -> Built:
        """Compile in `scratch`; CellError and BuildError in the cell's lines."""
        from kit.building_cuda.compiling import compile_cell

        made = compile_cell(
            self.text,
            self.options,
            self.architectures,
            self.packages,
            scratch,
            on_progress=self.on_progress,
        )
        if self.files and included_files(self.text, self.options.include_dirs) != self.files:
            raise BuildError(
                "a file that the cell includes changed while it was compiled",
                fix="run the cell again",
            )
        artifact = scratch / "cell.cubins"
        artifact.write_bytes(b"".join(made.cubins.values()))
        meta: dict[str, JSON] = {
            "kernels": [one.name for one in made.signatures],
            "language": "cuda",
            "files": dict(self.files),
            "cubins": [[name, len(content)] for name, content in made.cubins.items()],
            **made.to_meta(),
        }
        return Built(artifact=artifact, module_name=unique_module_name(self.key), meta=meta)


def _label(text: str) -> str:
    """What others are told while they wait: the cell is not parsed for that."""
    head = next((line.strip() for line in text.split("\n") if "__global__" in line), "a CUDA cell")
    return head.replace("__global__", "").strip()[:60]


class _Facts(NamedTuple):
    """What an entry says, checked as far as a wrong answer would be read as another one."""

    signatures: tuple[CudaSignature, ...]
    symbols: tuple[CudaSymbol, ...]
    refusal: CellError | None
    resources: Mapping[str, Mapping[str, Mapping[str, int]]]


_UNREADABLE: Final = (TypeError, ValueError, LookupError, AttributeError)


def _read_facts(entry: Entry) -> _Facts:
    """One of `_UNREADABLE` where kit did not write that."""
    meta = cast("Mapping[str, Any]", entry.meta)
    if sum(size for _, size in meta["cubins"]) != entry.artifact_bytes:
        raise ValueError("the cubins are longer or shorter than the artifact")
    return _Facts(
        signatures=tuple(signature_from_json(one) for one in meta["signatures"]),
        symbols=tuple(symbol_from_json(one) for one in meta["symbols"]),
        refusal=None if meta["refusal"] is None else CellError(**meta["refusal"]),
        resources={
            kernel: {name: {key: use[key] for key in _RESOURCES} for name, use in uses.items()}
            for kernel, uses in meta["resources"].items()
        },
    )


def _split(entry: Entry, content: bytes) -> Mapping[str, bytes]:
    """The cubins that lie one after another in an artifact."""
    cubins: dict[str, bytes] = {}
    offset = 0
    for name, size in cast("Sequence[tuple[str, int]]", entry.meta["cubins"]):
        cubins[name] = content[offset : offset + size]
        offset += size
    return cubins


def _record(
    entry: Entry,
    facts: _Facts,
    options: CudaOptions,
    *,
    hit: bool,
    reason: str,
    seconds: Mapping[str, float],
) -> BuildRecord:
    meta = cast("Mapping[str, Any]", entry.meta)
    bounds = {one.name: one.max_threads for one in facts.signatures}
    return BuildRecord(
        kernels=tuple(meta["kernels"]),
        language="cuda",
        flags=tuple(meta["flags"]),
        key=entry.key,
        hit=hit,
        reason=reason,
        seconds=seconds if hit else {**meta["seconds"], **seconds},
        log=meta["log"],
        generated=meta["generated"],
        compiler=meta["compiler"],
        artifact_bytes=entry.artifact_bytes,
        warnings=tuple(meta["warnings"]),
        architectures=tuple(name for name, _ in meta["cubins"]),
        resources={
            kernel: {
                architecture: _resources(architecture, use, options, bounds.get(kernel))
                for architecture, use in uses.items()
            }
            for kernel, uses in facts.resources.items()
        },
    )


def _resources(
    architecture: str, use: Mapping[str, int], options: CudaOptions, max_threads: int | None
) -> KernelResources:
    """What ptxas said, with the occupancy of the cell's block or of the usual one."""
    registers, stack, stores, loads, shared = (use[key] for key in _RESOURCES)
    threads = prod(options.block) if options.block else min(_USUAL_THREADS, max_threads or 1024)
    limits = find_architecture(architecture)
    occupancy = None
    if limits is not None:
        occupancy = estimate_occupancy(
            limits, threads=threads, registers=registers, shared_bytes=shared
        ).fraction
    return KernelResources(registers, stores, loads, stack, shared, threads, occupancy)

"""Story 1 for CUDA: a cell of CUDA C++ becomes kernels.

cell text -> prototypes -> architectures -> cache key -> (hit | NVRTC) -> signatures
-> `CudaKernel` bound -> `BuildRecord`

What a target runs is loaded at the first call: the cubin by CuPy, the emulator's library after g++
has made it, which a notebook has done with the cell.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kit.building_cuda.obtain import ObtainedCell, obtain_cell
from kit.cuda.cell_build import CudaCellBuild
from kit.cuda.options import CudaOptions
from kit.cuda_target import choose_target
from kit.kernel_cuda import CudaKernel
from kit.trace import BuildRecord

if TYPE_CHECKING:
    from kit.backends.protocol import Progress
    from kit.cuda.loaded import LoadedCell
    from kit.store.building import OnWait
    from kit.terms import Target

_rebuilt: dict[tuple[str, str, str], CudaKernel] = {}

__all__ = ["BuiltCudaCell", "CudaOptions", "build_cuda_cell", "rebuild_cuda_kernel"]


class BuiltCudaCell(NamedTuple):
    """What a CUDA cell gave.

    Parameters
    ----------
    kernels : mapping of str to CudaKernel
        The ``__global__`` functions, in the cell's order.
    record : BuildRecord
        How they were built; `record.resources` has registers, spills and shared memory.
    """

    kernels: Mapping[str, CudaKernel]
    record: BuildRecord


def build_cuda_cell(
    text: str,
    *,
    options: CudaOptions | None = None,
    on_progress: Progress | None = None,
    on_wait: OnWait | None = None,
    ahead: bool = False,
) -> BuiltCudaCell:
    """Compile a cell of CUDA C++ with NVRTC, or load what an earlier build of the same cell left.

    Writes to the artifact store only; needs no GPU and runs nothing.

    Parameters
    ----------
    text : str
        The cell. A magic leaves an empty first line in the place of its own line, so that line
        numbers agree with the cell's.
    options : CudaOptions, optional
        Architectures, standard, include folders, ...
    on_progress : callable, optional
        Called with the stage and the seconds since the build began [s]; not on a hit.
    on_wait : callable, optional
        Called once when another process compiles the same cell.
    ahead : bool
        Whether g++ compiles a new cell now where it will run in the emulator, so that who waits
        sees progress and errors with the cell; otherwise the first call does it.

    Raises
    ------
    CellError
        The cell cannot become kernels; with the line that says why.
    BuildError
        NVRTC refused it, an architecture is unknown, or what is needed is not installed.
    CacheError
        The store cannot be trusted or written.
    """
    options = options or CudaOptions()
    _collect_workers()
    cell = obtain_cell(text, options, on_progress=on_progress, on_wait=on_wait)
    is_emulated = choose_target(options.target) == "emulator"
    if cell.refusal is not None and is_emulated:
        raise copy(cell.refusal)
    loaders = _loaders(text, options, cell)
    # What is only compiled has no loaders.
    if ahead and is_emulated and not cell.record.hit and "emulator" in loaders:
        loaders["emulator"](on_progress=_on_the_cpu(on_progress), on_wait=on_wait)
    build = CudaCellBuild(
        source=text,
        options=replace(options, force=False),  # a copy of a kernel builds nothing again
        record=cell.record,
        symbols=cell.symbols,
        loaders=loaders,
        rebuild=rebuild_cuda_kernel,
    )
    kernels = {one.name: CudaKernel(one, cell=build) for one in cell.signatures}
    return BuiltCudaCell(kernels=kernels, record=cell.record)


def rebuild_cuda_kernel(source: str, name: str, options: Mapping[str, Any]) -> CudaKernel:
    """An equal kernel from its text: what unpickling calls. Compiles that text."""
    built = build_cuda_cell(source, options=CudaOptions(**options))
    kernel = built.kernels[name]
    # Copies of a kernel in one process are one: each would load the cell again.
    key = (built.record.key, name, repr(kernel.cell.options))
    return _rebuilt.setdefault(key, kernel)


def _loaders(text: str, options: CudaOptions, cell: ObtainedCell) -> Mapping[Target, _Once]:
    """How each target gets the cell; libraries of a target are imported at its first call."""

    def on_device() -> LoadedCell:
        from kit.backends.cupy_device import load

        return load(cell.read_cubins(), debug=options.debug)

    def in_emulator(
        *, on_progress: Progress | None = None, on_wait: OnWait | None = None
    ) -> LoadedCell:
        if cell.refusal is not None:
            # Not the same object each time: it would keep the frames of the latest call alive.
            raise copy(cell.refusal)
        from kit.backends.emulator import obtain

        return obtain(
            text,
            cell.signatures,
            cell.symbols,
            # The CPU sees the same __CUDA_ARCH__: types may hang on it.
            replace(options, architectures=cell.record.architectures),
            files=cell.files,
            on_progress=on_progress,
            on_wait=on_wait,
        )

    if options.target == "compile":
        return {}
    return {"device": _Once(on_device), "emulator": _Once(in_emulator)}


def _on_the_cpu(on_progress: Progress | None) -> Progress | None:
    """The same, with stages that cannot be taken for those of NVRTC."""
    if on_progress is None:
        return None
    return lambda stage, seconds: on_progress(f"{stage} for the CPU", seconds)


class _Once:
    """A function that is called once; where it raises, the next call tries again."""

    def __init__(self, load: Callable[..., LoadedCell]) -> None:
        self._load = load
        self._lock, self._pid = threading.Lock(), os.getpid()
        self._loaded: LoadedCell | None = None

    def __call__(self, **told: Any) -> LoadedCell:
        if self._loaded is None:
            if self._pid != os.getpid():  # another thread may have held it at the fork
                self._lock, self._pid = threading.Lock(), os.getpid()
            with self._lock:
                if self._loaded is None:
                    self._loaded = self._load(**told)
        return self._loaded


def _collect_workers() -> None:
    """A worker that left after its idle time stays a zombie until somebody looks."""
    workers = sys.modules.get("kit.backends.workers")
    if workers is not None:
        workers.reap()

"""Story 1 for CUDA: a cell of CUDA C++ becomes kernels.

cell text -> prototypes -> architectures -> cache key -> (hit | NVRTC) -> signatures
-> `CudaKernel` bound -> `BuildRecord`

What a target runs is loaded at the first call: the cubin by CuPy, the emulator's library after g++.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kit.cuda.options import CudaOptions
from kit.cuda_kernel import CudaKernel
from kit.trace import BuildRecord

if TYPE_CHECKING:
    from kit.backends.protocol import Progress
    from kit.store.building import OnWait

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

    Raises
    ------
    CellError
        The cell cannot become kernels; with the line that says why.
    BuildError
        NVRTC refused it, an architecture is unknown, or what is needed is not installed.
    CacheError
        The store cannot be trusted or written.
    """
    raise NotImplementedError


def rebuild_cuda_kernel(source: str, name: str, options: Mapping[str, Any]) -> CudaKernel:
    """An equal kernel from its text: what unpickling calls. Compiles that text."""
    return build_cuda_cell(source, options=CudaOptions(**options)).kernels[name]

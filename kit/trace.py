"""What is recorded about a build; holds text and numbers only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kit.terms import KernelLanguage

__all__ = ["BuildRecord", "KernelResources"]


class KernelResources(NamedTuple):
    """What one CUDA kernel takes on one architecture.

    Parameters
    ----------
    registers : int
        Of one thread.
    spill_store_bytes, spill_load_bytes : int
        What one thread writes to and reads from local memory, for want of registers [bytes].
    stack_bytes : int
        Stack frame of one thread, in local memory [bytes].
    shared_bytes : int
        Static shared memory of one block [bytes].
    block_threads : int
        Threads of the block that `occupancy` is for.
    occupancy : float or None
        Share of a multiprocessor's warps that such blocks fill, 0 to 1; None where the architecture
        is newer than kit's tables.
    """

    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    shared_bytes: int
    block_threads: int
    occupancy: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRecord:
    """How a cell became kernels.

    Parameters
    ----------
    kernels : tuple of str
        Names of the cell's public functions, in the cell's order.
    language : {"fortran", "c", "cuda"}
        What Pyccel translated the cell to; "cuda" for a CUDA cell.
    flags : tuple of str
        Compiler flags, in the order in which the compiler saw them.
    openmp : bool
        Whether pragmas were compiled.
    key : str
        Digest of everything that the artifact depends on.
    hit : bool
        Whether an artifact that already existed was used.
    reason : str
        Where it came from ("memory", "store", "built"), or why it had to be built.
    seconds : mapping of str to float
        Time of each stage [s].
    log : str
        Everything that the toolchain printed.
    generated : mapping of str to str
        File name to text of the generated Fortran or C.
    compiler : str
        Name and version of the compiler.
    artifact_bytes : int
        Size of the shared library [bytes].
    warnings : tuple of str
        What the toolchain warned about.
    architectures : tuple of str
        What a CUDA cell was compiled for, ``sm_90``, ...
    resources : mapping
        Of a CUDA cell: kernel -> architecture -> `KernelResources`.
    """

    kernels: tuple[str, ...]
    language: KernelLanguage
    flags: tuple[str, ...] = ()
    openmp: bool = False
    key: str = ""
    hit: bool = False
    reason: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    log: str = ""
    generated: Mapping[str, str] = field(default_factory=dict[str, str])
    compiler: str = ""
    artifact_bytes: int = 0
    warnings: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    resources: Mapping[str, Mapping[str, KernelResources]] = field(
        default_factory=dict[str, Mapping[str, KernelResources]]
    )

"""What is recorded about a build; holds text and numbers only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kit.terms import Language

__all__ = ["BuildRecord"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRecord:
    """How a cell became kernels.

    Parameters
    ----------
    kernels : tuple of str
        Names of the cell's public functions, in the cell's order.
    language : {"fortran", "c"}
        What Pyccel translated the cell to.
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
    """

    kernels: tuple[str, ...]
    language: Language
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

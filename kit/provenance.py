"""Where a kernel came from, and how to get it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kit.source.unit import CellSource
from kit.terms import KernelLanguage
from kit.trace import BuildRecord

__all__ = ["CacheInfo", "KernelBuild"]

Function = Callable[..., Any]


class CacheInfo(NamedTuple):
    """Whether a kernel's artifact was there already.

    Parameters
    ----------
    hit : bool
        Whether nothing had to be compiled.
    reason : str
        Where it came from, or why it was built.
    key : str
        Digest of everything that it depends on.
    """

    hit: bool
    reason: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelBuild:
    """Where a kernel came from, and how to get it again.

    Parameters
    ----------
    record : BuildRecord
        Of the build.
    cell_source, unit, function_source : str
        Text of the cell, of all that was compiled, and of the function alone.
    language : {"fortran", "c", "cuda"}
        What Pyccel translated to; "cuda" for a CUDA cell.
    options : mapping
        The options of the build, plain and picklable.
    load_python : callable
        Gives the same function uncompiled; called when it is first needed.
    rebuild : callable or None
        A function at module level: ``rebuild(unit, name, options)`` gives an equal kernel.
    identity : tuple
        Kernels with equal ones are equal.
    doc : str or None
        The function's documentation.
    origin : CellSource or None
        The cell with what it uses from other cells, for kernels that call this one.
    uses : mapping of str to PyccelKernel
        The kernels of other cells that were compiled in, by name.
    """

    record: BuildRecord
    cell_source: str
    unit: str
    function_source: str
    language: KernelLanguage
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    load_python: Callable[[], Function] | None = None
    rebuild: Callable[[str, str, Mapping[str, Any]], object] | None = None
    identity: tuple[object, ...] = ()
    doc: str | None = None
    origin: CellSource | None = None
    # Of PyccelKernel, which is a layer above.
    uses: Mapping[str, Any] = field(default_factory=dict[str, Any])

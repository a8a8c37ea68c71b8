"""Where CUDA kernels came from, and how each target gets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kit.cuda.loaded import LoadedCell
from kit.cuda.options import CudaOptions
from kit.cuda.signature import CudaSymbol
from kit.terms import Target
from kit.trace import BuildRecord

__all__ = ["CudaCellBuild"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaCellBuild:
    """One built CUDA cell, which its kernels share.

    Parameters
    ----------
    source : str
        Text of the cell; its first line stands for the magic line.
    options : CudaOptions
        How it was built.
    record : BuildRecord
        Of the build.
    symbols : tuple of CudaSymbol
        Its ``__constant__`` and ``__device__`` variables.
    loaders : mapping of str to callable
        Target ("device", "emulator") -> a function that loads the cell for it, at the first call
        and from then on the same object. It raises what explains why that cannot be: CellError for
        what the emulator cannot run, KitError where there is no device.
    rebuild : callable
        A function at module level: ``rebuild(source, name, options)`` gives an equal kernel.
    """

    source: str
    options: CudaOptions
    record: BuildRecord
    symbols: tuple[CudaSymbol, ...]
    loaders: Mapping[Target, Callable[[], LoadedCell]]
    rebuild: Callable[[str, str, Mapping[str, Any]], object]

"""The real compiler, asked directly: the judge of what kit reads in a CUDA cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from kit.backends.cuda_packages import find_cuda_packages
from kit.backends.nvrtc_library import Nvrtc
from kit.cuda.options import CudaOptions
from kit.cuda.prototypes import CudaCell, parse_cuda_cell
from kit.cuda.signature import CudaSignature, CudaSymbol

__all__ = ["Compiled", "compile_cell", "compile_text", "signatures_of", "symbols_of"]


class Compiled(NamedTuple):
    """What NVRTC gave: name expression -> name in the cubin, its log, the cubin."""

    lowered: Mapping[str, str]
    log: str
    cubin: bytes


def compile_text(
    text: str,
    names: Sequence[str] = (),
    *,
    std: str = "c++17",
    arch: str = "sm_90",
    include: Sequence[str] = (),
    options: Sequence[str] = (),
) -> Compiled:
    """Compile a text; an AssertionError with the log where NVRTC refuses it."""
    folders = (*find_cuda_packages().include_dirs, *include)
    given = [f"--std={std}", f"-arch={arch}", *(f"-I{one}" for one in folders), *options]
    made = _nvrtc().compile(text, "cell.cu", given, names)
    assert made.ok, made.log
    assert made.lowered.keys() == set(names)
    return Compiled(made.lowered, made.log, made.cubin)


@cache
def _nvrtc() -> Nvrtc:
    return Nvrtc(find_cuda_packages().library)


def compile_cell(
    text: str, options: CudaOptions | None = None, *, std: str = "c++17", arch: str = "sm_90"
) -> tuple[CudaCell, Compiled]:
    """A cell as its magic gives it (line 2 is the first line of `text`), compiled."""
    options = options or CudaOptions()
    cell = parse_cuda_cell("\n" + text, options)
    source = "\n" + text + cell.probe_source
    include = options.include_dirs
    return cell, compile_text(source, cell.name_expressions, std=std, arch=arch, include=include)


def signatures_of(text: str, **options: Any) -> tuple[CudaSignature, ...]:
    """Signatures of a cell's kernels; line 2 is the first line of `text`."""
    cell, compiled = compile_cell(text, CudaOptions(**options))
    return cell.signatures(compiled.lowered)


def symbols_of(text: str) -> tuple[CudaSymbol, ...]:
    """Variables of a cell."""
    cell, compiled = compile_cell(text)
    return cell.symbol_facts(compiled.lowered)

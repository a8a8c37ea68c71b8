"""The real compiler, asked directly: the judge of what kit reads in a CUDA cell."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from kit.cuda.options import CudaOptions
from kit.cuda.prototypes import CudaCell, parse_cuda_cell
from kit.cuda.signature import CudaSignature, CudaSymbol

__all__ = ["compile_cell", "compile_text", "signatures_of", "symbols_of"]


@cache
def include_dirs() -> tuple[str, ...]:
    """Folders of libcu++ and of the CUDA runtime's headers, in NVIDIA's wheels."""
    spec = importlib.util.find_spec("nvidia")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    roots = [Path(one) for one in spec.submodule_search_locations]
    found = [
        path
        for pattern in ("*/include/cccl", "cuda_runtime/include")
        for root in roots
        for path in sorted(root.glob(pattern))
    ]
    return tuple(map(str, found))


def compile_text(
    text: str, names: Sequence[str] = (), *, std: str = "c++17", arch: str = "sm_90"
) -> tuple[Mapping[str, str], str]:
    """Lowered names and the log; an AssertionError with the log where NVRTC refuses the text."""
    nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")

    def done(result: Any) -> Any:
        assert int(result[0]) == 0, nvrtc.nvrtcGetErrorString(result[0])
        return result[1] if len(result) == 2 else None

    program = done(nvrtc.nvrtcCreateProgram(text.encode(), b"cell.cu", 0, [], []))
    for name in names:
        done(nvrtc.nvrtcAddNameExpression(program, name.encode()))
    options = [f"--std={std}", f"-arch={arch}", *(f"-I{one}" for one in include_dirs())]
    encoded = [one.encode() for one in options]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
    buffer = b" " * done(nvrtc.nvrtcGetProgramLogSize(program))
    nvrtc.nvrtcGetProgramLog(program, buffer)
    log = buffer.decode().strip("\0 \n")
    assert int(result) == 0, log
    lowered = {one: done(nvrtc.nvrtcGetLoweredName(program, one.encode())) for one in names}
    nvrtc.nvrtcDestroyProgram(program)
    return {name: value.decode() for name, value in lowered.items()}, log


def compile_cell(
    text: str, options: CudaOptions | None = None, *, std: str = "c++17", arch: str = "sm_90"
) -> tuple[CudaCell, Mapping[str, str], str]:
    """A cell as its magic gives it, what NVRTC calls its expressions, and the log."""
    cell = parse_cuda_cell("\n" + text, options or CudaOptions())
    lowered, log = compile_text(
        "\n" + text + cell.probe_source, cell.name_expressions, std=std, arch=arch
    )
    return cell, lowered, log


def signatures_of(text: str, **options: Any) -> tuple[CudaSignature, ...]:
    """Signatures of a cell's kernels; line 2 is the first line of `text`."""
    cell, lowered, _ = compile_cell(text, CudaOptions(**options))
    return cell.signatures(lowered)


def symbols_of(text: str) -> tuple[CudaSymbol, ...]:
    """Variables of a cell."""
    cell, lowered, _ = compile_cell(text)
    return cell.symbol_facts(lowered)

"""One CUDA cell, compiled for every architecture in NVRTC's worker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kit.backends.cuda_packages import CudaPackages
from kit.backends.nvrtc import compile_cubins, read_cubins
from kit.backends.nvrtc_protocol import NvrtcProgram, NvrtcReply, NvrtcRequest
from kit.building_cuda.command import PROGRAM, nvrtc_options, shown_options, unknown_architecture
from kit.building_cuda.diagnose import build_error, tool_failure, warnings_of
from kit.building_cuda.log import read_resources
from kit.cache import JSON
from kit.cuda.options import CudaOptions
from kit.cuda.probe import PREFIX
from kit.cuda.prototypes import parse_cuda_cell
from kit.cuda.signature import CudaSignature, CudaSymbol
from kit.cuda.stored_signature import signature_to_json, symbol_to_json
from kit.errors import CellError, one_line

if TYPE_CHECKING:
    from kit.backends.protocol import Progress

__all__ = ["CompiledCell", "compile_cell"]


class CompiledCell(NamedTuple):
    """What NVRTC made of a cell.

    Parameters
    ----------
    signatures : tuple of CudaSignature
        Of its kernels.
    symbols : tuple of CudaSymbol
        Its variables.
    cubins : mapping of str to bytes
        Architecture -> machine code.
    reply : NvrtcReply
        All that was said.
    warnings : tuple of str
        In the cell's lines.
    flags : tuple of str
        What NVRTC was told, besides folders.
    refusal : CellError or None
        Why the emulator cannot run it.
    """

    signatures: tuple[CudaSignature, ...]
    symbols: tuple[CudaSymbol, ...]
    cubins: Mapping[str, bytes]
    reply: NvrtcReply
    warnings: tuple[str, ...]
    flags: tuple[str, ...]
    refusal: CellError | None

    def to_meta(self) -> dict[str, JSON]:
        """What the store keeps of it, beside the cubins."""
        first, *_ = self.reply.programs
        return {
            "signatures": [signature_to_json(one) for one in self.signatures],
            "symbols": [symbol_to_json(one) for one in self.symbols],
            "resources": _resources(self.signatures, self.reply.programs),
            "log": "\n".join(_titled_log(one) for one in self.reply.programs),
            "generated": {f"cell.{first.architecture}.ptx": _without_probe(first.ptx)},
            "seconds": {
                f"nvrtc {one.architecture}": one.seconds.get("compile", 0.0)
                for one in self.reply.programs
            },
            "compiler": self.reply.compiler,
            "warnings": list(self.warnings),
            "flags": list(self.flags),
            "refusal": None if self.refusal is None else _plain(self.refusal),
        }


def compile_cell(
    text: str,
    options: CudaOptions,
    architectures: tuple[str, ...],
    packages: CudaPackages,
    scratch: Path,
    *,
    on_progress: Progress | None = None,
) -> CompiledCell:
    """Compile a cell; writes below `scratch` only.

    Raises
    ------
    CellError
        The cell cannot become kernels, or NVRTC does not know an architecture.
    BuildError
        NVRTC refused it.
    """
    cell = parse_cuda_cell(text, options)
    request = NvrtcRequest(
        source=text + cell.probe_source,
        name=PROGRAM,
        architectures=architectures,
        options=nvrtc_options(options, packages),
        expressions=cell.name_expressions,
        scratch=str(scratch),
    )
    reply = compile_cubins(request, packages, on_progress=on_progress)
    if not reply.programs:
        raise unknown_architecture(architectures, reply.supported, reply.compiler)
    folders = (*packages.include_dirs, *options.include_dirs)
    for program in reply.programs:
        if program.failure:
            raise tool_failure(program)
        if not program.ok:
            raise build_error(text, cell.kernels, program, folders)
    lowered = [one.lowered for one in reply.programs]
    # Code under ``#if __CUDA_ARCH__ >= 800`` is there for some architectures only.
    signatures = _all_of(cell.signatures(one) for one in lowered)
    return CompiledCell(
        signatures=signatures,
        symbols=_all_of(cell.symbol_facts(one) for one in lowered),
        cubins=read_cubins(reply, scratch),
        reply=reply,
        warnings=warnings_of(text, cell.kernels, reply.programs[0].log, options.include_dirs),
        flags=shown_options(options),
        refusal=_refusal(text, replace(options, architectures=architectures)),
    )


_Named = TypeVar("_Named", CudaSignature, CudaSymbol)


def _all_of(lists: Iterable[Sequence[_Named]]) -> tuple[_Named, ...]:
    """One of each name, in the cell's order.

    Raises
    ------
    CellError
        It is not called the same in every cubin, or does not lie the same.
    """
    found: dict[str, _Named] = {}
    for names in lists:
        for one in names:
            if _in_cubin(found.setdefault(one.name, one)) != _in_cubin(one):
                raise CellError(
                    f"the types of {one.name} are others for each architecture",
                    line=one.line,
                    fix="--arch with one architecture",
                )
    return tuple(sorted(found.values(), key=lambda one: one.line))


def _in_cubin(one: CudaSignature | CudaSymbol) -> tuple[object, ...]:
    """What is one for all cubins: arguments are packed once. Bounds of a launch may differ."""
    return (one.lowered, one.parameters) if isinstance(one, CudaSignature) else one


def _refusal(text: str, options: CudaOptions) -> CellError | None:
    from kit.backends.emulator.refusals import refuse_what_cannot_run

    try:
        refuse_what_cannot_run(text, options)
    except CellError as error:
        return error
    return None


def _plain(error: CellError) -> dict[str, JSON]:
    names = ("message", "line", "column", "source_line", "fix")
    return {name: getattr(error, name) for name in names}


def _resources(
    signatures: Sequence[CudaSignature], programs: Sequence[NvrtcProgram]
) -> dict[str, JSON]:
    """Kernel -> architecture -> what ptxas says that it takes."""
    read = {one.architecture: read_resources(one.log) for one in programs}
    return {
        signature.name: {
            architecture: uses[signature.lowered]._asdict()
            for architecture, uses in read.items()
            if signature.lowered in uses
        }
        for signature in signatures
    }


def _titled_log(program: NvrtcProgram) -> str:
    return f"--- {program.architecture}\n{program.log.strip()}\n"


def _without_probe(ptx: str) -> str:
    """PTX without the variables through which kit asked for types."""
    return "".join(line for line in ptx.splitlines(keepends=True) if PREFIX not in one_line(line))

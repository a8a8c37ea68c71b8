"""``%%cuda_kernel``: the cell's ``__global__`` functions become kernels in the namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kit.build_cuda import BuiltCudaCell, build_cuda_cell
from kit.cuda.options import CudaOptions
from kit.errors import KitError
from kit.kernel import PyccelKernel
from kit.kernel_cuda import CudaKernel
from kit.magics.cell_magic import CellMagic
from kit.magics.cuda_request import CUDA_KERNEL, CudaRequest, parse_cuda_request
from kit.magics.cuda_summary import summary_of_kernel
from kit.magics.cuda_text import kernel_names
from kit.magics.frontend import namespace_of
from kit.magics.pairs import join_kernels
from kit.magics.progress import BuildProgress
from kit.paired_kernel import PairedKernel
from kit.show.build_text import detail_lines, summary_lines
from kit.show.cuda_text import warning_lines
from kit.show.stability import is_stable_output

__all__ = ["CudaKernelMagic"]


class _BuiltCell(NamedTuple):
    """What a CUDA cell gave.

    Parameters
    ----------
    cell : BuiltCudaCell
        As it was compiled.
    objects : mapping of str to CudaKernel
        What is bound: the kernels, or pairs with them.
    notes : tuple of str
        Lines about names that had another kernel, or have two now.
    """

    cell: BuiltCudaCell
    objects: Mapping[str, CudaKernel]
    notes: tuple[str, ...]


class CudaKernelMagic(CellMagic[CudaRequest, _BuiltCell]):
    """The magic of one shell."""

    spec = CUDA_KERNEL
    needs = "write a __global__ function below the magic line"

    def parse(self, line: str) -> CudaRequest:
        """What the magic line asks for."""
        return parse_cuda_request(line)

    def names_of(self, cell: str, *, is_broken: bool) -> Sequence[str]:
        """The cell's kernels; of a cell that failed as its parser sees them, if it sees them."""
        return (_parsed_names(cell) if is_broken else None) or kernel_names(cell)

    def title_of(self, request: CudaRequest) -> str:
        """What the cell is written in."""
        del request
        return "cuda"

    def build(self, source: str, request: CudaRequest, progress: BuildProgress) -> _BuiltCell:
        """Compile, and join with Pyccel kernels where the line says so."""
        built = build_cuda_cell(
            source,
            options=request.options,
            on_progress=progress.on_progress,
            on_wait=progress.on_wait,
            ahead=True,
        )
        namespace = namespace_of(self._shell)
        if request.pairs:
            objects = join_kernels(built.kernels, namespace)
            pairs = (name for name, one in objects.items() if isinstance(one, PairedKernel))
            notes = tuple(f"  {name}: paired with the Pyccel kernel" for name in pairs)
            return _BuiltCell(built, objects, notes)
        notes = tuple(
            f"  {name}: takes the name of a Pyccel kernel; --pair joins the two"
            for name in built.kernels
            if _is_pyccel(namespace.get(name))
        )
        return _BuiltCell(built, built.kernels, notes)

    def objects_of(self, built: _BuiltCell) -> Mapping[str, object]:
        """The kernels, or pairs with them."""
        return built.objects

    def summary_of(
        self, built: _BuiltCell, gone: Sequence[str], request: CudaRequest
    ) -> Sequence[str]:
        """A line for each kernel, with what it takes of each architecture below."""
        record = built.cell.record
        kernels = [summary_of_kernel(one, record) for one in built.objects.values()]
        lines = summary_lines(kernels, (), gone)
        lines += [*built.notes, *warning_lines(record.warnings)]
        if request.is_verbose:
            lines += detail_lines(
                reason=record.reason,
                seconds=record.seconds,
                compiler=record.compiler,
                flags=record.flags,
                key=record.key,
                artifact_bytes=record.artifact_bytes,
                warnings=(),
                stable=is_stable_output(),
            )
        return lines


def _parsed_names(cell: str) -> Sequence[str]:
    # Imported here: the parser is for cells that are compiled, and for those that cannot be.
    from kit.cuda.prototypes import parse_cuda_cell

    try:
        return [one.name for one in parse_cuda_cell("\n" + cell, CudaOptions()).kernels]
    except (KitError, ImportError):  # without the extra `cuda` there is no parser either
        return ()


def _is_pyccel(value: object) -> bool:
    """Whether a Pyccel version stands behind a name, alone or in a pair."""
    return isinstance(value, PairedKernel) or (
        isinstance(value, PyccelKernel) and not isinstance(value, CudaKernel)
    )

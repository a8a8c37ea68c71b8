"""``%%pyccel_kernel``: the cell's functions become kernels in the notebook's namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kit.build import BuiltCell, build_cell, stale_dependants
from kit.errors import StaleDependencyWarning
from kit.kernel import PyccelKernel
from kit.magics.binding import public_names
from kit.magics.cell_magic import CellMagic
from kit.magics.frontend import namespace_of
from kit.magics.progress import BuildProgress
from kit.magics.request import PYCCEL_KERNEL, KernelRequest, parse_request
from kit.show.build_text import detail_lines, few_names, kernel_line, summary_lines
from kit.show.stability import is_stable_output
from kit.source.returns import returns_value
from kit.stale import StaleKernel

__all__ = ["PyccelKernelMagic"]


class _BuiltCell(NamedTuple):
    """What a cell gave.

    Parameters
    ----------
    cell : BuiltCell
        As it was compiled.
    objects : mapping of str to PyccelKernel
        What is bound: its kernels, or pairs of them and CUDA kernels.
    joined : tuple of str
        Names of the pairs.
    parted : mapping of str to str
        Names that were pairs, and why they are no longer.
    """

    cell: BuiltCell
    objects: Mapping[str, PyccelKernel]
    joined: tuple[str, ...] = ()
    parted: Mapping[str, str] = {}


class PyccelKernelMagic(CellMagic[KernelRequest, _BuiltCell]):
    """The magic of one shell."""

    spec = PYCCEL_KERNEL
    needs = "write a typed function below the magic line"

    def parse(self, line: str) -> KernelRequest:
        """What the magic line asks for."""
        return parse_request(line)

    def names_of(self, cell: str, *, is_broken: bool) -> Sequence[str]:
        """The cell's public functions."""
        del is_broken  # the same search finds them in both
        return public_names(cell)

    def title_of(self, request: KernelRequest) -> str:
        """What Pyccel translates the cell to."""
        return request.options.language

    def build(self, source: str, request: KernelRequest, progress: BuildProgress) -> _BuiltCell:
        """Compile, with the kernels of the notebook at hand; join what was joined before."""
        namespace = namespace_of(self._shell)
        built = build_cell(
            source,
            options=request.options,
            namespace=namespace,
            on_progress=progress.on_progress,
            on_wait=progress.on_wait,
        )
        if not any(_may_be_pair(namespace.get(name)) for name in built.kernels):
            return _BuiltCell(built, built.kernels)
        # Imported here: where there is no CUDA kernel nothing asks for their modules.
        from kit.magics.pairs import join_again

        again = join_again(built.kernels, namespace)
        return _BuiltCell(built, again.objects, again.joined, again.parted)

    def objects_of(self, built: _BuiltCell) -> Mapping[str, object]:
        """Classes and kernels."""
        return {**built.cell.classes, **built.objects}

    def summary_of(
        self, built: _BuiltCell, gone: Sequence[str], request: KernelRequest
    ) -> Sequence[str]:
        """One line for each kernel."""
        cell = built.cell
        record = cell.record
        kernels = [
            kernel_line(
                name,
                [(one.name, one.intent) for one in kernel.signature.parameters],
                language=record.language,
                returns=kernel.signature.returns
                or ("a value" if returns_value(kernel.source) else None),
            )
            for name, kernel in cell.kernels.items()
        ]
        lines = summary_lines(kernels, list(cell.classes), gone)
        lines += [f"  {name}: paired with the CUDA kernel again" for name in built.joined]
        if request.is_verbose:
            lines += detail_lines(
                reason=record.reason,
                seconds=record.seconds,
                compiler=record.compiler,
                flags=record.flags,
                key=record.key,
                artifact_bytes=record.artifact_bytes,
                warnings=record.warnings,
                stable=is_stable_output(),
            )
        return lines

    def after(self, built: _BuiltCell) -> None:
        """Warn about pairs that are none any more, and about kernels that call an earlier build."""
        for name, why in built.parted.items():
            self.warn(
                f"`{name}` is the Pyccel kernel alone, and no longer paired: {why}; "
                "run its %%cuda_kernel --pair cell again",
                StaleDependencyWarning,
            )
        for name, used in stale_dependants(built.cell, namespace_of(self._shell)).items():
            self.warn(
                f"`{name}` still calls the earlier {few_names(used)}; "
                f"run the cell of `{name}` again to use the new one",
                StaleDependencyWarning,
            )


def _may_be_pair(held: object) -> bool:
    """Whether a CUDA version may belong to what a name holds: a kernel of another class does."""
    if isinstance(held, StaleKernel):
        held = held.previous
    return isinstance(held, PyccelKernel) and type(held) is not PyccelKernel

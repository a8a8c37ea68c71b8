"""``%%pyccel_kernel``: the cell's functions become kernels in the notebook's namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kit.build import BuiltCell, build_cell, stale_dependants
from kit.errors import StaleDependencyWarning
from kit.magics.binding import public_names
from kit.magics.cell_magic import CellMagic
from kit.magics.frontend import namespace_of
from kit.magics.progress import BuildProgress
from kit.magics.request import PYCCEL_KERNEL, KernelRequest, parse_request
from kit.show.build_text import detail_lines, few_names, kernel_line, summary_lines
from kit.show.stability import is_stable_output
from kit.source.returns import returns_value

__all__ = ["PyccelKernelMagic"]


class PyccelKernelMagic(CellMagic[KernelRequest, BuiltCell]):
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

    def build(self, source: str, request: KernelRequest, progress: BuildProgress) -> BuiltCell:
        """Compile, with the kernels of the notebook at hand."""
        return build_cell(
            source,
            options=request.options,
            namespace=namespace_of(self._shell),
            on_progress=progress.on_progress,
            on_wait=progress.on_wait,
        )

    def objects_of(self, built: BuiltCell) -> Mapping[str, object]:
        """Classes and kernels."""
        return {**built.classes, **built.kernels}

    def summary_of(
        self, built: BuiltCell, gone: Sequence[str], request: KernelRequest
    ) -> Sequence[str]:
        """One line for each kernel."""
        record = built.record
        kernels = [
            kernel_line(
                name,
                [(one.name, one.intent) for one in kernel.signature.parameters],
                language=record.language,
                returns=kernel.signature.returns
                or ("a value" if returns_value(kernel.source) else None),
            )
            for name, kernel in built.kernels.items()
        ]
        lines = summary_lines(kernels, list(built.classes), gone)
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

    def after(self, built: BuiltCell) -> None:
        """Warn about kernels that still call the earlier build of one of these."""
        for name, used in stale_dependants(built, namespace_of(self._shell)).items():
            self.warn(
                f"`{name}` still calls the earlier {few_names(used)}; "
                f"run the cell of `{name}` again to use the new one",
                StaleDependencyWarning,
            )

"""What a CUDA kernel is: its signature, where it can run and what limits it there, its cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from math import prod
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from kit.architectures import find_architecture
from kit.cuda.cell_build import CudaCellBuild
from kit.cuda.loaded import LoadedCell
from kit.cuda.options import CI_ARCHITECTURES
from kit.cuda.signature import CudaSignature
from kit.cuda_target import TargetChoice, choose_target, explain_target
from kit.errors import KitError
from kit.kernel import KernelBuild, PyccelKernel
from kit.launch import LaunchLimits, inspect_limits, widest_limits
from kit.layout import inspect_layout
from kit.show.stability import is_stable_output
from kit.views.base import View

if TYPE_CHECKING:
    import inspect

    from kit.cuda.symbols import CudaSymbols
    from kit.terms import Target
    from kit.trace import KernelResources

__all__ = ["CudaKernelFacts"]

_PLAIN_SHAPE: Final[Any] = np.ndarray.shape.__get__


class CudaKernelFacts(PyccelKernel):
    """Everything about a CUDA kernel but its calls.

    Parameters
    ----------
    signature : CudaSignature
        What it takes.
    cell : CudaCellBuild
        The built cell.
    """

    def __init__(self, signature: CudaSignature, *, cell: CudaCellBuild) -> None:
        # Not PyccelKernel's: there is no compiled function, and the guard stays unarmed.
        self._cuda = signature
        self._signature = cast(Any, signature)
        self._cell = cell
        self._build = _provenance(signature, cell)
        self._language = cell.record.language
        self._policy = "strict"
        self._sizing = next((k for k, one in enumerate(signature.parameters) if one.is_array), None)
        self.previous: PyccelKernel | None = None
        self.__name__ = self.__qualname__ = signature.name
        self.__doc__ = signature.doc or None

    # ---- what it takes ----------------------------------------------------------------------

    @property
    def cuda_signature(self) -> CudaSignature:
        """Parameters, types and intents; the same object as `signature`."""
        return self._cuda

    @property
    def __signature__(self) -> inspect.Signature:
        from kit.cuda.describe import with_launch_options

        return with_launch_options(self._cuda.to_inspect())

    def stub(self) -> str:
        """Text of a ``.pyi`` file that declares the kernel for type checkers."""
        from kit.cuda.describe import describe_cuda_stub

        return describe_cuda_stub(self._cuda)

    def shape_of_threads(self, values: Sequence[object]) -> tuple[int, ...] | None:
        """Extents that say how many threads a call has where it does not say so itself.

        Parameters
        ----------
        values : sequence of object
            Arguments that have been accepted, in the order of the parameters.

        Returns
        -------
        tuple of int or None
            Of the first array, without the components of vector types; None where the kernel takes
            no array. A kernel that looks at x alone sees an array behind a bare pointer as one row.
        """
        if self._sizing is None:
            return None
        shape = _shape_of(values[self._sizing])
        parameter = self._cuda.parameters[self._sizing]
        width = parameter.element.width
        shape = shape[:-1] if width > 1 and shape[-1:] == (width,) else shape
        is_flat = parameter.kind == "pointer" and self._cuda.axes == 1
        return (prod(shape),) if is_flat and len(shape) != 1 else shape

    @property
    def cell(self) -> CudaCellBuild:
        """The built cell, which its kernels share."""
        return self._cell

    # ---- where it runs ----------------------------------------------------------------------

    @property
    def targets(self) -> tuple[Target, ...]:
        """Where it can run."""
        return tuple(self._cell.loaders)

    @property
    def chosen(self) -> TargetChoice:
        """Where a call would run now, and why there."""
        return explain_target(self._cell.options.target)

    @property
    def architectures(self) -> tuple[str, ...]:
        """What it was compiled for."""
        record, options = self._cell.record, self._cell.options
        return record.architectures or options.architectures or CI_ARCHITECTURES

    def load(self, target: Target) -> LoadedCell:
        """The cell on one target, loaded at the first call.

        Raises
        ------
        KitError
            It was not built for it, or cannot be loaded here.
        """
        load = self._cell.loaders.get(target)
        if load is None:
            raise KitError(
                f"{self.__name__} was not built for the target {target!r}\n"
                "  fix: build its cell again, without --target"
            )
        return load()

    def limits_on(self, architectures: Sequence[str]) -> LaunchLimits:
        """What limits its launches; of several architectures, what one of them can do passes."""
        resources = self._cell.record.resources.get(self.__name__, {})
        return widest_limits([self._limits(one, resources.get(one)) for one in architectures])

    def _limits(self, architecture: str, resources: KernelResources | None) -> LaunchLimits:
        return inspect_limits(
            find_architecture(architecture),
            max_threads=self._cuda.max_threads,
            registers=0 if resources is None else resources.registers,
            static_bytes=0 if resources is None else resources.shared_bytes,
        )

    @property
    def symbols(self) -> CudaSymbols:
        """The cell's ``__constant__`` and ``__device__`` variables, where a call would run now."""
        from kit.cuda.symbols import CudaSymbols

        chosen = choose_target(self._cell.options.target)
        where: Target = "device" if chosen == "device" else "emulator"
        return CudaSymbols(self.__name__, self._cell.symbols, where, self.load)

    def __repr__(self) -> str:
        from kit.cuda.describe import describe_cuda_kernel

        return describe_cuda_kernel(self._cuda, self._facts(), kind=type(self).__name__)

    def _facts(self) -> dict[str, str]:
        """What its repr says below the parameters; what is empty is left out."""
        chosen, block = self.chosen, self._cell.options.block
        facts = {
            "writes": ", ".join(self.outputs) or "nothing",
            "targets": ", ".join(self.targets) or "none",
            "runs": f"on {chosen.target} ({chosen.reason})",
            "block": "" if block is None else ", ".join(map(str, block)),
            "compiled": ", ".join(map(self._compiled_text, self.architectures)),
        }
        if not is_stable_output():
            facts["build"] = f"{self._cell.record.key[:12]} ({self._cell.record.reason})"
        return facts

    def _compiled_text(self, architecture: str) -> str:
        resources = self._cell.record.resources.get(self.__name__, {}).get(architecture)
        if resources is None or is_stable_output():
            return architecture
        return f"{architecture} ({resources.registers} registers)"


def _shape_of(array: Any) -> tuple[int, ...]:
    """Extents of an array of any library; of a view its body's."""
    kind = cast("type[Any]", type(array))
    if issubclass(kind, np.ndarray):
        return _PLAIN_SHAPE(array)  # whatever a subclass says
    if issubclass(kind, View) or kind.__module__.partition(".")[0] == "cupy":
        return array.shape
    return inspect_layout(array).shape


def _provenance(signature: CudaSignature, cell: CudaCellBuild) -> KernelBuild:
    """What `PyccelKernel` tells of every kernel: source, record, how to build and compare it."""
    options = cell.options
    return KernelBuild(
        record=cell.record,
        cell_source=cell.source,
        unit=cell.source,
        function_source=signature.source,
        language=cell.record.language,
        options={one.name: getattr(options, one.name) for one in fields(options)},
        rebuild=cell.rebuild,
        identity=(signature, cell.source, cell.record.key, options.block, options.target),
        doc=signature.doc or None,
    )

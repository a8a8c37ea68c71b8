"""Story 1: a cell becomes a kernel.

cell text -> signature -> cache key -> (hit | compile) -> loaded artifact -> `PyccelKernel` bound
-> `BuildRecord`
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from kit.backends.python import load_python
from kit.building.obtain import OnWait, obtain_module
from kit.building.options import BuildOptions
from kit.cell import Cell, parse_cell
from kit.errors import CellError
from kit.kernel import KernelBuild, PyccelKernel
from kit.source.unit import CellSource, Unit, assemble_unit, definitions
from kit.trace import BuildRecord

if TYPE_CHECKING:
    from kit.backends.protocol import Progress

__all__ = ["BuildOptions", "BuiltCell", "build_cell", "rebuild_kernel", "stale_dependants"]


class BuiltCell(NamedTuple):
    """What a cell gave.

    Parameters
    ----------
    kernels : mapping of str to PyccelKernel
        The public functions, in the cell's order.
    classes : mapping of str to type
        The public classes, compiled; kernels take their instances.
    record : BuildRecord
        How they were built.
    """

    kernels: Mapping[str, PyccelKernel]
    classes: Mapping[str, object]
    record: BuildRecord


def build_cell(
    source: str | CellSource,
    *,
    options: BuildOptions | None = None,
    namespace: Mapping[str, object] | None = None,
    on_progress: Progress | None = None,
    on_wait: OnWait | None = None,
) -> BuiltCell:
    """Compile a cell of typed Python, or load what an earlier build of the same cell left.

    Writes to the artifact store only; runs the cell's top-level code when it is loaded.

    Parameters
    ----------
    source : str or CellSource
        The cell. A magic leaves an empty first line in the place of its own line, so that line
        numbers agree with the cell's.
    options : BuildOptions, optional
        Language, flags, outputs, ...
    namespace : mapping, optional
        Where names that the cell does not define are looked up: kernels of other cells.
    on_progress : callable, optional
        Called with the stage and the seconds since the build began [s]; not on a hit.
    on_wait : callable, optional
        Called once when another process compiles the same cell.

    Raises
    ------
    CellError
        The cell cannot become a kernel; with the line that says why.
    BuildError
        The toolchain failed.
    CacheError
        The store cannot be trusted or written.
    """
    options = options or BuildOptions()
    origin = source if isinstance(source, CellSource) else CellSource(text=source)
    cell, origin, used = _parse(origin, options, namespace or {})
    unit = assemble_unit(origin)
    names = tuple(one.name for one in cell.public)
    module, record = obtain_module(unit, names, options, on_progress=on_progress, on_wait=on_wait)
    maker = _KernelMaker(module, cell, unit, origin, options, record, used)
    return BuiltCell(
        kernels={name: maker.make(name) for name in names},
        classes={name: getattr(module, name) for name in sorted(cell.classes) if name[0] != "_"},
        record=record,
    )


def rebuild_kernel(unit: str, name: str, options: Mapping[str, Any]) -> PyccelKernel:
    """An equal kernel from its text: what unpickling calls. Compiles and runs that text."""
    return build_cell(unit, options=BuildOptions(**options)).kernels[name]


def stale_dependants(built: BuiltCell, namespace: Mapping[str, object]) -> dict[str, list[str]]:
    """Kernels in `namespace` that have another meaning of one of `built.kernels` compiled in.

    Returns
    -------
    dict of str to list of str
        Name of the kernel -> names of what it was built against, directly or by way of others,
        and what has changed since.
    """
    fresh = {name: _origin(kernel) for name, kernel in built.kernels.items()}
    stale: dict[str, list[str]] = {}
    for name, value in namespace.items():
        kernel = _pyccel_version(value)
        if kernel is None or name in fresh:
            continue
        changed = _changed_uses(kernel, fresh)
        if changed:
            stale[name] = changed
    return stale


def _changed_uses(kernel: PyccelKernel, fresh: Mapping[str, CellSource | None]) -> list[str]:
    """Those of `fresh` that `kernel` was built against when they were something else."""
    provenance, origin = kernel.provenance, _origin(kernel)
    if provenance is None or origin is None:
        return []
    # Most kernels name none of them, and need not be parsed to find that out.
    mentioned = [name for name in fresh if name in provenance.unit]
    if not mentioned:
        return []
    old = definitions(kernel.__name__, origin)
    return [
        name
        for name in mentioned
        if name in old and (new := fresh[name]) and definitions(name, new)[name] != old[name]
    ]


def _parse(
    origin: CellSource, options: BuildOptions, namespace: Mapping[str, object]
) -> tuple[Cell, CellSource, Mapping[str, PyccelKernel]]:
    """The cell, its source with what it uses from other cells, and those kernels."""
    others = {
        name: kernel
        for name, value in namespace.items()
        if (kernel := _pyccel_version(value)) is not None
        and kernel.__name__ == name
        and _origin(kernel) is not None
    }
    try:
        cell = parse_cell(
            origin.whole,
            outputs=options.outputs,
            overwrites=options.overwrites,
            known=frozenset(others),
            functions={name: _writing_twin(kernel) for name, kernel in others.items()},
            used={name: kernel.signature for name, kernel in others.items()},
            line_offset=origin.line_offset,
            namespace=namespace,
            openmp=options.openmp,
            language=options.language,
        )
    except CellError as error:
        raise _in_file(error, origin) from None
    except RecursionError:
        raise CellError(
            "an expression of this cell is nested too deeply, or has too many operators",
            fix="part = a + b  # give parts of the long expression names",
        ) from None
    used = {name: others[name] for name in sorted(cell.free_names & others.keys())}
    uses = {name: cast(CellSource, _origin(kernel)) for name, kernel in used.items()}
    return cell, replace(origin, uses={**origin.uses, **uses}), used


def _pyccel_version(value: object) -> PyccelKernel | None:
    """A kernel; of a pair the half that Pyccel compiled (`kit.paired_kernel`, further up)."""
    kernel = getattr(value, "pyccel", value) if isinstance(value, PyccelKernel) else None
    return kernel if isinstance(kernel, PyccelKernel) else None


def _origin(kernel: PyccelKernel) -> CellSource | None:
    return None if kernel.provenance is None else kernel.provenance.origin


def _writing_twin(kernel: PyccelKernel) -> ast.FunctionDef:
    """A function that writes the same parameters as the kernel, for the analysis of its callers."""
    signature = kernel.signature
    names = ", ".join(one.name for one in signature.parameters)
    body = "".join(f"    {name}[:] = 0\n" for name in signature.outputs) or "    pass\n"
    return cast(ast.FunctionDef, ast.parse(f"def {signature.name}({names}):\n{body}").body[0])


def _in_file(error: CellError, origin: CellSource) -> CellError:
    """The same error with the line's number in the function's file."""
    if error.line is None or origin.file is None:
        return error
    return CellError(
        error.message,
        line=origin.own_line(error.line),
        column=error.column,
        source_line=error.source_line,
        fix=error.fix,
        cell=origin.file,
    )


class _KernelMaker(NamedTuple):
    """Turns a compiled module into kernels that know where they came from."""

    module: ModuleType
    cell: Cell
    unit: Unit
    origin: CellSource
    options: BuildOptions
    record: BuildRecord
    used: Mapping[str, PyccelKernel]

    def make(self, name: str) -> PyccelKernel:
        """The kernel of one public function."""
        facts = self.cell.functions[name]
        options = self._plain_options(name)
        unit, segments = self.unit.text, _segments(self.unit)
        build = KernelBuild(
            record=self.record,
            cell_source=self.origin.text,
            unit=unit,
            function_source=facts.source,
            language=self.options.language,
            options=options,
            load_python=lambda: cast("Callable[..., Any]", load_python(segments)[name]),
            rebuild=rebuild_kernel,
            identity=(unit, *(repr(one) for one in sorted(options.items()))),
            doc=facts.doc,
            origin=replace(self.origin, label=f"the cell of {name}"),
            uses=self.used,
        )
        return PyccelKernel(
            getattr(self.module, name),
            signature=facts.signature,
            policy=self.options.policy,
            build=build,
        )

    def _plain_options(self, name: str) -> dict[str, Any]:
        """What `BuildOptions` needs to build this function again, in the types that pickle."""
        signature = self.cell.functions[name].signature
        overwrites = tuple(one.name for one in signature.parameters if one.intent == "out")
        outputs = self.options.outputs
        is_declared = outputs is not None and (name in outputs or None in outputs)
        return {
            "language": self.options.language,
            "flags": self.options.flags,
            "openmp": self.options.openmp,
            "policy": self.options.policy,
            "outputs": {name: signature.outputs} if is_declared else None,
            "overwrites": {name: overwrites} if overwrites else {},
        }


def _segments(unit: Unit) -> Sequence[tuple[str, int, str]]:
    return [(one.label or "kit cell", one.first_line, one.text) for one in unit.segments]

"""Which parameters a kernel writes: what is not `const`, checked against declared outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kit.cuda.signature import CudaParameter
from kit.cuda.text.cell_places import CellPlaces
from kit.cuda.text.found import FoundKernel
from kit.source.nearest import nearest

__all__ = ["check_output_kernels", "check_outputs", "outputs_of"]

Outputs = Mapping[str | None, tuple[str, ...]]


def check_output_kernels(
    outputs: Outputs | None, kernels: Sequence[FoundKernel], places: CellPlaces
) -> None:
    """Whether the kernels are there that outputs are declared for.

    Raises
    ------
    CellError
        One is not, or it is not said which of several is meant.
    """
    names = list(dict.fromkeys(one.name for one in kernels))
    for kernel, listed in (outputs or {}).items():
        if kernel is None and len(names) > 1:
            raise places.error(
                "outputs are declared, and the cell has several kernels",
                None,
                fix=f"--outputs {names[0]}:{','.join(listed)}",
            )
        if kernel is not None and kernel not in names:
            meant = nearest(kernel, names, at_least=0.6) or names[0]
            raise places.error(
                f"outputs are declared for {kernel}, which is no kernel of this cell "
                f"({', '.join(names)})",
                None,
                fix=f"--outputs {meant}:{','.join(listed)}",
            )


def outputs_of(outputs: Outputs | None, kernel: str) -> tuple[str, ...] | None:
    """Declared outputs of a kernel; None where nothing is declared for it."""
    if outputs is None:
        return None
    return outputs.get(kernel, outputs.get(None))


def check_outputs(
    outputs: tuple[str, ...] | None,
    kernel: FoundKernel,
    parameters: Sequence[CudaParameter],
    places: CellPlaces,
) -> None:
    """Whether declared outputs are what the kernel may write.

    Raises
    ------
    CellError
        An output is no parameter or is not written, or a written one is not declared.
    """
    if outputs is None:
        return
    written = [one.name for one in parameters if one.written]
    by_name = {one.name: one for one in parameters}
    for output in outputs:
        one = by_name.get(output)
        if one is None:
            meant = nearest(output, list(by_name), at_least=0.6)
            raise places.error(
                f"{kernel.name} has no parameter {output} to be an output",
                kernel.name_offset,
                fix=_option(written if meant is None else [meant]),
            )
        if not one.written:
            why = "is const" if one.is_array else "is passed by value"
            raise places.error(
                f"{output} is declared an output of {kernel.name}, and {why}",
                places.offset(one.line, one.column),
                fix=_fix_of_const(one) if one.is_array else _option(written),
            )
    for one in parameters:
        if one.written and one.name not in outputs:
            raise places.error(
                f"{kernel.name} may write {one.name}, which is not among the declared outputs",
                places.offset(one.line, one.column),
                fix=f"{_const(one.text)} {one.name}  // or {_option([*outputs, one.name])}",
            )


def _option(names: Sequence[str]) -> str:
    return f"--outputs {','.join(names)}" if names else "# leave --outputs away"


def _fix_of_const(one: CudaParameter) -> str:
    return f"{' '.join(one.text.replace('const ', '', 1).split())} {one.name}"


def _const(text: str) -> str:
    """The declared type with elements that are `const`."""
    head, bracket, rest = text.partition("<")
    return f"{head}<const {rest}" if bracket and "*" not in text else f"const {text}"

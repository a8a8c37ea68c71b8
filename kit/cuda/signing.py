"""Signatures out of what the text and the compiler say."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence

from kit.cuda.answers import KernelAnswer, read_kernel
from kit.cuda.compiled_types import Described, UnsupportedTypeError, describe_parameter
from kit.cuda.intents import check_outputs, outputs_of
from kit.cuda.signature import CudaParameter, CudaSignature
from kit.cuda.text.cell_places import CellPlaces
from kit.cuda.text.found import Found, FoundKernel
from kit.cuda.text.launch_axes import count_launch_axes

__all__ = ["python_name", "sign"]


def python_name(name: str) -> str:
    """A C++ name as Python can write it: `lambda` is ``lambda_``."""
    return f"{name}_" if keyword.iskeyword(name) else name


def sign(
    found: Found,
    expressions: Sequence[str],
    lowered: Sequence[str],
    facts: Sequence[str],
    outputs: Mapping[str | None, tuple[str, ...]] | None,
    places: CellPlaces,
) -> tuple[CudaSignature, ...]:
    """The signatures of the kernels that ``#if`` leaves in.

    Parameters
    ----------
    found : Found
        What the text says.
    expressions, lowered, facts : sequence of str
        Of each kernel: its name in C++, its name in the cubin, and the compiler's answer.
    outputs : mapping or None
        Declared outputs.
    places : CellPlaces
        Of the cell.

    Raises
    ------
    CellError
        A kernel takes what kit cannot pass, or declared outputs do not fit.
    """
    for offset in found.unread:
        raise places.error(
            "kit does not see which function this is",
            offset,
            fix="__global__ void name(float* x, int n) { ... }  // without macros of other files",
        )
    signatures: dict[str, CudaSignature] = {}
    for index, kernel in enumerate(found.kernels):
        answer = read_kernel(facts[index])
        if answer is None:
            continue
        if answer.overloaded or kernel.name in signatures:
            raise places.error(
                f"two kernels are named {kernel.name}; Python would see only one of them",
                kernel.name_offset,
                fix=f"__global__ void {kernel.name}_2(...)  // a name of its own",
            )
        _check_readable(kernel, answer, places)
        one = _signature(found, kernel, expressions[index], lowered[index], answer, places)
        names = outputs_of(outputs, kernel.name)
        check_outputs(names, kernel, one.parameters, places)
        signatures[kernel.name] = one
    if not signatures:
        raise places.error(
            "#if leaves out every kernel of this cell",
            found.kernels[0].name_offset,
            fix="-D NAME  # what the #if asks for",
        )
    return tuple(signatures.values())


def _check_readable(kernel: FoundKernel, answer: KernelAnswer, places: CellPlaces) -> None:
    count = len(answer.parameters)
    if kernel.readable and len(kernel.parameters) == count:
        return
    seen = str(len(kernel.parameters)) if kernel.readable else "others"
    raise places.error(
        f"the compiler sees {count} parameters of {kernel.name} and kit sees {seen}: "
        "a macro of an included file, or an #if inside of the signature, is between them",
        kernel.name_offset,
        fix=f"__global__ void {kernel.name}(float* x, int n)  // every parameter written out",
    )


def _signature(
    found: Found,
    kernel: FoundKernel,
    expression: str,
    lowered: str,
    answer: KernelAnswer,
    places: CellPlaces,
) -> CudaSignature:
    parameters = _parameters(found, kernel, answer, places)
    last = parameters[-1] if parameters else None
    bounds = answer.bounds
    return CudaSignature(
        name=python_name(kernel.name),
        expression=expression,
        lowered=lowered,
        parameters=parameters,
        packed_size=0 if last is None else last.offset + last.size,
        max_threads=bounds[0] if bounds else None,
        min_blocks=bounds[1] if len(bounds) > 1 and bounds[1] else None,
        source=kernel.source,
        line=places.place(kernel.offset)[0],
        doc=kernel.doc,
        axes=count_launch_axes(kernel.source, places.text),
    )


def _parameters(
    found: Found, kernel: FoundKernel, answer: KernelAnswer, places: CellPlaces
) -> tuple[CudaParameter, ...]:
    """Each at the first place of its alignment behind the one before."""
    parameters: list[CudaParameter] = []
    end = 0
    for index, compiled in enumerate(answer.parameters):
        described = _described(found, kernel, index, answer, places)
        offset = -(-end // compiled.alignment) * compiled.alignment
        end = offset + compiled.size
        text = kernel.parameters[index]
        line, column = places.place(text.offset)
        parameters.append(
            CudaParameter(
                name=python_name(text.name) or f"arg{index}",
                kind=described.kind,
                element=described.element,
                ndim=described.ndim,
                intent="in" if described.const else "inout",
                restrict=text.restrict,
                size=compiled.size,
                alignment=compiled.alignment,
                offset=offset,
                text=text.text,
                line=line,
                column=column,
            )
        )
    return tuple(parameters)


def _described(
    found: Found, kernel: FoundKernel, index: int, answer: KernelAnswer, places: CellPlaces
) -> Described:
    text = kernel.parameters[index]
    try:
        return describe_parameter(answer.parameters[index], text.name, text.text, found.structs)
    except UnsupportedTypeError as error:
        name = text.name or f"arg{index}"
        raise places.error(
            f"{kernel.name}({name}): {error.reason}", text.offset, fix=error.fix
        ) from None

"""What NVRTC told of types, as assertions that g++ checks: arguments are packed for both."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from kit.cuda.signature import CudaParameter, CudaSignature, CudaSymbol, Element

__all__ = ["DIFFERENT", "RUN_ON_DEVICE", "layout_assertions"]

DIFFERENT: Final = "NVRTC and g++ lay out"
"""How every message about a layout begins."""

RUN_ON_DEVICE: Final = "# run the kernel on a device: k.device(...)"

_ELEMENTS: Final = {"pointer": "pointee", "view": "viewed", "cview": "viewed"}


def layout_assertions(
    kernels: Sequence[CudaSignature], symbols: Sequence[CudaSymbol], file: str
) -> list[str]:
    """Lines of C++ that follow the cell: sizes of elements and offsets of the fields of structs.

    Parameters
    ----------
    kernels, symbols : sequence
        What NVRTC told.
    file : str
        As which the compiler knows the cell: an error is in the line of the parameter.
    """
    lines: list[str] = []
    for kernel in kernels:
        for index, one in enumerate(kernel.parameters):
            text = f"kit_emulator_{_ELEMENTS.get(one.kind, 'value')}"
            text += f"<decltype(&{kernel.expression}), {index}>"
            lines += _placed(_of_parameter(one, text), one.line, file)
    for symbol in symbols:
        text = f"kit_emulator_variable<decltype({symbol.name})>"
        lines += _placed(_of_fields(symbol.element, symbol.element, text, ""), symbol.line, file)
    return lines


def _placed(assertions: Iterator[str], line: int, file: str) -> Iterator[str]:
    for one in assertions:
        yield f'#line {line} "{file}"'
        yield one


def _of_parameter(parameter: CudaParameter, type_text: str) -> Iterator[str]:
    element = parameter.element
    if element.size and parameter.is_array:
        what = f"what {parameter.name} points at"
        yield _assertion(f"sizeof({type_text})", element.size, what, "bytes")
    yield from _of_fields(element, element, type_text, "")


def _of_fields(struct: Element, part: Element, type_text: str, path: str) -> Iterator[str]:
    """Each field by itself, so that the message names it; `path` leads from `struct` to `part`."""
    for field in part.fields or ():
        name = path + field.name
        # What NVRTC says is from the start of `part`: a difference of two is, too.
        where = f"__builtin_offsetof({type_text}, {name})"
        if path:
            where += f" - __builtin_offsetof({type_text}, {path[:-1]})"
        what = f"{struct.text}: its field {name}"
        yield _assertion(where, field.offset, what, "bytes before it")
        size = f"sizeof((({type_text}*)0)->{name}{'[0]' * len(field.shape)})"
        yield _assertion(size, field.element.size, what, "bytes each")
        inner = name + "[0]" * len(field.shape) + "."
        yield from _of_fields(struct, field.element, type_text, inner)


def _assertion(measured: str, told: int, what: str, unit: str) -> str:
    message = f"{DIFFERENT} {what} differently ({told} {unit} for NVRTC)"
    return f"static_assert({measured} == {told}, {json.dumps(message, ensure_ascii=False)});"

"""A CUDA cell as a C++ file: the emulator's headers, the cell's lines, its kernels' entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kit.backends.emulator.device_macros import emulated_architecture, name_device_macros
from kit.backends.emulator.layouts import layout_assertions
from kit.cuda.options import CudaOptions
from kit.cuda.signature import CudaSignature, CudaSymbol
from kit.source.c_symbols import is_c_symbol

__all__ = ["CELL_FILE", "translate_cell"]

CELL_FILE: Final = "kit-cell.cu"
"""What the compiler takes the cell's lines to be from."""

_EXPORT: Final = 'extern "C" __attribute__((visibility("default"))) const'


def translate_cell(
    source: str,
    kernels: Sequence[CudaSignature],
    symbols: Sequence[CudaSymbol],
    options: CudaOptions,
) -> str:
    """The text that g++ compiles.

    Parameters
    ----------
    source : str
        The cell; its first line stands for the magic line.
    kernels, symbols : sequence
        What is exported, in this order.
    options : CudaOptions
        Of the cell; `defines` are used. Indices of views are checked whatever `check` says.

    Notes
    -----
    What comes after the cell is under the cell's macros: everything there has a name with kit's
    prefix.
    """
    architecture = emulated_architecture(options.architectures)
    parts = [f"#define KIT_EMULATED_ARCHITECTURE {architecture}"]
    parts += ["#include <kit_emulator/prelude.h>"]
    parts += [_define(one) for one in options.defines]
    # Always: an index out of bounds would write into the notebook's own memory.
    parts.append("#define KIT_CHECK_BOUNDS 1")
    parts += [f"#define {name} kit_cell_{name}" for name in _taken_names(kernels)]
    text = name_device_macros(source)
    parts += [f'#line 1 "{CELL_FILE}"', text]
    # First: where layouts differ, what else is wrong follows from it.
    parts += layout_assertions(kernels, symbols, CELL_FILE)
    parts += [*_entries(kernels), *_symbols(symbols)]
    return "\n".join(parts) + "\n"


def _define(text: str) -> str:
    name, equals, value = text.partition("=")
    return f"#define {name} {value if equals else 1}"


def _taken_names(kernels: Sequence[CudaSignature]) -> list[str]:
    """Names that are free in device code and taken in a program: `main`, those of the C library.

    They are renamed by macros, so that errors still point into the cell's own text.
    """
    return sorted({one.name for one in kernels if one.name == "main" or is_c_symbol(one.name)})


def _entries(kernels: Sequence[CudaSignature]) -> list[str]:
    parts = [f"{_EXPORT} kit_emulator_kernel kit_emulator_kernels[] = {{"]
    for one in kernels:
        # What is wrong with a kernel as such is said in the line where it begins.
        parts += [f'#line {one.line} "{CELL_FILE}"', f"kit_emulator_kernel_of<&{one.expression}>,"]
    return [*parts, "};"]


def _symbols(symbols: Sequence[CudaSymbol]) -> list[str]:
    if not symbols:
        return []
    parts = [f"{_EXPORT} kit_emulator_symbol kit_emulator_symbols[] = {{"]
    for one in symbols:
        parts += [f'#line {one.line} "{CELL_FILE}"', f"kit_emulator_symbol_of({one.name}),"]
    return [*parts, "};"]

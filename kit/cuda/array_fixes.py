"""What to paste where a CUDA kernel refuses an array: another array, another line of the cell."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from kit.boundary.call_text import CallText
from kit.boundary.caller import reword_fix
from kit.boundary.refusals import array_lines, reshape_text
from kit.cuda.cpp_types import cpp_type
from kit.cuda.element_types import (
    component_text,
    dtype_text,
    holds_components,
    is_struct,
)
from kit.cuda.found_arrays import FoundArray, is_cupy
from kit.cuda.signature import CudaParameter
from kit.signature import ArgumentType
from kit.terms import Target

__all__ = ["array_fix", "declaration_fix", "fresh_fix", "moving_fix", "need_text"]

_MOST_AXES: Final = 16
_RANKS: Final = {0: "an array without axes", 1: "a 1-D array", 2: "a 2-D array", 3: "a 3-D array"}


def need_text(parameter: CudaParameter) -> str:
    """What a parameter needs, for the line "need".

    Examples
    --------
    >>> from kit.cuda.signature import Element
    >>> double = Element("float64", 1, 8, 8, "double")
    >>> x = CudaParameter("x", "view", double, 2, "in", False, 56, 8, 0, "Array2D<double>", 2, 1)
    >>> need_text(x)
    'a 2-D array of float64, as Array2D<double>'
    """
    kind = "an array" if parameter.ndim is None else _rank_text(parameter.ndim)
    order = "" if parameter.kind == "view" else " in C order without gaps"
    return f"{kind} of {component_text(parameter.element)}{order}, as {parameter.text}"


def _rank_text(rank: int) -> str:
    return _RANKS.get(rank, f"a {rank}-D array")


# ---- another array ----------------------------------------------------------------------------


def fresh_fix(name: str, value: object, library: Literal["cupy", "np"]) -> str:
    """The line that replaces a stranger's array which refuses to be read."""
    # PyTorch's, where gradients are kept.
    detach = callable(getattr(type(value), "detach", None))
    return f"{name} = " + (f"{name}.detach()" if detach else f"{library}.array({name}.tolist())")


def array_fix(
    parameter: CudaParameter, value: object, found: FoundArray | None, call: CallText
) -> list[str]:
    """Lines that make an array which the kernel takes, without losing what it writes.

    Parameters
    ----------
    parameter : CudaParameter
        What the kernel declares.
    value : object
        What was passed.
    found : FoundArray or None
        The same as an array; None where it is none.
    call : CallText
        The call, in which the array is replaced where the kernel writes it.
    """
    name = parameter.name
    if found is not None and found.array is None:
        library = name if is_cupy(value) else f"cupy.asarray({name})"
        fresh = _fresh(parameter, found, library, "cupy")
        return _with_buffer(parameter, found, fresh, f"{library}[...]", call)
    if is_struct(parameter.element) or parameter.element.width > 1 or _is_bfloat16(parameter):
        return _of_wide_elements(parameter, value, found, call)
    array = value if found is None else found.array
    rank = _rank_needed(parameter, array)
    expected = ArgumentType(
        dtype=parameter.element.dtype, rank=rank, order="C", text=parameter.text
    )
    lines = array_lines(name, array, expected, written=parameter.written, call=call)
    return _of_view(lines, value, found, name, call)


def _is_bfloat16(parameter: CudaParameter) -> bool:
    return parameter.element.dtype == "bfloat16"


def _rank_needed(parameter: CudaParameter, array: object) -> int:
    if parameter.ndim is not None:
        return parameter.ndim
    try:
        return int(np.ndim(array))  # pyright: ignore[reportArgumentType]
    except Exception:  # ragged lists, and whatever __array__ of a stranger raises
        return 1


def _of_view(
    lines: list[str], value: object, found: FoundArray | None, name: str, call: CallText
) -> list[str]:
    """The same about the ndarray of an `ArrayView`, which has no astype and no copy."""
    if found is None or found.array is value:
        return lines
    texts = {one: one for one, _ in call.arguments} | {name: f"{name}.ndarray"}
    return reword_fix("\n".join(lines), call.kernel, name, texts).splitlines()


def _of_wide_elements(
    parameter: CudaParameter, value: object, found: FoundArray | None, call: CallText
) -> list[str]:
    name = parameter.name
    if found is None:
        return [f"{name} = np.array({name}, dtype={dtype_text(parameter.element)})"]
    fresh = _fresh(parameter, found, name, "np")
    lines = _with_buffer(parameter, found, fresh, f"{name}[...]", call)
    return _of_view(lines, value, found, name, call)


def _fresh(parameter: CudaParameter, found: FoundArray, text: str, library: str) -> str:
    """An expression for a new array of the right elements, from one of a device or of wide ones."""
    element, facts = parameter.element, found.storage  # an `ArrayView` as an array has its ghosts
    dtype = dtype_text(element).replace("np.", f"{library}.")
    if is_struct(element):
        wanted = [one.name for one in element.fields or ()]
        if list(found.dtype.names or ()) == wanted:
            return f"{text}.astype({dtype})"
        return f"{library}.zeros({parameter.name}.shape, {dtype})  # and fill its fields"
    if element.dtype == "float32" and element.width == 2 and found.dtype == np.complex64:
        return f"{library}.stack(({text}.real, {text}.imag), -1)"
    same = holds_components(found.dtype, element)
    text += ".copy()" if same else f'.astype({dtype}, order="C")'
    if element.width > 1:
        return _in_components(parameter, found, text, f"{library}.zeros", dtype)
    if parameter.ndim is None:
        return text
    shape = f"{parameter.name}.shape"
    return text + reshape_text(facts.ndim, parameter.ndim, shape, empty=facts.size == 0)


def _in_components(
    parameter: CudaParameter, found: FoundArray, text: str, zeros: str, dtype: str
) -> str:
    """The array with the components of a vector type as its last axis."""
    width, storage, name = parameter.element.width, found.storage, parameter.name
    shape = storage.shape
    if not shape or storage.size % width or storage.size == 0:
        extents = ", ".join("1" * (parameter.ndim or 1))
        return f"{zeros}(({extents}, {width}), {dtype})  # your shape, then the components"
    if shape[-1] != width and parameter.ndim in (None, len(shape)) and shape[-1] % width == 0:
        return f"{text}.reshape({name}.shape[:-1] + (-1, {width}))"
    rank = len(shape) if parameter.ndim is None else parameter.ndim + 1
    if shape[-1] == width and rank == len(shape):
        return text
    ones = ", ".join(["1"] * (rank - 2) + ["-1"])
    return f"{text}.reshape(({ones}, {width}))"


def _with_buffer(
    parameter: CudaParameter, found: FoundArray, fresh: str, target: str, call: CallText
) -> list[str]:
    name = parameter.name
    # Nothing comes back into what cannot be written, or has no part in the new array.
    if not (parameter.written and found.storage.writeable) or "  # " in fresh:
        return [f"{name} = {fresh}"]
    buffer = f"{name}_buffer"
    back = f"{buffer}.reshape({name}.shape)" if ".reshape(" in fresh else buffer
    if ".stack(" in fresh:
        back = f"{buffer}[..., 0] + 1j * {buffer}[..., 1]"
    return [f"{buffer} = {fresh}", call.replacing(name, buffer), f"{target} = {back}"]


# ---- another place ----------------------------------------------------------------------------


def moving_fix(parameter: CudaParameter, value: object, target: Target, call: CallText) -> str:
    """Lines that bring an array to the side where the kernel runs, or the kernel to the array."""
    name = parameter.name
    other = "emulator" if target == "device" else "device"
    if target == "device":
        moved, side, back = f"cupy.asarray({name})", "device", f"{name}[...] = {name}_device.get()"
        where = "the CPU"
    else:
        moved, side = _to_host(name, value), "host"
        back = f"cupy.asarray({name})[...] = cupy.asarray({name}_host)"
        where = "the GPU"
    lines = [f"{name} = {moved}"]
    if parameter.written:
        lines = [f"{name}_{side} = {moved}", call.replacing(name, f"{name}_{side}"), back]
    there = call.replacing(name, name).replace(call.kernel, f"{call.kernel}.{other}", 1)
    return "\n".join([*lines, f"# or, on {where}: {there}"])


def _to_host(name: str, value: object) -> str:
    """How the library of a device array copies it to the host."""
    if is_cupy(value):
        return f"{name}.get()"
    kind = type(value)
    if callable(getattr(kind, "copy_to_host", None)):  # Numba
        return f"{name}.copy_to_host()"
    if callable(getattr(kind, "cpu", None)) and callable(getattr(kind, "numpy", None)):  # PyTorch
        return f"{name}.detach().cpu().numpy()"
    return f"cupy.asarray({name}).get()"


# ---- another line of the cell -----------------------------------------------------------------


def declaration_fix(
    parameter: CudaParameter, found: FoundArray, *, strided: bool = False
) -> list[str]:
    """The line of the cell that would take an array as it is; empty where there is none.

    Parameters
    ----------
    parameter : CudaParameter
        What the cell says now.
    found : FoundArray
        What was passed.
    strided : bool
        Whether it has gaps, or another order: then it is a view that is needed.
    """
    element, rank = parameter.element, found.facts.ndim
    if holds_components(found.dtype, element) or is_struct(element):
        wanted = element.text.removeprefix("const ")
        rank -= element.width > 1
    else:
        wanted = None if element.width > 1 else cpp_type(found.dtype)
    if wanted is None or not found.dtype.isnative:
        return []
    const = "" if parameter.written else "const "
    if strided or parameter.kind == "view":
        declared = f"Array{rank}D<{const}{wanted}>"
    elif parameter.kind == "cview":
        declared = f"CArray{rank}D<{const}{wanted}>"
    else:
        declared = f"{const}{wanted}*{' __restrict__' if parameter.restrict else ''}"
    if parameter.kind != "pointer" or strided:
        if not 1 <= rank <= _MOST_AXES:
            return []
        included = "  // with #include <kit/array_view.cuh>" if parameter.kind == "pointer" else ""
        line = f"{declared} {parameter.name}{included}"
        return [f"# or use {declared} in line {parameter.line} of the cell: {line}"]
    return [f"# or declare it in line {parameter.line} of the cell: {declared} {parameter.name}"]

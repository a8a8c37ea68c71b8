"""Whether a cell is one at all: it has kernels, and no code for the host."""

from __future__ import annotations

from kit.cuda.text.cell_places import CellPlaces
from kit.cuda.text.found import Found, FoundKernel

__all__ = ["check_cell"]


def check_cell(found: Found, places: CellPlaces) -> None:
    """Whether a cell can be read to its end, and has kernels and no code for the host.

    Raises
    ------
    CellError
        Where it does not.
    """
    _check_characters(places)
    _check_host_code(found, places)
    _check_kernels(found, places)


def _check_characters(places: CellPlaces) -> None:
    offset = places.text.find("\0")
    if offset >= 0:
        raise places.error(
            "the cell has a NUL character, at which compilers stop to read",
            offset,
            fix="# delete it",
        )


def _check_host_code(found: Found, places: CellPlaces) -> None:
    for offset in found.launches:
        raise places.error(
            "a cell has no host code that launches kernels: they are launched from Python",
            offset,
            fix=f"{_call(found)}  # in Python, in the next cell",
        )
    for offset in found.mains:
        raise places.error(
            "a cell has no main: its kernels are called from Python",
            offset,
            fix=f"{_call(found)}  # in Python, in the next cell",
        )


def _call(found: Found) -> str:
    if not found.kernels:
        return "kernel(x, y, grid=64, block=256)"
    one = found.kernels[0]
    names = [each.name or f"arg{index}" for index, each in enumerate(one.parameters)]
    return f"{one.name}({', '.join([*names, 'grid=64', 'block=256'])})"


def _check_kernels(found: Found, places: CellPlaces) -> None:
    if not found.kernels and not found.unread:
        for name, offset in found.declared:
            raise places.error(
                f"{name} is declared and never defined", offset, fix="# give it a body: { ... }"
            )
        raise places.error(
            "the cell has no __global__ function",
            None,
            fix="__global__ void saxpy(float a, const float* x, float* y, int n)\n"
            "{\n"
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "    if (i < n) y[i] += a * x[i];\n"
            "}",
        )
    seen: dict[str, FoundKernel] = {}
    for one in found.kernels:
        if one.conditions:
            continue
        other = seen.setdefault(one.name, one)
        if other is not one:
            line = places.place(other.name_offset)[0]
            raise places.error(
                f"two kernels are named {one.name} (the other one in line {line}); "
                "Python would see only one of them",
                one.name_offset,
                fix=f"__global__ void {one.name}_2(...)  // a name of its own",
            )

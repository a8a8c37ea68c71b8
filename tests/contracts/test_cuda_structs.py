"""One layout of structs and parameters for all: the compiler of the GPU (which the probe asks), the
compiler of the CPU, kit's packer, and NumPy's aligned dtypes."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.arrayview import ArrayView
from kit.backends.cuda_packages import KIT_HEADERS
from kit.build_cuda import build_cuda_cell
from kit.cuda.options import CudaOptions
from kit.cuda.packing import ArgumentPacker
from kit.errors import ArgumentRefused
from kit.kernel_cuda import CudaKernel
from kit.testing import emulate

# Name -> fields in C++ and in NumPy.
STRUCTS: Mapping[str, list[tuple[str, str, Any]]] = {
    "Plain": [("double", "x", "f8"), ("double", "y", "f8")],
    "Padded": [("bool", "alive", "?"), ("double", "x[3]", ("f8", (3,))), ("short", "charge", "i2")],
    "Small": [
        ("signed char", "a", "i1"),
        ("unsigned short", "b", "u2"),
        ("signed char", "c", "i1"),
    ],
    "Tail": [("long long", "n", "i8"), ("signed char", "last", "i1")],
    "Many": [
        ("bool", "flag", "?"),
        ("float", "f", "f4"),
        ("unsigned char", "bytes[5]", ("u1", (5,))),
        ("int", "grid[2][3]", ("i4", (2, 3))),
        ("unsigned long long", "big", "u8"),
        ("float", "g", "f4"),
    ],
    "One": [("unsigned char", "only", "u1")],
}

# Parameters whose places depend on all the ones before.
MIXED = (
    "bool a, Array3D<double> view, signed char b, CArray2D<float> block, short c, Padded p, "
    "signed char d, const float* raw, unsigned char e, Small s, float f, Array1D<const int> last"
)


def definitions() -> str:
    lines = [
        f"struct {name} {{ {' '.join(f'{kind} {field};' for kind, field, _ in fields)} }};"
        for name, fields in STRUCTS.items()
    ]
    return "#include <kit/array_view.cuh>\n" + "\n".join(lines) + "\n"


def dtype_of(name: str) -> np.dtype[Any]:
    fields: list[Any] = []
    for _, field, kind in STRUCTS[name]:
        plain = field.partition("[")[0]
        fields.append((plain, *kind) if isinstance(kind, tuple) else (plain, kind))
    return np.dtype(fields, align=True)


def cell() -> str:
    by_value = "\n".join(
        f"__global__ void value_{name}({name} value, {name}* copy) {{ *copy = value; }}"
        for name in STRUCTS
    )
    views = "\n".join(
        f"__global__ void view_{n}(bool a, Array{n}D<double> x, bool b, CArray{n}D<float> y) {{}}"
        for n in range(1, 17)
    )
    return f"{definitions()}{by_value}\n{views}\n__global__ void mixed({MIXED}) {{}}\n"


@cache
def kernels() -> Mapping[str, CudaKernel]:
    options = CudaOptions(architectures=("sm_90",))
    return build_cuda_cell(cell(), options=options).kernels


def by_host_compiler(folder: Path, expressions: list[str], extra: str = "") -> list[int]:
    """What g++ gives for integer expressions."""
    values = ", ".join(f"(long long)({one})" for one in expressions)
    text = (
        "#include <cstddef>\n"
        f"{definitions()}{extra}\n"
        f'extern "C" const long long answers[] = {{{values}}};\n'
    )
    (folder / "ask.cpp").write_text(text)
    flags = ["-std=c++17", "-shared", "-fPIC", "-Wno-invalid-offsetof", f"-I{KIT_HEADERS}"]
    subprocess.run(["g++", *flags, "ask.cpp", "-o", "ask.so"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "ask.so"))
    return list((ctypes.c_longlong * len(expressions)).in_dll(library, "answers"))


def test_fields_lie_where_both_compilers_and_numpy_have_them(tmp_path: Path) -> None:
    asked: list[str] = []
    found: list[int] = []
    for name in STRUCTS:
        element = kernels()[f"value_{name}"].cuda_signature.parameters[0].element
        dtype: Any = dtype_of(name)
        assert element.fields is not None
        assert (element.size, element.alignment) == (dtype.itemsize, dtype.alignment)
        assert [one.name for one in element.fields] == list(dtype.names)
        for field in element.fields:
            inner, offset = dtype.fields[field.name][:2]
            assert (field.offset, field.shape) == (offset, inner.shape)
            assert np.dtype(field.element.dtype) == inner.base
            asked.append(f"offsetof({name}, {field.name})")
            found.append(field.offset)
        asked += [f"sizeof({name})", f"alignof({name})"]
        found += [element.size, element.alignment]
    assert found == by_host_compiler(tmp_path, asked)


@pytest.mark.parametrize("rank", range(1, 17))
def test_views_take_as_many_bytes_as_kit_packs(rank: int) -> None:
    parameters = kernels()[f"view_{rank}"].cuda_signature.parameters
    sizes = [(one.size, one.offset) for one in parameters]
    view, block = 8 + 24 * rank, 8 + 8 * rank
    assert sizes == [(1, 0), (view, 8), (1, 8 + view), (block, 16 + view)]


def test_parameters_lie_where_a_struct_of_them_has_them(tmp_path: Path) -> None:
    signature = kernels()["mixed"].cuda_signature
    extra = f"struct All {{ {MIXED.replace(', ', '; ')}; }};"
    names = [one.name for one in signature.parameters]
    asked = [f"offsetof(All, {name})" for name in names]
    asked += [f"sizeof(All::{name})" for name in names]
    offsets = [one.offset for one in signature.parameters]
    assert [*offsets, *(one.size for one in signature.parameters)] == by_host_compiler(
        tmp_path, asked, extra
    )


def test_the_packer_puts_each_argument_where_a_struct_of_them_has_it(tmp_path: Path) -> None:
    signature = kernels()["mixed"].cuda_signature
    values = mixed_values()
    data = ArgumentPacker(signature).pack(tuple(values.values()), "emulator").data
    extra = f"struct All {{ {MIXED.replace(', ', '; ')}; }};"
    members = ["a", "b", "c", "d", "e", "f", "p.x[2]", "p.charge", "s.b", "view.shape[2]"]
    members += ["view.strides[0]", "view.ghost_low[1]", "view.ghost_high[2]", "block.shape[1]"]
    members += ["last.strides[0]"]
    kinds = [
        "?",
        "i1",
        "i2",
        "i1",
        "u1",
        "f4",
        "f8",
        "i2",
        "u2",
        "i8",
        "i8",
        "i4",
        "i4",
        "i8",
        "i8",
    ]
    places = by_host_compiler(tmp_path, [f"offsetof(All, {one})" for one in members], extra)
    got = [
        np.frombuffer(data, kind, 1, place)[0] for kind, place in zip(kinds, places, strict=True)
    ]
    view = values["view"]
    assert got == [
        True, -2, -3, -4, 5, 0.5, 3.0, 7, 9, 3, view.ndarray.strides[0] // 8, 1, 2, 6, -2,
    ]  # fmt: skip


def mixed_values() -> dict[str, Any]:
    whole = np.zeros((4, 5, 6))
    padded = np.zeros((), dtype_of("Padded"))
    padded["x"], padded["charge"] = (1, 2, 3), 7
    small = np.zeros((), dtype_of("Small"))
    small["b"] = 9
    return {
        "a": True,
        "view": ArrayView(array=whole, nghost=((0, 0), (1, 0), (1, 2))),
        "b": -2,
        "block": np.zeros((5, 6), np.float32),
        "c": -3,
        "p": padded[()],
        "d": -4,
        "raw": np.zeros(3, np.float32),
        "e": 5,
        "s": small[()],
        "f": 0.5,
        "last": np.zeros(8, np.int32)[::-2],
    }


@pytest.mark.parametrize("name", STRUCTS)
def test_a_struct_comes_back_as_it_went_in(name: str) -> None:
    dtype: Any = dtype_of(name)
    record = np.zeros((), dtype)
    rng = np.random.default_rng(len(name))
    for field in dtype.names or ():
        values = rng.integers(0, 100, record[field].shape)
        record[field] = values % 2 if dtype[field].base.kind == "b" else values
    copy = np.zeros(1, dtype)
    emulate(kernels()[f"value_{name}"], record[()], copy, grid=1, block=1)
    assert copy[0] == record[()]


def test_a_record_without_the_padding_is_refused_and_the_fix_works_when_pasted() -> None:
    value: Any = np.zeros((), np.dtype([("alive", "?"), ("x", "f8", (3,)), ("charge", "i2")]))[()]
    value["charge"] = 7
    copy = np.zeros(1, dtype_of("Padded"))
    with pytest.raises(ArgumentRefused, match="without its padding") as caught:
        emulate(kernels()["value_Padded"], value, copy, grid=1, block=1)
    names = {"np": np, "value": value}
    exec(caught.value.fix, names)
    emulate(kernels()["value_Padded"], names["value"], copy, grid=1, block=1)
    assert copy["charge"] == 7


def test_the_header_and_the_probe_have_one_idea_of_a_view(tmp_path: Path) -> None:
    asked = [
        f"offsetof({kind}, {field})"
        for kind, fields in {
            "Array2D<float>": ["data", "shape", "strides", "ghost_low", "ghost_high"],
            "CArray2D<float>": ["data", "shape"],
        }.items()
        for field in fields
    ]
    assert by_host_compiler(tmp_path, asked) == [0, 8, 24, 40, 48, 0, 8]


def test_every_parameter_lies_at_a_multiple_of_its_alignment() -> None:
    for kernel in kernels().values():
        signature = kernel.cuda_signature
        end = 0
        for one in signature.parameters:
            assert one.offset % one.alignment == 0
            assert 0 <= one.offset - end < one.alignment
            end = one.offset + one.size
        assert signature.packed_size == end

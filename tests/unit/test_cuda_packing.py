"""What is packed for a CUDA kernel is what C++ reads, for every layout and element type."""

from __future__ import annotations

import ctypes
import gc
import struct
import subprocess
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import kit
from kit.arrayview import ArrayView
from kit.cuda import packing
from kit.cuda.cpp_types import CPP_TYPES
from kit.cuda.packing import ArgumentPacker
from kit.cuda.signature import CudaSignature
from kit.errors import ArgumentRefused, CellError
from tests.unit.cuda_signatures import ELEMENTS, PARTICLE, array, kernel, record, scalar, vector
from tests.unit.view_sources import EMPTY, LAYOUTS

Array = np.ndarray[Any, Any]

ALL_TYPES = tuple(ELEMENTS)


@pytest.fixture(params=["compiled", "python"])
def packer_of(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes packers: the compiled one with its twin behind it, and the twin alone."""
    assert packing._native is not None, "no compiled packer, and no way to make one"
    if request.param == "python":
        monkeypatch.setattr(packing, "_native", None)
    return ArgumentPacker


def made(dtype: str, layout: str) -> Array:
    if dtype == "bfloat16":
        return LAYOUTS[layout]("float32").astype(ml_dtypes.bfloat16)
    return LAYOUTS[layout](dtype)


def unpacked_view(data: bytes, ndim: int, itemsize: int) -> tuple[Any, ...]:
    """Address, extents, strides_bytes and ghosts of an ``ArrayND<T>``."""
    address, *rest = struct.unpack(f"<Q{2 * ndim}q{2 * ndim}i", data)
    steps = tuple(one * itemsize for one in rest[ndim : 2 * ndim])
    ghosts = tuple(rest[2 * ndim :])
    return address, tuple(rest[:ndim]), steps, ghosts


# ---- arrays -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_view_is_packed_with_numpys_address_extents_and_strides(
    packer_of: Any, layout: str, dtype: str
) -> None:
    value = made(dtype, layout)
    if value.ndim == 0:
        return
    signature = kernel(array("x", dtype, value.ndim))
    packed = packer_of(signature).pack((value,), "emulator")
    address, shape, strides, ghosts = unpacked_view(packed.data, value.ndim, value.itemsize)
    assert (address, shape, strides) == (value.ctypes.data, value.shape, value.strides)
    assert ghosts == (0,) * (2 * value.ndim)


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_pointers_and_c_views_take_what_numpy_calls_c_contiguous_and_nothing_else(
    packer_of: Any, layout: str, dtype: str
) -> None:
    value = made(dtype, layout)
    pointer = packer_of(kernel(array("x", dtype)))
    view = packer_of(kernel(array("x", dtype, value.ndim, kind="cview"))) if value.ndim else None
    if not value.flags.c_contiguous:
        for packer in filter(None, (pointer, view)):
            with pytest.raises(ArgumentRefused, match="in C order without gaps"):
                packer.pack((value,), "emulator")
        return
    packed = pointer.pack((value,), "emulator")
    assert packed.data == struct.pack("<Q", value.ctypes.data)
    if view is not None:
        packed = view.pack((value,), "emulator")
        assert packed.data == struct.pack(f"<Q{value.ndim}q", value.ctypes.data, *value.shape)


@pytest.mark.parametrize("shape", EMPTY)
def test_arrays_without_elements_pass_with_strides_of_zero(
    packer_of: Any, shape: tuple[int, ...]
) -> None:
    for value in (np.zeros(shape), np.zeros(shape, order="F")):
        rank = len(shape)
        packed = packer_of(kernel(array("x", "float64", rank, written=True))).pack(
            (value,), "emulator"
        )
        address, found, strides, _ = unpacked_view(packed.data, rank, 8)
        assert (address, found, strides) == (value.ctypes.data, shape, (0,) * rank)
        packer_of(kernel(array("x", "float64", written=True))).pack((value,), "emulator")


@pytest.mark.parametrize("rank", range(1, 17))
def test_views_have_up_to_sixteen_axes(packer_of: Any, rank: int) -> None:
    value = np.zeros((2,) * rank, "int8")
    packed = packer_of(kernel(array("x", "int8", rank))).pack((value,), "emulator")
    assert unpacked_view(packed.data, rank, 1)[1:3] == (value.shape, value.strides)


def test_a_view_without_axes_goes_into_a_pointer(packer_of: Any) -> None:
    value = np.array(3.0)
    packed = packer_of(kernel(array("x", "float64"))).pack((value,), "emulator")
    assert packed.data == struct.pack("<Q", value.ctypes.data)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("nghost", [((1, 2), (0, 1)), ((0, 0), (2, 0)), ((2, 2), (2, 2))])
def test_ghosts_lie_below_and_above_the_body_from_which_indices_count(
    packer_of: Any, nghost: Any, order: Any
) -> None:
    whole = np.zeros((6, 7), order=order)
    view = ArrayView(array=whole, nghost=nghost)
    body = whole[
        nghost[0][0] : 6 - nghost[0][1],
        nghost[1][0] : 7 - nghost[1][1],
    ]
    packed = packer_of(kernel(array("x", "float64", 2, written=True))).pack((view,), "emulator")
    address, shape, strides, ghosts = unpacked_view(packed.data, 2, 8)
    assert address == whole[nghost[0][0] :, nghost[1][0] :].ctypes.data
    assert (shape, strides) == (body.shape, whole.strides)
    assert ghosts == (nghost[0][0], nghost[1][0], nghost[0][1], nghost[1][1])


def test_ghosts_of_a_body_without_elements_can_be_reached(packer_of: Any) -> None:
    whole = np.arange(3.0)
    view = ArrayView(array=whole, nghost=((1, 2),))
    packed = packer_of(kernel(array("x", "float64", 1))).pack((view,), "emulator")
    assert unpacked_view(packed.data, 1, 8) == (whole[1:].ctypes.data, (0,), (8,), (1, 2))


def test_views_of_new_memory_pass_and_read_only_ones_are_not_written(packer_of: Any) -> None:
    view = ArrayView((4, 5), dtype="float32", alignment=64, readonly=True)
    packed = packer_of(kernel(array("x", "float32", 2))).pack((view,), "emulator")
    assert struct.unpack("<Q", packed.data[:8])[0] % 64 == 0
    with pytest.raises(ArgumentRefused, match="not writeable"):
        packer_of(kernel(array("x", "float32", 2, written=True))).pack((view,), "emulator")


# ---- C++ reads it -----------------------------------------------------------------------------

READER = """
#include <complex>
#include <cstdint>
#include <cstring>
#include <cuda_stand_ins.h>

#include <kit/array_view.cuh>

template<class T, int N> T element(const kit::ArrayView<T, N>& view, const long long* index) {
    if constexpr (N == 1) return view(index[0]);
    if constexpr (N == 2) return view(index[0], index[1]);
    if constexpr (N == 3) return view(index[0], index[1], index[2]);
}

template<class T, int N> void read(const kit::ArrayView<T, N>& view, T* result) {
    long long index[N];
    for (int k = 0; k < N; k++) index[k] = -view.ghost_low[k];
    for (;;) {
        *result++ = element(view, index);
        int k = N - 1;
        while (k >= 0 && ++index[k] == view.shape[k] + view.ghost_high[k]) {
            index[k] = -view.ghost_low[k];
            k--;
        }
        if (k < 0) return;
    }
}
"""

STAND_INS = """
struct __half { unsigned short bits; };
struct __nv_bfloat16 { unsigned short bits; };
namespace cuda { namespace std {
template<class T> struct alignas(2 * sizeof(T)) complex { T re, im; };
} }
struct alignas(16) float4 { float x, y, z, w; };
struct Particle { bool alive; double position[3]; short charge; };
"""


def cpp_reader(text: str, folder: Path) -> Any:
    """A library of C++ that is given the addresses of its arguments, as kernels are."""
    (folder / "cuda_stand_ins.h").write_text(STAND_INS)
    (folder / "reader.cpp").write_text(READER + text)
    headers = Path(kit.__file__).parent / "cuda" / "include"
    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{folder}", f"-I{headers}"]
    command += ["reader.cpp", "-o", "reader.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "reader.so"))


def read_by(function: Any, packed: Any, result: Array) -> Array:
    function(ctypes.c_void_p(packed.addresses), ctypes.c_void_p(result.ctypes.data))
    return result


@pytest.fixture(scope="module")
def view_reader(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """read_<type>_<axes>(arguments, result)"""
    lines = [
        f'extern "C" void read_{dtype}_{rank}(void** arguments, void* result) {{\n'
        f"    typedef {CPP_TYPES[dtype]} T;\n"
        f"    typedef kit::ArrayView<T, {rank}> View;\n"
        f"    read(*static_cast<View*>(arguments[0]), static_cast<T*>(result));\n}}"
        for dtype, rank in product(ALL_TYPES, (1, 2, 3))
    ]
    return cpp_reader("\n".join(lines), tmp_path_factory.mktemp("reader"))


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_cpp_reads_every_element_through_a_packed_view(
    packer_of: Any, view_reader: Any, layout: str, dtype: str
) -> None:
    value = made(dtype, layout)
    if value.ndim == 0:
        return
    packed = packer_of(kernel(array("x", dtype, value.ndim))).pack((value,), "emulator")
    result = np.zeros_like(value, order="C")
    read_by(getattr(view_reader, f"read_{dtype}_{value.ndim}"), packed, result)
    assert result.tobytes() == value.tobytes()


@pytest.mark.parametrize("layout", [one for one in LAYOUTS if one != "no axis"])
@pytest.mark.parametrize("sides", [(0, 1), (1, 0), (1, 1)])
def test_cpp_reads_ghosts_at_negative_indices_and_past_the_end(
    packer_of: Any, view_reader: Any, layout: str, sides: tuple[int, int]
) -> None:
    whole = made("float64", layout)
    ghosts = tuple(sides if extent > 2 else (0, 0) for extent in whole.shape)
    view = ArrayView(array=whole, nghost=ghosts)
    packed = packer_of(kernel(array("x", "float64", whole.ndim))).pack((view,), "emulator")
    result = np.zeros_like(whole, order="C")
    read_by(getattr(view_reader, f"read_float64_{whole.ndim}"), packed, result)
    np.testing.assert_array_equal(result, whole)


def test_cpp_finds_each_argument_at_its_own_address(packer_of: Any, tmp_path: Path) -> None:
    text = """
    extern "C" void get(void** arguments, double* result) {
        result[0] = *(bool*)arguments[0] + 10.0 * *(short*)arguments[1];
        result[1] = (*(double**)arguments[2])[1];
        float4 v = *(float4*)arguments[3];
        result[2] = v.x + 10 * v.y + 100 * v.z + 1000 * v.w;
        Particle p = *(Particle*)arguments[4];
        result[3] = p.alive + p.position[0] + 10 * p.position[2] + 100 * p.charge;
        result[4] = (*(cuda::std::complex<double>*)arguments[5]).im;
        result[5] = (*(float4**)arguments[6])[1].w + (*(Particle**)arguments[7])[1].charge;
        for (int k = 0; k < 8; k++)
            if ((std::uintptr_t)arguments[k] % (k == 3 || k == 5 ? 16 : 1)) result[0] = -1;
    }"""
    library = cpp_reader(text, tmp_path)
    float4 = vector("float32", 4)
    signature = kernel(
        scalar("a", "bool"),
        scalar("b", "int16"),
        array("x", "float64", written=True, restrict=True),
        record("v", float4),
        record("p", PARTICLE),
        scalar("z", "complex128"),
        array("vs", float4),
        array("ps", PARTICLE),
    )
    fields = [("alive", "?"), ("position", "f8", (3,)), ("charge", "i2")]
    particles = np.zeros(2, np.dtype(fields, align=True))
    particles["charge"] = 7, 70
    particle = np.array((True, (1, 2, 3), 4), particles.dtype)[()]
    vectors = np.arange(8, dtype="f4").reshape(2, 4)
    values = (
        True,
        np.int16(-2),
        np.arange(3.0),
        (1, 2, 3, 4),
        particle,
        1 - 2j,
        vectors,
        particles,
    )
    packed = packer_of(signature).pack(values, "emulator")
    result = read_by(library.get, packed, np.zeros(6))
    assert result.tolist() == [1 - 20.0, 1.0, 4321.0, 1 + 1 + 30 + 400, -2.0, 7 + 70]


# ---- a call's own memory ----------------------------------------------------------------------


def addresses_of(packed: Any, count: int) -> list[int]:
    return list((ctypes.c_uint64 * count).from_address(packed.addresses))


def test_arguments_lie_at_their_offsets_with_zeros_between(packer_of: Any) -> None:
    signature = kernel(scalar("a", "int8"), scalar("b", "float64"), scalar("c", "bool"))
    packed = packer_of(signature).pack((-1, 1.5, True), "emulator")
    assert packed.data == b"\xff" + bytes(7) + struct.pack("<d", 1.5) + b"\1"
    first, second, third = addresses_of(packed, 3)
    assert (second - first, third - first) == (8, 16)
    assert ctypes.string_at(first, 17) == packed.data


@pytest.mark.parametrize("alignment", [16, 32, 128])
def test_the_first_argument_is_aligned_as_the_strictest_needs(
    packer_of: Any, alignment: int
) -> None:
    wide = PARTICLE._replace(alignment=alignment, size=128)
    packer = packer_of(kernel(record("p", wide)))
    kept = [packer.pack((np.void(bytes(128)),), "emulator") for _ in range(50)]
    assert all(addresses_of(one, 1)[0] % alignment == 0 for one in kept)


def test_a_kernel_without_parameters_packs_nothing(packer_of: Any) -> None:
    packed = packer_of(kernel()).pack((), "emulator")
    assert packed.addresses != 0
    assert (packed.data, packed.values) == (b"", ())


def test_arguments_live_as_long_as_what_is_packed_of_them(packer_of: Any) -> None:
    value: Any = np.zeros(3)
    alive = weakref.ref(value)
    packed = packer_of(kernel(array("x", "float64"))).pack((value,), "emulator")
    del value
    gc.collect()
    assert alive() is not None
    del packed
    gc.collect()
    assert alive() is None


def test_calls_from_several_threads_have_memory_of_their_own(packer_of: Any) -> None:
    packer = packer_of(kernel(scalar("a", "int64"), array("x", "float64")))
    value = np.zeros(3)

    def pack(number: int) -> bytes:
        kept = [packer.pack((number, value), "emulator") for _ in range(50)]
        assert len({one.data for one in kept}) == 1
        return kept[0].data

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(pack, range(40)))
    assert found == [struct.pack("<qQ", k, value.ctypes.data) for k in range(40)]


def test_converting_a_number_may_pack_again(packer_of: Any) -> None:
    """Of a stranger: the method that says what it is calls the kernel once more."""
    packer = packer_of(kernel(scalar("a", "float64")))
    inner: list[bytes] = []

    class Number(int):
        def __int__(self) -> int:
            inner.append(packer.pack((2,), "emulator").data)
            return 1

        __index__ = __int__

    packed = packer.pack((Number(1),), "emulator")
    assert packed.data == struct.pack("<d", 1.0)
    assert set(inner) <= {struct.pack("<d", 2.0)}


def test_parameters_beyond_four_kilobytes_are_an_error_of_the_cell() -> None:
    large = PARTICLE._replace(size=4000, text="Table", fields=None)
    ArgumentPacker(kernel(record("t", large), record("x", vector("float32", 4))))
    with pytest.raises(CellError, match="f takes 4,104 bytes of parameters, and CUDA passes 4,096"):
        ArgumentPacker(kernel(record("t", large), *[scalar(f"a{k}", "float64") for k in range(13)]))


# ---- the compiled packer ----------------------------------------------------------------------


def rows_of(signature: CudaSignature) -> Iterator[Any]:
    from kit.cuda.packer_table import packer_rows

    yield from packer_rows(signature) or ()


def compiled(rows: Any, size: int, alignment: int = 16) -> Any:
    native: Any = packing._native
    return native.Packer(tuple(rows), size, alignment, lambda *_: None, ArrayView)


@pytest.mark.parametrize(
    "change",
    [
        lambda row: (99, *row[1:]),
        lambda row: (-1, *row[1:]),
        lambda row: (row[0], 1, *row[2:]),
        lambda row: (row[0], row[1], 57, *row[3:]),
        lambda row: (*row[:3], ()),
        lambda row: (*row[:3], (row[3][0], 17, *row[3][2:])),
        lambda row: (*row[:3], (row[3][0], 0, *row[3][2:])),
        lambda row: (*row[:3], (row[3][0], 2, 0, *row[3][3:])),
        lambda row: (*row[:3], (row[3][0], 2, 1, 4, *row[3][4:])),
        lambda row: list(row),
    ],
)
def test_a_row_that_contradicts_itself_makes_no_packer(change: Any) -> None:
    (row,) = rows_of(kernel(array("x", "float64", 2)))
    compiled([row], 56)
    with pytest.raises((ValueError, TypeError, SystemError)):
        compiled([change(row)], 56)
    with pytest.raises(ValueError):
        compiled([row], 55)


def test_a_packer_takes_as_many_values_as_there_are_parameters() -> None:
    packer = compiled(rows_of(kernel(scalar("a", "float64"))), 8)
    for wrong in ((), (1.0, 2.0), [1.0]):
        with pytest.raises(TypeError):
            packer.pack(wrong, None)
    with pytest.raises(TypeError):
        packer.pack((1.0,))

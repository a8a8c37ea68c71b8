"""Arrays in a device's memory as arguments, of CuPy and of others; packing needs no GPU."""

from __future__ import annotations

import struct
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from kit.arrayview import ArrayView
from kit.cuda import packing
from kit.cuda.packing import ArgumentPacker
from kit.errors import ArgumentRefused
from tests.unit.cuda_signatures import PARTICLE, array, kernel, record, scalar, vector
from tests.unit.view_sources import LAYOUTS

ADDRESS = 0x7F00_0000_1000
FLOAT4 = vector("float32", 4)
ALIGNED = np.dtype([("alive", "?"), ("position", "f8", (3,)), ("charge", "i2")], align=True)


class DeviceArray:
    """What Numba's and PyTorch's arrays tell, for memory that is not there."""

    def __init__(self, like: Any, *, readonly: bool = False, **entries: Any) -> None:
        self.shape, self.dtype = like.shape, like.dtype
        descr: Any = {"descr": like.dtype.descr} if like.dtype.names else {}
        self.__cuda_array_interface__ = {
            "shape": like.shape,
            "typestr": like.dtype.str,
            "strides": like.strides,
            "data": (address_like(like), readonly),
            "version": 3,
            **descr,
            **entries,
        }


def address_like(like: Any) -> int:
    """An address on the device, as far into its memory as NumPy's array is into its base."""
    base = like if like.base is None else like.base
    return ADDRESS + like.ctypes.data - base.ctypes.data


def cupy_array(like: Any) -> Any:
    """A real array of CuPy over memory that is not there."""
    import cupy

    memory = cupy.cuda.UnownedMemory(address_like(like), 1 << 30, None, 0)
    pointer = cupy.cuda.MemoryPointer(memory, 0)
    return cupy.ndarray(like.shape, like.dtype, pointer, strides=like.strides)


@pytest.fixture(params=["compiled", "python"])
def packer_of(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "python":
        monkeypatch.setattr(packing, "_native", None)
    return ArgumentPacker


@pytest.fixture(params=[DeviceArray, cupy_array, lambda like: ArrayView(array=DeviceArray(like))],
                ids=["interface", "cupy", "view"])  # fmt: skip
def on_device(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_device_array_is_packed_as_it_lies(
    packer_of: Any, on_device: Any, layout: str, dtype: str
) -> None:
    like = LAYOUTS[layout](dtype)
    if like.ndim == 0:
        return
    packed = packer_of(kernel(array("x", dtype, like.ndim))).pack((on_device(like),), "device")
    steps = [one // like.itemsize for one in like.strides]
    rest = [0] * (2 * like.ndim)
    expected = struct.pack(f"<Q{2 * like.ndim}q", address_like(like), *like.shape, *steps)
    assert packed.data == expected + struct.pack(f"<{2 * like.ndim}i", *rest)


def test_cupy_arrays_are_packed_in_c() -> None:
    import cupy

    signature = kernel(array("x", "float64", written=True), array("v", FLOAT4, 1))
    values = (cupy_array(np.zeros((3, 4))), cupy_array(np.zeros((3, 4), "f4")))
    packed: Any = ArgumentPacker(signature)._pack(values, cupy.ndarray)
    assert packed is not NotImplemented
    assert packed.data == struct.pack("<QQqq2i", ADDRESS, ADDRESS, 3, 4 // 4, 0, 0)


def test_pointers_take_contiguous_device_arrays_only(packer_of: Any, on_device: Any) -> None:
    packer = packer_of(kernel(array("x", "float64", written=True)))
    whole = np.zeros((3, 4))
    assert packer.pack((on_device(whole),), "device").data == struct.pack("<Q", ADDRESS)
    with pytest.raises(ArgumentRefused, match="C order with gaps") as caught:
        packer.pack((on_device(whole[:, 1:]),), "device")
    fresh, call, back, declared = caught.value.fix.splitlines()
    assert fresh.startswith("x_buffer = ")
    assert fresh.endswith(".copy()")
    assert call == "f(x_buffer)"
    assert back.endswith("[...] = x_buffer")
    assert "Array2D<double>" in declared


def test_vectors_and_records_lie_on_a_device_too(packer_of: Any) -> None:
    packer = packer_of(kernel(array("v", FLOAT4), array("p", PARTICLE)))
    vectors = DeviceArray(np.zeros((3, 4), "f4"))
    packer.pack((vectors, DeviceArray(np.zeros(3, ALIGNED))), "device")
    packer.pack((cupy_array(np.zeros((3, 4), "f4")), DeviceArray(np.zeros(3, "V40"))), "device")
    with pytest.raises(ArgumentRefused, match="fields alive"):
        packer.pack((vectors, DeviceArray(np.zeros(3, [("alive", "?")]))), "device")


def test_two_byte_elements_without_a_name_are_what_the_array_says(packer_of: Any) -> None:
    import ml_dtypes  # pyright: ignore[reportMissingTypeStubs]

    packer = packer_of(kernel(array("x", "bfloat16")))
    packer.pack((DeviceArray(np.zeros(3, ml_dtypes.bfloat16)),), "device")
    packer.pack((cupy_array(np.zeros(3, ml_dtypes.bfloat16)),), "device")
    with pytest.raises(ArgumentRefused, match="float16 array"):
        packer.pack((DeviceArray(np.zeros(3, "f2")),), "device")


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_device_arrays_without_elements_pass(
    packer_of: Any, on_device: Any, shape: tuple[int, ...]
) -> None:
    packer = packer_of(kernel(array("x", "float64", len(shape), written=True)))
    data = packer.pack((on_device(np.zeros(shape)),), "device").data
    zeros = [0] * len(shape)
    assert data[8:] == struct.pack(f"<{2 * len(shape)}q", *shape, *zeros) + bytes(8 * len(shape))


# ---- refused ----------------------------------------------------------------------------------


def test_a_host_array_is_refused_on_the_device_and_the_other_way_round(
    packer_of: Any, on_device: Any
) -> None:
    packer = packer_of(kernel(array("x", "float64", 1), scalar("n", "int32")))
    for value in (np.zeros(3), ArrayView((3,))):
        with pytest.raises(ArgumentRefused, match="in the memory of the host") as caught:
            packer.pack((value, 3), "device")
        assert isinstance(caught.value, TypeError)
        assert "x = cupy.asarray(x)" in caught.value.fix
        assert caught.value.fix.endswith("# or, on the CPU: f.emulator(x, n)")
    with pytest.raises(ArgumentRefused, match="in the memory of the device") as caught:
        packer.pack((on_device(np.zeros(3)), 3), "emulator")
    assert ".get()" in caught.value.fix
    assert caught.value.fix.endswith("# or, on the GPU: f.device(x, n)")


def test_the_fix_moves_an_output_back(packer_of: Any) -> None:
    packer = packer_of(kernel(array("x", "float64", written=True)))
    with pytest.raises(ArgumentRefused) as caught:
        packer.pack((np.zeros(3),), "device")
    assert caught.value.fix.splitlines()[:3] == [
        "x_device = cupy.asarray(x)",
        "f(x_device)",
        "x[...] = x_device.get()",
    ]


@pytest.mark.parametrize(
    ("methods", "fix"),
    [
        (("copy_to_host",), "x = x.copy_to_host()"),
        (("cpu", "numpy", "detach"), "x = x.detach().cpu().numpy()"),
        ((), "x = cupy.asarray(x).get()"),
    ],
)
def test_the_fix_is_in_the_words_of_the_arrays_library(methods: Any, fix: str) -> None:
    kind = type("Array", (DeviceArray,), {name: lambda self: self for name in methods})
    with pytest.raises(ArgumentRefused) as caught:
        ArgumentPacker(kernel(array("x", "float64"))).pack((kind(np.zeros(3)),), "emulator")
    assert caught.value.fix.splitlines()[0] == fix


def test_a_list_is_refused_on_the_device_with_cupy() -> None:
    with pytest.raises(ArgumentRefused) as caught:
        ArgumentPacker(kernel(array("x", "float64"))).pack(([1.0],), "device")
    assert caught.value.fix == "x = cupy.array(x, dtype=cupy.float64)"


def test_read_only_misaligned_masked_and_null_device_arrays_are_refused(packer_of: Any) -> None:
    whole = np.zeros(9)
    cases = [
        (DeviceArray(whole, readonly=True), "array is not writeable"),
        (DeviceArray(whole, mask=DeviceArray(whole)), "an array with a mask"),
        (DeviceArray(whole, data=(ADDRESS + 4, False)), "4 bytes past a multiple of 8"),
        (DeviceArray(whole, data=(0, False)), "the address is 0"),
        (DeviceArray(whole, strides=(0,)), "axis 0 has stride 0"),
        (DeviceArray(whole, strides=(12,)), "a stride of 12 bytes"),
        (DeviceArray(whole, typestr="<f4", strides=None), "float32 array"),
        (DeviceArray(whole, typestr=">f8"), "foreign byte order"),
        (DeviceArray(whole, shape=None), "'shape' should be a tuple"),
    ]
    for value, found in cases:
        packer = packer_of(kernel(array("x", "float64", 1, written=True)))
        with pytest.raises(ArgumentRefused, match=found):
            packer.pack((value,), "device")
        assert packer.plan((value,), "device")["x"].action == "REFUSE"


def test_device_arrays_of_another_dtype_or_rank_are_refused(packer_of: Any, on_device: Any) -> None:
    with pytest.raises(ArgumentRefused, match="int64 array"):
        packer_of(kernel(array("x", "float64"))).pack((on_device(np.zeros(3, "i8")),), "device")
    for parameter in (array("x", "float64"), array("x", "float32", 2)):
        with pytest.raises(ArgumentRefused, match=r"float32 array of shape \(3,\)"):
            packer_of(kernel(parameter)).pack((on_device(np.zeros(3, "f4")),), "device")


def test_what_a_library_says_against_it_is_said(packer_of: Any) -> None:
    class Tensor:
        def detach(self) -> Any:
            return DeviceArray(np.zeros(3))

        @property
        def __cuda_array_interface__(self) -> Any:
            raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad.")

    with pytest.raises(ArgumentRefused, match="requires grad") as caught:
        packer_of(kernel(array("x", "float64"))).pack((Tensor(),), "device")
    assert "x.detach()" in caught.value.fix


def test_device_arrays_are_no_numbers_and_no_structs() -> None:
    for parameter in (scalar("x", "float64"), record("x", FLOAT4), record("x", PARTICLE)):
        plan = ArgumentPacker(kernel(parameter)).plan((DeviceArray(np.zeros(4)),), "device")
        assert plan["x"].action == "REFUSE"


def test_device_arrays_that_share_elements_are_seen_by_their_addresses(
    packer_of: Any, on_device: Any
) -> None:
    x = array("x", "float64", 1, written=True, restrict=True)
    packer = packer_of(kernel(x, array("y", "float64", 1)))
    memory = np.zeros(20)
    for one, other in [(memory[:10], memory[10:]), (memory[::2], memory[1::2])]:
        packer.pack((on_device(one), on_device(other)), "device")
    with pytest.raises(ArgumentRefused, match="shares elements with y"):
        packer.pack((on_device(memory[:11]), on_device(memory[10:])), "device")


# ---- streams ----------------------------------------------------------------------------------


def test_the_launch_is_told_which_streams_to_wait_for(packer_of: Any) -> None:
    packer = packer_of(kernel(array("x", "float64"), array("y", "float64"), array("z", "float64")))
    one, other = DeviceArray(np.zeros(3), stream=0x5000), DeviceArray(np.zeros(3), stream=1)
    assert packer.pack((one, other, one), "device").streams == (0x5000, 1)
    none = DeviceArray(np.zeros(3), stream=None)
    assert packer.pack((none, cupy_array(np.zeros(3)), none), "device").streams == ()
    view = ArrayView(array=DeviceArray(np.zeros(3), stream=7))
    assert packer.pack((view, none, none), "device").streams == (7,)


def test_the_stream_that_the_interface_forbids_is_refused(packer_of: Any) -> None:
    packer = packer_of(kernel(array("x", "float64")))
    with pytest.raises(ArgumentRefused, match="stream 0"):
        packer.pack((DeviceArray(np.zeros(3), stream=0),), "device")


# ---- ghosts -----------------------------------------------------------------------------------


def test_ghosts_of_a_device_view_count_from_its_body(packer_of: Any) -> None:
    view = ArrayView(array=DeviceArray(np.zeros((6, 7))), nghost=((1, 2), (0, 1)))
    packed = packer_of(kernel(array("x", "float64", 2, written=True))).pack((view,), "device")
    assert packed.data == struct.pack("<Q4q4i", ADDRESS + 56, 3, 6, 7, 1, 1, 0, 2, 1)


# ---- no library is imported -------------------------------------------------------------------


def test_a_device_array_is_recognised_without_its_library(
    packer_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    packer_of(kernel(array("x", "float64"))).pack((DeviceArray(np.zeros(3)),), "device")
    monkeypatch.setitem(sys.modules, "cupy", ModuleType("cupy"))  # half imported
    packer_of(kernel(array("x", "float64"))).pack((DeviceArray(np.zeros(3)),), "device")

"""Views and other libraries: NumPy, memoryview, DLPack, memory of devices."""

from __future__ import annotations

import copy
import ctypes
import gc
import sys
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import kit
from kit.arrays import array_kind
from kit.errors import ArgumentRefused
from tests.unit.view_sources import EMPTY, LAYOUTS, TYPES, elements, numbers
from tests.unit.view_types import VIEW_TYPES, python_views

Array = np.ndarray[Any, Any]

# NumPy 2.1 takes all memory that comes by DLPack to be read-only.
DLPACK_WRITES = np.from_dlpack(np.zeros(1)).flags.writeable


@pytest.fixture(params=VIEW_TYPES)
def views(request: pytest.FixtureRequest) -> Any:
    return request.param()


def has_buffer(views: Any) -> bool:
    """Python 3.11 knows no `__buffer__` in Python."""
    return views is not python_views() or sys.version_info >= (3, 12)


def address(array: Array) -> int:
    return array.ctypes.data


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_and_buffers_of_a_view_are_its_source(views: Any, name: str, dtype: str) -> None:
    source = LAYOUTS[name](dtype)
    view = views(array=source, dtype=dtype)
    got = [view.ndarray, np.asarray(view), np.array(view, copy=False)]
    got += [np.from_dlpack(view)] if DLPACK_WRITES else []
    got += [np.asarray(memoryview(view))] if has_buffer(views) else []
    for one in got:
        assert type(one) is np.ndarray
        assert (address(one), one.shape, one.dtype) == (address(source), source.shape, source.dtype)
        used = [extent > 1 for extent in source.shape]  # DLPack may say others for the rest
        assert [s for s, is_used in zip(one.strides, used, strict=True) if is_used] == [
            s for s, is_used in zip(source.strides, used, strict=True) if is_used
        ]
        assert one.flags.writeable
    value = next(one for one in numbers(dtype) if one != source[(0,) * source.ndim])
    got[1][(0,) * source.ndim] = value
    assert view[(0,) * source.ndim] == source[(0,) * source.ndim] == value
    assert view.__array_interface__ == source.__array_interface__


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", EMPTY)
def test_empty_views_go_out_as_empty_arrays(views: Any, shape: tuple[int, ...], dtype: str) -> None:
    view = views(array=np.zeros(shape, dtype))
    for one in (view.ndarray, np.asarray(view), np.from_dlpack(view)):
        assert (one.shape, one.dtype) == (shape, np.dtype(dtype))
    if has_buffer(views):
        assert memoryview(view).shape == shape


def test_conversions_mean_what_numpy_says(views: Any) -> None:
    source = np.arange(4.0)
    view = views(array=source)
    assert not np.shares_memory(np.array(view), source)
    assert not np.shares_memory(np.array(view, copy=True), source)
    assert not np.shares_memory(view.__array__(copy=True), source)
    assert np.shares_memory(view.__array__(), source)
    assert np.shares_memory(view.__array__(np.float64), source)
    converted = np.asarray(view, dtype="float32")
    assert converted.dtype == "float32"
    assert view.__array__("float32").dtype == "float32"
    for refuse in (
        lambda: np.array(view, dtype="float32", copy=False),
        lambda: view.__array__("float32", copy=False),
    ):
        with pytest.raises(ValueError, match=r"avoid|copy"):
            refuse()
    assert (np.add(view, 1) == source + 1).all()


def test_a_read_only_view_goes_out_read_only(views: Any) -> None:
    view = views(array=np.arange(4.0), readonly=True)
    assert not view.ndarray.flags.writeable
    assert not np.asarray(view).flags.writeable
    assert not np.from_dlpack(view).flags.writeable
    assert view.__array_interface__["data"][1]
    if has_buffer(views):
        assert memoryview(view).readonly
        with pytest.raises((BufferError, TypeError)):
            _writable(view)


def _writable(view: Any) -> Any:
    """A buffer that can be written and has no gaps."""
    return (ctypes.c_double * 4).from_buffer(view)


def test_a_buffer_says_what_the_elements_are(views: Any) -> None:
    if not has_buffer(views):
        pytest.skip("this Python looks for no __buffer__")
    for dtype in TYPES:
        source: Any = elements(6, dtype).reshape(2, 3)
        found, expected = memoryview(views(array=source)), memoryview(source)
        assert (found.format, found.strides) == (expected.format, expected.strides)
    strided = memoryview(views(array=np.arange(12.0).reshape(3, 4)[:, ::2]))
    assert (strided.strides, strided.c_contiguous) == ((32, 16), False)
    with pytest.raises((BufferError, TypeError), match="contiguous"):
        _writable(views(array=np.arange(8.0)[::2]))


def test_a_transposed_view_compares_equal_through_memoryview(views: Any) -> None:
    source: Any = np.arange(12.0).reshape(3, 4)
    view = views(array=source).transpose()
    square: Any = np.arange(9.0).reshape(3, 3)
    shared = views(array=square)
    square[...] = square.T.copy()  # in place: the view sees it
    if has_buffer(views):
        assert memoryview(view) == memoryview(source.T)
        assert memoryview(shared) == memoryview(square)
        assert memoryview(shared) != memoryview(square.T.copy())
    assert shared[0, 1] == 3


def test_kit_recognises_its_own_views(views: Any) -> None:
    source = np.zeros((3, 4))[:, ::2]
    view = views(array=source)
    assert array_kind(view) == "array_interface"
    assert kit.inspect_layout(view) == kit.inspect_layout(source)


@pytest.mark.skipif(not DLPACK_WRITES, reason="this NumPy takes DLPack to be read-only")
def test_dlpack_producers_are_shared(views: Any) -> None:
    class Producer:
        def __init__(self, memory: Array) -> None:
            self.memory = memory

        def __dlpack__(self, **options: Any) -> Any:
            return self.memory.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.memory.__dlpack_device__()

    memory = np.arange(12.0).reshape(3, 4)[:, ::-2]
    view = views(array=Producer(memory), dtype="float64")
    view[1, 1] = -1.0
    assert memory[1, 1] == -1
    assert view.strides_bytes == memory.strides

    class Old(Producer):
        """As of before 2023: no version, no copy, and nothing says whether it may be written."""

        def __dlpack__(self, *, stream: Any = None) -> Any:  # type: ignore[override]
            return self.memory.__dlpack__()

    with pytest.raises(ValueError, match="array is not writeable"):
        views(array=Old(memory))
    assert views(array=Old(memory), readonly=True)[1, 1] == -1


def test_dlpack_of_a_view_is_on_the_host(views: Any) -> None:
    view = views(array=np.arange(4.0))
    assert view.__dlpack_device__() == np.arange(4.0).__dlpack_device__()
    assert "dltensor" in repr(view.__dlpack__())
    assert "dltensor_versioned" in repr(view.__dlpack__(max_version=(1, 0)))
    copied = np.from_dlpack(view, copy=True)
    assert not np.shares_memory(copied, view.ndarray)


# ---- devices ----------------------------------------------------------------------------------


class DeviceArray:
    """An array on a device, as far as one can tell without one."""

    def __init__(self, shape: tuple[int, ...] = (3, 4), dtype: str = "<f8", **changes: Any) -> None:
        self.interface: dict[str, Any] = {
            "shape": shape,
            "typestr": dtype,
            "data": (0x7F00_0000_0000, False),
            "strides": None,
            "version": 3,
            "stream": 7,
        } | changes

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.interface

    def __dlpack__(self, **options: Any) -> Any:
        return "capsule", options

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def test_device_memory_is_laid_out_and_goes_out_again(views: Any) -> None:
    source = DeviceArray()
    view = views(array=source, dtype="float64")
    assert view.place == "device"
    assert (view.shape, view.strides_elements, view.strides_bytes) == ((3, 4), (4, 1), (32, 8))
    assert (view.dtype, view.itemsize, view.size, view.nbytes) == ("float64", 8, 12, 96)
    assert view.is_c_contiguous
    assert not view.is_f_contiguous
    assert view.owner is source
    assert view.is_from_python
    assert view.__cuda_array_interface__ == source.interface
    assert array_kind(view) == "cuda"
    assert view.__dlpack__(stream=3) == ("capsule", {"stream": 3})
    assert view.__dlpack_device__() == (2, 0)
    assert repr(view) == "ArrayView(float64 (3, 4) on device: C order; strides_elements (4, 1))"
    assert views(array=view).owner is source


def test_views_of_device_memory_change_shape_and_keep_the_owner(views: Any) -> None:
    source = DeviceArray((4, 6))
    view = views(array=source, nghost=[(1, 1), (2, 0)])
    start = source.interface["data"][0]
    assert (view.shape, view.layout.pointer) == ((2, 4), start + 48 + 16)
    assert view.__cuda_array_interface__["shape"] == (4, 6)
    body = view.body.__cuda_array_interface__
    assert (body["shape"], body["strides"], body["data"]) == (
        (2, 4),
        (48, 8),
        (start + 64, False),
    )
    moved = views(array=source).transpose()
    assert moved.__cuda_array_interface__["strides"] == (8, 48)
    assert moved.reshape(24, order="F").strides_elements == (1,)
    assert views(array=source).reshape(3, -1).strides_elements == (8, 1)
    with pytest.raises(ArgumentRefused, match="F order on a device"):
        moved.reshape(24)
    with pytest.raises(BufferError, match=r"cupy\.asarray"):
        moved.__dlpack__()


def test_device_memory_lives_as_long_as_a_view_of_it(views: Any) -> None:
    source = DeviceArray((4, 6))
    reference = weakref.ref(source)
    view = views(array=source, nghost=1)
    others = [view.body, view.transpose(), views(array=view)]
    del source, view
    gc.collect()
    assert reference() is not None
    while others:
        assert others.pop().owner is reference()
    gc.collect()
    assert reference() is None


class Copyable(DeviceArray):
    """An array of a library that copies on the device, as CuPy does."""

    __module__ = "pretended_cupy"

    def get(self) -> Any:
        raise AssertionError("copied to the host")

    def copy(self, order: str) -> Copyable:
        assert order in ("C", "F")
        shape = self.interface["shape"]
        strides = np.empty(shape, order=order).strides  # pyright: ignore[reportArgumentType, reportCallIssue]
        return Copyable(shape, data=(0x7F10_0000_0000, False), strides=strides)


@pytest.fixture
def _library(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    library: Any = ModuleType("pretended_cupy")
    library.ndarray = Copyable
    library.asarray = lambda view: Copyable(
        **{
            name: value
            for name, value in view.__cuda_array_interface__.items()
            if name in ("shape", "data", "strides")
        }
    )
    monkeypatch.setitem(sys.modules, "pretended_cupy", library)


@pytest.mark.usefixtures("_library")
def test_a_clone_of_device_memory_is_made_on_the_device(views: Any) -> None:
    view = views(array=Copyable((4, 6)), nghost=1)
    made = view.clone()
    assert (made.place, made.shape, made.nghost) == ("device", (2, 6), ((1, 1), (0, 0)))
    assert (made.is_from_python, view.is_from_python) == (False, True)
    assert made.__cuda_array_interface__["data"] == (0x7F10_0000_0000, False)
    assert made.layout.pointer == 0x7F10_0000_0000 + 48
    assert type(made.owner) is Copyable
    frozen = views(array=Copyable((4, 6), data=(4096, True)), readonly=True).clone()
    assert not frozen.readonly
    turned = views(array=Copyable((4, 6))).transpose()
    assert turned.clone().strides_elements == turned.strides_elements == (1, 6)
    assert copy.copy(turned).layout.pointer == 0x7F10_0000_0000


def test_no_element_of_a_device_is_touched_on_the_host(views: Any) -> None:
    view = views(array=DeviceArray())
    for touch in (
        lambda: view[0, 0],
        lambda: view.__setitem__((0, 0), 1.0),
        lambda: view.ndarray,
        lambda: view.sum(),
        lambda: view.mean(),
        lambda: list(view),
        lambda: view.clone(),
        lambda: np.asarray(view),
        lambda: view.__reduce__(),
    ):
        with pytest.raises(ArgumentRefused, match=r"cupy\.asarray") as caught:
            touch()
        assert isinstance(caught.value, TypeError)
    with pytest.raises((BufferError, TypeError)):
        memoryview(view)
    assert not hasattr(view, "__array_interface__")
    assert not hasattr(views(array=np.zeros(1)), "__cuda_array_interface__")


def test_device_memory_is_checked_as_other_memory_is(views: Any) -> None:
    for source, dtype, text in (
        (DeviceArray(), "float32", "float64 elements"),
        (DeviceArray(dtype=">f8"), None, "byte order"),
        (DeviceArray(dtype="<f2"), None, "float16"),
        (DeviceArray(strides=(36, 9)), None, "axis 0 has a stride of 36 bytes"),
        (DeviceArray(data=(4097, False)), None, "1 bytes past a multiple of 8"),
        (DeviceArray(mask=DeviceArray()), None, "mask"),
    ):
        with pytest.raises(ArgumentRefused, match=text):
            views(array=source, dtype=dtype)
    frozen = DeviceArray(data=(4096, True))
    with pytest.raises(ValueError, match="array is not writeable"):
        views(array=frozen)
    view = views(array=frozen, readonly=True)
    assert view.readonly
    assert view.__cuda_array_interface__["data"] == (4096, True)
    assert views(array=DeviceArray(), readonly=True).__cuda_array_interface__["data"][1]

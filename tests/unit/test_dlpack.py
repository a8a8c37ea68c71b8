from __future__ import annotations

import ctypes
import gc
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from kit.layout import inspect_layout
from kit.memory import dlpack
from tests.unit.strided_arrays import AnyArray, strided_arrays

CPU, CUDA, CUDA_HOST, ROCM, METAL, MANAGED = 1, 2, 3, 10, 8, 13
INT, FLOAT, OPAQUE, BFLOAT, COMPLEX, BOOL = 0, 2, 3, 4, 5, 6

_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Exporter:
    """A capsule made by hand, as a library with a device or dtype that NumPy lacks makes it."""

    def __init__(
        self,
        *,
        shape: tuple[int, ...] = (3, 4),
        strides: tuple[int, ...] | None = None,
        data: int = 4096,
        byte_offset: int = 0,
        device: int = CUDA,
        element: tuple[int, int, int] = (FLOAT, 64, 1),
        version: tuple[int, int] | None = None,
        flags: int = 0,
        name: bytes | None = None,
    ) -> None:
        self.device = device
        self.version = version
        self.name = name
        self.calls: list[dict[str, Any]] = []
        self.destroyed = 0
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = (ctypes.c_int64 * len(shape))(*strides) if strides is not None else None
        self._managed = dlpack._VersionedTensor(
            *(version or (0, 0)), None, None, flags, self._tensor(data, byte_offset, element)
        )
        self._destructor = _Destructor(self._destroy)

    def _tensor(self, data: int, byte_offset: int, element: tuple[int, int, int]) -> Any:
        int64s = ctypes.POINTER(ctypes.c_int64)
        return dlpack._Tensor(
            data,
            self.device,
            0,
            len(self._shape),
            *element,
            ctypes.cast(self._shape, int64s) if len(self._shape) else None,
            ctypes.cast(self._strides, int64s) if self._strides is not None else None,
            byte_offset,
        )

    def _destroy(self, _capsule: int) -> None:
        self.destroyed += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **options: Any) -> object:
        self.calls.append(options)
        if self.version is None:
            if not options.keys() <= {"stream"}:
                raise TypeError("unexpected keyword")
            start = self._managed.tensor
            name = b"dltensor"
        else:
            start = self._managed
            name = b"dltensor_versioned"
        # A capsule keeps the pointer to its name, so the bytes stay with the exporter.
        self._name = self.name or name
        destructor = ctypes.cast(self._destructor, ctypes.c_void_p)
        return _new_capsule(ctypes.addressof(start), self._name, destructor)


class NumpyBehind:
    """A NumPy array that shows nothing but DLPack, with the keywords that it is told to know."""

    def __init__(self, array: AnyArray, known: tuple[str, ...]) -> None:
        self._array = array
        self._known = known

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        if not options.keys() <= set(self._known):
            raise TypeError("unexpected keyword")
        return self._array.__dlpack__(**options)


NEW = ("max_version", "copy", "stream")


@given(strided_arrays(dtypes=("u1", "<i2", "f8", "c16", "?")))
def test_dlpack_gives_the_facts_of_the_array_behind_it(array: AnyArray) -> None:
    assume(all(stride % array.itemsize == 0 for stride in array.strides))
    assume(array.flags.aligned)
    facts = inspect_layout(NumpyBehind(array, NEW))
    expected = inspect_layout(array)
    # An exporter may normalise what no index uses: strides of unit axes and of empty arrays.
    unused = [n <= 1 or array.size == 0 for n in array.shape]
    strides = tuple(
        found if skip else own
        for found, own, skip in zip(facts.strides_bytes, array.strides, unused, strict=True)
    )
    assert facts == replace(expected, strides_bytes=strides)


def test_a_read_only_array_is_read_by_the_versioned_protocol() -> None:
    array = np.zeros((2, 3))
    array.flags.writeable = False
    assert not inspect_layout(NumpyBehind(array, NEW)).writeable
    array.flags.writeable = True
    assert inspect_layout(NumpyBehind(array, NEW)).writeable


def test_an_exporter_that_cannot_say_counts_as_read_only_as_in_numpy() -> None:
    exporter = NumpyBehind(np.zeros((2, 3)), ())
    assert not inspect_layout(exporter).writeable
    assert not np.from_dlpack(exporter).flags.writeable


def test_exporters_are_asked_with_the_keywords_that_they_know() -> None:
    array = np.zeros((2, 3))
    for known in (NEW, ("max_version",)):
        assert inspect_layout(NumpyBehind(array, known)) == inspect_layout(array)
    assert inspect_layout(NumpyBehind(array, ())).pointer == array.ctypes.data


def test_a_refusal_of_the_exporter_reaches_the_user_as_it_is() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    with pytest.raises(BufferError):
        inspect_layout(NumpyBehind(array, ()))


@pytest.mark.parametrize("version", [None, (1, 0), (1, 3)])
def test_a_device_capsule_is_read_in_place(version: tuple[int, int] | None) -> None:
    exporter = Exporter(strides=(1, 3), byte_offset=24, version=version)
    facts = inspect_layout(exporter)
    assert (facts.place, facts.order, facts.shape) == ("device", "F", (3, 4))
    assert (facts.strides_bytes, facts.pointer, facts.dtype) == ((8, 24), 4120, "float64")
    assert (facts.native, facts.aligned) == (True, True)
    assert facts.writeable == (version is not None)


def test_a_capsule_is_left_to_its_own_destructor_which_runs_at_once() -> None:
    exporter = Exporter(version=(1, 0))
    inspect_layout(exporter)
    assert exporter.destroyed == 1
    array = np.zeros(3)
    before = sys.getrefcount(array)
    inspect_layout(NumpyBehind(array, NEW))
    gc.collect()
    assert sys.getrefcount(array) == before


def test_a_device_is_asked_not_to_synchronise_and_nobody_to_copy() -> None:
    for device, stream in ((CUDA, {"stream": -1}), (MANAGED, {"stream": -1}), (CPU, {})):
        exporter = Exporter(device=device, version=(1, 0))
        inspect_layout(exporter)
        assert exporter.calls == [{**stream, "max_version": (1, 1), "copy": False}]


def test_strides_of_null_are_c_contiguous() -> None:
    facts = inspect_layout(Exporter(version=(1, 0)))
    assert (facts.strides_bytes, facts.order) == ((32, 8), "C")


def test_an_array_without_axes_or_elements_may_have_null_pointers() -> None:
    assert inspect_layout(Exporter(shape=())).strides_bytes == ()
    facts = inspect_layout(Exporter(shape=(0, 4), data=0))
    assert (facts.pointer, facts.size) == (0, 0)
    with pytest.raises(ValueError, match="NULL"):
        inspect_layout(Exporter(data=0))


@pytest.mark.parametrize(
    ("device", "place"),
    [(CPU, "host"), (CUDA_HOST, "host"), (CUDA, "device"), (ROCM, "device"), (MANAGED, "device")],
)
def test_pinned_memory_is_host_memory_and_managed_memory_is_device_memory(
    device: int, place: str
) -> None:
    assert inspect_layout(Exporter(device=device)).place == place


def test_memory_without_addresses_is_refused_before_anything_is_exported() -> None:
    exporter = Exporter(device=METAL)
    with pytest.raises(TypeError, match="DLPack device type 8"):
        inspect_layout(exporter)
    assert exporter.calls == []


@pytest.mark.parametrize(
    ("element", "name", "itemsize"),
    [
        ((INT, 8, 1), "int8", 1),
        ((1, 32, 1), "uint32", 4),
        ((FLOAT, 16, 1), "float16", 2),
        ((BFLOAT, 16, 1), "bfloat16", 2),
        ((COMPLEX, 128, 1), "complex128", 16),
        ((BOOL, 8, 1), "bool", 1),
        ((BOOL, 32, 1), "bool32", 4),
        ((10, 8, 1), "float8_e4m3fn", 1),
        ((FLOAT, 32, 4), "float32x4", 16),
    ],
)
def test_elements_are_named_as_numpy_names_them_or_else_as_dlpack_does(
    element: tuple[int, int, int], name: str, itemsize: int
) -> None:
    facts = inspect_layout(Exporter(element=element))
    assert (facts.dtype, facts.itemsize) == (name, itemsize)
    assert facts.strides_bytes == (4 * itemsize, itemsize)


def test_alignment_is_that_of_one_number() -> None:
    assert inspect_layout(Exporter(element=(COMPLEX, 128, 1), byte_offset=8)).aligned
    assert not inspect_layout(Exporter(element=(COMPLEX, 128, 1), byte_offset=4)).aligned
    assert inspect_layout(Exporter(element=(FLOAT, 32, 4), byte_offset=4)).aligned


@pytest.mark.parametrize("element", [(INT, 4, 1), (17, 4, 1), (BOOL, 1, 1), (OPAQUE, 64, 1)])
def test_elements_that_are_no_numbers_of_whole_bytes_are_refused(
    element: tuple[int, int, int],
) -> None:
    with pytest.raises(TypeError, match=f"{element[1]} bits"):
        inspect_layout(Exporter(element=element))


def test_an_unknown_version_a_copy_and_a_used_capsule_are_refused() -> None:
    with pytest.raises(ValueError, match=r"DLPack version 2\.0 is not known"):
        inspect_layout(Exporter(version=(2, 0)))
    with pytest.raises(ValueError, match="gave a copy"):
        inspect_layout(Exporter(version=(1, 0), flags=2))
    with pytest.raises(ValueError, match="used_dltensor"):
        inspect_layout(Exporter(name=b"used_dltensor"))


def test_the_read_only_flag_is_read() -> None:
    assert not inspect_layout(Exporter(version=(1, 0), flags=1)).writeable
    assert inspect_layout(Exporter(version=(1, 1), flags=4)).writeable

from __future__ import annotations

import ctypes
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from hypothesis import assume, given

from kit.arrays import array_kind
from kit.layout import inspect_layout
from tests.unit.strided_arrays import AnyArray, strided_arrays


class OnDevice:
    """An array of an unknown library that offers `__cuda_array_interface__` and nothing else."""

    def __init__(self, **interface: Any) -> None:
        self.__cuda_array_interface__ = {
            "shape": (3, 4),
            "typestr": "<f8",
            "data": (4096, False),
            "version": 3,
            **interface,
        }


class OnHost:
    """An array of an unknown library that offers `__array_interface__` and nothing else."""

    def __init__(self, **interface: Any) -> None:
        self.__array_interface__ = {"version": 3, **interface}


class Refusing:
    """As a PyTorch tensor that requires a gradient: it has the protocol and raises."""

    @property
    def __cuda_array_interface__(self) -> Any:
        raise RuntimeError("requires grad")


class OnCpu:
    """As a PyTorch tensor on the CPU: its class has the protocol, this instance has not."""

    def __init__(self, array: AnyArray) -> None:
        self._array = array

    @property
    def __cuda_array_interface__(self) -> Any:
        raise AttributeError("not on a GPU")

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class Both(OnDevice):
    __array_interface__ = np.zeros(1).__array_interface__


class AnswersEverything:
    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


# ---- recognising ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (np.zeros(3), "numpy"),
        (np.zeros(()), "numpy"),
        (np.ma.masked_array([1.0]), "numpy"),
        (np.zeros(2).view(np.recarray), "numpy"),
        (OnDevice(), "cuda"),
        (Refusing(), "cuda"),
        (Both(), "cuda"),
        (OnHost(shape=(1,), typestr="<f8", data=(4096, False)), "array_interface"),
        (OnCpu(np.zeros(3)), "dlpack"),
        (np.float64(3), None),
        (np.True_, None),
        (np.ndarray, None),
        (OnDevice, None),
        (None, None),
        (3, None),
        ("text", None),
        ([1.0], None),
        (memoryview(b"abc"), None),
        (AnswersEverything(), None),
        (MagicMock(), None),
        (SimpleNamespace(__dlpack__=None), None),
    ],
)
def test_an_array_is_recognised_by_what_it_offers(value: object, kind: str | None) -> None:
    assert array_kind(value) == kind


def test_recognising_imports_no_array_library() -> None:
    code = (
        "import sys; import kit.arrays\n"
        "class A:\n"
        "    __cuda_array_interface__ = {}\n"
        "print(kit.arrays.array_kind(A()), {'cupy', 'torch', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "cuda set()"


# ---- __array_interface__ --------------------------------------------------------------------


@given(strided_arrays())
def test_an_array_interface_gives_the_facts_of_the_array_behind_it(array: AnyArray) -> None:
    facts = inspect_layout(OnHost(**array.__array_interface__))
    expected = inspect_layout(array)
    if array.flags.c_contiguous:  # NumPy then gives no strides; those of unused axes may differ
        assert facts.is_contiguous("C")
        expected = replace(expected, strides_bytes=facts.strides_bytes)
    assert facts == expected


@given(strided_arrays(min_extent=1))
def test_numpy_reads_the_same_layout_from_an_interface(array: AnyArray) -> None:
    exporter = OnHost(**array.__array_interface__)
    assert inspect_layout(exporter) == inspect_layout(np.asarray(exporter))


def test_strides_that_are_missing_or_none_are_c_contiguous() -> None:
    for entry in ({}, {"strides": None}):
        facts = inspect_layout(OnDevice(**entry))
        assert facts.strides_bytes == (32, 8)
        assert facts.is_contiguous("C")
    empty = inspect_layout(OnDevice(shape=(3, 0, 2), data=(0, False)))
    assert empty.strides_bytes == (16, 16, 8)
    assert inspect_layout(OnDevice(shape=())).strides_bytes == ()


def test_a_read_only_array_interface_is_not_writeable() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    assert not inspect_layout(OnHost(**array.__array_interface__)).writeable


@pytest.mark.parametrize("offset", [0, 8])
def test_the_offset_counts_from_the_start_of_a_buffer(offset: int) -> None:
    buffer = bytearray(80)
    exporter = OnHost(shape=(2, 3), typestr="<f8", data=buffer, offset=offset)
    facts = inspect_layout(exporter)
    assert facts == inspect_layout(np.asarray(exporter))
    assert facts.pointer == ctypes.addressof(ctypes.c_char.from_buffer(buffer)) + offset
    assert facts.writeable


def test_the_offset_means_nothing_beside_an_address_as_in_numpy() -> None:
    array = np.zeros(4)
    exporter = OnHost(shape=(2,), typestr="<f8", data=(array.ctypes.data, False), offset=8)
    assert inspect_layout(exporter).pointer == array.ctypes.data
    assert np.asarray(exporter).ctypes.data == array.ctypes.data


def test_a_read_only_buffer_is_not_writeable() -> None:
    assert not inspect_layout(OnHost(shape=(2,), typestr="<f8", data=bytes(16))).writeable


class ItsOwnBuffer(bytearray):
    __array_interface__ = {"shape": (2,), "typestr": "<f8", "version": 3}  # noqa: RUF012 # protocol


def test_an_interface_without_data_means_the_buffer_of_its_owner() -> None:
    owner = ItsOwnBuffer(16)
    facts = inspect_layout(owner)
    assert facts.pointer == np.frombuffer(owner, np.uint8).ctypes.data
    assert (facts.shape, facts.dtype) == ((2,), "float64")


def test_an_empty_buffer_holds_an_array_without_elements() -> None:
    facts = inspect_layout(OnHost(shape=(0, 3), typestr="<f8", data=b""))
    assert (facts.pointer, facts.size, facts.byte_span) == (0, 0, (0, 0))


def test_fields_come_from_descr_where_typestr_is_opaque() -> None:
    swapped = [("flag", "|i1"), ("value", ">f8")]
    array = np.zeros(3, np.dtype(swapped))
    facts = inspect_layout(OnHost(**array.__array_interface__))
    assert (facts.itemsize, facts.native) == (9, False)
    plain = OnHost(shape=(3,), typestr="|V9", data=(4096, False))
    assert inspect_layout(plain).native
    default = OnHost(shape=(3,), typestr="|V9", data=(4096, False), descr=[("", "|V9")])
    assert inspect_layout(default) == inspect_layout(plain)


def test_descr_beside_a_plain_typestr_is_ignored_as_in_numpy() -> None:
    array = np.zeros(3)
    exporter = OnHost(**{**array.__array_interface__, "descr": [("", "<i2")]})
    assert inspect_layout(exporter) == inspect_layout(np.asarray(exporter))


def test_a_mask_is_named() -> None:
    mask = np.zeros(3, bool)
    assert inspect_layout(OnHost(shape=(3,), typestr="<f8", data=(4096, False), mask=mask)).masked
    assert inspect_layout(OnDevice(mask=OnDevice(typestr="|b1"))).masked
    assert not inspect_layout(OnDevice(mask=None)).masked


# ---- __cuda_array_interface__ ---------------------------------------------------------------


@given(strided_arrays())
def test_a_device_array_has_the_layout_of_its_host_twin(array: AnyArray) -> None:
    assume(not array.flags.c_contiguous)
    facts = inspect_layout(OnDevice(**array.__array_interface__))
    assert facts == replace(inspect_layout(array), place="device")


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_every_version_of_the_cuda_interface_is_read(version: int) -> None:
    facts = inspect_layout(OnDevice(version=version, strides=(8, 24), data=(4096, True)))
    assert (facts.place, facts.order, facts.pointer) == ("device", "F", 4096)
    assert (facts.dtype, facts.writeable, facts.aligned) == ("float64", False, True)


@pytest.mark.parametrize("stream", [None, 1, 2, 0x7F0000001000])
def test_a_stream_is_neither_used_nor_in_the_way(stream: int | None) -> None:
    assert inspect_layout(OnDevice(stream=stream)) == inspect_layout(OnDevice())


def test_a_device_array_without_elements_may_have_a_null_pointer() -> None:
    facts = inspect_layout(OnDevice(shape=(0, 4), data=(0, False)))
    assert (facts.pointer, facts.size, facts.overlaps, facts.has_gaps) == (0, 0, False, False)


def test_a_misaligned_device_array_is_named_so() -> None:
    assert not inspect_layout(OnDevice(data=(4097, False))).aligned
    assert not inspect_layout(OnDevice(strides=(32, 12))).aligned
    assert inspect_layout(OnDevice(shape=(3, 1), strides=(32, 12))).aligned
    assert inspect_layout(OnDevice(shape=(0, 4), data=(4097, False))).aligned


def test_a_refusal_of_the_exporter_reaches_the_user_as_it_is() -> None:
    with pytest.raises(RuntimeError, match="requires grad"):
        inspect_layout(Refusing())


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ({"data": (0, False)}, r"address is 0 \(NULL\), yet shape \(3, 4\) has 12 elements"),
        ({"strides": (8,)}, r"shape \(3, 4\) and strides \(8,\) differ"),
        ({"shape": (3, -4)}, r"shape \(3, -4\) has a negative extent"),
        ({"shape": (3, 4.0)}, "'shape' should be a tuple of integers"),
        ({"shape": None}, "'shape' should be a tuple of integers"),
        ({"strides": 8}, "'strides' should be a tuple of integers"),
        ({"data": 4096}, "'data' should be a tuple"),
        ({"data": ("0x1000", False)}, "'data' should be a tuple"),
        ({"data": (4096,)}, "'data' should be a tuple"),
        ({"data": None}, "'data' should be a tuple"),
        ({"data": bytes(96)}, "'data' should be a tuple"),
        ({"typestr": "|V8", "descr": [("x", "<f4")]}, "'descr' has elements of 4 bytes"),
    ],
)
def test_a_contradictory_interface_is_refused(entries: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        inspect_layout(OnDevice(**entries))


def test_missing_entries_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'shape' should be .* found 'nothing'"):
        inspect_layout(OnHost(typestr="<f8", data=(4096, False)))
    with pytest.raises(ValueError, match="'typestr' is missing"):
        inspect_layout(OnHost(shape=(3,), data=(4096, False)))
    with pytest.raises(ValueError, match="or a buffer, found OnHost"):
        inspect_layout(OnHost(shape=(3,), typestr="<f8"))


def test_a_buffer_with_gaps_is_refused() -> None:
    with pytest.raises(ValueError, match="buffer of 'data' has gaps"):
        inspect_layout(OnHost(shape=(2,), typestr="<f8", data=np.zeros(8)[::2]))


def test_bits_are_no_elements_with_addresses() -> None:
    with pytest.raises(TypeError, match="t1"):
        inspect_layout(OnDevice(typestr="|t1"))

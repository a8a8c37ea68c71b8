from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.array_utils import byte_bounds

from kit.layout import LayoutFacts, inspect_layout
from tests.unit.strided_arrays import AnyArray, place_in_buffer, strided_arrays, used_bytes

# Degenerate shapes, each with what NumPy leaves in the strides that it never uses.
ODD_SHAPES = [
    np.zeros(()),
    np.zeros(0),
    np.zeros((3, 0, 2)),
    np.zeros((4, 4))[1:1],
    np.zeros((4, 4))[:, 1:1],
    np.zeros((4, 4))[:, 2:3],
    np.zeros((4, 4))[2:3],
    np.zeros(4)[:, None],
    np.zeros(4)[None],
    np.array(1.0)[None],
    np.ones((3, 1)).T,
    np.zeros((4, 4))[::3][:1],
    np.zeros(4)[2:3][::-1],
    np.broadcast_to(1.0, (1, 1)),
    np.broadcast_to(1.0, (3,)),
    place_in_buffer((1, 3, 1), (7, 8, -5), "f8"),
    place_in_buffer((0, 3), (-5, 0), "f8"),
    np.zeros(3, dtype=[]),
]


def check_against_numpy(array: AnyArray) -> None:
    facts = inspect_layout(array)
    assert facts.shape == array.shape
    assert facts.strides_bytes == array.strides
    assert (facts.ndim, facts.size, facts.nbytes) == (array.ndim, array.size, array.nbytes)
    assert facts.itemsize == array.itemsize
    assert facts.dtype == array.dtype.name
    assert facts.pointer == array.ctypes.data
    assert facts.native == array.dtype.isnative
    assert facts.aligned == array.flags.aligned
    assert facts.writeable == array.flags.writeable
    assert facts.is_contiguous("C") == array.flags.c_contiguous
    assert facts.is_contiguous("F") == array.flags.f_contiguous
    assert facts.place == "host"
    assert not facts.masked


@given(strided_arrays())
def test_every_fact_that_numpy_also_states_agrees_with_numpy(array: AnyArray) -> None:
    check_against_numpy(array)


@pytest.mark.parametrize("array", ODD_SHAPES, ids=lambda a: f"{a.shape}{a.strides}")
def test_degenerate_shapes_agree_with_numpy(array: AnyArray) -> None:
    check_against_numpy(array)


@given(strided_arrays(min_extent=1))
def test_the_byte_span_agrees_with_numpy(array: AnyArray) -> None:
    assert inspect_layout(array).byte_span == byte_bounds(array)


@given(strided_arrays())
def test_the_byte_span_and_gaps_agree_with_the_bytes_that_elements_use(array: AnyArray) -> None:
    facts, used = inspect_layout(array), set(used_bytes(array))
    low, high = facts.byte_span
    if used:
        assert (low, high) == (min(used), max(used) + 1)
        assert facts.span_offsets == (low - facts.pointer, high - facts.pointer)
    else:
        assert low == high == facts.pointer
    assert facts.has_gaps == (len(used) < high - low)


@given(strided_arrays())
def test_an_order_means_increasing_addresses_when_counted_in_that_order(array: AnyArray) -> None:
    facts = inspect_layout(array)
    offsets = {order: ordered_offsets(array, order) for order in ("C", "F")}
    apart = {order: bool(np.all(np.diff(o) >= array.itemsize)) for order, o in offsets.items()}
    expected = "C" if apart["C"] else "F" if apart["F"] else None
    assert facts.order == expected
    if facts.order is not None:
        assert not facts.overlaps


def ordered_offsets(array: AnyArray, order: Any) -> AnyArray:
    indices = np.indices(array.shape).reshape(array.ndim, array.size)
    offsets = np.array(array.strides, np.int64) @ indices if array.ndim else np.zeros(1, np.int64)
    return offsets.reshape(array.shape).ravel(order=order)


@given(strided_arrays())
def test_a_contiguous_array_has_that_order_and_no_gaps(array: AnyArray) -> None:
    facts = inspect_layout(array)
    if array.flags.c_contiguous:
        assert (facts.order, facts.has_gaps) == ("C", False)
    elif array.flags.f_contiguous:
        assert (facts.order, facts.has_gaps) == ("F", False)
    elif facts.order is not None:
        assert facts.has_gaps


@pytest.mark.parametrize(
    ("view", "order", "has_gaps"),
    [
        (lambda a: a, "C", False),
        (lambda a: a[:, :3], "C", True),
        (lambda a: a[::2], "C", True),
        (lambda a: a[:, ::2], "C", True),  # 5 columns: the last stride reaches past the next row
        (lambda a: a.T, "F", False),
        (lambda a: a.T[:3], "F", True),
        (lambda a: a[:, 0], "C", True),
        (lambda a: a[0], "C", False),
        (lambda a: a[::-1], None, False),
        (lambda a: a[0, ::-1], None, False),
        (lambda a: np.broadcast_to(a[0], (3, 5)), None, False),
    ],
)
def test_order_and_gaps_of_the_views_that_users_make(
    view: Any, order: str | None, has_gaps: bool
) -> None:
    facts = inspect_layout(view(np.zeros((4, 5))))
    assert (facts.order, facts.has_gaps) == (order, has_gaps)


@given(strided_arrays())
def test_strides_in_elements_are_exact_or_none(array: AnyArray) -> None:
    facts = inspect_layout(array)
    if all(stride % array.itemsize == 0 for stride in array.strides):
        assert facts.strides_elements is not None
        assert tuple(s * array.itemsize for s in facts.strides_elements) == array.strides
    else:
        assert facts.strides_elements is None


def test_strides_in_elements_of_elements_without_bytes_are_none() -> None:
    assert inspect_layout(np.zeros(3, dtype=[])).strides_elements is None


def test_an_order_that_is_neither_c_nor_f_is_refused() -> None:
    facts = inspect_layout(np.zeros((2, 2)))
    for call in (
        lambda: facts.is_contiguous("A"),  # pyright: ignore[reportArgumentType]
        lambda: facts.linear_index((0, 0), "K"),  # pyright: ignore[reportArgumentType]
        lambda: facts.multi_index(0, "c"),  # pyright: ignore[reportArgumentType]
    ):
        with pytest.raises(ValueError, match="order is 'C' or 'F'"):
            call()


class Disguised(np.ndarray[Any, np.dtype[Any]]):
    shape = property(lambda self: (99,))  # pyright: ignore


def test_a_subclass_that_redefines_its_attributes_is_read_as_the_memory_it_is() -> None:
    facts = inspect_layout(np.zeros((2, 3)).view(Disguised))
    assert facts.shape == (2, 3)
    assert facts.writeable


def test_a_masked_array_is_named_so_only_where_it_has_a_mask() -> None:
    masked = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    assert inspect_layout(masked).masked
    assert not inspect_layout(np.ma.masked_array([1.0, 2.0])).masked
    assert "masked" in repr(inspect_layout(masked))


def test_a_memmap_opened_for_reading_is_not_writeable(tmp_path: Any) -> None:
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(80))
    mapped = np.memmap(path, "f8", "r")
    assert not inspect_layout(mapped).writeable


def test_facts_are_frozen_hashable_picklable_and_hold_no_array() -> None:
    facts = inspect_layout(np.zeros((2, 3)))
    assert hash(facts) == hash(replace(facts))
    assert pickle.loads(pickle.dumps(facts)) == facts
    with pytest.raises(FrozenInstanceError):
        facts.shape = (1,)  # pyright: ignore[reportAttributeAccessIssue]
    array = np.zeros(3)
    before = sys.getrefcount(array)
    kept = inspect_layout(array)
    assert sys.getrefcount(array) == before
    assert kept.size == 3


def test_facts_can_be_stated_without_an_array() -> None:
    facts = LayoutFacts(shape=(2, 3), strides_bytes=(24, 8), itemsize=8, place="device")
    assert (facts.order, facts.byte_span, facts.writeable) == ("C", (0, 48), True)


def test_the_repr_names_what_matters_and_no_address() -> None:
    array = place_in_buffer((3, 2), (-32, 16), ">f8", pad=1)
    array.flags.writeable = False
    facts = inspect_layout(array)
    assert repr(facts) == (
        "LayoutFacts(float64 (3, 2) on host: axis 0 runs backwards;\n"
        "            strides_bytes (-32, 16), bytes -64 .. 24, byte-swapped, misaligned, read-only)"
    )
    assert repr(replace(facts, pointer=facts.pointer + 64)) == repr(facts)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros(()), "C order"),
        (np.zeros((3, 4)), "C order"),
        (np.zeros((3, 1)), "C and F order"),
        (np.zeros((3, 4)).T, "F order"),
        (np.zeros((3, 4))[:, :2], "C order with gaps"),
        (np.zeros((3, 0)), "no elements"),
        (np.zeros((3, 4))[::-1, ::-1], "axis 0 runs backwards; axis 1 runs backwards"),
        (np.zeros((3, 4))[::-1, :0], "no elements"),
        (np.broadcast_to(np.zeros(3), (2, 3)), "axis 0 has stride 0 (2 indices, one element)"),
        (np.zeros((2, 3, 4)).transpose(0, 2, 1), "axes permuted, slowest first (0, 2, 1)"),
        (np.lib.stride_tricks.sliding_window_view(np.zeros(5), 3), "elements overlap"),
        (place_in_buffer((3, 3), (24, 16), "f8"), "axes interleave without overlap"),
    ],
)
def test_the_summary_says_how_the_axes_lie(array: AnyArray, words: str) -> None:
    assert inspect_layout(array).summary == words


@given(strided_arrays())
def test_a_repr_is_short_and_always_possible(array: AnyArray) -> None:
    assert 1 <= len(repr(inspect_layout(array)).splitlines()) <= 2


@pytest.mark.parametrize(
    "value",
    [None, 3, 3.0, "text", b"bytes", [1.0], (1.0,), np.float64(1), np.ndarray, bytearray(8)],
)
def test_what_is_no_array_is_refused_with_what_to_do(value: object) -> None:
    with pytest.raises(TypeError, match=r"need an array .*numpy\.asarray"):
        inspect_layout(value)


@given(st.sampled_from(["?", "i8", "<M8[s]", "U3", "S5", "O", "V6", "longdouble", "i4,f8"]))
def test_every_kind_of_dtype_is_described(dtype: str) -> None:
    check_against_numpy(np.zeros((2, 3), dtype)[:, ::2])


def test_importing_and_inspecting_loads_no_array_library_and_nothing_slow() -> None:
    code = (
        "import numpy, sys; before = set(sys.modules)\n"
        "import kit.layout; kit.layout.inspect_layout(numpy.zeros(3))\n"
        "print(*sorted(m for m in set(sys.modules) - before if not m.startswith('kit')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"__future__", "copy", "dataclasses"}

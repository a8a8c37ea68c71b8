from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.layout import LayoutFacts, inspect_layout
from kit.memory import indexing
from tests.unit.strided_arrays import AnyArray, element_addresses, place_in_buffer, strided_arrays

orders = st.sampled_from(["C", "F"])


@given(strided_arrays(), orders)
def test_linear_indices_and_their_inverses_agree_with_numpy(array: AnyArray, order: Any) -> None:
    facts = inspect_layout(array)
    indices = [index for index, _ in element_addresses(array)]
    for index in indices:
        n = facts.linear_index(index, order)
        if array.ndim:  # ravel_multi_index knows no array without axes
            assert n == np.ravel_multi_index(index, array.shape, order=order)
            assert tuple(np.unravel_index(n, array.shape, order=order)) == index
        assert facts.multi_index(n, order) == index
    assert sorted(facts.linear_index(index, order) for index in indices) == [*range(array.size)]


@given(strided_arrays(min_extent=1), orders, st.data())
def test_steps_between_elements_count_in_the_order_asked_for(
    array: AnyArray, order: Any, data: st.DataObject
) -> None:
    facts = inspect_layout(array)
    n, m = (data.draw(st.integers(0, array.size - 1)) for _ in range(2))
    start, stop = facts.multi_index(n, order), facts.multi_index(m, order)
    assert facts.step_between(start, stop, order) == m - n


def test_counting_is_in_c_order_unless_told_otherwise() -> None:
    facts = inspect_layout(np.zeros((3, 4), order="F"))
    assert facts.linear_index((1, 2)) == 6
    assert facts.multi_index(6) == (1, 2)
    assert facts.step_between((0, 0), (1, 0)) == 4


@given(strided_arrays())
def test_addresses_are_those_where_numpy_finds_the_elements(array: AnyArray) -> None:
    facts = inspect_layout(array)
    for index, _ in element_addresses(array):
        one = array[(..., *(slice(entry, entry + 1) for entry in index))]
        assert facts.address(index) == one.ctypes.data


@given(strided_arrays(max_rank=4))
def test_the_index_at_an_address_is_the_first_in_c_order_that_starts_there(array: AnyArray) -> None:
    facts = inspect_layout(array)
    first: dict[int, tuple[int, ...]] = {}
    for index, start in element_addresses(array):
        first.setdefault(start, index)
    low, high = facts.byte_span
    for address in range(low - 3, high + 4):
        assert facts.index_at(address) == first.get(address)


def test_an_address_inside_an_element_starts_none() -> None:
    facts = inspect_layout(np.zeros((3, 4)))
    assert facts.index_at(facts.pointer + 8) == (0, 1)
    assert facts.index_at(facts.pointer + 9) is None
    assert facts.index_at(facts.pointer + 96) is None


def test_an_array_without_elements_has_no_address_to_ask_for() -> None:
    facts = inspect_layout(np.zeros((3, 0)))
    assert facts.index_at(facts.pointer) is None
    with pytest.raises(IndexError, match="without elements"):
        facts.address((0, 0))
    with pytest.raises(IndexError, match="without elements"):
        facts.multi_index(0)


def test_the_index_at_an_address_of_a_large_array_is_found_at_once() -> None:
    shape, strides = (10**6, 10**6, 10**6), (8, 8 * 10**6, -8 * 10**12)
    facts = LayoutFacts(
        shape=shape, strides_bytes=strides, itemsize=8, place="host", pointer=10**19
    )
    index = (123_456, 999_999, 999_998)
    assert facts.index_at(facts.address(index)) == index


def test_an_address_off_the_grid_of_elements_is_refused_at_once() -> None:
    facts = LayoutFacts(
        shape=(10**6,) * 3, strides_bytes=(8 * 6, 8 * 10, 8 * 15), itemsize=8, place="host"
    )
    assert facts.index_at(8 * 10**6 + 4) is None


def test_a_search_for_an_index_is_bounded_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = inspect_layout(place_in_buffer((3, 3, 3), (8, 8 * 7, 8 * 11), "f8"))
    assert facts.index_at(facts.address((2, 1, 2))) == (2, 1, 2)
    monkeypatch.setattr(indexing, "_WORK_LIMIT", 1)
    with pytest.raises(ValueError, match="interleave too much"):
        facts.index_at(facts.address((2, 1, 2)))


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ((3, 0), r"index 3 on axis 0 is outside 0 \.\. 2 of shape \(3, 4\)$"),
        ((0, 4), r"index 4 on axis 1 is outside 0 \.\. 3"),
        ((0, -1), r"index -1 on axis 1 .* negative ones do not wrap"),
        ((0,), r"index \(0,\) has 1 entries, shape \(3, 4\) has 2"),
        ((0, 0, 0), r"has 3 entries, shape \(3, 4\) has 2"),
        (5, r"has 1 entries"),
        ((), r"has 0 entries"),
    ],
)
def test_an_index_outside_the_shape_is_refused(index: Any, text: str) -> None:
    facts = inspect_layout(np.zeros((3, 4)))
    for call in (facts.address, facts.linear_index, lambda i: facts.step_between((0, 0), i)):
        with pytest.raises(IndexError, match=text):
            call(index)


@pytest.mark.parametrize("n", [-1, 12, 10**30])
def test_a_linear_index_outside_the_size_is_refused(n: int) -> None:
    facts = inspect_layout(np.zeros((3, 4)))
    with pytest.raises(IndexError, match=rf"linear index {n} is outside 0 \.\. 11 of shape"):
        facts.multi_index(n)


def test_an_index_may_be_a_bare_integer_for_one_axis_and_numpy_integers() -> None:
    facts = inspect_layout(np.zeros(5)[::-1])
    assert facts.linear_index(3) == facts.linear_index((np.int32(3),)) == 3
    assert facts.address(np.int64(3)) == facts.pointer - 24
    assert facts.multi_index(np.uint8(4)) == (4,)


def test_an_index_that_is_no_integer_is_refused() -> None:
    facts = inspect_layout(np.zeros(5))
    with pytest.raises(TypeError):
        facts.linear_index((1.0,))  # pyright: ignore[reportArgumentType]

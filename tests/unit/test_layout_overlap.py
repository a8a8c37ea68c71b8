from __future__ import annotations

import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.layout import LayoutFacts, inspect_layout
from kit.memory import overlap
from tests.unit.strided_arrays import AnyArray, place_in_buffer, strided_arrays, used_bytes


@given(strided_arrays())
def test_overlap_within_an_array_agrees_with_brute_force(array: AnyArray) -> None:
    used = used_bytes(array)
    assert inspect_layout(array).overlaps == (len(set(used)) < len(used))


@given(
    st.lists(st.tuples(st.integers(2, 9), st.integers(1, 60)), min_size=2, max_size=3),
    st.sampled_from([1, 2, 3, 8]),
)
@settings(max_examples=500)
def test_overlap_of_a_few_long_axes_agrees_with_brute_force(
    axes: list[tuple[int, int]], itemsize: int
) -> None:
    shape, strides = zip(*axes, strict=True)
    array = place_in_buffer(shape, strides, f"V{itemsize}")
    used = used_bytes(array)
    assert inspect_layout(array).overlaps == (len(set(used)) < len(used))


def test_an_exact_answer_for_two_axes_costs_no_more_for_a_large_array() -> None:
    # 10**9 + 7 and 10**9 + 9 are prime: rows meet only after that many columns, so brute force
    # or a search over one axis would never end.
    p, q = 10**9 + 7, 10**9 + 9
    facts = LayoutFacts(shape=(q, p), strides_bytes=(8 * p, 8 * q), itemsize=8, place="host")
    started = time.perf_counter()
    assert not facts.overlaps
    for shape in ((q + 1, p + 1), (q + 2, p + 9)):
        assert LayoutFacts(
            shape=shape, strides_bytes=(8 * p, 8 * q), itemsize=8, place="host"
        ).overlaps
    for shape in ((q + 1, p), (q, p + 1)):
        assert not LayoutFacts(
            shape=shape, strides_bytes=(8 * p, 8 * q), itemsize=8, place="host"
        ).overlaps
    assert time.perf_counter() - started < 1


def hard_axes() -> LayoutFacts:
    """Three axes that interleave, with gaps, and share no byte: only the search can tell."""
    return inspect_layout(place_in_buffer((3, 3, 3), (8, 8 * 7, 8 * 11), "f8"))


def test_the_example_for_the_search_is_one() -> None:
    used = used_bytes(place_in_buffer((3, 3, 3), (8, 8 * 7, 8 * 11), "f8"))
    assert len(set(used)) == len(used)
    facts = hard_axes()
    assert facts.order is None
    assert facts.has_gaps


def test_an_undecided_search_says_that_elements_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not hard_axes().overlaps
    monkeypatch.setattr(overlap, "WORK_LIMIT", 0)
    assert hard_axes().overlaps


def test_a_hard_search_is_bounded() -> None:
    strides = tuple(8 * (10**9 + n * n * 1_000_003) for n in range(9))
    facts = LayoutFacts(shape=(7,) * 9, strides_bytes=strides, itemsize=8, place="host")
    started = time.perf_counter()
    _ = facts.overlaps
    assert time.perf_counter() - started < 2


@given(st.data())
def test_two_arrays_share_bytes_exactly_where_brute_force_says_so(data: st.DataObject) -> None:
    first = data.draw(strided_arrays(max_rank=3))
    second = data.draw(strided_arrays(max_rank=3))
    # Place the second one anywhere around the first, as facts: nobody dereferences them.
    shift = data.draw(st.integers(-150, 150))
    one, two = inspect_layout(first), inspect_layout(second)
    two = LayoutFacts(
        shape=two.shape,
        strides_bytes=two.strides_bytes,
        itemsize=two.itemsize,
        place="host",
        pointer=one.pointer + shift,
    )
    moved = {byte - second.ctypes.data + one.pointer + shift for byte in used_bytes(second)}
    expected = bool(moved & set(used_bytes(first)))
    assert one.shares_bytes_with(two) == expected
    assert two.shares_bytes_with(one) == expected


def test_sharing_agrees_with_numpy_on_interleaved_views() -> None:
    a = np.zeros((6, 7))
    views = [
        a[i::2, j:] if step == 1 else a[::-step, j::step]
        for i, j, step in product((0, 1), (0, 1, 3), (1, 2, 3))
    ]
    for x, y in product(views, views):
        assert inspect_layout(x).shares_bytes_with(inspect_layout(y)) == np.shares_memory(x, y)


def test_an_array_without_elements_or_bytes_shares_nothing() -> None:
    a = np.zeros((4, 5))
    full = inspect_layout(a)
    empty = replace(inspect_layout(a[2:2]), pointer=full.pointer + 80)
    assert not full.shares_bytes_with(empty)
    assert not empty.shares_bytes_with(full)
    assert not inspect_layout(np.zeros(3, dtype=[])).overlaps


def test_arrays_in_different_places_share_nothing() -> None:
    here = LayoutFacts(shape=(4,), strides_bytes=(8,), itemsize=8, place="host", pointer=4096)
    there = LayoutFacts(shape=(4,), strides_bytes=(8,), itemsize=8, place="device", pointer=4096)
    assert here.shares_bytes_with(here)
    assert not here.shares_bytes_with(there)


@given(
    st.integers(-50, 400),
    st.integers(0, 6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 40)), max_size=4),
)
@settings(max_examples=500)
def test_sums_hit_exactly_where_some_sum_lies_within(
    low: int, width: int, axes: list[tuple[int, int]]
) -> None:
    sums = {
        sum(x * stride for x, (_, stride) in zip(xs, axes, strict=True))
        for xs in product(*(range(last + 1) for last, _ in axes))
    }
    assert overlap.sums_hit(low, low + width, axes) == any(low <= s <= low + width for s in sums)

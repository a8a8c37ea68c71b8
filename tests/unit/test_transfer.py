"""Copies in and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.boundary.sharing import share_elements
from kit.signature import ArgumentType
from kit.transfer import copy_in, copy_snapshot, write_back


def array_type(dtype: str, rank: int, order: str) -> ArgumentType:
    text = f"{dtype}[{','.join(':' * rank)}]"
    return ArgumentType(
        dtype=dtype,
        rank=rank,
        order="F" if order == "F" else "C",
        text=text,
    )


@pytest.mark.parametrize("order", ["C", "F"])
def test_copy_in_is_contiguous_owns_its_memory_and_has_plain_strides(order: str) -> None:
    source = np.arange(6.0)[:, None].astype(">f8")[::-1]
    copied = copy_in(source, array_type("float64", 2, order))
    assert copied.base is None
    assert copied.dtype == np.dtype("float64")
    assert copied.dtype.isnative
    assert copied.strides == ((8, 8) if order == "C" else (8, 48))
    assert np.array_equal(copied, source)


def test_copy_in_of_a_subclass_is_a_plain_array() -> None:
    matrix = np.arange(6.0).reshape(2, 3).view(np.recarray)
    assert type(copy_in(matrix, array_type("float64", 2, "F"))) is np.ndarray


def test_copy_in_need_not_read() -> None:
    class Untouchable(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
        pass

    expected = array_type("float64", 1, "C")
    copied = copy_in(np.full(3, 7.0), expected, read=False)
    assert copied.shape == (3,)


@given(
    reverse=st.booleans(), step=st.integers(1, 3), swap=st.booleans(), order=st.sampled_from("CF")
)
def test_write_back_fills_the_callers_array_and_nothing_beside_it(
    reverse: bool, step: int, swap: bool, order: str
) -> None:
    memory = np.full((9, 9), -1.0, dtype=">f8" if swap else "<f8")
    view = memory[1:8:step, 2:7]
    view = view[::-1] if reverse else view
    buffer = copy_in(view, array_type("float64", 2, order))
    assert not share_elements(buffer, view)
    buffer[...] = np.arange(buffer.size).reshape(buffer.shape)
    write_back(view, buffer)
    assert np.array_equal(view, buffer)
    assert (memory == -1).sum() == memory.size - view.size


def test_snapshot_keeps_order_and_class_and_shares_nothing() -> None:
    array = np.zeros((3, 4), order="F").view(np.recarray)
    copied = copy_snapshot(array)
    assert type(copied) is np.recarray
    assert copied.flags.f_contiguous
    assert not share_elements(array, copied)


def test_sharing_too_hard_to_decide_is_taken_as_sharing() -> None:
    memory = np.zeros(2**22, dtype=np.uint8)
    shape, rng = (5,) * 8, [37, 61, 2971, 5003, 7919, 9973, 12007, 15013]
    a = np.lib.stride_tricks.as_strided(memory, shape, [2 * one for one in rng])
    b = np.lib.stride_tricks.as_strided(memory[1:], shape, [2 * one for one in reversed(rng)])
    assert not share_elements(memory[::2], memory[1::2])
    assert isinstance(share_elements(a, b), bool)

"""Copies in and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.boundary.sharing import share_elements
from kit.copying.pool import BufferPool
from kit.plan import ArgumentPlan, plan_call
from kit.signature import ArgumentType
from kit.transfer import (
    copy_in,
    copy_snapshot,
    prepare_arguments,
    write_back,
)
from tests.unit.signatures import read


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


@pytest.mark.parametrize("order", ["C", "F"])
def test_copies_are_as_large_as_their_elements(order: str) -> None:
    memory = np.zeros((600, 600))
    for value in (memory[::2, ::-3], np.broadcast_to(memory[0], (300, 600)), memory[:0]):
        pooled = copy_in(value, array_type("float64", 2, order), pool=BufferPool())
        for copied in (pooled, copy_snapshot(value)):
            owner: Any = copied if copied.base is None else copied.base
            assert owner.nbytes == copied.nbytes == value.size * 8


def test_sharing_too_hard_to_decide_is_taken_as_sharing() -> None:
    memory = np.zeros(2**22, dtype=np.uint8)
    shape, rng = (5,) * 8, [37, 61, 2971, 5003, 7919, 9973, 12007, 15013]
    a = np.lib.stride_tricks.as_strided(memory, shape, [2 * one for one in rng])
    b = np.lib.stride_tricks.as_strided(memory[1:], shape, [2 * one for one in reversed(rng)])
    assert not share_elements(memory[::2], memory[1::2])
    assert isinstance(share_elements(a, b), bool)


# ---- all arguments of a call ----------------------------------------------------------------

TWICE = "def f(a: 'float64[:,:]', b: 'float64[:,:]', c: 'float64[:,:](order=F)', y: 'float64[:]')"


def plans_for(values: list[object], source: str = TWICE) -> tuple[ArgumentPlan, ...]:
    signature = read(source + ": ...", ("y",))
    return plan_call("f", signature, values, policy="copy", language="fortran").arguments


def test_what_is_read_twice_alike_is_copied_once_and_what_is_written_never_shares() -> None:
    x = np.arange(6.0).reshape(2, 3)[:, ::-1]
    y = np.zeros(3)[::-1]
    values: list[object] = [x, x, x, y]
    prepared: Any = prepare_arguments(values, plans_for(values), BufferPool())
    assert prepared[0] is prepared[1]
    assert np.array_equal(prepared[0], x)
    assert prepared[2] is not prepared[0]
    assert prepared[2].flags.f_contiguous
    values = [x, x[:], x, y]
    prepared = prepare_arguments(values, plans_for(values), BufferPool())
    assert prepared[0] is not prepared[1]


def test_copies_of_a_call_come_from_the_pool() -> None:
    pool = BufferPool()
    x = np.ones((512, 512))[::-1]
    for _ in range(2):
        values: list[object] = [x, x, x, np.zeros(3)]
        assert len(prepare_arguments(values, plans_for(values), pool)) == 4
        assert pool.free_bytes == 2 * x.nbytes


def test_what_is_read_and_written_at_once_is_copied_twice() -> None:
    y = np.arange(3.0)[::-1]
    values: list[object] = [y, y]
    signature = read("def f(x: 'float64[:]', y: 'float64[:]'): ...", ("y",))
    plans = plan_call("f", signature, values, policy="copy", language="c").arguments
    prepared: Any = prepare_arguments(values, plans, BufferPool())
    prepared[1][:] = 7
    assert prepared[0].tolist() == [2, 1, 0]


OUT = "def f(x: 'float64[:]', y: 'float64[:]', z: 'float64[:]')"

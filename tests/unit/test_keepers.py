"""What objects point at is held as long as they live, and no longer."""

from __future__ import annotations

import gc
import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kit import keepers
from kit.keepers import hold_arguments, hold_result
from kit.signature import IN_MODULE, IN_RESULT, Parameter
from tests.unit.signatures import read

S, X = read("def f(s: 'int', x: 'float64[:]'): ...").parameters


class Compiled:
    """As objects of compiled classes are: without attributes and weak references."""

    __slots__ = ()


@pytest.fixture(autouse=True)
def _nothing_else_is_held(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(keepers, "_keepers", {})
    monkeypatch.setattr(keepers, "_queue", deque())
    monkeypatch.setattr(keepers, "_for_ever", {})
    yield
    gc.collect()
    assert not keepers._keepers
    assert not keepers._queue


def by(*names: str, parameter: Parameter = X) -> Parameter:
    return replace(parameter, kept_by=names)


def array_and_reference() -> tuple[Any, weakref.ref[Any]]:
    array = np.zeros(3)
    return array, weakref.ref(array)


def test_an_array_lives_as_long_as_the_object_that_it_was_left_in() -> None:
    keeper = Compiled()
    array, reference = array_and_reference()
    hold_arguments((S, by("s")), (keeper, array))
    del array
    gc.collect()
    assert reference() is not None
    del keeper
    gc.collect()
    assert reference() is None


def test_a_later_call_drops_what_is_out_of_use() -> None:
    keeper = Compiled()
    array, reference = array_and_reference()
    hold_arguments((S, by("s")), (keeper, array))
    del array, keeper
    hold_arguments((S, X), (Compiled(), np.zeros(3)))
    assert reference() is None


def test_an_object_that_was_in_use_is_looked_at_again() -> None:
    keeper = Compiled()
    array, reference = array_and_reference()
    hold_arguments((S, by("s")), (keeper, array))
    hold_arguments((S, X), (Compiled(), np.zeros(3)))
    assert reference() is not None
    del array, keeper
    hold_arguments((S, X), (Compiled(), np.zeros(3)))
    assert reference() is None


def test_every_object_is_looked_at_in_its_turn() -> None:
    living = [Compiled() for _ in range(3 * keepers._LOOK_AT)]
    for one in living:
        hold_arguments((S, by("s")), (one, np.zeros(1)))
    array, reference = array_and_reference()
    hold_arguments((S, by("s")), (Compiled(), array))
    del array
    for _ in range(4):
        hold_arguments((S, X), (living[0], np.zeros(1)))
    assert reference() is None
    assert len(keepers._keepers) == len(living)


def test_all_that_was_left_in_an_object_lives_since_some_of_it_may_be_in_use() -> None:
    keeper = Compiled()
    first, first_reference = array_and_reference()
    second, second_reference = array_and_reference()
    hold_arguments((S, by("s")), (keeper, first))
    hold_arguments((S, by("s")), (keeper, second))
    del first, second
    gc.collect()
    assert first_reference() is not None
    assert second_reference() is not None


def test_views_of_one_array_hold_it_once() -> None:
    keeper, array = Compiled(), np.zeros(9)
    for start in range(5):
        hold_arguments((S, by("s")), (keeper, array[start:]))
    assert list(keepers._keepers[id(keeper)].kept) == [id(array)]


def test_an_object_in_an_object_lives_with_what_it_holds() -> None:
    outer, inner = Compiled(), Compiled()
    array, reference = array_and_reference()
    hold_arguments((S, by("s")), (inner, array))
    hold_arguments((S, by("s")), (outer, inner))
    del array, inner
    gc.collect()
    assert reference() is not None
    del outer
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("is_tuple", [False, True])
def test_an_array_lives_as_long_as_the_object_that_was_returned(is_tuple: bool) -> None:
    keeper = Compiled()
    array, reference = array_and_reference()
    hold_result((by(IN_RESULT),), (array,), (1, keeper, np.ones(2)) if is_tuple else keeper)
    del array
    gc.collect()
    assert reference() is not None
    assert list(keepers._keepers) == [id(keeper)]
    del keeper
    gc.collect()
    assert reference() is None


def test_an_array_in_an_object_whose_end_is_not_seen_lives_for_ever() -> None:
    array, reference = array_and_reference()
    hold_arguments((S, by("s", IN_MODULE)), (Compiled(), array))
    del array
    gc.collect()
    assert reference() is not None


def test_optional_arguments_that_are_absent_are_neither_held_nor_hold() -> None:
    hold_arguments((S, by("s")), (None, np.zeros(3)))
    hold_arguments((S, by("s")), (Compiled(), None))
    assert not keepers._keepers

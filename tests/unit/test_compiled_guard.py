"""The compiled guard as an object of Python: tables, binding, references, exceptions."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kit
from kit.guard import NOT_FAST, armed_by_table, find_guard
from kit.guard_table import guard_table
from kit.signature import Signature
from tests.unit.guard_calls import RULES
from tests.unit.signatures import read


class Stand:
    """What stands for a kernel: a guard whose slow path says so."""

    function: Callable[..., Any]

    def _call_otherwise(self, args: Any, kwargs: Any) -> Any:
        return "slow", args, kwargs


def armed(signature: Signature, function: Callable[..., Any], **keywords: str) -> Any:
    found = find_guard()
    assert found is not None

    class Kernel(Stand, armed_by_table(found)): ...

    made = Kernel()
    made._arm_guard(signature, "fortran", function, keywords)
    return made


def echo(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


def test_arguments_bind_as_in_python() -> None:
    kernel = armed(read("def f(end: 'int', a: 'float' = 2): ..."), echo)
    assert kernel(3) == ((3, 2.0), {})  # the default, converted once
    assert kernel(a=1.0, end=3) == ((3, 1.0), {})
    assert kernel(3, **{"".join(["a"]): 4.0}) == ((3, 4.0), {})  # a name that is not interned
    for args, kwargs in (
        ((), {}),
        ((3, 1.0, 1.0), {}),
        ((3,), {"end": 3}),
        ((3,), {"b": 1.0}),
        (("text",), {}),
    ):
        assert kernel(*args, **kwargs) == ("slow", args, kwargs)


def test_keyword_that_is_no_text_is_refused_as_by_any_function() -> None:
    kernel = armed(read("def f(n: 'int', m: 'int' = 2): ..."), echo)
    strange: Any = {1: 2}
    assert kernel(1, **strange) == ("slow", (1,), strange)
    assert kernel._fast(1, **strange) is NOT_FAST
    assert not kernel._passes(1, **strange)
    compiled = kit.pyccel_kernel("def keyworded(n: int, m: int = 2):\n    return n + m\n")
    with pytest.raises(TypeError, match="keyword"):
        compiled(1, **strange)


def test_positional_only_parameters_have_no_name() -> None:
    kernel = armed(read("def f(x: 'int', n: 'int', /, k: 'int' = 4): ..."), echo)
    assert kernel(1, 2, k=3) == ((1, 2, 3), {})
    for kwargs in ({"n": 2}, {"n": 2, "k": 3}):
        assert kernel(1, **kwargs) == ("slow", (1,), kwargs)


def test_keyword_only_parameters_go_under_the_names_of_the_wrapper() -> None:
    source = "def f(a: 'int', *, type: 'int', len: 'int' = 4): ..."
    kernel = armed(read(source), echo, type="u", len="v")
    assert kernel(1, type=2) == ((1,), {"u": 2, "v": 4})
    assert kernel(1, 2, 3) == ("slow", (1, 2, 3), {})


def test_no_reference_is_kept_or_lost() -> None:
    kernel = armed(read("def f(x: 'float64[:]', y: 'float64[:]', n: 'int'): ...", ("y",)), echo)
    x, y, n = np.ones(3), np.ones(3), 10**12
    memory = np.ones(9)
    before = [sys.getrefcount(one) for one in (x, y, n, memory, None, NotImplemented)]
    for _ in range(100):
        kernel(x, y, n)
        kernel(x=x, y=y, n=n)
        kernel(x, x, n)
        kernel(memory[:4:2], memory[1::2], n)
        kernel(memory[1:4], memory[3:6], n)
        kernel(x, y, None)
        kernel._fast(x, y, 2.0)
        kernel._passes(x, y, n)
    assert [sys.getrefcount(one) for one in (x, y, n, memory, None, NotImplemented)] == before


def test_a_guard_in_a_cycle_with_its_function_is_collected() -> None:
    class Function:
        def __call__(self, *args: Any) -> Any:
            return args

    function: Any = Function()
    kernel = armed(read("def f(n: 'int' = 10000): ..."), function)
    function.kernel = kernel
    alive = weakref.ref(function)
    del function, kernel
    gc.collect()
    assert alive() is None


def test_a_guard_is_armed_once_and_only_by_a_table_of_the_right_form() -> None:
    signature = replace(
        read("def f(x: 'float64[:]', y: 'float64[:]', n: 'int'): ...", ("y",)), rules=RULES
    )
    table = guard_table(signature, "c", echo, {})
    assert table is not None
    found: Any = find_guard()
    for index in range(len(table)):
        for wrong in (None, 3, ("x",), ((1, 2),), [("x", None)]):
            if index == 1 or (index in (0, 6) and wrong is not None):
                continue  # any object serves
            spoiled = (*table[:index], wrong, *table[index + 1 :])
            try:
                found()._arm(*spoiled)
            except (TypeError, ValueError, OverflowError):
                continue
            assert index in (0, 5, 6), f"{wrong!r} was taken for item {index}"
    kernel = found()
    kernel._arm(*table)
    with pytest.raises(RuntimeError, match="armed already"):
        kernel._arm(*table)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_every_row_of_a_table_is_checked(position: int) -> None:
    """Also deep inside; what is wrong there must not be read past its end."""
    signature = replace(read("def f(x: 'float64[:]', n: 'int'): ...", ("x",)), rules=RULES[:1])
    table = guard_table(signature, "c", echo, {})
    found: Any = find_guard()
    assert table is not None
    rows = table[2 + position]
    for path in _paths(rows):
        spoiled = (*table[: 2 + position], _without(rows, path), *table[3 + position :])
        kernel = found()
        try:
            kernel._arm(*spoiled)
        except (TypeError, ValueError):
            continue
        # What is left has a meaning: a parameter without its default, a kernel without its rule.
        kernel._passes(np.ones(3), 2)


def _paths(row: Any, path: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    if isinstance(row, tuple):
        for index, one in enumerate(row):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            found += [(*path, index), *_paths(one, (*path, index))]
    return found


def _without(row: Any, path: tuple[int, ...]) -> Any:
    first, *rest = path
    if not rest:
        return row[:first] + row[first + 1 :]
    return (*row[:first], _without(row[first], tuple(rest)), *row[first + 1 :])


def test_a_rule_about_what_no_argument_has_is_refused() -> None:
    table = guard_table(read("def f(x: 'float64[:]', z: 'float'): ..."), "c", echo, {})
    assert table is not None
    found: Any = find_guard()
    for term in ((2, 0, 1), (-1, 0, 1), (0, 1, 1), (1, 0, 1), (0, -1, 1)):
        rules = (((), (0, (term,)), False),)
        with pytest.raises(ValueError, match="no argument has"):
            found()._arm(*table[:4], rules, *table[5:])


def test_rules_are_evaluated_beyond_int64() -> None:
    signature = replace(read("def f(x: 'float64[:]', y: 'float64[:]', n: 'int'): ..."), rules=RULES)
    kernel = armed(signature, echo)
    x = np.ones(3)
    assert kernel._passes(x, x.copy(), 1)
    assert not kernel._passes(x, x.copy(), 2**62)
    assert kernel._passes(x, x.copy(), -(2**63))


def test_an_exception_while_overlap_is_asked_reaches_the_caller() -> None:
    signature = read("def f(x: 'float64[:]', y: 'float64[:]'): ...", ("y",))
    table = guard_table(signature, "c", echo, {})
    assert table is not None
    kernel: Any = find_guard()
    kernel = kernel()

    def interrupted(a: Any, b: Any) -> bool:
        raise KeyboardInterrupt

    kernel._arm(*table[:6], interrupted)
    memory = np.ones(30)
    with pytest.raises(KeyboardInterrupt):
        kernel(memory[:20], memory[10:])


def test_array_that_another_thread_changes_while_overlap_is_asked_does_not_pass() -> None:
    signature = read("def f(x: 'float64[:,:]', y: 'float64[:,:]'): ...", ("y",))
    table = guard_table(signature, "c", echo, {})
    assert table is not None
    found: Any = find_guard()
    memory = np.ones(40)
    x, y = memory[:20].reshape(4, 5)[:, ::2], memory[10:30].reshape(4, 5)[:, ::2]
    asked: list[Any] = []

    def locked(a: Any, b: Any) -> bool:
        asked.append(a)
        y.flags.writeable = False
        return True

    kernel = found()
    kernel._arm(*table[:6], locked)
    assert kernel._fast(x, y) is NOT_FAST
    assert asked


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.s_[::2], np.s_[1::2]),
        (np.s_[:12], np.s_[12:]),
        (np.s_[1::4], np.s_[2::4]),
    ],
)
def test_views_that_interleave_or_lie_side_by_side_ask_nobody(x: Any, y: Any) -> None:
    """Without a call of NumPy, which allocates."""
    signature = read("def f(x: 'float64[:]', y: 'float64[:]'): ...", ("y",))
    table = guard_table(signature, "fortran", echo, {})
    assert table is not None
    asked: list[Any] = []
    found: Any = find_guard()
    kernel = found()
    kernel._arm(*table[:6], lambda a, b: asked.append(a))  # pyright: ignore[reportUnknownLambdaType]
    memory = np.ones(24)
    assert kernel._passes(memory[x], memory[y])
    assert kernel._passes(memory[y], memory[x])
    assert not asked


def test_crops_of_one_array_are_told_apart_without_asking_anybody() -> None:
    signature = read("def f(x: 'float64[:,:]', y: 'float64[:,:]'): ...", ("x", "y"))
    table = guard_table(signature, "c", echo, {})
    assert table is not None
    asked: list[Any] = []
    found: Any = find_guard()
    kernel = found()
    kernel._arm(*table[:6], lambda a, b: asked.append(a))  # pyright: ignore[reportUnknownLambdaType]
    memory = np.ones((7, 10))
    boxes = [
        np.s_[:3, :5],
        np.s_[:3, 5:],
        np.s_[2:5, :5],
        np.s_[3:, :],
        np.s_[1:, 4:6],
        np.s_[:, 6:],
    ]
    for one in boxes:
        for other in boxes:
            a, b = memory[one], memory[other]
            asked.clear()
            apart = not np.shares_memory(a, b)
            assert kernel._passes(a, b) == apart
            assert bool(asked) == (not apart and a is not b)


def test_threads_share_a_kernel() -> None:
    kernel = armed(read("def f(x: 'float64[:]', n: 'int'): ..."), lambda x, n: n)
    wrong: list[Any] = []

    def run(number: int) -> None:
        x = np.ones(3)
        results = [kernel(x, number) + kernel(x=x, n=number) for _ in range(5000)]
        wrong.extend(one for one in results if one != 2 * number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


def test_unarmed_guard_takes_nothing() -> None:
    kernel = armed(read("def f(x: 'list[int]'): ..."), echo)  # no fast path
    assert kernel._fast([1]) is NOT_FAST
    assert kernel([1]) == ("slow", ([1],), {})


def test_kernel_with_more_parameters_than_a_table_holds_is_called() -> None:
    names = ", ".join(f"n{k}: int" for k in range(65))
    kernel = kit.pyccel_kernel(f"def many({names}):\n    return n0 + n64\n")
    assert kernel(*range(65)) == 64

"""Both guards: alike, never wider than the plan, and wide enough for the usual call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from numpy.lib.stride_tricks import as_strided

from kit.guard import NOT_FAST, armed_by_table, find_guard, make_fast_call, make_guard
from kit.guard_source import guard_source
from kit.plan import plan_call
from kit.signature import Signature
from kit.terms import Language
from tests.unit.guard_calls import calls
from tests.unit.signatures import read

Guard = Callable[..., bool]
MakeGuard = Callable[..., Guard]


def python_guard(signature: Signature, language: Language = "fortran") -> Guard:
    """Whether the Python guard passes a call."""
    guard = make_guard(signature, language)
    assert guard is not None
    return guard


def compiled_guard(signature: Signature, language: Language = "fortran") -> Guard:
    """Whether the compiled guard passes a call."""
    found = find_guard()
    assert found is not None, "no compiled guard, and no way to make one"
    guard: Any = armed_by_table(found)()
    guard._arm_guard(signature, language, lambda *args, **kwargs: None, {})
    return guard._passes


@pytest.fixture(params=[python_guard, compiled_guard])
def guard_of(request: pytest.FixtureRequest) -> MakeGuard:
    return request.param


@pytest.mark.parametrize("language", ["fortran", "c"])
@settings(max_examples=1000, deadline=None)
@given(call=calls())
def test_guards_decide_alike_and_what_they_pass_the_plan_passes(
    call: tuple[Signature, tuple[Any, ...]], language: Language
) -> None:
    signature, values = call
    passed = python_guard(signature, language)(*values)
    event(f"passed: {passed}, rules: {len(signature.rules)}")
    assert compiled_guard(signature, language)(*values) == passed
    if passed:
        plan = plan_call("f", signature, values, policy="strict", language=language)
        assert plan.passes, plan
        assert plan.target == "host"


USUAL = [
    ("def f(x: 'float64[:]'): ...", lambda: (np.zeros(3),)),
    ("def f(x: 'float64[:,:]'): ...", lambda: (np.zeros((3, 4)),)),
    ("def f(x: 'float64[:,:](order=F)'): ...", lambda: (np.zeros((3, 4), order="F"),)),
    ("def f(x: 'float64[:,:]'): ...", lambda: (np.zeros((3, 4))[:, :2],)),
    ("def f(x: 'float64[:,:]'): ...", lambda: (np.zeros((3, 4))[1:2],)),
    ("def f(x: 'float64[:]'): ...", lambda: (np.zeros(1),)),
    ("def f(x: 'float64[:]', y: 'float64[:]'): ...", lambda: (np.zeros(3), np.zeros(3))),
    ("def f(x: 'int', y: 'float', z: 'bool'): ...", lambda: (1, np.float64(2), True)),
    ("def f(x: 'int32', y: 'str'): ...", lambda: (np.int32(1), "abc")),
    ("def f(x: 'float64[:]', y: 'float64[:]' = None): ...", lambda: (np.zeros(3),)),
    ("def f(x: 'float64[:] | int32[:]'): ...", lambda: (np.zeros(3, "int32"),)),
]


@pytest.mark.parametrize("language", ["fortran", "c"])
@pytest.mark.parametrize(("source", "make"), USUAL)
def test_usual_calls_are_fast(
    guard_of: MakeGuard, source: str, make: Any, language: Language
) -> None:
    guard = guard_of(read(source, ("x",) if "[:" in source else ()), language)
    assert guard(*make())


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, True, np.int64(1), 1.0])
def test_integer_that_does_not_fit_or_is_no_int_is_not_fast(
    guard_of: MakeGuard, value: Any
) -> None:
    guard = guard_of(read("def f(n: 'int'): ..."))
    assert guard(2**63 - 1)
    assert not guard(value)


@pytest.mark.parametrize("imag", [np.inf, -np.inf, np.nan])
def test_complex_number_that_the_wrapper_would_change_is_not_fast(
    guard_of: MakeGuard, imag: float
) -> None:
    guard = guard_of(read("def f(z: 'complex'): ..."))
    assert guard(complex(np.inf, 1.0))
    assert not guard(complex(1.0, imag))
    assert not guard(np.complex128(complex(1.0, imag)))


@pytest.mark.parametrize("value", ["é", "a\0b", "\ud800", np.str_("a"), b"a"])
def test_text_that_compiled_code_would_cut_is_not_fast(guard_of: MakeGuard, value: Any) -> None:
    guard = guard_of(read("def f(s: 'str'): ..."))
    assert guard("abc")
    assert not guard(value)


def test_interleaved_outputs_are_fast_and_overlapping_ones_are_not(guard_of: MakeGuard) -> None:
    guard = guard_of(read("def f(x: 'float64[:]', y: 'float64[:]'): ...", ("x", "y")))
    memory = np.zeros(20)
    assert guard(memory[::2], memory[1::2])
    assert guard(memory[:10], memory[10:])
    assert not guard(memory[:11], memory[10:])
    assert not guard(memory, memory)


def test_read_only_memory_passes_where_it_is_only_read(guard_of: MakeGuard) -> None:
    locked = np.zeros((3, 4))
    locked.flags.writeable = False
    source = "def f(x: 'float64[:,:]'): ..."
    for outputs, passes in (((), True), (("x",), False)):
        guard = guard_of(read(source, outputs))
        assert guard(locked) is passes


def test_array_beyond_the_index_of_c_is_not_fast(guard_of: MakeGuard) -> None:
    source = "def f(x: 'int8[:,:]'): ..."
    for language, passes in (("fortran", True), ("c", False)):
        guard = guard_of(read(source), language)  # type: ignore[arg-type]
        assert guard(np.zeros((2, 2), "int8"))
        huge = as_strided(np.zeros(1, "int8"), (2, 2**31), (2**31, 1))  # never touched
        passed = guard(huge)  # not in the assert, which would show the elements that are not there
        assert passed is passes


def test_what_broadcast_arrays_gives_can_be_asked_without_a_warning(guard_of: MakeGuard) -> None:
    full, repeated = np.broadcast_arrays(np.zeros((3, 4)), np.zeros(4))
    guard = guard_of(read("def f(x: 'float64[:,:]'): ..."))
    assert guard(full)
    assert not guard(repeated)
    writes = guard_of(read("def f(x: 'float64[:,:]'): ...", "x"))
    assert writes(full)
    assert not writes(repeated)
    assert not writes(np.broadcast_to(np.zeros((3, 4)), (3, 4)))  # read-only


def test_containers_have_no_fast_path() -> None:
    assert guard_source(read("def f(x: 'list[int]'): ..."), "c") is None


def fast(source: str, function: Callable[..., Any], **keywords: str) -> Callable[..., Any]:
    made = make_fast_call(read(source), "c", function, keywords)
    assert made is not None
    return made


def test_fast_call_is_positional_and_binds_as_python_does() -> None:
    def function(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    call = fast("def f(end: 'int', a: 'float' = 2): ...", function)
    assert call(a=1.0, end=3) == ((3, 1.0), {})
    assert call(3) == ((3, 2.0), {})  # the default, converted once
    assert call("text") is NOT_FAST
    with pytest.raises(TypeError, match=r"f\(\) missing 1 required positional argument: 'end'"):
        call()
    call = fast("def f(a: 'int', *, type: 'int', len: 'int' = 4): ...", function, type="u", len="v")
    assert call(1, type=2) == ((1,), {"u": 2, "v": 4})


def test_an_error_of_the_kernel_passes_through_the_guard_once() -> None:
    runs: list[int] = []

    def function(n: int) -> None:
        runs.append(n)
        raise TypeError("from the kernel")

    with pytest.raises(TypeError, match="from the kernel"):
        fast("def f(n: 'int'): ...", function)(5)
    assert runs == [5]

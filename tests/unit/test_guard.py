"""The generated guard: never wider than the plan, and wide enough for the usual call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from kit.guard import NOT_FAST, make_fast_call, make_guard
from kit.guard_source import guard_source
from kit.plan import plan_call
from kit.signature import ArgumentType, Signature
from kit.terms import Language
from tests.unit.signatures import read

SOURCES = [
    ("def f(x: 'float64[:]', y: 'float64[:]', n: 'int'): ...", ("y",)),
    ("def f(x: 'float64[:,:]', y: 'float64[:,:](order=F)', n: 'float'): ...", ("x",)),
    ("def f(x: 'float64[:,:,:](order=F)', y: 'int32[:]', n: 'bool'): ...", ("x", "y")),
    ("def f(x: 'float64[:] | int32[:]', y: 'float64[:]', n: 'int32'): ...", ("y",)),
    ("def f(x: 'float64[:]', y: 'float64[:]' = None, n: 'complex' = 1): ...", ("x",)),
    ("def f(x: 'complex128[:]', y: 'bool[:,:]', n: 'str'): ...", ()),
]
SIGNATURES = [read(source, outputs) for source, outputs in SOURCES]


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    """Arrays as hostile as they come, some of them the same memory."""
    kind = draw(st.sampled_from(["plain", "plain", "strided", "swapped", "sub", "long", "mask"]))
    dtype = draw(st.sampled_from(["float64", "float64", "int32", "complex128", "bool", "int64"]))
    rank = draw(st.integers(0, 3))
    shape = tuple(draw(st.lists(st.integers(0, 3), min_size=rank, max_size=rank)))
    order: Any = draw(st.sampled_from(["C", "F"]))
    array = np.zeros(shape, dtype=dtype, order=order)
    if kind == "strided":
        steps = st.lists(st.integers(-3, 6), min_size=rank, max_size=rank)
        memory = np.zeros(200, dtype=dtype)
        strides = [one * array.itemsize for one in draw(steps)]
        array = as_strided(memory[90:], shape, strides)
    elif kind == "swapped":
        array = array.astype(array.dtype.newbyteorder())
    elif kind == "sub":
        array = array.view(np.recarray)
    elif kind == "long" and dtype == "int64":
        array = array.view(np.longlong)
    elif kind == "mask":
        array = np.ma.array(array, mask=draw(st.booleans()))
    if draw(st.integers(0, 9)) == 0:
        array.flags.writeable = False
    return array


def scalars() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.integers(-(2**65), 2**65),
        st.floats(),
        st.booleans(),
        st.complex_numbers(),
        st.text(),
        st.none(),
        st.booleans().map(np.bool_),
        st.integers(-9, 9).map(np.int32),
        st.integers(-9, 9).map(np.int64),
        st.floats(width=32).map(np.float32),
        st.floats().map(np.float64),
    )


@st.composite
def near_misses(draw: st.DrawFn, expected: ArgumentType) -> Any:
    """A value that passes, or differs in one thing from one that does."""
    if not expected.is_array:
        right: dict[str, st.SearchStrategy[Any]] = {
            "int64": st.integers(-(2**63) - 1, 2**63),
            "int32": st.integers(-9, 9).map(np.int32),
            "float64": st.one_of(st.floats(), st.floats().map(np.float64)),
            "complex128": st.complex_numbers(),
            "bool": st.one_of(st.booleans(), st.booleans().map(np.bool_)),
            "str": st.one_of(st.just("abc"), st.text(max_size=2)),
        }
        return draw(right[expected.dtype])
    rank = expected.rank + draw(st.sampled_from([0] * 12 + [1]))
    shape = tuple(
        draw(st.lists(st.sampled_from([0, 1, *[2, 3, 4] * 4]), min_size=rank, max_size=rank))
    )
    order: Any = draw(st.sampled_from([*[expected.order] * 6, "C", "F"]))
    dtype = draw(st.sampled_from([*[expected.dtype] * 12, "int32", "float64"]))
    array = np.zeros(shape, dtype=dtype, order=order)
    change = draw(st.sampled_from([*["none"] * 8, "slice", "flip", "step", "lock", "swap", "sub"]))
    if change == "lock":
        array.flags.writeable = False
    elif change == "swap":
        array = array.astype(array.dtype.newbyteorder())
    elif change == "sub":
        array = array.view(np.recarray)
    elif change != "none":
        piece = {
            "slice": slice(1, None),
            "flip": slice(None, None, -1),
            "step": slice(None, None, 2),
        }
        axis = draw(st.integers(0, rank - 1))
        array = array[(slice(None),) * axis + (piece[change],)]
    return array


@st.composite
def calls(draw: st.DrawFn) -> tuple[Signature, tuple[Any, ...]]:
    signature = draw(st.sampled_from(SIGNATURES))
    variant = draw(st.sampled_from(signature.variants))
    x, y, n = (draw(near_misses(one)) for one in variant)
    strange = draw(st.sampled_from(["none"] * 9 + ["x", "y", "n"]))
    if strange == "x":
        x = draw(st.one_of(arrays(), scalars()))
    elif strange == "y":
        y = draw(st.one_of(arrays(), scalars()))
    elif strange == "n":
        n = draw(scalars())
    if isinstance(x, np.ndarray) and x.ndim and draw(st.integers(0, 3)) == 0:
        y = x[draw(st.sampled_from([slice(None), slice(1, None), slice(None, None, 2)]))]
    return signature, (x, y, n)


@pytest.mark.parametrize("language", ["fortran", "c"])
@settings(max_examples=500, deadline=None)
@given(call=calls())
def test_what_the_guard_passes_the_plan_passes(
    call: tuple[Signature, tuple[Any, ...]], language: Language
) -> None:
    signature, values = call
    guard = make_guard(signature, language)
    assert guard is not None
    passed = guard(*values)
    event(f"passed: {passed}")
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
def test_usual_calls_are_fast(source: str, make: Any, language: Language) -> None:
    guard = make_guard(read(source, ("x",) if "[:" in source else ()), language)
    assert guard is not None
    assert guard(*make())


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, True, np.int64(1), 1.0])
def test_integer_that_does_not_fit_or_is_no_int_is_not_fast(value: Any) -> None:
    guard = make_guard(read("def f(n: 'int'): ..."))
    assert guard is not None
    assert guard(2**63 - 1)
    assert not guard(value)


@pytest.mark.parametrize("imag", [np.inf, -np.inf, np.nan])
def test_complex_number_that_the_wrapper_would_change_is_not_fast(imag: float) -> None:
    guard = make_guard(read("def f(z: 'complex'): ..."))
    assert guard is not None
    assert guard(complex(np.inf, 1.0))
    assert not guard(complex(1.0, imag))
    assert not guard(np.complex128(complex(1.0, imag)))


@pytest.mark.parametrize("value", ["é", "a\0b", "\ud800", np.str_("a"), b"a"])
def test_text_that_compiled_code_would_cut_is_not_fast(value: Any) -> None:
    guard = make_guard(read("def f(s: 'str'): ..."))
    assert guard is not None
    assert guard("abc")
    assert not guard(value)


def test_interleaved_outputs_are_fast_and_overlapping_ones_are_not() -> None:
    guard = make_guard(read("def f(x: 'float64[:]', y: 'float64[:]'): ...", ("x", "y")))
    assert guard is not None
    memory = np.zeros(20)
    assert guard(memory[::2], memory[1::2])
    assert guard(memory[:10], memory[10:])
    assert not guard(memory[:11], memory[10:])
    assert not guard(memory, memory)


def test_read_only_memory_passes_where_it_is_only_read() -> None:
    locked = np.zeros((3, 4))
    locked.flags.writeable = False
    source = "def f(x: 'float64[:,:]'): ..."
    for outputs, passes in (((), True), (("x",), False)):
        guard = make_guard(read(source, outputs))
        assert guard is not None
        assert guard(locked) is passes


def test_array_beyond_the_index_of_c_is_not_fast() -> None:
    source = "def f(x: 'int8[:,:]'): ..."
    for language, passes in (("fortran", True), ("c", False)):
        guard = make_guard(read(source), language)  # type: ignore[arg-type]
        assert guard is not None
        assert guard(np.zeros((2, 2), "int8"))
        huge = as_strided(np.zeros(1, "int8"), (2, 2**31), (2**31, 1))  # never touched
        passed = guard(huge)  # not in the assert, which would show the elements that are not there
        assert passed is passes


def test_what_broadcast_arrays_gives_can_be_asked_without_a_warning() -> None:
    full, repeated = np.broadcast_arrays(np.zeros((3, 4)), np.zeros(4))
    guard = make_guard(read("def f(x: 'float64[:,:]'): ..."))
    assert guard is not None
    assert guard(full)
    assert not guard(repeated)


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

"""Exact conversion of scalars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.boundary.scalars import INT_RANGES, convert_scalar, judge_scalar, passing_types
from kit.signature import ArgumentType

PYTHON = {"int": "int64", "float": "float64", "complex": "complex128", "bool": "bool"}
TYPED = ["int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128"]


def scalar_type(text: str) -> ArgumentType:
    dtype = PYTHON.get(text, text)
    return ArgumentType(dtype=dtype, rank=0, order=None, python_scalar=text in PYTHON, text=text)


def any_number() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.integers(-(2**70), 2**70),
        st.floats(),
        st.complex_numbers(),
        st.booleans(),
        st.floats(width=32).map(np.float32),
        st.floats(width=16).map(np.float16),
        st.integers(-128, 127).map(np.int8),
        st.integers(0, 2**64 - 1).map(np.uint64),
        st.integers(-(2**63), 2**63 - 1).map(np.int64),
        st.complex_numbers(width=64).map(np.complex64),
        st.booleans().map(np.bool_),
    )


def exact(value: Any) -> Any:
    """The value as a Python number, exactly."""
    return value.item() if isinstance(value, np.generic) else value


@given(value=any_number(), text=st.sampled_from([*PYTHON, *TYPED]))
def test_what_is_converted_is_exact_and_of_the_type_that_passes(value: Any, text: str) -> None:
    expected = scalar_type(text)
    verdict = judge_scalar("x", value, expected)
    if verdict.action == "REFUSE":
        assert verdict.refusal is not None
        return
    result = value if verdict.action == "PASS" else convert_scalar(value, expected)
    assert type(result) in passing_types(expected)
    a, b = complex(exact(result)), complex(exact(value))
    for one, other in ((a.real, b.real), (a.imag, b.imag)):
        assert one == other or (one != one and other != other)
    if not isinstance(exact(value), complex) and exact(value) == exact(value):
        assert exact(result) == exact(value)  # exactly, also for integers beyond 2**53


@given(value=any_number(), text=st.sampled_from([*PYTHON, *TYPED]))
def test_every_fix_of_a_refused_number_works_when_pasted(value: Any, text: str) -> None:
    expected = scalar_type(text)
    verdict = judge_scalar("x", value, expected)
    if verdict.refusal is None:
        return
    scope: dict[str, Any] = {"x": value, "np": np}
    with np.errstate(all="ignore"):
        exec(verdict.refusal.fix, scope)
    assert judge_scalar("x", scope["x"], expected).action in ("PASS", "CONVERT")


@pytest.mark.parametrize("text", ["int8", "int16", "int32", "int64", "int"])
def test_integers_end_where_their_type_ends(text: str) -> None:
    expected = scalar_type(text)
    low, high = INT_RANGES[expected.dtype]
    for value, fits in ((low, True), (high, True), (low - 1, False), (high + 1, False)):
        verdict = judge_scalar("n", value, expected)
        assert (verdict.action != "REFUSE") is fits
        if verdict.refusal is not None:
            assert verdict.refusal.error == "value"


def test_a_subclass_of_int_or_float_is_converted() -> None:
    class Count(int):
        pass

    class Length(float):
        pass

    assert type(convert_scalar(Count(3), scalar_type("int"))) is int
    assert type(convert_scalar(Length(3), scalar_type("float"))) is float
    assert judge_scalar("n", Count(3), scalar_type("int")).action == "CONVERT"
    assert judge_scalar("n", Length(3), scalar_type("float")).action == "CONVERT"


def test_signed_zero_survives() -> None:
    result = convert_scalar(np.float32(-0.0), scalar_type("float"))
    assert str(result) == "-0.0"

"""The compiled packer and its twin in Python: both pack the same bytes, or neither does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from kit.arrayview import ArrayView
from kit.cuda import packing
from kit.cuda.arguments import judge_arguments
from kit.cuda.packing import ArgumentPacker
from kit.cuda.signature import CudaParameter, CudaSignature
from tests.unit.cuda_signatures import ELEMENTS, array, kernel, scalar, vector
from tests.unit.strided_arrays import strided_arrays

SCALARS = tuple(one for one in ELEMENTS if one != "bfloat16")
EDGES = (7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64)
Call = tuple[CudaSignature, tuple[Any, ...]]


def packed_in_c(signature: CudaSignature, values: tuple[Any, ...]) -> bytes | None:
    """What the compiled packer makes of a call; None where it leaves it to Python."""
    assert packing._native is not None
    packed: Any = ArgumentPacker(signature)._pack(values, None)
    return None if packed is NotImplemented else packed.data


def packed_in_python(signature: CudaSignature, values: tuple[Any, ...]) -> bytes | None:
    """What the twin makes of it; None where it refuses."""
    judged = judge_arguments(signature, values, "emulator")
    if any(one.verdict.refusal is not None for one in judged):
        return None
    return packing._Packed(signature, values, judged, 16).data


def numbers() -> st.SearchStrategy[Any]:
    plain = st.one_of(
        st.booleans(),
        st.integers(-(2**65), 2**65),
        st.sampled_from(
            [2**k + d for k in (7, 8, 15, 16, 24, 31, 32, 53, 63, 64) for d in (-1, 0)]
        ),
        st.floats(width=32),
        st.floats(),
        st.sampled_from([0.0, -0.0, 65504.0, 1e300, float("inf"), float("nan"), 1.5]),
        st.complex_numbers(allow_nan=True),
    )
    return plain | st.builds(_as_numpy, plain, st.sampled_from(SCALARS), st.integers(0, 2))


def _as_numpy(value: Any, dtype: str, how: int) -> Any:
    """A NumPy scalar, an array without axes, or an array that is no number."""
    if isinstance(value, complex) and not dtype.startswith("complex"):
        return value
    with np.errstate(all="ignore"):
        try:
            made = np.array(value).astype(dtype)
        except (OverflowError, TypeError, ValueError):
            return value
    return (made[()], made, made.reshape(1))[how]


@st.composite
def array_calls(draw: st.DrawFn) -> tuple[CudaParameter, Any]:
    dtype = draw(st.sampled_from(["uint8", "int16", "float64", "complex128", "float16"]))
    width = draw(st.sampled_from([1, 1, 1, 2, 4]))
    strided = strided_arrays(max_rank=4, dtypes=(dtype, dtype, ">i2"))
    value = draw(strided | st.builds(np.zeros, st.just((2, 3, width)), st.just(dtype)))
    rank = draw(st.sampled_from([value.ndim, value.ndim, max(value.ndim - 1, 1), 3]))
    kind: Any = draw(st.sampled_from(["pointer", "view", "view", "cview"]))
    element = vector(dtype, width) if width > 1 else ELEMENTS[dtype]
    written, restrict = draw(st.booleans()), draw(st.booleans())
    if kind == "pointer" or not rank:
        parameter = array("x", element, written=written, restrict=restrict)
    else:
        parameter = array("x", element, rank, kind=kind, written=written, restrict=restrict)
    if draw(st.integers(0, 4)) == 0:
        value.flags.writeable = False
    return parameter, draw(st.just(value) | _views(value))


@st.composite
def _views(draw: st.DrawFn, value: Any) -> Any:
    """An ArrayView of the array, with ghosts where there is room, or the array itself."""
    layers = st.tuples(st.integers(0, 2), st.integers(0, 2))
    ghosts = [draw(layers) for _ in range(value.ndim)]
    readonly = not value.flags.writeable
    for nghost in (ghosts, 0):
        try:
            return ArrayView(array=value, nghost=nghost, readonly=readonly)
        except (TypeError, ValueError):
            continue
    return value


@st.composite
def calls(draw: st.DrawFn) -> Call:
    """One to three arguments; arrays may be the same, or parts of one."""
    made: list[tuple[CudaParameter, Any]] = []
    for k in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 2)) == 0:
            parameter, value = scalar("a", draw(st.sampled_from(SCALARS))), draw(numbers())
        elif made and draw(st.booleans()):
            parameter, value = draw(st.sampled_from(made))
            if isinstance(value, np.ndarray) and value.ndim:
                value = value[draw(st.sampled_from([slice(None), slice(1, None), slice(0, 1)]))]
        else:
            parameter, value = draw(array_calls())
        made.append((parameter._replace(name=f"p{k}"), value))
    return kernel(*(one for one, _ in made)), tuple(value for _, value in made)


@settings(max_examples=2000, deadline=None)
@given(call=calls())
@example(call=(kernel(array("x", "float64", 3)), (np.zeros((0, 2**28, 2**28)),)))
@example(call=(kernel(array("x", "float64", 1)), (np.zeros((0, 9))[:, 0],)))
@example(call=(kernel(scalar("a", "float32")), (np.float64("nan"),)))
def test_what_the_compiled_packer_packs_the_twin_packs_alike(call: Call) -> None:
    signature, values = call
    fast, slow = packed_in_c(signature, values), packed_in_python(signature, values)
    event(f"compiled: {fast is not None}, python: {slow is not None}")
    if fast is not None:
        assert fast == slow


@pytest.mark.parametrize("written", [False, True])
def test_strides_beyond_all_memory_are_nothing_for_the_compiled_packer(written: bool) -> None:
    """No example of the test above, because Hypothesis would print its elements."""
    value = as_strided(np.zeros(4), (3, 3, 3), (2**62, 2**62, 2**62))
    signature = kernel(array("x", "float64", 3, written=written))
    assert packed_in_c(signature, (value,)) is None


@pytest.mark.parametrize("dtype", SCALARS)
@settings(max_examples=100, deadline=None)
@given(value=numbers())
def test_numbers_are_packed_alike_or_not_at_all(dtype: str, value: Any) -> None:
    signature = kernel(scalar("a", dtype))
    assert packed_in_c(signature, (value,)) == packed_in_python(signature, (value,))


USUAL = [
    (array("x", "float64", written=True), lambda: np.zeros(3)),
    (array("x", "float64", 2, written=True), lambda: np.zeros((3, 4))[::-1, ::2]),
    (array("x", "float64", 2), lambda: np.broadcast_to(np.zeros(4), (3, 4))),
    (array("x", "float64", 2, kind="cview"), lambda: np.zeros((3, 4))),
    (array("x", "float16"), lambda: np.zeros(3, "float16")),
    (array("x", vector("float32", 4)), lambda: np.zeros((3, 4), "f4")),
    (array("x", vector("float32", 4), 1), lambda: np.zeros((3, 4), "f4")[::2]),
    (array("x", "float64", 1), lambda: ArrayView(array=np.zeros(8), nghost=2)),
    (array("x", "float64", 2), lambda: ArrayView((3, 4), alignment=64)),
    (array("x", "float64"), lambda: np.frombuffer(bytes(16))),
    (array("x", "float64"), lambda: np.zeros((3, 4))[:, None]),
    (array("x", "int64"), lambda: np.array([], "int64")),
    (scalar("a", "float64"), lambda: 2.0),
    (scalar("a", "float32"), lambda: 0.5),
    (scalar("a", "float32"), lambda: np.float32(0.1)),
    (scalar("a", "int32"), lambda: -5),
    (scalar("a", "uint64"), lambda: np.int64(5)),
    (scalar("a", "bool"), lambda: np.True_),
    (scalar("a", "complex128"), lambda: 1j),
    (scalar("a", "float16"), lambda: 0.5),
]


@pytest.mark.parametrize(("parameter", "make"), USUAL)
def test_usual_arguments_are_packed_in_c(parameter: CudaParameter, make: Any) -> None:
    assert packed_in_c(kernel(parameter), (make(),)) is not None


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((3,), (12,)), ((3, 4), (8, 8)), ((3, 4), (24, 8)), ((3, 4), (0, 8)), ((2, 3), (-8, 8))],
)
def test_written_views_of_half_steps_or_overlapping_elements_are_left_to_python(
    shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    """With memory of their own, and aligned: nothing but the strides speaks against them."""
    value = np.ndarray(shape, "f8", np.zeros(20), 64, strides)
    parameter = array("x", "float64", len(shape), written=True)
    assert packed_in_c(kernel(parameter), (value,)) is None
    assert packed_in_python(kernel(parameter), (value,)) is None


def test_arrays_beside_a_written_restrict_parameter_are_packed_in_c_where_they_lie_apart() -> None:
    x = array("x", "float64", written=True, restrict=True)
    signature = kernel(x, array("y", "float64"))
    memory = np.zeros(20)
    assert packed_in_c(signature, (memory[:10], memory[10:])) is not None
    assert packed_in_c(signature, (memory[:11], memory[10:])) is None
    assert packed_in_c(signature, (memory, memory)) is None
    both = kernel(array("x", "float64", restrict=True), array("y", "float64"))
    assert packed_in_c(both, (memory, memory)) is not None

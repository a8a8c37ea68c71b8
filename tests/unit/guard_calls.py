"""Calls for the guards: as hostile as they come, and near misses of those that pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from kit.signature import ArgumentType, Signature
from kit.source.extent_rules import ExtentRule
from kit.source.linear import Linear, Quantity
from tests.unit.signatures import read

SOURCES = [
    ("def f(x: 'float64[:]', y: 'float64[:]', n: 'int'): ...", ("y",)),
    ("def f(x: 'float64[:,:]', y: 'float64[:,:](order=F)', n: 'float'): ...", ("x",)),
    ("def f(x: 'float64[:,:,:](order=F)', y: 'int32[:]', n: 'bool'): ...", ("x", "y")),
    ("def f(x: 'float64[:] | int32[:]', y: 'float64[:]', n: 'int32'): ...", ("y",)),
    ("def f(x: 'float64[:]', y: 'float64[:]' = None, n: 'complex' = 1): ...", ("x",)),
    ("def f(x: 'complex128[:]', y: 'bool[:,:]', n: 'str'): ...", ()),
]


def rule(need: Linear[Quantity], *when: Linear[Quantity], is_equal: bool = False) -> ExtentRule:
    return ExtentRule(
        when=when, need=need, is_equal=is_equal, argument="x", axis=0, text="...", line=1
    )


X0, Y0 = (Linear.of(Quantity(name, 0)) for name in "xy")
N = Linear.of(Quantity("n"))

# x.shape[0] >= n; in loops that run, y.shape[0] == x.shape[0] and 2 * n <= y.shape[0] + 3
RULES = (rule(X0 - N), rule(Y0 - X0, X0 - 2, is_equal=True), rule(Y0 - N * 2 + 3, N - 1, X0 - 1))
RULED = [
    ("def f(x: 'float64[:]', y: 'float64[:]', n: 'int'): ...", ("y",)),
    ("def f(x: 'float64[:,:]', y: 'int32[:]' = None, n: 'int32' = 3): ...", ("x",)),
    ("def f(x: 'float64[:] | int32[:]', y: 'float64[:]', n: 'int64'): ...", ()),
]
SIGNATURES = [
    *(read(source, outputs) for source, outputs in SOURCES),
    *(replace(read(source, outputs), rules=RULES) for source, outputs in RULED),
]


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
            "float64": st.one_of(st.floats(), st.floats().map(np.float64)),
            "complex128": st.complex_numbers(),
            "bool": st.one_of(st.booleans(), st.booleans().map(np.bool_)),
            "str": st.one_of(st.just("abc"), st.text(max_size=2)),
        }
        if expected.dtype.startswith("int") and not expected.python_scalar:
            return getattr(np, expected.dtype)(draw(st.integers(-3, 6)))
        if expected.dtype == "int64" and draw(st.booleans()):
            return draw(st.integers(-3, 6))  # as extents are
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
    elif isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and draw(st.integers(0, 3)) == 0:
        x, y = draw(neighbours(x, y))
    return signature, (x, y, n)


@st.composite
def neighbours(draw: st.DrawFn, x: Any, y: Any) -> tuple[Any, Any]:
    """Two arrays of the same shapes in one buffer: interleaved, side by side, or in each other."""
    memory = np.zeros(4096, dtype=np.uint8)

    def placed(like: Any) -> Any:
        step = like.itemsize
        strides: list[int] = []
        for extent in reversed(like.shape):
            step *= draw(st.sampled_from([1, 1, 2, 3]))
            strides.append(step)
            step *= extent + draw(st.sampled_from([0, 0, 1, 3]))
        first = like.itemsize * draw(st.integers(0, 12))
        order: Any = slice(None, None, -1) if draw(st.booleans()) else slice(None)
        return as_strided(memory[first:].view(like.dtype), like.shape, strides[order])

    return placed(x), placed(y)

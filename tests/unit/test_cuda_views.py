"""array_view.cuh against NumPy, compiled for the host: every rank, every layout, ghosts, checks."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.arrayview import ArrayView
from kit.backends.cuda_packages import KIT_HEADERS
from kit.testing import ArrayLayout, layouts

SOURCE = Path(__file__).with_name("views_on_host.cpp")

SHAPES = [(5,), (3, 4), (2, 3, 4), (2, 1, 3, 2)]
RANKS = range(1, 17)


@pytest.fixture(params=[True, False], ids=["checked", "unchecked"])
def library(request: Any) -> ctypes.CDLL:
    return built(check=request.param)


@pytest.fixture
def checked() -> ctypes.CDLL:
    return built(check=True)


@cache  # tests run in any order, which would build a fixture for each of its parameters anew
def built(*, check: bool) -> ctypes.CDLL:
    flags = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    flags += ["-DKIT_CHECK_BOUNDS"] if check else []
    with tempfile.TemporaryDirectory() as folder:
        command = ["g++", *flags, f"-I{KIT_HEADERS}", str(SOURCE), "-o", "views.so"]
        subprocess.run(command, cwd=folder, check=True)
        return ctypes.CDLL(str(Path(folder, "views.so")))


def struct_of(array: Any, ghosts: Any = None) -> bytes:
    """A kit::ArrayView over a NumPy array whose outer layers are ghosts, by hand."""
    rank, size = array.ndim, array.itemsize
    sides = np.array(ghosts if ghosts is not None else [(0, 0)] * rank, np.int32).reshape(rank, 2)
    strides = np.array(array.strides, np.int64)
    start = array.__array_interface__["data"][0] + int(strides @ sides[:, 0])
    body = np.array(array.shape, np.int64) - sides.sum(axis=1)
    parts = [np.array([start], np.int64), body, strides // size, sides[:, 0], sides[:, 1]]
    return b"".join(part.tobytes() for part in parts)


def visit(function: Any, struct: bytes, array: Any, low: Any = None) -> Any:
    """What C++ reads, in C order; it writes 100, 101, ... instead."""
    first = np.array([0] * array.ndim if low is None else low, np.int64)
    last = first + np.array(array.shape, np.int64)
    read = np.zeros(array.shape, array.dtype)
    write = np.arange(100, 100 + array.size).astype(array.dtype)
    pointers = [ctypes.c_void_p(one.ctypes.data) for one in (first, last, read, write)]
    function.restype = ctypes.c_bool
    assert function(ctypes.c_char_p(struct), *pointers)
    return read, write.reshape(array.shape)


def cases() -> list[tuple[str, ArrayLayout]]:
    return [
        (dtype, one)
        for dtype in ("double", "char")
        for shape in SHAPES
        for one in layouts(shape, {"double": "f8", "char": "i1"}[dtype])
        if one.is_for_views and one.writeable
    ]


@pytest.mark.parametrize(("dtype", "layout"), cases(), ids=str)
def test_every_element_of_every_layout_is_read_and_written(
    library: ctypes.CDLL, dtype: str, layout: ArrayLayout
) -> None:
    array = layout.array()
    before = array.copy()
    read, written = visit(getattr(library, f"visit_{dtype}_{array.ndim}"), struct_of(array), array)
    np.testing.assert_array_equal(read, before)
    np.testing.assert_array_equal(array, written)


@pytest.mark.parametrize("rank", RANKS)
def test_every_rank_agrees_with_numpy_and_with_the_size_that_kit_packs(
    library: ctypes.CDLL, rank: int
) -> None:
    shape = tuple(2 if k % 3 else 1 for k in range(rank))
    array = np.arange(np.prod(shape, dtype=int) * 1.0).reshape(shape)
    before = array.copy()
    struct = struct_of(array)
    assert getattr(library, f"bytes_of_view_{rank}")() == len(struct) == 8 + 24 * rank
    assert getattr(library, f"bytes_of_block_{rank}")() == 8 + 8 * rank
    assert getattr(library, f"size_{rank}")(ctypes.c_char_p(struct)) == array.size
    read, written = visit(getattr(library, f"visit_double_{rank}"), struct, array)
    np.testing.assert_array_equal(read, before)
    block = struct[: 8 + 8 * rank]
    read, _ = visit(getattr(library, f"visit_block_{rank}"), block, array)
    np.testing.assert_array_equal(read, written)


@pytest.mark.parametrize("sides", [((1, 0),), ((2, 1), (0, 3)), ((0, 0), (1, 1), (2, 0))])
def test_ghosts_lie_at_negative_indices_and_past_the_extents(
    library: ctypes.CDLL, sides: tuple[tuple[int, int], ...]
) -> None:
    whole = np.arange(6.0 ** len(sides)).reshape((6,) * len(sides))[..., ::-1]
    before = whole.copy()
    low = [-one for one, _ in sides]
    function = getattr(library, f"visit_double_{whole.ndim}")
    read, written = visit(function, struct_of(whole, sides), whole, low)
    np.testing.assert_array_equal(read, before)
    np.testing.assert_array_equal(whole, written)
    view = ArrayView(array=whole, nghost=sides)
    assert view[tuple(low)] == whole[(0,) * whole.ndim]


def test_a_row_is_the_view_of_one_index(library: ctypes.CDLL) -> None:
    array = np.arange(30.0).reshape(5, 6)[::-2, ::3]
    library.row.restype = ctypes.c_double
    struct = ctypes.c_char_p(struct_of(array))
    asked = [[library.row(struct, ctypes.c_longlong(i), ctypes.c_longlong(j)) for j in range(2)]
             for i in range(3)]  # fmt: skip
    np.testing.assert_array_equal(asked, array)


def test_indices_of_32_bits_reach_elements_beyond_32_bits(library: ctypes.CDLL) -> None:
    parts = [0, 100_000, 100_000, 100_000, 1]
    struct = np.array(parts, np.int64).tobytes() + bytes(16)
    library.place.restype = ctypes.c_longlong
    assert library.place(ctypes.c_char_p(struct), 99_999, 99_999) == 100_000**2 - 1


# ---- checks -------------------------------------------------------------------------------------


def told(function: Any, struct: bytes, *index: int) -> tuple[int, ...] | None:
    given, answer = np.array(index, np.int64), np.zeros(4, np.int64)
    pointers = [ctypes.c_void_p(one.ctypes.data) for one in (given, answer)]
    function.restype = ctypes.c_bool
    failed = function(ctypes.c_char_p(struct), *pointers)
    return tuple(map(int, answer)) if failed else None


def test_a_check_tells_axis_index_and_bounds_with_the_ghosts(checked: ctypes.CDLL) -> None:
    array = np.zeros((6, 8))
    struct = struct_of(array, ((1, 2), (0, 3)))  # a body of 3 x 5
    fails = checked.fails_view_2
    assert told(fails, struct, -1, 0) is None
    assert told(fails, struct, 4, 7) is None
    assert told(fails, struct, -2, 0) == (0, -2, -1, 4)
    assert told(fails, struct, 5, 0) == (0, 5, -1, 4)
    assert told(fails, struct, 0, -1) == (1, -1, 0, 7)
    assert told(fails, struct, 0, 8) == (1, 8, 0, 7)


@pytest.mark.parametrize("rank", RANKS)
def test_each_axis_of_each_rank_is_checked(checked: ctypes.CDLL, rank: int) -> None:
    array = np.zeros((2,) * rank)
    struct = struct_of(array)
    for axis in range(rank):
        for index in (-1, 2):
            indices = [1 if k == axis else 0 for k in range(rank)]
            assert told(getattr(checked, f"fails_view_{rank}"), struct, *indices) is None
            indices[axis] = index
            wanted = (axis, index, 0, 1)
            assert told(getattr(checked, f"fails_view_{rank}"), struct, *indices) == wanted
            block = struct[: 8 + 8 * rank]
            assert told(getattr(checked, f"fails_block_{rank}"), block, *indices) == wanted

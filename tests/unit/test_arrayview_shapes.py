"""Ghost layers, transposed and reshaped views: the same memory, counted otherwise."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kit.errors import ArgumentRefused
from tests.unit.view_sources import LAYOUTS, TYPES
from tests.unit.view_types import VIEW_TYPES

Array = np.ndarray[Any, Any]


@pytest.fixture(params=VIEW_TYPES)
def views(request: pytest.FixtureRequest) -> Any:
    return request.param()


# ---- ghosts -----------------------------------------------------------------------------------


def test_indices_count_from_the_body_and_ghosts_lie_below_and_above(views: Any) -> None:
    source = np.arange(10.0)
    view = views(array=source, nghost=2)
    assert view.shape == (6,)
    assert [view[one] for one in range(-2, 8)] == source.tolist()
    assert view[-1] == 1  # the ghost right before the body
    view[-2], view[7] = -1.0, -2.0
    assert (source[0], source[9]) == (-1, -2)
    assert view.body.ndarray.tolist() == source[2:8].tolist()
    assert np.array_equal(view.ndarray, source)
    assert view.sum() == source[2:8].sum()
    assert (view.min(), view.max(), view.mean()) == (2, 7, 4.5)
    assert list(view) == source[2:8].tolist()
    assert len(view) == view.size == 6
    for index, bound in ((-3, "-2 .. 7"), (8, "-2 .. 7")):
        with pytest.raises(IndexError, match=f"index {index} on axis 0 is outside {bound}"):
            view[index]
        with pytest.raises(IndexError, match=re.escape("whose body is 0 .. 5")):
            view[index] = 0.0


@pytest.mark.parametrize("name", ["sum", "min", "max", "mean"])
def test_functions_of_numpy_reduce_the_body_as_methods_do(views: Any, name: str) -> None:
    view = views(array=np.arange(10.0), nghost=2)
    assert getattr(np, name)(view) == getattr(view, name)()
    with pytest.raises(ArgumentRefused, match="all elements of the body") as caught:
        getattr(np, name)(view, axis=0)
    assert caught.value.argument == "axis"
    assert isinstance(caught.value, TypeError)
    assert eval(caught.value.fix.replace("...", "0"), {"view": view}) == getattr(view, name)()


def test_only_axes_without_ghosts_wrap(views: Any) -> None:
    source = np.arange(30.0).reshape(5, 6)
    view = views(array=source, nghost=1)
    assert view.nghost == ((1, 1), (0, 0))
    assert view[-1, -1] == source[0, 5]
    assert view[3, -6] == source[4, 0]
    above = views(array=source, nghost=[(0, 2), (0, 0)])
    assert above[4, 0] == source[4, 0]
    with pytest.raises(IndexError, match=re.escape("index -1 on axis 0 is outside 0 .. 4")):
        above[-1, 0]


@pytest.mark.parametrize(
    ("nghost", "pairs"),
    [
        (0, ((0, 0), (0, 0))),
        (1, ((1, 1), (0, 0))),
        (np.int64(1), ((1, 1), (0, 0))),
        ((2, 0), ((2, 0), (0, 0))),
        ([(1, 2), (3, 0)], ((1, 2), (3, 0))),
        (((0, 0), (0, 1)), ((0, 0), (0, 1))),
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_ghosts_of_each_axis(views: Any, nghost: Any, pairs: Any, order: Any) -> None:
    (low0, high0), (low1, high1) = pairs
    source = np.asarray(np.arange(42.0).reshape(6, 7), order=order)[:, ::-1]
    view = views(array=source, nghost=nghost)
    interior = source[low0 : 6 - high0, low1 : 7 - high1]
    assert view.nghost == pairs
    assert view.shape == interior.shape
    assert view.strides_bytes == source.strides
    assert view.layout.pointer == interior.ctypes.data
    assert view.is_c_contiguous == interior.flags.c_contiguous
    assert view.is_f_contiguous == interior.flags.f_contiguous
    assert view.nbytes == interior.nbytes
    assert np.array_equal(view.body.ndarray, interior)
    assert view.body.nghost == ((0, 0), (0, 0))
    assert np.asarray(view).shape == source.shape
    made = views(interior.shape, nghost=nghost, value=2.0, order=order)
    assert made.shape == interior.shape
    assert made.ndarray.shape == source.shape
    assert (made.ndarray == 2).all()
    made.ndarray[...] = source
    for index in np.ndindex(source.shape):
        place = (index[0] - low0, index[1] - low1)
        assert view[place] == made[place] == source[index]


def test_the_body_of_a_view_without_ghosts_is_all_of_it(views: Any) -> None:
    view = views(array=np.arange(6.0), readonly=True)
    assert view.body.shape == (6,)
    assert view.body.readonly
    assert np.shares_memory(view.body.ndarray, view.ndarray)
    assert not views(3, nghost=1).body.is_from_python


@pytest.mark.parametrize(
    ("nghost", "kind"),
    [
        (-1, ValueError),
        ((1, -1), ValueError),
        ([(1, 1)], ValueError),
        ([(1, 1)] * 3, ValueError),
        ((1, 2, 3), TypeError),
        ("ab", TypeError),
        (1.5, TypeError),
        ([(1,), (1,)], TypeError),
        (3, ValueError),
        ([(0, 0), (3, 4)], ValueError),
    ],
)
def test_ghosts_that_cannot_be_are_refused(views: Any, nghost: Any, kind: type[Exception]) -> None:
    with pytest.raises(ArgumentRefused) as caught:
        views(array=np.zeros((5, 6)), nghost=nghost)
    assert isinstance(caught.value, kind)
    assert caught.value.argument == "nghost"
    scope: dict[str, Any] = {}
    exec(caught.value.fix, scope)
    views(array=np.zeros((5, 6)), nghost=scope["nghost"])


def test_all_indices_may_be_ghosts(views: Any) -> None:
    view = views(array=np.arange(4.0), nghost=2)
    assert view.shape == (0,)
    assert view.sum() == 0
    assert [view[one] for one in (-2, -1, 0, 1)] == [0, 1, 2, 3]


# ---- transposed -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", LAYOUTS)
def test_transposed_views_are_numpys(views: Any, name: str, dtype: str) -> None:
    source = LAYOUTS[name](dtype)
    view = views(array=source)
    ways: list[Any] = [(), (None,)]
    if source.ndim == 3:
        ways += [(1, 0, 2), ((2, 0, 1),), (-1, 0, 1)]
    for axes in ways:
        moved, expected = view.transpose(*axes), source.transpose(*axes)
        assert (moved.shape, moved.strides_bytes) == (expected.shape, expected.strides)
        assert np.array_equal(moved.ndarray, expected)
        assert np.shares_memory(moved.ndarray, source)
        assert moved.owner is view.owner


def test_ghosts_move_with_their_axes(views: Any) -> None:
    source = np.arange(42.0).reshape(6, 7)
    view = views(array=source, nghost=[(1, 2), (3, 0)], readonly=True)
    moved = view.transpose()
    assert moved.nghost == ((3, 0), (1, 2))
    assert moved[-3, -1] == source[0, 0]
    assert moved.readonly
    assert moved.body.shape == (4, 3)


def test_axes_and_extents_may_be_one_by_one_or_any_sequence(views: Any) -> None:
    view = views(array=np.zeros((2, 3)))
    for axes in ((1, 0), [1, 0], np.array([1, 0]), iter([1, 0])):
        assert view.transpose(axes).shape == (3, 2)
        assert view.reshape(np.array([3, 2])).shape == (3, 2)
    assert views(array=np.zeros(3)).transpose(np.int64(0)).shape == (3,)
    assert view.reshape(np.array(6)).shape == (6,)
    for call in (view.transpose, view.reshape):
        with pytest.raises(TypeError, match="integer"):
            call(1.0, 0)
        with pytest.raises(TypeError, match="integer"):
            call(None, 0)
    assert np.transpose(view).shape == (3, 2)


def test_axes_that_are_no_permutation_are_refused(views: Any) -> None:
    view = views(array=np.zeros((2, 3)))
    for axes in ((0,), (0, 0), (0, 2), (0, 1, 2)):
        with pytest.raises(ArgumentRefused, match="each axis of 2 once"):
            view.transpose(*axes)


# ---- reshaped ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_reshaped_views_share_memory_or_are_refused(views: Any, name: str, order: Any) -> None:
    source = LAYOUTS[name]("float64")
    view = views(array=source)
    shapes = [(-1,), (source.size,), (1, -1), (-1, 1), source.shape]
    shapes += [(2, source.size // 2)] if source.size % 2 == 0 else []
    for shape in shapes:
        expected = np.reshape(source, shape, order)
        if np.shares_memory(expected, source):
            moved = view.reshape(*shape, order=order)
            assert np.array_equal(moved.ndarray, expected)
            assert moved.strides_bytes == expected.strides
            assert np.shares_memory(moved.ndarray, source)
        else:
            with pytest.raises(ArgumentRefused, match="needs no copy") as caught:
                view.reshape(shape, order=order)
            assert isinstance(caught.value, ValueError)


def test_a_shape_for_another_number_of_elements_is_refused(views: Any) -> None:
    view = views(array=np.zeros((2, 3)))
    for shape in ((4,), (-1, 4), (-1, -1), (-2, -3), (0, -1), (6, 0)):
        with pytest.raises(ArgumentRefused, match="for 6 elements"):
            view.reshape(shape)
    assert view.reshape(6).shape == (6,)
    assert view.reshape(np.int64(3), -1).shape == (3, 2)
    assert views(array=np.zeros((0, 3))).reshape(3, 0, 5).shape == (3, 0, 5)
    with pytest.raises(ArgumentRefused, match="a view with ghosts"):
        views(array=np.zeros((4, 3)), nghost=1).reshape(-1)

"""Views of arrays of every layout and element type: as they lie, or a refusal."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kit.errors import ArgumentRefused
from tests.unit.view_sources import EMPTY, LAYOUTS, TYPES, elements, numbers
from tests.unit.view_types import VIEW_TYPES, compiled_views

Array = np.ndarray[Any, Any]
WIDE = [dtype for dtype in TYPES if np.dtype(dtype).itemsize > 1]


@pytest.fixture(params=VIEW_TYPES)
def views(request: pytest.FixtureRequest) -> Any:
    return request.param()


@pytest.fixture(params=LAYOUTS)
def layout(request: pytest.FixtureRequest) -> Any:
    return LAYOUTS[request.param]


def outermost(array: Array) -> Array:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


# ---- wrap, read, write ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES)
def test_a_view_lies_as_its_source_lies(views: Any, layout: Any, dtype: str) -> None:
    source = layout(dtype)
    for view in (views(array=source, dtype=dtype), views(array=source)):
        assert view.shape == source.shape
        assert view.strides_bytes == source.strides
        assert view.strides_elements == tuple(one // source.itemsize for one in source.strides)
        assert (view.dtype, view.itemsize) == (source.dtype, source.itemsize)
        assert (view.ndim, view.size, view.nbytes) == (source.ndim, source.size, source.nbytes)
        assert view.is_c_contiguous == source.flags.c_contiguous
        assert view.is_f_contiguous == source.flags.f_contiguous
        assert view.layout.pointer == source.ctypes.data
        assert view.is_from_python
        assert not view.readonly


@pytest.mark.parametrize("dtype", TYPES)
def test_elements_are_read_index_by_index_as_python_scalars(
    views: Any, layout: Any, dtype: str
) -> None:
    source = layout(dtype)
    view = views(array=source, dtype=dtype)
    kind = type(numbers(dtype)[0])
    for index in np.ndindex(source.shape):
        assert view[index] == source[index]
        assert type(view[index]) is kind
        negative = tuple(one - extent for one, extent in zip(index, source.shape, strict=True))
        assert view[negative] == source[index]


@pytest.mark.parametrize("dtype", TYPES)
def test_a_write_lands_on_its_element_and_nowhere_else(views: Any, layout: Any, dtype: str) -> None:
    source = layout(dtype)
    view = views(array=source, dtype=dtype)
    for index in list(np.ndindex(source.shape))[:: max(1, source.size // 7)]:
        memory = outermost(source)
        before = memory.copy(order="K")
        value = next(one for one in numbers(dtype) if one != source[index])
        view[index] = value
        assert source[index] == value
        changed = memory != before
        assert changed.sum() == 1
        # Where the element lies, counted in elements of memory that has no gaps.
        steps = zip(index, source.strides, strict=True)
        offset = source.ctypes.data + sum(one * stride for one, stride in steps)
        place = (offset - memory.ctypes.data) // memory.itemsize
        assert changed.ravel("K")[place]


@pytest.mark.parametrize("dtype", TYPES)
def test_reductions_cover_the_viewed_elements_only(views: Any, layout: Any, dtype: str) -> None:
    source = layout(dtype)
    view = views(array=source, dtype=dtype)
    for name in ("sum", "min", "max", "mean"):
        found = getattr(view, name)()
        assert found == getattr(source, name)().item()
        assert type(found) in (bool, int, float, complex)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", EMPTY)
def test_an_empty_view_has_strides_of_zero_and_both_orders(
    views: Any, shape: tuple[int, ...], dtype: str
) -> None:
    whole = elements(36, dtype).reshape(6, 6)
    cut = whole[tuple(slice(1, 1 + extent) for extent in shape[:2])]
    for source in (np.zeros(shape, dtype), np.zeros(shape, dtype, "F"), cut):
        view = views(array=source, dtype=dtype)
        assert view.shape == source.shape
        assert view.strides_elements == view.strides_bytes == (0,) * source.ndim
        assert view.layout.strides_bytes == (0,) * source.ndim
        assert view.is_c_contiguous
        assert view.is_f_contiguous
        assert (view.size, view.nbytes, view.sum()) == (0, 0, 0)
        assert view.layout.pointer == source.ctypes.data
        with pytest.raises(ValueError, match="zero-size array"):
            view.min()


def test_elements_that_are_not_aligned_do_not_matter_where_there_are_none(views: Any) -> None:
    raw = np.zeros(17, np.uint8)[1:]
    assert views(array=raw.view("f8")[:0]).size == 0


def test_long_long_is_the_int64_that_it_equals(views: Any) -> None:
    source = np.arange(3, dtype=np.longlong)
    view = views(array=source, dtype="int64")
    assert view.dtype.char == np.dtype("int64").char
    view[1] = 7
    assert source[1] == 7


@pytest.mark.parametrize(
    "dtype", ["float64", "f8", float, np.float64, np.dtype("f8"), np.dtype("float64"), None]
)
def test_a_data_type_can_be_named_in_every_way_that_numpy_knows(views: Any, dtype: Any) -> None:
    assert views(array=np.ones(3), dtype=dtype).sum() == 3


# ---- rejections, and only these ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES)
def test_a_read_only_source_needs_a_read_only_view(views: Any, layout: Any, dtype: str) -> None:
    source = layout(dtype)
    source.flags.writeable = False
    with pytest.raises(ValueError, match="array is not writeable") as caught:
        views(array=source, dtype=dtype)
    assert str(caught.value) == "array is not writeable"
    assert "readonly=True" in caught.value.__notes__[0]
    view = views(array=source, dtype=dtype, readonly=True)
    assert view.readonly
    assert np.array_equal(view.ndarray, source)
    assert not view.ndarray.flags.writeable
    with pytest.raises(ValueError, match="array is not writeable"):
        view[(0,) * source.ndim] = numbers(dtype)[0]


def test_a_read_only_view_of_a_writeable_source_is_not_written(views: Any) -> None:
    source = np.zeros(3)
    view = views(array=source, readonly=True)
    with pytest.raises(ValueError, match="array is not writeable"):
        view[0] = 1.0
    assert source.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        view.ndarray[0] = 1.0


@pytest.mark.parametrize("dtype", TYPES)
def test_another_dtype_is_refused_and_not_converted(views: Any, layout: Any, dtype: str) -> None:
    source = layout(dtype)
    for other in TYPES:
        if other == dtype:
            continue
        with pytest.raises(ArgumentRefused) as caught:
            views(array=source, dtype=other)
        assert isinstance(caught.value, TypeError)
        assert dtype in caught.value.found
        assert other in caught.value.need
        assert other in caught.value.fix


@pytest.mark.parametrize("dtype", WIDE)
def test_a_foreign_byte_order_is_another_dtype(views: Any, dtype: str) -> None:
    foreign = elements(6, dtype).astype(np.dtype(dtype).newbyteorder())
    for asked in (dtype, None, foreign.dtype):
        with pytest.raises(ArgumentRefused, match=r"byte order|element type") as caught:
            views(array=foreign, dtype=asked)
        assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("dtype", WIDE)
def test_a_stride_that_is_no_multiple_of_the_element_is_refused(views: Any, dtype: str) -> None:
    packed = np.zeros((3, 4), [("flag", "i1"), ("value", dtype)])["value"]
    itemsize = np.dtype(dtype).itemsize
    with pytest.raises(ArgumentRefused) as caught:
        views(array=packed, dtype=dtype)
    assert isinstance(caught.value, ValueError)
    assert f"axis 0 has a stride of {4 * (itemsize + 1)} bytes" in caught.value.found or (
        4 * (itemsize + 1) % itemsize == 0
        and f"axis 1 has a stride of {itemsize + 1} bytes" in caught.value.found
    )
    assert f"{itemsize} bytes" in caught.value.need


@pytest.mark.parametrize("dtype", WIDE)
def test_an_odd_stride_is_refused_where_the_address_is_aligned(views: Any, dtype: str) -> None:
    itemsize = np.dtype(dtype).itemsize
    packed = np.zeros((2, itemsize), [("value", dtype), ("flag", "i1")])["value"]
    with pytest.raises(ArgumentRefused, match=f"axis 1 has a stride of {itemsize + 1} bytes"):
        views(array=packed, dtype=dtype)


@pytest.mark.parametrize("dtype", WIDE)
def test_an_address_that_is_not_aligned_is_refused(views: Any, dtype: str) -> None:
    kind = np.dtype(dtype)
    raw = np.zeros(6 * kind.itemsize + 1, np.uint8)
    with pytest.raises(ArgumentRefused, match=f"past a multiple of {kind.alignment}") as caught:
        views(array=raw[1:].view(kind), dtype=dtype)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "source",
    [
        np.zeros(3, "f2"),
        np.zeros(3, np.longdouble),
        np.zeros(3, "M8[s]"),
        np.zeros(3, "m8[s]"),
        np.zeros(3, "U4"),
        np.zeros(3, [("a", "f8")]),
        np.zeros(3, object),
        [1.0, 2.0],
        1.0,
        np.float64(1.0),
        "text",
        np.ma.masked_less(np.arange(3.0), 1),
    ],
    ids=lambda one: f"{type(one).__name__} {getattr(one, 'dtype', '')}",
)
def test_what_is_no_array_of_numbers_is_refused_with_a_fix(views: Any, source: Any) -> None:
    with pytest.raises(ArgumentRefused) as caught:
        views(array=source)
    assert isinstance(caught.value, (TypeError, ValueError))
    assert caught.value.fix


def test_fixes_work_when_pasted(views: Any) -> None:
    packed = np.zeros((3, 4), [("flag", "i1"), ("value", "f8")])["value"]
    raw = np.zeros(25, np.uint8)
    for array in (
        np.zeros(3, "f4"),
        np.zeros(3, ">f8"),
        np.zeros(3, "f2"),
        packed,
        raw[1:].view("f8"),
        [1.0, 2.0],
        np.ma.masked_less(np.arange(3.0), 1),
    ):
        with pytest.raises(ArgumentRefused) as caught:
            views(array=array, dtype="float64")
        scope = {"array": array, "np": np}
        exec(caught.value.fix, scope)
        assert views(array=scope["array"], dtype="float64").size


def test_shared_memory_takes_no_shape_value_order_or_alignment(views: Any) -> None:
    for more in ({"shape": 3}, {"value": 1.0}, {"order": "F"}, {"alignment": 64}):
        with pytest.raises(ArgumentRefused, match="array= alone"):
            views(array=np.zeros(3), **more)
    with pytest.raises(ArgumentRefused, match="neither an array nor a shape"):
        views()
    with pytest.raises(ArgumentRefused, match=re.escape("ArrayView(array=shape)")):
        views(np.zeros(3))
    with pytest.raises(TypeError, match="unexpected keyword argument 'buffer'"):
        views(buffer=np.zeros(3))


# ---- elements ---------------------------------------------------------------------------------


def test_index_errors_name_the_axis_and_the_bound(views: Any) -> None:
    view = views(array=np.zeros((3, 4)))
    for index, text in (
        ((3, 0), "index 3 on axis 0 is outside -3 .. 2"),
        ((0, -5), "index -5 on axis 1 is outside -4 .. 3"),
        ((0,), "1 entries, and a view of shape (3, 4) has 2 axes"),
        (1, "1 entries"),
        ((0, 0, 0), "3 entries"),
        ((), "0 entries"),
    ):
        with pytest.raises(IndexError, match=re.escape(text)):
            view[index]
        with pytest.raises(IndexError, match=re.escape(text)):
            view[index] = 1.0
    with pytest.raises(IndexError, match="on an axis without elements"):
        views(array=np.zeros((0, 3)))[0, 0]


@pytest.mark.parametrize(
    "index", [slice(None), (0, slice(1)), Ellipsis, None, [0, 1], 1.0, True, np.zeros(2, bool)]
)
def test_an_index_that_is_no_integer_is_refused_with_a_fix(views: Any, index: Any) -> None:
    view = views(array=np.zeros((3, 4)))
    with pytest.raises(ArgumentRefused, match=r"view\.ndarray\[\.\.\.\]") as caught:
        view[index]
    assert isinstance(caught.value, TypeError)
    with pytest.raises(ArgumentRefused):
        view[index] = 0.0


def test_numpy_integers_are_indices(views: Any) -> None:
    view = views(array=np.arange(12.0).reshape(3, 4))
    assert view[np.int8(1), np.uint64(2)] == 6


@pytest.mark.parametrize(
    ("dtype", "exact", "inexact", "wrong"),
    [
        ("bool", [True, np.False_], [], [1, 0.0, "x"]),
        ("int8", [127, -128, np.int64(5), True], [128, -129], [1.0, 1j]),
        ("uint8", [255, 0, np.uint64(7)], [-1, 256], [1.0]),
        ("uint64", [2**64 - 1], [2**64, -1], [1.0]),
        ("int64", [2**63 - 1, -(2**63)], [2**63], [np.float32(1)]),
        ("float32", [0.5, 3, np.float16(0.1), float("inf")], [0.1, 2**24 + 1, 1e300], [1j, "1"]),
        ("float64", [0.1, 2**53, True, np.float32(0.1)], [2**53 + 1, 10**400], [1j, None]),
        ("complex64", [1j, 0.5, 2], [0.1, complex(0, 0.1)], ["1", np.zeros(1)]),
        ("complex128", [0.1j, np.complex64(0.1j), 2**53], [2**53 + 1], [[1j]]),
    ],
)
def test_only_what_is_exact_is_written(
    views: Any, dtype: str, exact: list[Any], inexact: list[Any], wrong: list[Any]
) -> None:
    source = np.zeros(2, dtype)
    view = views(array=source)
    for value in exact:
        view[1] = value
        assert view[1] == value
    source[1] = 1
    for kind, values in ((ValueError, inexact), (TypeError, wrong)):
        for value in values:
            with pytest.raises(ArgumentRefused) as caught:
                view[1] = value
            assert isinstance(caught.value, kind)
            assert source.tolist() == [0, 1]
    view_of_nan = views(array=np.zeros(1, "complex64"))
    view_of_nan[0] = complex("nan+infj")
    assert np.isnan(view_of_nan[0].real)
    assert view_of_nan[0].imag == np.inf


STRANGE = (
    -1, 300, 2**64, 2**53 + 1, 10**400, 1.5, 0.1, -1e39, float("nan"), float("-inf"), 1j, 0.1j,
    complex("nan"), np.longdouble("0.1"), np.datetime64(1, "s"), "3", "x", None, [1, 2], object(),
    np.array(0.1), np.array([3.5, 1]), np.zeros(0),
)  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("value", STRANGE, ids=lambda one: repr(one)[:20])
def test_what_a_fix_says_can_be_written(dtype: str, value: Any) -> None:
    view = compiled_views()(2, dtype=dtype)
    try:
        view[0] = value
    except ArgumentRefused as refused:
        scope = {"value": value, "np": np}
        exec(refused.fix, scope)
        view[0] = scope["value"]


def test_views_have_a_length_and_one_axis_can_be_gone_through(views: Any) -> None:
    assert len(views(array=np.zeros((3, 4)))) == 3
    assert list(views(array=np.arange(3)[::-1])) == [2, 1, 0]
    assert 2 in views(array=np.arange(3))
    with pytest.raises(TypeError, match="no len"):
        len(views(array=np.zeros(())))
    with pytest.raises(ArgumentRefused, match="a view of 2 axes"):
        list(views(array=np.zeros((3, 4))))


def test_a_view_says_how_it_lies_and_no_address(views: Any) -> None:
    grid = np.zeros((3, 4))
    assert repr(views(array=grid.T)) == (
        "ArrayView(float64 (4, 3) on host: F order; strides_elements (1, 4))"
    )
    assert repr(views(array=np.zeros((4, 4)), nghost=1, readonly=True)) == (
        "ArrayView(float64 (2, 4) on host: C order; strides_elements (4, 1); "
        "nghost ((1, 1), (0, 0)); read-only)"
    )
    assert repr(views(2, "int8", alignment=64)) == (
        "ArrayView(int8 (2,) on host: C order; strides_elements (1,); aligned to 64; "
        "memory of its own)"
    )

"""Random views against NumPy, and both base types against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from tests.unit.strided_arrays import strided_arrays
from tests.unit.view_sources import TYPES
from tests.unit.view_types import compiled_views, python_views

Array = np.ndarray[Any, Any]

ALL_TYPES = (*TYPES, ">f8", "<i2", "f2", "q", "S3")
READS = (
    "shape", "strides_bytes", "strides_elements", "size", "itemsize", "nbytes", "ndim", "dtype",
    "is_c_contiguous", "is_f_contiguous", "is_from_python", "nghost", "readonly", "layout",
)  # fmt: skip


def outcome(make: Any) -> tuple[Any, Any]:
    """A view, or what was raised in its place."""
    try:
        return make(), None
    except (TypeError, ValueError, IndexError) as error:
        return None, (type(error).__name__, str(error))


@settings(max_examples=500)
@given(
    source=strided_arrays(max_rank=4, dtypes=ALL_TYPES),
    dtype=st.sampled_from((None, None, *TYPES)),
    is_frozen=st.booleans(),
    options=st.fixed_dictionaries(
        {},
        optional={
            "nghost": st.sampled_from([0, 1, (0, 1)]),
            "readonly": st.booleans(),
            "dtype": st.sampled_from(TYPES),
        },
    ),
)
def test_both_base_types_make_the_same_view_or_the_same_error(
    source: Array, dtype: Any, is_frozen: bool, options: dict[str, Any]
) -> None:
    source.flags.writeable = not is_frozen
    options = {"dtype": source.dtype if dtype is None else dtype, **options}
    one, one_error = outcome(lambda: compiled_views()(array=source, **options))
    other, other_error = outcome(lambda: python_views()(array=source, **options))
    event("refused" if one is None else "made")
    assert one_error == other_error
    if one is not None:
        for name in READS:
            assert getattr(one, name) == getattr(other, name), name
        assert repr(one) == repr(other)
        assert one.ndarray.__array_interface__ == other.ndarray.__array_interface__
        assert one.owner is other.owner


@settings(max_examples=500)
@given(source=strided_arrays(max_rank=4, dtypes=TYPES), data=st.data())
def test_a_view_is_refused_or_is_what_numpy_sees(source: Array, data: st.DataObject) -> None:
    itemsize = source.itemsize
    is_regular = all(stride % itemsize == 0 for stride in source.strides)
    is_aligned = source.ctypes.data % source.dtype.alignment == 0
    view, error = outcome(lambda: compiled_views()(array=source))
    assert (view is None) == (source.size > 0 and not (is_regular and is_aligned))
    if view is None:
        assert "stride" in error[1] or "multiple" in error[1]
        return
    assert view.shape == source.shape
    assert np.array_equal(np.asarray(view), source)
    assert view.is_c_contiguous == source.flags.c_contiguous
    assert view.is_f_contiguous == source.flags.f_contiguous
    assert memoryview(view).shape == source.shape
    assume(source.size)
    source[...] = np.arange(source.size).reshape(source.shape) % 2
    index = tuple(data.draw(st.integers(-extent, extent - 1)) for extent in source.shape)
    assert view[index] == source[index]
    view[index] = not source[index]
    assert np.array_equal(view.ndarray, source)
    assert view.sum() == source.sum().item()
    axes = data.draw(st.permutations(range(source.ndim)))
    assert np.array_equal(view.transpose(axes).ndarray, source.transpose(axes))
    assert np.array_equal(view.clone().ndarray, source)


@settings(max_examples=300)
@given(source=strided_arrays(max_rank=3, dtypes=("f8", "i4")), data=st.data())
def test_ghosts_shift_indices_and_nothing_else(source: Array, data: st.DataObject) -> None:
    regular = all(stride % source.itemsize == 0 for stride in source.strides)
    assume(regular and source.ctypes.data % source.itemsize == 0 and source.ndim)
    nghost = [
        (low, data.draw(st.integers(0, extent - low)))
        for extent in source.shape
        for low in [data.draw(st.integers(0, extent))]
    ]
    view = compiled_views()(array=source, nghost=nghost)
    body = source[
        tuple(slice(low, n - high) for n, (low, high) in zip(source.shape, nghost, strict=True))
    ]
    assert view.shape == body.shape
    assert np.array_equal(view.body.ndarray, body)
    assert np.array_equal(view.ndarray, source)
    assert view.layout.size == 0 or view.layout.pointer == body.ctypes.data
    for place in np.ndindex(source.shape):
        index = tuple(entry - low for entry, (low, high) in zip(place, nghost, strict=True))
        wraps = any(entry < 0 and not any(pair) for entry, pair in zip(index, nghost, strict=True))
        assert wraps or view[index] == source[place]

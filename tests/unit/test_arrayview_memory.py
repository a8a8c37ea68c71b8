"""New memory, clones, and how long memory lives: with the view, and with what it was given to."""

from __future__ import annotations

import array
import copy
import gc
import mmap
import pickle
import sys
import warnings
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kit
from kit.errors import ArgumentRefused
from tests.unit.view_sources import LAYOUTS, TYPES, numbers
from tests.unit.view_types import VIEW_TYPES, compiled_views

Array = np.ndarray[Any, Any]


@pytest.fixture(params=VIEW_TYPES)
def views(request: pytest.FixtureRequest) -> Any:
    return request.param()


# ---- new memory -------------------------------------------------------------------------------


@pytest.mark.parametrize("alignment", [0, 16, 32, 64, 128])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", TYPES)
def test_new_memory_has_the_order_the_value_and_the_alignment(
    views: Any, dtype: str, order: Any, alignment: int
) -> None:
    for value in numbers(dtype):
        view = views((3, 5, 2), dtype=dtype, value=value, order=order, alignment=alignment)
        expected = np.full((3, 5, 2), value, dtype, order)
        assert view.strides_bytes == expected.strides
        assert np.array_equal(view.ndarray, expected)
        assert view.ndarray.dtype == expected.dtype
        assert view.layout.pointer % max(alignment, 1) == 0
        assert view.alignment == alignment
        assert not view.is_from_python
        view[2, 4, 1] = numbers(dtype)[0]
        assert view.ndarray[2, 4, 1] == numbers(dtype)[0]


def test_new_memory_is_float64_unless_said_otherwise(views: Any) -> None:
    assert views(4).dtype == "float64"
    assert views(4).shape == (4,)
    assert views(np.int64(4)).shape == (4,)
    assert views([2, 3], "int8").strides_bytes == (3, 1)
    assert views((), value=2.5)[()] == 2.5
    assert views((0, 3), alignment=128).is_f_contiguous
    assert views(2, value=1.0, readonly=True).readonly


def test_negative_extents_are_index_errors(views: Any) -> None:
    for shape, axis in ((-1, 0), ((3, -2), 1)):
        with pytest.raises(IndexError, match=f"on axis {axis} is negative"):
            views(shape)


@pytest.mark.parametrize(
    ("dtype", "value", "kind"),
    [
        ("int32", 1.0, TypeError),
        ("int32", 2**31, ValueError),
        ("uint8", -1, ValueError),
        ("float32", 0.1, ValueError),
        ("float64", 1j, TypeError),
        ("bool", 1, TypeError),
        ("complex64", "1", TypeError),
    ],
)
def test_a_value_that_is_not_exact_is_refused(
    views: Any, dtype: str, value: Any, kind: type[Exception]
) -> None:
    with pytest.raises(ArgumentRefused) as caught:
        views(3, dtype=dtype, value=value)
    assert isinstance(caught.value, kind)
    scope: dict[str, Any] = {"value": value, "np": np}
    if not isinstance(value, str):
        exec(caught.value.fix, scope)
        views(3, dtype=dtype, value=scope["value"])


def test_options_that_there_are_not_are_refused(views: Any) -> None:
    for options in (
        {"alignment": 8},
        {"alignment": 256},
        {"alignment": 16.0},
        {"dtype": "float16"},
        {"dtype": ">f8"},
        {"dtype": "no such"},
    ):
        with pytest.raises(ArgumentRefused):
            views(3, **options)
    with pytest.raises(ValueError, match="'C' or 'F'"):
        views(3, order="K")
    with pytest.raises(ArgumentRefused, match="an integer for each axis") as caught:
        views((2, 1.5))
    scope: dict[str, Any] = {}
    exec(caught.value.fix, scope)
    assert views(scope["shape"]).ndim == 2
    assert type(views(3, alignment=np.int64(64)).alignment) is int


# ---- clones -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_clone_has_memory_of_its_own(views: Any, name: str, dtype: str) -> None:
    source = LAYOUTS[name](dtype)
    view = views(array=source)
    made = view.clone()
    assert np.array_equal(made.ndarray, source)
    assert not np.shares_memory(made.ndarray, source)
    assert (made.is_from_python, made.dtype, made.shape) == (False, source.dtype, source.shape)
    order: Any = "F" if kit.inspect_layout(source).order == "F" else "C"
    assert made.strides_bytes == np.array(source, order=order).strides


def test_a_clone_keeps_order_alignment_and_ghosts_and_can_be_written(views: Any) -> None:
    for order in ("C", "F"):
        view = views((3, 4), "float32", value=1.0, order=order, alignment=128, nghost=(1, 2))
        for made in (view.clone(), view.clone().clone(), copy.copy(view), copy.deepcopy(view)):
            assert made.layout.order == order
            assert made.alignment == 128
            assert made.ndarray.ctypes.data % 128 == 0
            assert made.nghost == ((1, 2), (0, 0))
            assert made.strides_bytes == view.strides_bytes
            assert not made.is_from_python
    frozen = views(array=np.ones(3), readonly=True).clone()
    frozen[0] = 2.0
    assert frozen.sum() == 4


def test_an_unpickled_view_is_a_clone() -> None:
    views = compiled_views()
    for view in (
        views(array=np.arange(12.0).reshape(3, 4)[:, ::-2], nghost=1),
        views((2, 3), "complex64", value=1j, order="F", alignment=64),
        views(array=np.arange(4), readonly=True),
    ):
        made = pickle.loads(pickle.dumps(view))
        assert type(made) is type(view)
        assert np.array_equal(made.ndarray, view.ndarray)
        assert (made.dtype, made.nghost) == (view.dtype, view.nghost)
        assert made.strides_bytes == view.clone().strides_bytes
        assert made.alignment == view.alignment
        assert not made.is_from_python


# ---- lifetime ---------------------------------------------------------------------------------


class Watched(np.ndarray[Any, Any]):
    """An array that can be watched, and that holds whatever it is given."""


def watched(count: int = 8) -> Any:
    made = Watched((count,))
    made[...] = range(count)
    return made


def test_the_outermost_array_of_the_chain_lives_as_long_as_the_view(views: Any) -> None:
    outer = np.arange(24.0)
    inner = outer.reshape(4, 6)[1:][:, ::2][::-1]
    before = sys.getrefcount(outer)
    view = views(array=inner)
    assert view.owner is outer
    del inner
    assert sys.getrefcount(outer) >= before  # one for the view, one less for the chain
    reference = weakref.ref(view)
    del view
    assert reference() is None
    assert sys.getrefcount(outer) == 2


def test_memory_outlives_the_names_of_view_and_owner(views: Any) -> None:
    source = np.arange(100_000.0)
    view = views(array=source[::2])
    del source
    gc.collect()
    assert view[49_999] == 99_998
    kept = [view.ndarray, np.asarray(view), np.from_dlpack(view), view.transpose().ndarray]
    del view
    gc.collect()
    for one in kept:
        assert one[49_999] == 99_998


def test_nothing_is_kept_when_all_are_gone(views: Any) -> None:
    source = watched()
    reference = weakref.ref(source)
    view = views(array=source)
    others = [view.ndarray, view.transpose(), view.body, np.asarray(view), np.from_dlpack(view)]
    del source
    gc.collect()
    assert reference() is view.owner
    del view
    gc.collect()
    assert reference() is not None
    others.clear()
    gc.collect()
    assert reference() is None


def test_no_reference_is_kept_or_lost(views: Any) -> None:
    source, dtype = np.arange(6.0), np.dtype("float64")
    views(array=source, dtype="float64")
    gc.collect()  # what earlier tests have left refers to the dtype, too
    before = [sys.getrefcount(one) for one in (source, dtype)]
    for _ in range(100):
        view = views(array=source, dtype=dtype)
        assert (view.ndarray.size, view[1], view.transpose().size, view.body.size) == (6, 1, 6, 6)
        views(array=source[::2], dtype=np.float64)
        for wrong in ({"dtype": "int8"}, {"dtype": "float64", "order": "F"}, {"nghost": 9}):
            with pytest.raises(ArgumentRefused):
                views(array=source, **wrong)
        del view
    gc.collect()
    assert [sys.getrefcount(one) for one in (source, dtype)] == before


def test_a_cycle_through_the_owner_is_collected() -> None:
    views = compiled_views()
    owner = watched()
    owner.view = views(array=owner[2:])
    reference = weakref.ref(owner)
    del owner
    gc.collect()
    assert reference() is None


class Exporter(bytearray):
    """A buffer that can be watched, and that holds whatever it is given."""


@pytest.mark.parametrize("wrap", [lambda one: one, np.frombuffer, memoryview])
def test_a_cycle_through_an_exporter_of_a_buffer_is_collected(wrap: Any) -> None:
    views = compiled_views()
    owner: Any = Exporter(8)
    owner.view = views(array=wrap(owner), readonly=True)
    reference = weakref.ref(owner)
    del owner
    gc.collect()
    assert reference() is None


def test_a_cycle_through_an_exporter_stays_while_an_array_between_is_used() -> None:
    views = compiled_views()
    owner: Any = Exporter(b"abc")
    between: Any = np.frombuffer(owner, "uint8")
    owner.view = views(array=between)
    del owner
    gc.collect()
    assert between.tolist() == [97, 98, 99]
    assert between.base.obj.view.sum() == 294  # the owner was not emptied


def test_a_cycle_is_not_taken_apart_while_its_array_is_used_elsewhere() -> None:
    views = compiled_views()
    owner = watched()
    owner.view = views(array=owner)
    kept: Any = memoryview(owner.view)
    del owner
    gc.collect()
    assert kept.tolist() == list(range(8))
    assert kept.obj.base.view.sum() == 28  # the owner was not emptied
    kept.release()


def test_a_source_cannot_be_resized_under_its_view(views: Any) -> None:
    source = np.arange(6.0)
    view = views(array=source)
    with pytest.raises(ValueError, match="cannot resize"):
        source.resize(100, refcheck=True)
    assert view[5] == 5


def test_the_shape_of_the_source_can_change_and_that_of_the_view_does_not(views: Any) -> None:
    source = np.arange(6.0)
    view = views(array=source)
    given = view.ndarray
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # setting shapes, since NumPy 2.5
        source.shape = (2, 3)
        given.shape = (3, 2)
    given.flags.writeable = False
    assert view.shape == (6,)
    view[5] = 7.0
    assert source[1, 2] == 7


# ---- other owners -----------------------------------------------------------------------------


def test_a_mapped_file_stays_mapped(views: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    np.arange(16.0).tofile(path)
    view = views(array=np.memmap(path, "float64", "r+", shape=(4, 4)).T, dtype="float64")
    assert isinstance(view.owner, np.memmap)
    assert view.is_f_contiguous
    gc.collect()
    view[1, 2] = -1.0
    view.owner.flush()
    del view
    assert np.fromfile(path)[9] == -1
    with pytest.raises(ValueError, match="array is not writeable"):
        views(array=np.memmap(path, "float64", "r"))
    assert views(array=np.memmap(path, "float64", "r"), readonly=True)[9] == -1


def test_a_map_cannot_be_closed_under_its_view(views: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(64))
    with path.open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 64)
    view = views(array=mapped)
    assert (view.dtype, view.shape) == ("uint8", (64,))
    view[3] = 9
    with pytest.raises(BufferError):
        mapped.close()
    del view
    gc.collect()
    assert mapped[3] == 9
    mapped.close()


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_other_exporters_of_a_buffer_are_shared(views: Any, code: str) -> None:
    source = array.array(code, [1, 2, 3])
    view = views(array=source, dtype=np.dtype(code))
    view[1] = type(source[0])(7)
    assert source[1] == 7
    assert view.is_from_python
    with pytest.raises(BufferError):
        source.append(source[0])
    del view
    gc.collect()
    source.append(source[0])


def test_bytes_are_read_only_and_a_bytearray_is_not(views: Any) -> None:
    with pytest.raises(ValueError, match="array is not writeable"):
        views(array=b"abc")
    assert views(array=b"abc", readonly=True).sum() == sum(b"abc")
    source = bytearray(b"abc")
    views(array=source, dtype="uint8")[0] = 65
    assert source == b"Abc"
    grid = memoryview(bytearray(24)).cast("d", shape=[3])
    assert views(array=grid).dtype == "float64"


def test_a_view_of_a_view_shares_the_same_memory(views: Any) -> None:
    source = np.arange(6.0)
    first = views(array=source, nghost=1)
    second = views(array=first)
    assert second.shape == (6,)  # the whole storage; ghosts are said anew
    second[0] = 9.0
    assert first[-1] == source[0] == 9
    assert second.owner is source


class Interface:
    """An array of another library, by the array interface alone."""

    def __init__(self, memory: Array, **changes: Any) -> None:
        self.memory = memory
        self.__array_interface__ = {**memory.__array_interface__, **changes}


def test_an_array_interface_is_shared(views: Any) -> None:
    memory = np.arange(12.0).reshape(3, 4)[:, ::2]
    source = Interface(memory)
    view = views(array=source, dtype="float64")
    view[2, 1] = -1.0
    assert memory[2, 1] == -1
    assert view.strides_bytes == memory.strides
    reference = weakref.ref(source)
    del source
    gc.collect()
    assert reference() is not None
    with pytest.raises(ArgumentRefused, match="mask"):
        views(array=Interface(memory, mask=Interface(np.zeros((3, 2), bool))))


def test_subclasses_are_seen_as_plain_arrays(views: Any) -> None:
    for source in (
        np.arange(4.0).view(Watched),
        np.ma.array(np.arange(4.0)),
        np.arange(4.0).view(np.recarray),
    ):
        view = views(array=source, dtype="float64")
        assert type(view.ndarray) is np.ndarray
        view[2] = 9.0
        assert source[2] == 9


class Liar(np.ndarray[Any, Any]):
    """An array that says of itself what does not hold."""

    dtype: Any = property(lambda _: np.dtype("int8"))
    strides: Any = property(lambda _: (8, 8))
    flags: Any = property(lambda _: np.zeros(1).flags)

    def view(self, *_: Any, **__: Any) -> Any:
        return np.zeros(1)


def test_nothing_that_a_subclass_says_decides(views: Any) -> None:
    memory = np.arange(12.0).reshape(3, 4)
    frozen = memory.copy()
    frozen.flags.writeable = False
    packed = np.zeros(3, [("flag", "i1"), ("value", "f8")])["value"]
    view = views(array=np.ndarray.view(memory, Liar), dtype="float64")
    view[2, 1] = -1.0
    assert (memory[2, 1], view.strides_bytes, type(view.ndarray)) == (-1, (32, 8), np.ndarray)
    with pytest.raises(ValueError, match="array is not writeable"):
        views(array=np.ndarray.view(frozen, Liar))
    with pytest.raises(ArgumentRefused, match="float64 elements"):
        views(array=np.ndarray.view(memory, Liar), dtype="int8")
    with pytest.raises(ArgumentRefused, match="stride of 9 bytes"):
        views(array=np.ndarray.view(packed, Liar))

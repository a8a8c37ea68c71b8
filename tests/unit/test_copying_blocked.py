"""Copies in tiles give what `numpy.copyto` gives, whatever the layout, and threads end well."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.copying import blocked, threads, tiles
from kit.copying.blocked import copy_elements
from kit.copying.threads import choose_thread_count, run_in_threads
from kit.copying.tiles import iterate_tiles, plan_tile
from tests.unit.strided_arrays import AnyArray, used_bytes

DTYPES = ("i1", "<i2", ">i2", "<f4", ">f4", "f8", ">f8", "c8", ">c16", "?")


@pytest.fixture
def _small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of a few elements are then cut in each way in which large ones are."""
    monkeypatch.setattr(blocked, "LEAST_BYTES", 0)
    monkeypatch.setattr(tiles, "SHORT_SIDE", 2)
    monkeypatch.setattr(tiles, "LONG_SIDE_BYTES", 12)
    monkeypatch.setattr(tiles, "FEWEST_ELEMENTS", 5)
    monkeypatch.setattr(threads, "BYTES_PER_THREAD", 16)
    monkeypatch.setattr(threads, "_cores", lambda: 3)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@st.composite
def layouts(draw: st.DrawFn, shape: tuple[int, ...], dtype: str) -> AnyArray:
    """An array of that shape in which no two elements share memory, over odd bytes, too."""
    order = draw(st.permutations(range(len(shape))))
    itemsize = np.dtype(dtype).itemsize
    strides, step = [0] * len(shape), itemsize + draw(st.sampled_from((0, 0, 1, itemsize)))
    for axis in order:
        strides[axis] = step
        step = step * shape[axis] + draw(st.sampled_from((0, 0, itemsize, 3)))
    memory = np.frombuffer(np.random.default_rng(len(order)).bytes(step + 16), np.uint8).copy()
    array = np.ndarray(shape, dtype, buffer=memory, offset=draw(st.integers(0, 9)), strides=strides)
    return array[(..., *(slice(None, None, draw(st.sampled_from((1, -1)))) for _ in shape))]


@st.composite
def copies(draw: st.DrawFn) -> tuple[AnyArray, AnyArray]:
    """Target and source; the source may repeat elements."""
    shape = tuple(draw(st.lists(st.integers(1, 7), max_size=5)))
    dtype = draw(st.sampled_from(DTYPES))
    source = draw(layouts(shape, dtype))
    if shape and draw(st.booleans()) and draw(st.booleans()):
        axis = draw(st.integers(0, len(shape) - 1))
        source = np.broadcast_to(np.take(source, [0], axis), shape)
    plain = np.dtype(dtype)
    return draw(
        layouts(shape, (plain.newbyteorder() if draw(st.booleans()) else plain).str)
    ), source


@pytest.mark.usefixtures("_small_tiles")
@given(copies())
def test_a_copy_in_tiles_writes_the_same_bytes_as_numpy_and_no_others(
    copy: tuple[AnyArray, AnyArray],
) -> None:
    target, source = copy
    memory: Any = target
    while memory.base is not None:
        memory = memory.base
    before = memory.copy()
    np.copyto(target, source)
    expected = memory.copy()
    memory[:] = before
    copy_elements(target, source)
    assert memory.tobytes() == expected.tobytes()


@given(copies(), st.integers(1, 4))
def test_tiles_hold_every_element_once(copy: tuple[AnyArray, AnyArray], count: int) -> None:
    target, source = copy
    shape, strides = target.shape, target.strides
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "SHORT_SIDE", 2)
        patch.setattr(tiles, "FEWEST_ELEMENTS", 5)
        patch.setattr(tiles, "LONG_SIDE_BYTES", 12)
        tile = plan_tile(shape, strides, source.strides, target.itemsize, threads=count)
    assert all(1 <= one <= extent for one, extent in zip(tile, shape, strict=True))
    seen = np.zeros(shape, int)
    for index in iterate_tiles(shape, strides, tile):
        seen[index] += 1
    assert (seen == 1).all()


def test_payloads_of_signalling_nans_stay() -> None:
    bits = np.arange(0x7F800001, 0x7F800001 + 2**21, dtype="u4").reshape(2048, 1024)
    source = bits.view("f4")
    target = np.empty(source.shape, "f4", order="F")
    copy_elements(target, source)
    assert np.array_equal(target.view("u4"), bits)


@pytest.mark.parametrize(
    ("shape", "strides", "source", "expected"),
    [
        # square, C to F: short along the target, long along the source
        ((2048, 2048), (8, 16384), (16384, 8), (128, 2048)),
        # rows of 8: the short side grows instead
        ((2**20, 8), (8, 2**23), (64, 8), (512, 8)),
        # columns of 8: 8 lines stay anyway
        ((8, 2**20), (8, 64), (2**23, 8), (8, 2**20)),
        # few columns, but a third axis between: lines are lost without tiles
        ((8, 2**17, 8), (8, 64, 2**23), (2**23, 64, 8), (8, 64, 8)),
        # the same order, reversed: one call
        ((2048, 2048), (16384, 8), (-16384, -8), (2048, 2048)),
        # one element for all: one call
        ((2048, 2048), (8, 16384), (0, 0), (2048, 2048)),
        # one element for each row: one call; a repeated axis between: tiles as without it
        ((2048, 2048), (16384, 8), (8, 0), (2048, 2048)),
        ((512, 4, 512), (8, 4096, 16384), (4096, 0, 8), (128, 1, 512)),
        # axes of one element decide nothing
        ((1, 2**20), (8, 8), (8, 8), (1, 2**20)),
        ((1, 1), (8, 8), (8, 8), (1, 1)),
        ((), (), (), ()),
    ],
)
def test_a_tile_is_short_along_the_target_and_long_along_the_source(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    source: tuple[int, ...],
    expected: tuple[int, ...],
) -> None:
    assert plan_tile(shape, strides, source, 8) == expected


def test_tiles_of_one_array_are_alike_in_size() -> None:
    tile = plan_tile((130, 5000), (8, 1040), (40000, 8), 8)
    assert tile == (65, 2500)


def test_small_copies_are_one_call_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocked, "plan_tile", None)  # calling it would be a TypeError
    target = np.empty((100, 100), order="F")
    copy_elements(target, np.ones((100, 100)))
    assert (target == 1).all()


# ---- threads --------------------------------------------------------------------------------


def numbers(count: int = 100) -> Iterator[int]:
    return iter(range(count))


def copy_threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "kit-copy"]


def slowly(done: list[int], fail_at: int, error: BaseException) -> Callable[[int], None]:
    def act(part: int) -> None:
        threading.Event().wait(0.001)
        if part == fail_at:
            raise error
        done.append(part)

    return act


@pytest.mark.parametrize("count", [1, 2, 7])
def test_every_part_is_done_once_and_no_thread_is_left(count: int) -> None:
    done: list[int] = []
    run_in_threads(numbers(), done.append, count)
    assert sorted(done) == list(range(100))
    assert copy_threads() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("late"), MemoryError()])
def test_what_any_thread_raises_arrives_when_all_have_stopped(error: BaseException) -> None:
    done: list[int] = []
    with pytest.raises(type(error)) as caught:
        run_in_threads(numbers(), slowly(done, 10, error), 3)
    assert caught.value is error
    assert copy_threads() == []
    assert len(done) < 20


def test_an_error_in_another_thread_than_the_callers_arrives() -> None:
    caller = threading.get_ident()
    failed = threading.Event()

    def act(_: int) -> None:
        if threading.get_ident() != caller:
            failed.set()
            raise ValueError("elsewhere")
        failed.wait(10)

    with pytest.raises(ValueError, match="elsewhere"):
        run_in_threads(numbers(), act, 2)


def test_an_error_keeps_no_array_alive_once_it_is_gone() -> None:
    class Part:
        pass

    def fail(_: object) -> None:
        raise ValueError("never mind")

    part = Part()
    gone = weakref.ref(part)
    parts = iter([part])
    del part
    gc.disable()
    try:
        with pytest.raises(ValueError, match="never mind"):
            run_in_threads(parts, fail, 2)
        assert gone() is None
    finally:
        gc.enable()


def test_copies_go_on_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    done: list[int] = []
    run_in_threads(numbers(), done.append, 4)
    assert done == list(range(100))


@pytest.mark.parametrize(
    ("nbytes", "cores", "declared", "expected"),
    [
        (2**20, 64, None, 1),
        (2**24, 64, None, 2),
        (2**30, 64, None, 8),
        (2**30, 3, None, 3),
        (2**30, 64, "4", 4),
        (2**30, 64, "1,2", 1),
        (2**30, 64, " 2 ", 2),
        (2**30, 64, "0", 8),
        (2**30, 64, "many", 8),
        (2**30, 64, "²", 8),
    ],
)
def test_threads_are_bounded_by_size_cores_and_the_users_word(
    monkeypatch: pytest.MonkeyPatch, nbytes: int, cores: int, declared: str | None, expected: int
) -> None:
    monkeypatch.setattr(threads, "_cores", lambda: cores)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if declared is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", declared)
    assert choose_thread_count(nbytes) == expected


@pytest.mark.usefixtures("_small_tiles")
def test_several_threads_copy_several_arrays_at_once() -> None:
    sources = [np.random.default_rng(seed).random((50, 40)) for seed in range(4)]
    targets = [np.zeros((50, 40), order="F") for _ in sources]
    users = [
        threading.Thread(target=copy_elements, args=pair)
        for pair in zip(targets, sources, strict=True)
    ]
    for one in users:
        one.start()
    for one in users:
        one.join()
    for target, source in zip(targets, sources, strict=True):
        assert np.array_equal(target, source)


def test_the_layouts_of_these_tests_share_no_bytes() -> None:
    shape, dtype = (3, 4, 2), "f8"

    @given(layouts(shape, dtype))
    def check(array: AnyArray) -> None:
        used = used_bytes(array)
        assert len(set(used)) == len(used) == array.nbytes

    check()

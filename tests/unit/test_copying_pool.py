"""A kernel's buffers: used again when nothing refers to them, bounded, and released."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kit
from kit.copying import pool as pool_module
from kit.copying.pool import BufferPool, release_buffers
from kit.copying.pressure import MemoryLeft
from kit.kernel import PyccelKernel
from tests.unit.signatures import read

MIB = 2**20
DOUBLE = np.dtype("float64")
PLENTY = MemoryLeft(64 * 2**30, 60 * 2**30)


@pytest.fixture(autouse=True)
def _plain_pools(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No other test's buffers, and memory as on a large machine."""
    release_buffers()
    have(monkeypatch, PLENTY)
    yield
    pool_module._total_memory.cache_clear()
    pool_module._is_scarce.cache_clear()
    release_buffers()


def have(monkeypatch: pytest.MonkeyPatch, memory: MemoryLeft) -> None:
    monkeypatch.setattr(pool_module, "inspect_memory", lambda: memory)
    pool_module._total_memory.cache_clear()
    pool_module._is_scarce.cache_clear()


def take(pool: BufferPool, mib: float = 4, shape: tuple[int, ...] = ()) -> Any:
    return pool.take(shape or (int(mib * MIB) // 8,), DOUBLE, "C")


def address(array: Any) -> int:
    return array.__array_interface__["data"][0]


# ---- what is lent ---------------------------------------------------------------------------


def test_a_buffer_is_used_again_for_as_many_bytes_in_another_form() -> None:
    pool = BufferPool()
    first = address(take(pool, shape=(1024, 512)))
    again = pool.take((256, 1024), np.dtype("complex128"), "F")
    assert address(again) == first
    assert again.flags.f_contiguous
    assert again.flags.aligned
    assert again.flags.writeable
    assert type(again) is np.ndarray
    assert again.strides == (16, 4096)


def test_a_buffer_is_never_larger_than_the_array() -> None:
    pool = BufferPool()
    hand_back(pool, 4)
    smaller: Any = pool.take((4 * MIB - 1,), np.dtype("int8"), "C")
    assert smaller.base.nbytes == smaller.nbytes == 4 * MIB - 1


@pytest.mark.parametrize("shape", [(0,), (3, 0), (100,), ()])
def test_small_arrays_own_their_memory(shape: tuple[int, ...]) -> None:
    pool = BufferPool()
    array = pool.take(shape, DOUBLE, "F")
    assert array.base is None
    assert array.shape == shape
    del array
    assert pool.free_bytes == 0


def test_two_at_once_are_two() -> None:
    pool = BufferPool()
    a, b = take(pool), take(pool)
    assert not np.may_share_memory(a, b)
    del a, b
    assert pool.free_bytes == 8 * MIB


VIEWS = {
    "slice": lambda array: array[1:],
    "slice of a slice": lambda array: array[1:][::-2],
    "reshape": lambda array: array.reshape(-1, 2).T,
    "dtype": lambda array: array.view("i4"),
    "subclass": lambda array: array.view(np.recarray),
    "memoryview": memoryview,
    "asarray": lambda array: np.asarray(memoryview(array)),
    "DLPack": np.from_dlpack,
    "ctypes": lambda array: array.ctypes.data_as(__import__("ctypes").c_void_p),
    "base": lambda array: array.base,
    "array interface": lambda array: np.asarray(
        type("Other", (), {"__array_interface__": array.__array_interface__, "keeps": array})()
    ),
    "flat": lambda array: array.flat,
}


@pytest.mark.parametrize("how", VIEWS)
def test_what_is_still_referred_to_is_not_lent_again(how: str) -> None:
    pool = BufferPool()
    array = take(pool)
    first = address(array)
    view = VIEWS[how](array)
    del array
    if how != "base":
        assert pool.free_bytes == 0
    other = take(pool)
    assert address(other) != first
    del view
    gc.collect()
    assert address(take(pool)) == first


def test_an_array_that_a_finalizer_revives_is_not_lent_again() -> None:
    """The collector calls back for arrays of a cycle before its finalizers run."""
    revived: list[Any] = []

    class Holder:
        def __init__(self, array: Any) -> None:
            self.array, self.own = array, self

        def __del__(self) -> None:
            revived.append(self.array)

    pool = BufferPool()
    holder = Holder(take(pool))
    first = address(holder.array)
    del holder
    gc.collect()
    assert len(revived) == 1
    assert address(take(pool)) != first
    revived.clear()


def test_threads_get_buffers_of_their_own() -> None:
    pool, errors, start = BufferPool(), [], threading.Barrier(4)

    def use(number: int) -> None:
        start.wait()
        for _ in range(50):
            array = take(pool, 1)
            array[:] = number
            if not (array == number).all():
                errors.append(number)

    users = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for one in users:
        one.start()
    for one in users:
        one.join()
    assert errors == []
    assert pool.free_bytes <= 8 * MIB  # each thread takes the next before it drops the last


# ---- bounds, and release --------------------------------------------------------------------


def at(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(pool_module, "time", SimpleNamespace(monotonic=lambda: seconds))


def hand_back(pool: BufferPool, *mib: float) -> None:
    arrays = [take(pool, one) for one in mib]
    while arrays:
        arrays.pop(0)


def kept(pool: BufferPool) -> list[float]:
    return [one.block.nbytes / MIB for one in pool.free()]


def test_a_kernel_keeps_what_it_used_last_within_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, MemoryLeft(160 * MIB, 150 * MIB))
    pool = BufferPool()
    hand_back(pool, 2, 3, 4, 5)
    assert kept(pool) == [4, 5]  # of 10 MiB, a sixteenth
    hand_back(pool, 11)
    assert kept(pool) == []  # larger than the share: not kept, and nothing with it


def test_all_kernels_together_keep_within_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, MemoryLeft(160 * MIB, 150 * MIB))
    first, second, third = BufferPool(), BufferPool(), BufferPool()
    hand_back(first, 3, 5)
    hand_back(second, 9)
    assert (kept(first), kept(second)) == ([3, 5], [9])
    hand_back(third, 6)
    assert (kept(first), kept(second), kept(third)) == ([5], [9], [6])  # of 20 MiB, an eighth


def test_what_is_kept_is_bounded_on_large_machines_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "MOST_OF_KERNEL", 6 * MIB)
    monkeypatch.setattr(pool_module, "MOST_OF_PROCESS", 9 * MIB)
    first, second = BufferPool(), BufferPool()
    hand_back(first, 2, 3, 4)
    assert kept(first) == [4]
    hand_back(second, 6)
    assert (kept(first), kept(second)) == ([], [6])


def test_a_call_of_any_kernel_drops_what_was_unused_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    idle, busy = BufferPool(), BufferPool()
    at(monkeypatch, 0)
    hand_back(idle, 4)
    at(monkeypatch, 59)
    hand_back(busy, 2)
    assert (kept(idle), kept(busy)) == ([4], [2])
    at(monkeypatch, 61)
    hand_back(busy, 2)
    assert (kept(idle), kept(busy)) == ([], [2])


def test_nothing_is_kept_when_memory_is_scarce(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, other = BufferPool(), BufferPool()
    hand_back(pool, 4)
    scarce = MemoryLeft(PLENTY.total, PLENTY.total // 16 - 1)
    have(monkeypatch, scarce)
    hand_back(other, 2)
    assert (kept(pool), kept(other)) == ([4], [2])  # not worth asking the system
    hand_back(other, 16)
    assert (kept(pool), kept(other)) == ([], [])


def test_memory_of_which_nothing_is_known_counts_as_left(monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, MemoryLeft(PLENTY.total, None))
    pool = BufferPool()
    hand_back(pool, 16)
    assert kept(pool) == [16]


def test_where_memory_runs_out_all_free_buffers_go_and_it_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other, pool = BufferPool(), BufferPool()
    hand_back(other, 4)
    tries: list[float] = []

    def scarce(shape: tuple[int, ...], dtype: Any) -> Any:
        tries.append(other.free_bytes)
        if len(tries) == 1:
            raise MemoryError
        return original(shape, dtype)

    original = pool_module._Block
    monkeypatch.setattr(pool_module, "_Block", scarce)
    assert take(pool, 8).nbytes == 8 * MIB
    assert tries == [4 * MIB, 0]


def test_where_nothing_can_be_released_memory_has_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def out(*_: Any) -> Any:
        raise MemoryError("all of it")

    monkeypatch.setattr(pool_module, "_Block", out)
    with pytest.raises(MemoryError, match="all of it"):
        take(BufferPool())


def test_release_gives_back_what_is_free_and_says_how_much() -> None:
    pool = BufferPool()
    used = take(pool, 2)
    hand_back(pool, 4, 8)
    assert kit.release_buffers() == 12 * MIB
    assert kit.release_buffers() == 0
    del used
    assert kit.release_buffers() == 2 * MIB


def test_a_pool_that_goes_takes_its_buffers_along_and_leaves_lent_ones_alone() -> None:
    pool = BufferPool()
    gone = weakref.ref(pool)
    hand_back(pool, 8)
    lent = take(pool, 4)
    block = weakref.ref(lent.base)
    lent[:] = 7
    gc.disable()
    try:
        tracemalloc.start()
        hand_back(pool, 32)
        assert tracemalloc.get_traced_memory()[0] >= 32 * MIB
        del pool
        assert gone() is None
        assert tracemalloc.get_traced_memory()[0] < MIB
        assert (lent == 7).all()
        del lent
        assert block() is None
    finally:
        tracemalloc.stop()
        gc.enable()


def test_nothing_is_kept_when_the_process_ends() -> None:
    pool = BufferPool()
    array = take(pool)
    (lent,) = pool._lent.values()
    pool_module._come_back(weakref.ref(pool), array.base, lent, is_ending=lambda: True)
    assert kept(pool) == []


# ---- kernels --------------------------------------------------------------------------------

SOURCE = "def scale(x: 'float64[:,:](order=F)', y: 'float64[:,:](order=F)') -> 'int': ..."


def make(function: Any) -> PyccelKernel:
    return PyccelKernel(function, signature=read(SOURCE, ("y",)), policy="copy")


def matrix() -> Any:
    return np.arange(2.0**18).reshape(512, 512)


def test_a_kernel_copies_into_the_same_memory_in_every_call() -> None:
    seen: list[tuple[int, int]] = []

    def scale(x: Any, y: Any) -> int:
        seen.append((address(x), address(y)))
        y[:] = 2 * x
        return 0

    kernel, x, y = make(scale), matrix(), np.zeros((512, 512))
    for factor in range(3):
        kernel(x + factor, y)
        assert np.array_equal(y, 2 * (x + factor))
    assert {frozenset(one) for one in seen} == {frozenset(seen[0])}


def test_a_kernel_that_stores_its_argument_keeps_it() -> None:
    stored: list[Any] = []

    def store(x: Any, y: Any) -> int:
        stored.append(x)
        return 0

    kernel = make(store)
    for factor in range(3):
        kernel(matrix() * factor, np.zeros((512, 512)))
    for factor, one in enumerate(stored):
        assert np.array_equal(one, matrix() * factor)


def test_a_result_that_is_an_alias_of_an_argument_keeps_its_numbers() -> None:
    kernel = make(lambda x, y: x[::2].T)
    results = [kernel(matrix() * factor, np.zeros((512, 512))) for factor in range(3)]
    for factor, one in enumerate(results):
        assert np.array_equal(one, (matrix() * factor)[::2].T)


def test_a_kernel_that_raises_keeps_outputs_as_they_were_and_its_buffers() -> None:
    def fail(x: Any, y: Any) -> int:
        y[:] = 1
        raise ValueError("never mind")

    kernel, y = make(fail), np.zeros((512, 512))
    with pytest.raises(ValueError, match="never mind"):
        kernel(matrix(), y)
    assert (y == 0).all()
    assert kit.release_buffers() == 4 * MIB


def test_a_kernel_within_a_kernel_has_buffers_of_its_own() -> None:
    depth: list[int] = []

    def nest(x: Any, y: Any) -> int:
        depth.append(1)
        if len(depth) < 3:
            inner = np.zeros((512, 512))
            kernel(np.ascontiguousarray(x) + 1, inner)
            y[:] = x + inner
        else:
            y[:] = x
        return 0

    kernel, y = make(nest), np.zeros((512, 512))
    kernel(matrix(), y)
    assert np.array_equal(y, 3 * matrix() + 3)


def test_kernels_called_from_several_threads_do_not_mix_their_arguments() -> None:
    def scale(x: Any, y: Any) -> int:
        y[:] = 2 * x
        return 0

    kernel, wrong, start = make(scale), [], threading.Barrier(3)

    def call(number: int) -> None:
        x, y = matrix() + number, np.zeros((512, 512))
        start.wait()
        for _ in range(5):
            kernel(x, y)
            if not np.array_equal(y, 2 * x):
                wrong.append(number)

    users = [threading.Thread(target=call, args=(number,)) for number in range(3)]
    for one in users:
        one.start()
    for one in users:
        one.join()
    assert wrong == []


# ---- processes ------------------------------------------------------------------------------

CHILD = """
import os, sys, warnings
warnings.simplefilter("error")
import numpy as np
from kit.copying import threads
from kit.kernel import PyccelKernel
threads._cores = lambda: 2
def store(x, y):
    y[:] = 2 * x
    return x
source = "def store(x: 'float64[:,:](order=F)', y: 'float64[:,:](order=F)') -> 'int': ..."
kernel = PyccelKernel(store, signature=source, outputs=["y"], policy="copy")
x, y = np.ones((1500, 1500)), np.zeros((1500, 1500))
alias = kernel(x, y)
assert (y == 2).all()
"""


def run_child(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CHILD + code],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_process_that_copies_nothing_loads_nothing_of_this_and_starts_no_thread() -> None:
    code = "import sys, kit.kernel\nprint([one for one in sys.modules if 'copying' in one], end='')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]"


def test_a_process_ends_quietly_while_aliases_and_buffers_are_alive() -> None:
    code = "sys.alias, sys.kernel = alias, kernel\ndel alias, kernel\nprint('end')"
    assert run_child(code) == "end\n"


def test_calls_at_the_very_end_of_a_process_work() -> None:
    assert run_child("import atexit\natexit.register(lambda: print(kernel(x, y).sum()))") == (
        "2250000.0\n"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_copies_too() -> None:
    code = """
pid = os.fork()
y[:] = 0
kernel(x, y)
assert (y == 2).all()
if pid == 0:
    os._exit(0)
print(os.waitpid(pid, 0)[1])
"""
    assert run_child(code) == "0\n"

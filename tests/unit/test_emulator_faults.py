"""A kernel that fails in the emulator raises, says where, and leaves the process as it was."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from kit.backends.emulator import runtime_library
from kit.errors import LaunchError
from tests.unit.cuda_calls import Cell

SOURCE = r"""#include <cassert>
__global__ void trap(int* out) {
    if (threadIdx.x == 5 && threadIdx.y == 1 && blockIdx.x == 2)
        __trap();  // here
}
__global__ void failed_assert(int* value) {
    __syncthreads();
    assert(value[threadIdx.x] < 3);  // here
}
__global__ void far_store(double* out, int n) {
    long long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        out[i * 1000000000000LL] = 1;  // here
    else
        out[i] += 1;
}
__global__ void far_store_after_a_barrier(double* out, int n) {
    __syncthreads();
    if (threadIdx.x == n)
        out[n * 1000000000000LL] = 1;  // here
}
__global__ void divide(int* value) {
    value[threadIdx.x] = 7 / value[threadIdx.x];  // here
}
__device__ void check(int i, int n) {
    if (i >= n) kit_bounds_fail(1, i, -2, n - 1);  // here
}
__global__ void bounds(int* out, int n) {
    check(threadIdx.x, n);
    out[threadIdx.x] = 1;
}
__device__ __noinline__ int descend(volatile int* x, int n) {  // here
    volatile int local[64];
    local[n % 64] = x[0];
    return n == 0 ? local[0] : descend(x, n - 1) + local[n % 64];
}
__global__ void recursion(int* x) { x[0] = descend(x, 1 << 24); }
__global__ void big_frame(int* x) {  // here
    volatile int local[100000];
    local[threadIdx.x] = 1;
    __syncthreads();
    x[0] = local[threadIdx.x];
}
__global__ void aborts(int* out) {
    if (threadIdx.x == 3) __builtin_abort();  // here
}
__global__ void barrier_against_warp(int* out) {
    if (threadIdx.x < 40)
        __syncthreads();  // here
    else
        __syncwarp();  // there
}
__global__ void outside_mask(int* out) {
    __syncwarp(0xf);  // here
}
__global__ void endless(volatile int* flag) {
    while (flag[0] == 0) {}
    flag[1] = 1;
}
__global__ void endless_barriers(volatile int* flag) {
    do { __syncthreads(); } while (flag[0] == 0);
    flag[1] = 1;
}
__global__ void half_endless(volatile int* flag) {
    if (blockIdx.x == 0) { while (flag[0] == 0) {} }
    else if (threadIdx.x == 0) __trap();  // here
}
__global__ void add_one(int* out) { out[threadIdx.x] += 1; }
"""

NAMES = re.findall(r"void (\w+)\((double|int|volatile int)\* \w+(, int n)?\)", SOURCE)
KERNELS = [
    f"{name}({kind.removeprefix('volatile ')}*{', int' if more else ''})"
    for name, kind, more in NAMES
    if name != "descend"
]


def marked_line(name: str, mark: str = "// here") -> int:
    """Line of the mark that follows a kernel's head; the cell's first line is the magic line."""
    lines = ["", *SOURCE.split("\n")]
    first = next(i for i, text in enumerate(lines) if f" {name}(" in text)
    return next(i for i in range(first, len(lines)) if mark in lines[i]) + 1


@pytest.fixture(scope="module", params=["fast", "portable"])
def cell(request: pytest.FixtureRequest) -> Iterator[Cell]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIT_EMULATOR_FIBERS", request.param)
        yield Cell(SOURCE, *KERNELS)


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    """As in a notebook; test runners ignore the signal in their workers."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def out() -> np.ndarray[Any, Any]:
    return np.zeros(1024, np.int32)


def fault(cell: Cell, name: str, *call: Any) -> LaunchError:
    with pytest.raises(LaunchError) as caught:
        cell(name, *call)
    return caught.value


def assert_still_works(cell: Cell) -> None:
    out = np.zeros(8, np.int32)
    cell("add_one", 3, 8, out)
    # Blocks may run at the same time and are not ordered: each element was written at least once.
    assert np.all((out >= 1) & (out <= 3))


def test_a_trap_names_block_thread_and_line(cell: Cell, out: np.ndarray[Any, Any]) -> None:
    error = fault(cell, "trap", 4, (8, 2), out)
    assert (error.kind, error.block, error.thread) == ("trap", (2, 0, 0), (5, 1, 0))
    assert error.line == marked_line("trap")
    assert error.source_line is not None
    assert "__trap();  // here" in error.source_line
    assert "trap, block (2, 0, 0), thread (5, 1, 0): cell line" in str(error)
    assert_still_works(cell)


def test_a_failed_assertion_says_what_was_asserted(cell: Cell, out: np.ndarray[Any, Any]) -> None:
    out[17] = 3
    error = fault(cell, "failed_assert", 1, 32, out)
    assert (error.kind, error.thread) == ("assert", (17, 0, 0))
    assert error.line == marked_line("failed_assert")
    assert "assertion failed: value[threadIdx.x] < 3" in str(error)


def test_a_bad_address_in_a_vectorised_loop_names_its_thread(cell: Cell) -> None:
    out = np.zeros(1024)
    error = fault(cell, "far_store", 4, 256, out, 600)
    assert (error.kind, error.line) == ("signal", marked_line("far_store"))
    assert error.block in {(2, 0, 0), (3, 0, 0)}
    assert error.thread == ((88, 0, 0) if error.block == (2, 0, 0) else (0, 0, 0))
    # Finding out which thread it was has written nothing.
    assert set(out) <= {0, 1}
    assert_still_works(cell)


def test_a_bad_address_after_a_barrier_names_its_thread(cell: Cell) -> None:
    error = fault(cell, "far_store_after_a_barrier", 3, 64, np.zeros(64), 37)
    assert (error.kind, error.thread) == ("signal", (37, 0, 0))
    assert error.line == marked_line("far_store_after_a_barrier")


def test_an_integer_division_by_zero_is_a_fault(cell: Cell, out: np.ndarray[Any, Any]) -> None:
    out[:] = 1
    out[9] = 0
    error = fault(cell, "divide", 1, 32, out)
    assert (error.kind, error.thread) == ("signal", (9, 0, 0))
    assert error.line == marked_line("divide")
    assert "division of an integer by zero" in str(error)


def test_a_checked_index_names_axis_and_bounds(cell: Cell, out: np.ndarray[Any, Any]) -> None:
    error = fault(cell, "bounds", 1, 32, out, 20)
    assert (error.kind, error.thread, error.line) == ("bounds", (20, 0, 0), marked_line("check"))
    assert "index 20 is out of bounds for axis 1, which has -2 to 19" in str(error)


@pytest.mark.parametrize("name", ["recursion", "big_frame"])
def test_a_stack_overflow_is_a_fault(cell: Cell, out: np.ndarray[Any, Any], name: str) -> None:
    error = fault(cell, name, 1, 32, out)
    with ThreadPoolExecutor(1) as pool:  # whose stack ends at a page that nobody may touch
        other = pool.submit(fault, cell, name, 1, 32, out).result()
    for one in (error, other):
        assert one.kind == "signal"
        assert "stack overflow" in str(one)
    where = "descend" if name == "recursion" else name
    assert error.line is not None
    assert marked_line(where) <= error.line <= marked_line(where) + 4
    assert_still_works(cell)


def test_an_abort_ends_the_launch_only(cell: Cell, out: np.ndarray[Any, Any]) -> None:
    error = fault(cell, "aborts", 1, 32, out)
    assert (error.kind, error.thread, error.line) == ("signal", (3, 0, 0), marked_line("aborts"))
    assert "abort() was called" in str(error)
    assert_still_works(cell)


def test_a_deadlock_says_who_waits_where(cell: Cell, out: np.ndarray[Any, Any]) -> None:
    error = fault(cell, "barrier_against_warp", 1, 64, out)
    here, there = (marked_line("barrier_against_warp", mark) for mark in ("// here", "// there"))
    assert (error.kind, error.line) == ("sync", here)
    assert f"threads 0 to 39: __syncthreads() in line {here}, for the block" in str(error)
    assert f"lanes 8 to 31 of warp 1: __syncwarp() in line {there}, for lanes 0 to 7" in str(error)
    assert_still_works(cell)


def test_a_lane_outside_its_mask_is_a_fault(cell: Cell, out: np.ndarray[Any, Any]) -> None:
    error = fault(cell, "outside_mask", 1, 32, out)
    assert (error.kind, error.thread) == ("sync", (4, 0, 0))
    assert error.line == marked_line("outside_mask")
    assert "lane 4 calls __syncwarp() with the mask 0xf, which lacks it" in str(error)


def test_a_fault_ends_blocks_that_would_run_for_ever(cell: Cell, out: np.ndarray[Any, Any]) -> None:
    # With one worker only, block 0 would have to end first.
    if runtime_library._count_workers() > 1:
        assert fault(cell, "half_endless", 2, 32, out).kind == "trap"


@pytest.mark.parametrize("grid", [1, 8])
@pytest.mark.parametrize("name", ["endless", "endless_barriers"])
def test_ctrl_c_ends_a_kernel_that_loops_for_ever(
    cell: Cell, out: np.ndarray[Any, Any], name: str, grid: int
) -> None:
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        cell(name, grid, 32, out)
    assert time.perf_counter() - started < 30
    assert out[1] == 0
    assert_still_works(cell)


def test_signal_handlers_are_pythons_again_after_a_launch(cell: Cell) -> None:
    def caught_signals() -> str:
        with open("/proc/self/status") as file:  # noqa: PTH123
            return next(line for line in file if line.startswith("SigCgt"))

    before = caught_signals()
    assert_still_works(cell)
    fault(cell, "trap", 4, (8, 2), np.zeros(1, np.int32))
    assert caught_signals() == before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_with_a_handler_of_the_users_still_ends_the_launch(
    cell: Cell, out: np.ndarray[Any, Any]
) -> None:
    seen: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        cell("endless", 1, 32, out)
    assert seen == [signal.SIGINT]


def test_the_signal_that_stops_workers_reaches_who_else_uses_it(
    cell: Cell, out: np.ndarray[Any, Any]
) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGURG, lambda number, frame: seen.append(number))

    try:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGURG)).start()
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            cell("endless", 1, 32, out)
        # The handler of one signal raised: Python calls that of the other when it looks again.
        ctypes.pythonapi.PyErr_CheckSignals()
        assert seen == [signal.SIGURG]
    finally:
        signal.signal(signal.SIGURG, before)


def test_a_fault_of_the_process_itself_during_a_launch_is_not_the_kernels() -> None:
    # A bad address in another thread ends the process, as it would without a launch.
    program = f"""
        import ctypes, threading, numpy as np
        from tests.unit.cuda_calls import Cell
        cell = Cell({SOURCE!r}, *{KERNELS!r})
        def fault():
            cell("add_one", 1, 32, np.zeros(32, np.int32))  # this thread has run kernels, too
            ctypes.string_at(8)
        threading.Timer(0.2, fault).start()
        cell("endless", 1, 32, np.zeros(4, np.int32))
        print("not reached")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == -signal.SIGSEGV
    assert done.stdout == ""


def test_a_stop_leaves_the_heap_as_it_should_be() -> None:
    source = """
    __global__ void allocate(int* out) {
        for (;;) {
            char *p = (char*)malloc(300000), *q = new char[64];
            p[5] = q[1] = 1;
            out[threadIdx.x] += p[5] + q[1];
            delete[] q;
            free(realloc(p, 400000));
        }
    }"""
    program = f"""
        import os, signal, threading, numpy as np
        from tests.unit.cuda_calls import Cell
        cell = Cell({source!r}, "allocate(int*)")
        for _ in range(100):
            try:
                threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
                while True:
                    cell("allocate", 8, 1, np.zeros(4, np.int32))
            except KeyboardInterrupt:
                pass
            memory = [bytearray(n) for n in (64, 300000, 400000)]
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_fault_has_another_threads_launch_undisturbed(cell: Cell) -> None:
    stop = threading.Event()
    wrong: list[str] = []

    def work() -> None:
        while not stop.is_set():
            out = np.zeros(64, np.int32)
            try:
                cell("add_one", 1, 64, out)
            except LaunchError as error:
                wrong.append(str(error))
            if not np.all(out == 1):
                wrong.append(f"{out}")

    other = threading.Thread(target=work)
    other.start()
    try:
        for _ in range(50):
            fault(cell, "trap", 4, (8, 2), np.zeros(1, np.int32))
    finally:
        stop.set()
        other.join()
    assert not wrong

"""CUDA kernels on the CPU give the numbers that they give on a GPU."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.backends.emulator import runtime_library
from kit.cuda.signature import CudaSymbol
from kit.errors import LaunchError
from tests.unit.cuda_calls import ELEMENTS, Cell, signature

SOURCE = r"""
__constant__ double coefficient[3] = {1, 2, 3};
const __constant__ int fixed = 7;
static __device__ int hits;
namespace physics { __device__ float table[2][3]; }

__global__ void saxpy(double a, const double* x, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
__global__ void indices(int* out) {
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    out[b * blockDim.x * blockDim.y * blockDim.z + t] =
        threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z
        + 1000 * blockIdx.x + 10000 * blockIdx.y + 100000 * blockIdx.z;
}
namespace physics {
template <class T, int N> __global__ void reverse(const T* x, T* y) {
    extern __shared__ T row[];
    int i = threadIdx.x, first = blockIdx.x * blockDim.x;
    row[i] = x[first + i];
    __syncthreads();
    y[first + i] = N * row[blockDim.x - 1 - i];
}
}
extern float __shared__ one[];
extern __shared__ __align__(16) unsigned char other[];
__global__ void aliases(float* out) {
    one[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = ((float*)other)[threadIdx.x] + ((unsigned long long)other % 128);
}
__global__ void transpose(const double* x, double* y, int n) {
    __shared__ double tile[16][17];
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = x[i * n + j];
    __syncthreads();
    y[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y];
}
__global__ void early_exits(int* out, int n) {
    __shared__ int total;
    int t = threadIdx.x;
    if (t == 0) total = 0;
    if (t >= n) return;
    __syncthreads();
    for (int round = 0; round <= t; ++round) {
        if (round == t) break;
    }
    int last = __syncthreads_count(t % 2 == 0);
    if (t % 3 == 0) return;
    __syncthreads();
    int any = __syncthreads_or(t == 1), all = __syncthreads_and(t > 0);
    out[t] = last + 1000 * any + 2000 * all;
}
__global__ void late_barrier(int* out) {
    int t = threadIdx.x;
    if (t < 40) { out[t] = -1; return; }
    __syncthreads();
    out[t] = t;
}
__global__ void rounds(long long* out, int n) {
    __shared__ long long value[2][1024];
    int t = threadIdx.x, m = blockDim.x;
    value[0][t] = t;
    for (int i = 0; i < n; ++i) {
        __syncthreads();
        value[(i + 1) % 2][t] = value[i % 2][(t + 1) % m] + 1;
    }
    __syncthreads();
    out[blockIdx.x * m + t] = value[n % 2][t];
}
__global__ void symbols(double* out) {
    out[threadIdx.x] = coefficient[threadIdx.x] + physics::table[1][threadIdx.x] + fixed;
    if (threadIdx.x == 0) hits += 1;
}
__global__ void far_blocks(int* out) {
    int i = blockIdx.x * 2048;  // of block 2^20: -2^31
    if (i < 0) out[blockIdx.x - (1 << 20)] = i / 2048;
}
__global__ void main(int* out) { *out += 1; }
__global__ void g(int* launch) { *launch += 1; }
__global__ void err(int* kit_emulator) { *kit_emulator += 1; }
__global__ void index(int* out) { *out += 1; }
"""

SYMBOLS = (
    CudaSymbol("coefficient", "coefficient", ELEMENTS["double"], (3,), "constant", 2),
    CudaSymbol("fixed", "fixed", ELEMENTS["int"], (), "constant", 3),
    CudaSymbol("hits", "hits", ELEMENTS["int"], (), "device", 4),
    CudaSymbol("physics::table", "table", ELEMENTS["float"], (2, 3), "device", 5),
)


def compile_source() -> Cell:
    return Cell(
        SOURCE,
        "saxpy(double, const double*, double*, int)",
        "indices(int*)",
        signature("reverse(const double*, double*)", expression="physics::reverse<double, 3>"),
        "aliases(float*)",
        "transpose(const double*, double*, int)",
        "early_exits(int*, int)",
        "late_barrier(int*)",
        "rounds(long long*, int)",
        "symbols(double*)",
        "far_blocks(int*)",
        "main(int*)",
        "g(int*)",
        "err(int*)",
        "index(int*)",
        symbols=SYMBOLS,
    )


@pytest.fixture(scope="module", params=["fast", "portable"])
def cell(request: pytest.FixtureRequest) -> Iterator[Cell]:
    """The same kernels with fibers of this processor and with those of every processor."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIT_EMULATOR_FIBERS", request.param)
        yield compile_source()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_a_vectorised_kernel_gives_numpys_numbers(cell: Cell, rng: np.random.Generator) -> None:
    x, y = rng.random(100_003), rng.random(100_003)
    expected = y + 2.5 * x
    cell("saxpy", -(-100_003 // 256), 256, 2.5, x, y, 100_003)
    # The CPU may fuse multiply and add, as a GPU does.
    np.testing.assert_allclose(y, expected, rtol=1e-15)


def test_a_kernel_knows_its_indices_in_three_dimensions(cell: Cell) -> None:
    out = np.full((4, 3, 5, 2, 3, 4), -1, np.int32)
    cell("indices", (5, 3, 4), (4, 3, 2), out)
    bz, by, bx, tz, ty, tx = np.indices(out.shape)
    assert np.array_equal(out, tx + 10 * ty + 100 * tz + 1000 * bx + 10_000 * by + 100_000 * bz)


def test_dynamic_shared_memory_carries_values_across_a_barrier(
    cell: Cell, rng: np.random.Generator
) -> None:
    x, y = rng.random((40, 96)), np.zeros((40, 96))
    cell("reverse", 40, 96, x, y, shared_bytes=96 * 8)
    assert np.array_equal(y, 3 * x[:, ::-1])


def test_all_dynamic_shared_arrays_begin_at_one_aligned_address(cell: Cell) -> None:
    out = np.zeros(64, np.float32)
    cell("aliases", 1, 64, out, shared_bytes=256)
    assert np.array_equal(out, np.arange(64))


def test_static_shared_memory_carries_values_across_a_barrier(
    cell: Cell, rng: np.random.Generator
) -> None:
    x, y = rng.random((64, 64)), np.zeros((64, 64))
    cell("transpose", (4, 4), (16, 16), x, y, 64)
    assert np.array_equal(y, x.T)


def test_threads_that_have_returned_are_not_waited_for(cell: Cell) -> None:
    out = np.zeros(128, np.int32)
    cell("early_exits", 3, 128, out, 100)
    stays = (np.arange(128) < 100) & (np.arange(128) % 3 != 0)
    assert np.array_equal(out, np.where(stays, 50 + 1000 + 2000, 0))


def test_a_block_whose_first_threads_have_no_barrier_is_promoted_later(cell: Cell) -> None:
    out = np.zeros(96, np.int32)
    cell("late_barrier", 1, 96, out)
    assert np.array_equal(out, np.where(np.arange(96) < 40, -1, np.arange(96)))


@pytest.mark.parametrize("block", [1, 31, 32, 33, 64, 1000, 1024])
def test_barriers_hold_in_blocks_of_any_size(cell: Cell, block: int) -> None:
    out = np.zeros((5, block), np.int64)
    cell("rounds", 5, block, out, 7)
    assert np.array_equal(out, np.broadcast_to((np.arange(block) + 7) % block + 7, out.shape))


def test_variables_are_numpy_arrays_over_the_cells_own_memory(cell: Cell) -> None:
    coefficient, fixed, hits, table = (cell.loaded.symbol(one) for one in SYMBOLS)
    assert (coefficient.tolist(), fixed[()], hits.shape, table.shape) == ([1, 2, 3], 7, (), (2, 3))
    assert not fixed.flags.writeable
    before = hits[()]
    coefficient[:] = [10, 20, 30]
    table[1] = [0.5, 0.25, 0.125]
    out = np.zeros(3)
    cell("symbols", 1, 3, out)
    coefficient[:] = [1, 2, 3]
    assert out.tolist() == [17.5, 27.25, 37.125]
    assert hits[()] == before + 1


def test_indices_wrap_in_a_large_grid_as_they_do_on_a_gpu(cell: Cell) -> None:
    # For smaller grids the compiler is told that they do not.
    out = np.zeros(3, np.int32)
    cell("far_blocks", (1 << 20) + 3, 1, out)
    assert out.tolist() == [-(1 << 20), 1 - (1 << 20), 2 - (1 << 20)]


@pytest.mark.parametrize("name", ["main", "g", "err", "index"])
def test_kernels_may_have_names_that_are_taken_in_a_program(cell: Cell, name: str) -> None:
    out = np.zeros(1, np.int32)
    cell(name, 1, 1, out)
    assert out[0] == 1


def test_a_launch_in_a_forked_child_works(cell: Cell) -> None:
    x, y = np.ones(1 << 17), np.zeros(1 << 17)
    cell("saxpy", 512, 256, 1.0, x, y, x.size)  # the parent has its workers
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for _ in range(3):
                cell("saxpy", 512, 256, 1.0, x, y, x.size)
            workers, threads = (
                runtime_library._count_workers(),
                [*Path("/proc/self/task").iterdir()],
            )
            code = 0 if np.all(y == 4) and len(threads) >= min(workers, 2) else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    cell("saxpy", 512, 256, 1.0, x, y, x.size)
    assert np.all(y == 2)


def test_several_threads_launch_at_once(cell: Cell) -> None:
    failures: list[Any] = []

    def work(seed: int) -> None:
        x = np.random.default_rng(seed).random((50, 96))
        for _ in range(20):
            y, z = np.zeros_like(x), np.zeros((5, 64), np.int64)
            cell("reverse", 50, 96, x, y, shared_bytes=96 * 8)
            cell("rounds", 5, 64, z, 3)
            if not np.array_equal(y, 3 * x[:, ::-1]) or z[4, 0] != 6:
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failures


def test_ten_thousand_launches_leave_nothing_behind(cell: Cell) -> None:
    out = np.zeros((5, 64), np.int64)
    launch = lambda: cell("rounds", 5, 64, out, 1)  # noqa: E731
    launch()

    def mappings() -> int:
        with open("/proc/self/maps", "rb") as file:  # noqa: PTH123
            return len(file.readlines())

    def resident_kib() -> int:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024

    for _ in range(500):
        launch()
    before = mappings(), resident_kib()
    for _ in range(10_000):
        launch()
    assert mappings() <= before[0] + 5
    assert resident_kib() <= before[1] + 1024


def test_threads_that_launch_leave_the_process_mappings(cell: Cell) -> None:
    with open("/proc/sys/vm/max_map_count", "rb") as file:  # noqa: PTH123
        most = int(file.read())
    n_threads = most // 2048 + 8  # a block of each has as many mappings
    done, go_on = threading.Semaphore(0), threading.Event()

    def work() -> None:
        try:
            cell("rounds", 1, 1024, np.zeros((1, 1024), np.int64), 1)
        finally:
            done.release()
            go_on.wait()

    threads = [threading.Thread(target=work) for _ in range(n_threads)]
    try:
        for one in threads:
            one.start()
            done.acquire()
        with open("/proc/self/maps", "rb") as file:  # noqa: PTH123
            n_mappings = len(file.readlines())
    finally:
        go_on.set()
    for one in threads:
        one.join()
    assert n_mappings < most * 3 // 4


@pytest.mark.parametrize(
    ("grid", "block", "shared_bytes", "told"),
    [
        ((0, 1, 1), (32, 1, 1), 0, "a grid of (0, 1, 1) blocks"),
        ((1, 1, 1), (0, 1, 1), 0, "a block of (0, 1, 1) threads"),
        ((1, 1, 1), (33, 32, 1), 0, "a block of (33, 32, 1) threads"),
        ((1, 65536, 1), (1, 1, 1), 0, "a grid of (1, 65536, 1) blocks"),
        ((1, 1, 1), (1, 1, 1), 227 * 1024 + 1, "232449 bytes of dynamic shared memory"),
    ],
)
def test_a_launch_that_nothing_can_run_is_refused_before_it_begins(
    cell: Cell, grid: tuple[int, ...], block: tuple[int, ...], shared_bytes: int, told: str
) -> None:
    out = np.zeros(1, np.int32)
    with pytest.raises(LaunchError) as caught:
        cell("g", grid, block, out, shared_bytes=shared_bytes)
    assert caught.value.kind == "limit"
    assert told in str(caught.value)
    assert out[0] == 0

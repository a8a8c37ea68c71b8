"""kit's CUDA headers: compiled by NVRTC for every architecture, and run by the emulator."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kit.build_cuda import build_cuda_cell
from kit.cuda.options import CI_ARCHITECTURES, CudaOptions
from kit.testing import emulate
from tests.unit.cuda_calls import Cell
from tests.unit.nvrtc_compiler import compile_text

HEADERS = ("array_view", "index", "atomic", "reduce")

# Everything that the headers offer, for every type that they speak of.
USES = """
#include <kit/array_view.cuh>
#include <kit/index.cuh>
#include <kit/atomic.cuh>
#include <kit/reduce.cuh>
#include <cuda/std/complex>
#include <cuda_fp16.h>
using Complex = cuda::std::complex<double>;

__device__ double read(Array2D<const double> x) { return x(0, 0) + x.row(0)[1]; }
__device__ float read(CArray2D<const float> x) { return x(0, 0) + x[1]; }

__global__ void views(Array2D<double> x, CArray2D<float> y, Array16D<int> z, Array1D<Complex> w) {
    short s = 1; unsigned u = 2; long l = 3; unsigned long long q = 0;
    x(s, u) = read(x) + x.size();
    y(l, q) = read(y) + y.size();
    z(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, s) += Array16D<int>::ndim;
    w[-1] = Complex(1.0, 2.0);
}

__global__ void loops(float* x, long long n) {
    for (long long i : kit::grid_stride(n)) x[i] = 0.0f;
    for (auto [i, j] : kit::grid_stride(n, n)) x[i * n + j] += 1.0f;
    for (auto [i, j, k] : kit::grid_stride(n, n, n)) x[(i * n + j) * n + k] += 1.0f;
    for (auto i : kit::block_stride(n)) x[i] += kit::block_rank() + kit::block_threads();
}

template <class T> __device__ void number(T* x) {
    kit::atomic_add(x, T(1));
    kit::atomic_min(x, T(1));
    kit::atomic_max(x, T(1));
    kit::atomic_multiply(x, T(3));
    *x = kit::warp_sum(*x) + kit::warp_min(*x) + kit::warp_max(*x);
    *x = kit::block_sum(*x) + kit::block_min(*x) + kit::block_max(*x);
    *x = kit::block_sum_where(*x < T(3), *x) + kit::block_count_where(*x < T(3));
    *x = kit::warp_reduce_where(*x < T(3), *x, T(1), kit::Product());
    kit::atomic_update(x, [](T old) { return T(old + 1); });
}
__global__ void numbers(int* a, unsigned* b, long* c, unsigned long* d, long long* e,
                        unsigned long long* f, float* g, double* h) {
    number(a); number(b); number(c); number(d); number(e); number(f); number(g); number(h);
}
__global__ void others(Complex* x, cuda::std::complex<float>* y, __half* z, short* s) {
    kit::atomic_add(x, kit::block_sum(*x));
    kit::atomic_add(y, kit::block_sum(*y));
    kit::atomic_add(z, kit::block_sum(*z));
    kit::atomic_update(s, [](short old) { return short(old + 1); });
}
"""


@pytest.mark.parametrize("arch", CI_ARCHITECTURES)
def test_the_headers_compile_together_for_every_architecture(arch: str) -> None:
    log = compile_text(USES, arch=arch).log
    assert "warning" not in log


@pytest.mark.parametrize("std", ["c++17", "c++20"])
def test_the_headers_compile_with_checks_of_bounds(std: str) -> None:
    log = compile_text("#define KIT_CHECK_BOUNDS 1\n" + USES, std=std).log
    assert "warning" not in log


def test_complex_numbers_of_thrust_compile_and_add() -> None:
    # With CCCL's own thrust/detail/complex/stream.h they do not: see the one of kit.
    compile_text("""
#include <thrust/complex.h>
#include <kit/reduce.cuh>
#include <kit/atomic.cuh>
__global__ void add(thrust::complex<float>* x) {
    kit::atomic_add(x, kit::block_sum(x[threadIdx.x]));
}
""")


@pytest.mark.parametrize("header", HEADERS)
def test_each_header_compiles_alone_and_twice(header: str) -> None:
    line = f"#include <kit/{header}.cuh>\n"
    compile_text(f"{line}{line}__global__ void nothing() {{}}\n")


def _wrong(statement: str) -> str:
    return f"""
#include <kit/array_view.cuh>
__global__ void wrong(Array2D<double> x, Array2D<const double> y) {{ {statement} }}
"""


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("x(0) = 1.0;", "as many indices as it has axes"),
        ("x(0, 1, 2) = 1.0;", "as many indices as it has axes"),
        ("x(0, 1.0) = 1.0;", "an index is an integer"),
        ("x(0, true) = 1.0;", "an index is an integer"),
        ("x[0] = 1.0;", "write a(i, j)"),
        ("y(0, 0) = 1.0;", "must be a modifiable lvalue"),
        ("Array2D<double> z = y;", "no suitable user-defined conversion"),
    ],
)
def test_wrong_use_of_a_view_is_a_readable_error(statement: str, message: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(message)):
        compile_text(_wrong(statement))


def test_an_index_costs_no_more_registers_than_one_written_by_hand() -> None:
    text = """
#include <kit/array_view.cuh>
extern "C" __global__ void by_view(Array2D<const double> x, Array2D<double> y) {
    long long i = threadIdx.x, j = threadIdx.y;
    if (i < y.shape[0] && j < y.shape[1]) y(i, j) = x(i, j);
}
extern "C" __global__ void by_hand(const double* x, double* y, long long n, long long m,
                                   long long x0, long long x1, long long y0, long long y1) {
    long long i = threadIdx.x, j = threadIdx.y;
    if (i < n && j < m) y[i * y0 + j * y1] = x[i * x0 + j * x1];
}
"""
    log = compile_text(text, options=("--ptxas-options=-v",)).log
    found = re.findall(r"entry function '(\w+)'.*?Used (\d+) registers", log, re.DOTALL)
    used = {name: int(registers) for name, registers in found}
    assert set(used) == {"by_view", "by_hand"}
    assert used["by_view"] <= used["by_hand"]


# ---- run on the CPU ---------------------------------------------------------------------------

RUNS = """
#include <kit/atomic.cuh>
#include <kit/reduce.cuh>

__global__ void visits1(int* seen, int n) {
    for (long long i : kit::grid_stride(n)) atomicAdd(seen + i, 1);
}
__global__ void visits2(int* seen, int n, int m) {
    for (auto [i, j] : kit::grid_stride(n, m)) atomicAdd(seen + i * m + j, 1);
}
__global__ void visits3(int* seen, int n, int m, int l) {
    for (auto [i, j, k] : kit::grid_stride(n, m, l)) atomicAdd(seen + (i * m + j) * l + k, 1);
}
__global__ void visits_block(int* seen, int n) {
    for (auto i : kit::block_stride(n)) atomicAdd(seen + i, 1);
}

__global__ void updates(double* doubles, float* floats, long long* integers, const double* x,
                        int n) {
    for (long long i : kit::grid_stride(n)) {
        kit::atomic_add(doubles, x[i]);
        kit::atomic_min(doubles + 1, x[i]);
        kit::atomic_max(doubles + 2, x[i]);
        kit::atomic_update(doubles + 3, [](double old) { return old + 2.0; });
        kit::atomic_add(floats, (float)i);
        kit::atomic_min(floats + 1, -(float)i);
        kit::atomic_max(floats + 2, (float)i);
        kit::atomic_add(integers, -(long long)i);
        kit::atomic_min(integers + 1, -(long long)i);
        kit::atomic_max(integers + 2, (long long)i << 40);
        if (i < 20) kit::atomic_multiply(integers + 3, 3LL);
    }
}
__global__ void lowest(double* result, const double* x, int n) {
    for (long long i : kit::grid_stride(n)) {
        kit::atomic_min(result, x[i]);
        kit::atomic_max(result + 1, x[i]);
    }
}

__global__ void contended(double* total, int times) {
    for (int k = 0; k < times; ++k)
        kit::atomic_update(total, [](double old) { return old + 1.0; });
}

__global__ void reduces(const double* x, double* results, int* counts) {
    const int rank = kit::block_rank();
    const double mine = x[blockIdx.x * kit::block_threads() + rank];
    const double sum = kit::block_sum(mine);
    const double low = kit::block_min(mine), high = kit::block_max(mine);
    const double again = kit::block_sum(mine);  // the shared memory of the first may be used again
    const double some = kit::block_sum_where(mine > 0.0, mine);
    const double none = kit::block_reduce_where(false, mine, 7.0, kit::Min());
    const int count = kit::block_count_where(mine > 0.0);
    counts[blockIdx.x * kit::block_threads() + rank] = sum == again;
    if (rank == kit::block_threads() - 1) {
        double* result = results + 6 * blockIdx.x;
        result[0] = sum, result[1] = low, result[2] = high;
        result[3] = some, result[4] = none, result[5] = count;
    }
}
struct Pair { double value; long long place, padding; };
struct Later {
    __device__ Pair operator()(const Pair& a, const Pair& b) const {
        return b.value > a.value ? b : a;
    }
};
__global__ void places(const double* x, long long* result) {
    const int rank = kit::block_rank();
    Pair best = kit::block_reduce(Pair{x[rank], rank, 0}, Later());
    result[rank] = best.place;
}
__global__ void warps(const int* x, int* result) {
    const int rank = kit::block_rank(), first = rank / 32 * 32;
    const int left = kit::block_threads() - first, lanes = left < 32 ? left : 32;
    result[rank] = kit::warp_sum(x[rank], lanes);
}
"""


@pytest.fixture(scope="module")
def cell() -> Cell:
    return Cell(
        RUNS,
        "visits1(int*, int)",
        "visits2(int*, int, int)",
        "visits3(int*, int, int, int)",
        "visits_block(int*, int)",
        "updates(double*, float*, long long*, const double*, int)",
        "lowest(double*, const double*, int)",
        "contended(double*, int)",
        "reduces(const double*, double*, int*)",
        "places(const double*, long long*)",
        "warps(const int*, int*)",
    )


@pytest.mark.parametrize(
    ("grid", "block"), [(1, 1), (3, 7), ((2, 3, 2), (5, 2, 3)), ((1, 4), (64, 1)), (200, 32)]
)
@pytest.mark.parametrize("extents", [(1, 1, 1), (5, 3, 4), (17, 6, 2), (0, 3, 3)])
def test_all_threads_together_visit_each_index_once(
    cell: Cell, grid: Any, block: Any, extents: tuple[int, int, int]
) -> None:
    n, m, l = extents  # noqa: E741
    rows = {(1, 1): 1, (3, 7): 1}.get((grid, block))
    y_and_z = 1 if rows else int(np.prod((*np.atleast_1d(grid)[1:], *np.atleast_1d(block)[1:])))
    z = int(np.prod((*np.atleast_1d(grid)[2:], *np.atleast_1d(block)[2:])))
    seen = np.zeros(n, np.int32)
    cell("visits1", grid, block, seen, n)
    assert (seen == y_and_z).all()  # threads along y and z run the same loop along x
    seen = np.zeros(n * m, np.int32)
    cell("visits2", grid, block, seen, n, m)
    assert (seen == z).all()
    seen = np.zeros(n * m * l, np.int32)
    cell("visits3", grid, block, seen, n, m, l)
    assert (seen == 1).all()
    seen = np.zeros(n, np.int32)
    cell("visits_block", 1, block, seen, n)
    assert (seen == 1).all()


def test_atomic_updates_lose_nothing(cell: Cell) -> None:
    n = 5000
    x = np.random.default_rng(1).integers(-1000, 1000, n).astype(np.float64)
    doubles, floats = np.zeros(4), np.zeros(3, np.float32)
    integers = np.array([0, 0, 0, 1], np.int64)
    cell("updates", 40, 64, doubles, floats, integers, x, n)
    np.testing.assert_array_equal(doubles, [x.sum(), x.min(), x.max(), 2.0 * n])
    np.testing.assert_array_equal(floats[1:], [-(n - 1), n - 1])
    assert floats[0] == pytest.approx(n * (n - 1) / 2, rel=1e-4)
    wanted = [-n * (n - 1) // 2, -(n - 1), (n - 1) << 40, 3**20]
    np.testing.assert_array_equal(integers, wanted)


def test_an_update_that_another_thread_overtook_is_made_again(cell: Cell) -> None:
    total = np.zeros(1)
    cell("contended", 64, 64, total, 200)
    assert total[0] == 64 * 64 * 200


def test_half_and_complex_numbers_are_updated() -> None:
    source = """
#include <cuda_fp16.h>
#include <cuda/std/complex>
#include <kit/atomic.cuh>
__global__ void update(__half* h, cuda::std::complex<float>* z, const __half* x) {
    int i = threadIdx.x;
    kit::atomic_add(h, x[i]);
    kit::atomic_min(h + 1, x[i]);
    kit::atomic_max(h + 2, x[i]);
    kit::atomic_add(z, {(float)x[i], -1.0f});
}
"""
    x = np.array([3, -7, 5, 0, 11], np.float16)
    h, z = np.array([0, np.inf, np.nan], np.float16), np.zeros(1, np.complex64)
    kernels = build_cuda_cell(source, options=CudaOptions(architectures=("sm_90",))).kernels
    emulate(kernels["update"], h, z, x, grid=1, block=5)
    assert h.tolist() == [12, -7, 11]
    assert z[0] == 12 - 5j


def test_nan_counts_as_missing_for_minima_and_maxima(cell: Cell) -> None:
    x = np.array([3.0, np.nan, -2.0, np.nan, 5.0])
    result = np.full(2, np.nan)
    cell("lowest", 1, 5, result, x, 5)
    np.testing.assert_array_equal(result, [-2.0, 5.0])
    cell("lowest", 1, 5, result, np.full(5, np.nan), 5)
    np.testing.assert_array_equal(result, [-2.0, 5.0])


@pytest.mark.parametrize("block", [1, 2, 31, 32, 33, 64, 100, (8, 5), (7, 3, 5), 512, 1000, 1024])
def test_blocks_of_every_size_reduce_as_numpy_does(cell: Cell, block: Any) -> None:
    threads, blocks = int(np.prod(block)), 3
    x = np.random.default_rng(threads).integers(-99, 99, (blocks, threads)).astype(np.float64)
    results, agree = np.zeros((blocks, 6)), np.zeros(x.shape, np.int32)
    cell("reduces", blocks, block, x, results, agree)
    positive = np.where(x > 0.0, x, 0.0)
    wanted = [x.sum(1), x.min(1), x.max(1), positive.sum(1), np.full(blocks, 7.0), (x > 0).sum(1)]
    np.testing.assert_array_equal(results, np.stack(wanted, axis=1))
    assert (agree == 1).all()


def test_nan_counts_as_missing_for_minima_and_maxima_of_a_block(cell: Cell) -> None:
    x = np.random.default_rng(5).normal(size=100)
    x[::3] = np.nan
    results, agree = np.zeros((1, 6)), np.zeros(100, np.int32)
    cell("reduces", 1, 100, x, results, agree)
    assert results[0, 1:3].tolist() == [np.nanmin(x), np.nanmax(x)]
    assert np.isnan(results[0, 0])


def test_structs_larger_than_a_register_are_reduced_in_every_thread(cell: Cell) -> None:
    x = np.random.default_rng(3).permutation(90).astype(np.float64)
    place = np.zeros(90, np.int64)
    cell("places", 1, 90, x, place)
    np.testing.assert_array_equal(place, np.full(90, x.argmax()))


def test_each_warp_has_its_own_sum_also_the_last_one_that_is_cut_off(cell: Cell) -> None:
    x = np.arange(77, dtype=np.int32)
    result = np.zeros(77, np.int32)
    cell("warps", 1, 77, x, result)
    wanted = np.concatenate([np.full(len(one), one.sum()) for one in np.split(x, [32, 64])])
    np.testing.assert_array_equal(result, wanted)

"""A kernel gets threads along as many axes as it reads its place on."""

from __future__ import annotations

import numpy as np
import pytest

import kit
from kit.cuda.text.launch_axes import count_launch_axes


@pytest.mark.parametrize(
    ("body", "axes"),
    [
        ("x[threadIdx.x] = 1;", 1),
        ("x[blockIdx.x * blockDim.x + threadIdx.x] = blockDim.y + gridDim.z;", 1),
        ("x[blockIdx . y] = 1;", 2),
        ("x[threadIdx.z] = 1;", 3),
        ("x[kit::global_y()] = 1;", 2),
        ("x[kit::global_z()] = 1;", 3),
        ("for (auto i : kit::grid_stride(n)) x[i] = 1;", 1),
        ("for (auto i : kit::grid_stride(f(n, m))) x[i] = 1;", 1),
        ("for (auto [i, j] : kit::grid_stride(n, f(m, 3))) x[i] = 1;", 2),
        ("for (auto [i, j, k] : kit::grid_stride(n, m, x[0])) x[i] = 1;", 3),
        ("// threadIdx.y\n x[0] = 1;", 1),
        ('printf("blockIdx.y");', 1),
        ("x[ROW] = 1;", 2),
        ("x[row()] = 1;", 2),
        ("x[outer<int>(3)] = 1;", 3),
        ("x[unused_here] = 1;", 1),
        ("dim3 p; x[p.y] = 1;", 1),
    ],
)
def test_the_axes_that_a_kernel_reads_are_counted(body: str, axes: int) -> None:
    cell = """
#define ROW (blockIdx.y * blockDim.y \\
             + threadIdx.y)
#define WIDTH 3
__device__ inline int row() noexcept { return kit::global_y(); }
template <class T> __device__ T outer(T n) { if (n > 1) { return inner(n); } return n; }
template <class T> __device__ auto inner(T n) -> T { return threadIdx.z; }
__global__ void another(int* x) { x[threadIdx.z] = 1; }
"""
    kernel = "__global__ void f(int* x, int n, int m) {" + body + "}"
    assert count_launch_axes(kernel, cell + kernel) == axes


@pytest.mark.parametrize("cut", range(0, 160, 7))
def test_text_that_ends_anywhere_is_counted(cut: int) -> None:
    text = "#define A (\n__global__ void f(int* x) { x[threadIdx.y] = g(h[3], {1}); } /* */ #define"
    assert count_launch_axes(text[:cut], text[:cut]) in (1, 2)


def test_a_call_without_a_word_about_threads_reaches_every_element() -> None:
    cell = kit.cuda_kernel(
        """
#include <kit/array_view.cuh>
__global__ void both(Array2D<double> x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < x.shape[0] && j < x.shape[1]) x(i, j) += 1.0;
}
__global__ void flat(double* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1.0;
}
__global__ void rows(Array2D<double> x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < x.shape[0]) for (int j = 0; j < x.shape[1]; ++j) x(i, j) += 1.0;
}
""",
        arch="sm_90",
    )
    x = np.zeros((37, 300))
    cell.both(x)
    cell.flat(x, x.size)
    cell.rows(x)
    np.testing.assert_array_equal(x, np.full(x.shape, 3.0))
    with pytest.raises(kit.ArgumentRefused):
        cell.both(np.zeros(37))

"""CUDA cells of the contract tests, built once for each process."""

from __future__ import annotations

from functools import lru_cache

from kit.build_cuda import build_cuda_cell
from kit.cuda.options import CudaOptions
from kit.kernel_cuda import CudaKernel

CELL = r"""
#include <kit/array_view.cuh>

struct Particle { int kind; double energy; };

__constant__ float coef[4] = {1, 2, 3, 4};
__device__ int counter;

// Adds a times x to y.
__global__ void saxpy(double a, const double* x, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

__global__ void apart(const double* __restrict__ x, double* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

__global__ void scale2(Array2D<double> u, double factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < u.shape[0] && j < u.shape[1]) u(i, j) *= factor;
}

__global__ void places(int* out) {
    int width = gridDim.x * blockDim.x;
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * width + x] = 1 + blockIdx.x + 100 * blockIdx.y;
}

__global__ void polynomial(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = coef[0] + x[i] * (coef[1] + x[i] * (coef[2] + x[i] * coef[3]));
        atomicAdd(&counter, 1);
    }
}

__global__ void total(const double* x, double* sum, int n) {
    extern __shared__ double parts[];
    int t = threadIdx.x;
    parts[t] = t < n ? x[t] : 0;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) parts[t] += parts[t + half];
    }
    if (t == 0) sum[0] = parts[0];
}

__global__ void __launch_bounds__(64) narrow(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = blockDim.x;
}

__global__ void energies(const Particle* all, Particle extra, float4* points, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) points[i] = make_float4(all[i].kind, all[i].energy, extra.kind, extra.energy);
}

__global__ void nothing() {}
"""


@lru_cache(maxsize=4)
def build(
    architectures: tuple[str, ...] = ("sm_80", "sm_90"), *, debug: bool = False
) -> dict[str, CudaKernel]:
    """The kernels of the cell."""
    options = CudaOptions(architectures=architectures, debug=debug)
    return dict(build_cuda_cell(CELL, options=options).kernels)

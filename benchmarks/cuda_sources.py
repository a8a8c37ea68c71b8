"""CUDA kernels that are measured, and the same work in C++ with OpenMP."""

from __future__ import annotations

__all__ = ["KERNELS", "OPENMP"]

KERNELS = {
    "nothing": r"""
extern "C" __global__ void nothing(int n) {}
""",
    "saxpy": r"""
extern "C" __global__ void saxpy(double a, const double* x, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
""",
    "stencil": r"""
extern "C" __global__ void stencil(const double* u, double* v, int nx, int ny) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)
        v[j * nx + i] = 0.25 * (u[j * nx + i - 1] + u[j * nx + i + 1] + u[(j - 1) * nx + i]
                                + u[(j + 1) * nx + i]);
}
""",
    "matmul": r"""
extern "C" __global__ void matmul(const double* A, const double* B, double* C, int n) {
    __shared__ double As[16][16];
    __shared__ double Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    double sum = 0.0;
    for (int t = 0; t < n / 16; ++t) {
        As[ty][tx] = A[row * n + t * 16 + tx];
        Bs[ty][tx] = B[(t * 16 + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
""",
    "reduce": r"""
extern "C" __global__ void reduce(const double* x, double* out, int n) {
    __shared__ double partial[32];
    double v = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += x[i];
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) partial[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < (int)(blockDim.x >> 5) ? partial[lane] : 0.0;
        for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
        if (lane == 0) atomicAdd(out, v);
    }
}
""",
    "histogram": r"""
extern "C" __global__ void histogram(const int* x, int* h, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&h[x[i]], 1);
}
""",
    "histogram_shared": r"""
extern "C" __global__ void histogram_shared(const int* x, int* h, int n) {
    __shared__ int s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[x[i]], 1);
    __syncthreads();
    atomicAdd(&h[threadIdx.x], s[threadIdx.x]);
}
""",
    "barriers": r"""
extern "C" __global__ void barriers(int* out, int n) {
    for (int i = 0; i < n; ++i) __syncthreads();
    out[threadIdx.x] = n;
}
""",
}
"""Name of a kernel -> its source."""

OPENMP = r"""
#include <cstring>
extern "C" {
void saxpy(double a, const double* x, double* y, int n) {
#pragma omp parallel for simd
    for (int i = 0; i < n; ++i) y[i] += a * x[i];
}
void stencil(const double* u, double* v, int nx, int ny) {
#pragma omp parallel for
    for (int j = 1; j < ny - 1; ++j)
        for (int i = 1; i < nx - 1; ++i)
            v[j * nx + i] = 0.25 * (u[j * nx + i - 1] + u[j * nx + i + 1] + u[(j - 1) * nx + i]
                                    + u[(j + 1) * nx + i]);
}
void matmul(const double* A, const double* B, double* C, int n) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        double* c = C + (long)i * n;
        for (int j = 0; j < n; ++j) c[j] = 0;
        for (int k = 0; k < n; ++k) {
            double a = A[(long)i * n + k];
            for (int j = 0; j < n; ++j) c[j] += a * B[(long)k * n + j];
        }
    }
}
void reduce(const double* x, double* out, int n) {
    double sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (int i = 0; i < n; ++i) sum += x[i];
    *out += sum;
}
void histogram(const int* x, int* h, int n) {
#pragma omp parallel
    {
        int mine[256];
        memset(mine, 0, sizeof mine);
#pragma omp for
        for (int i = 0; i < n; ++i) mine[x[i]]++;
        for (int k = 0; k < 256; ++k) __atomic_fetch_add(&h[k], mine[k], __ATOMIC_RELAXED);
    }
}
}
"""

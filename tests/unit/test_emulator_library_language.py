"""What CUDA C++ adds to the language, and NVIDIA's headers, in cells that run on the CPU."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.backends.cuda_packages import find_cuda_packages
from kit.build_cuda import build_cuda_cell
from kit.cuda.options import CudaOptions
from kit.toolchain import find_cxx_compiler

CELL = r"""
#include <cuda/atomic>
#include <cuda/std/array>
#include <math_constants.h>
#include "own.cuh"

__managed__ int managed = 5;
__constant__ float2 pair = {1.5f, 2.5f};

template <class T, int N> __noinline__ __device__ T power(T x) {
    T product = 1;
#pragma unroll
    for (int k = 0; k < N; ++k) product *= x;
    return product;
}

__global__ void __launch_bounds__(64, 2) language(float* out, const __grid_constant__ int n) {
    extern float __shared__ room[];
    __shared__ __align__(16) unsigned char bytes[16];
    int t = threadIdx.x;
    __builtin_assume(n > 0);
    room[t] = power<float, 3>(t);
    __syncthreads();
    float bits = 2.0f;
    *(int*)&bits += 1 << 23;  // the exponent of a float, as integers
    out[t] = room[n - 1 - t];
    if (t == 0) {
        out[n] = bits + managed + pair.y + float((size_t)bytes % 16);
        out[n + 1] = CUDART_PI_F + (warpSize == 32);
        out[n + 2] = own_architecture();
    }
}

__global__ void referenced(int* total, double* sums, int n) {
    cuda::atomic_ref<int, cuda::thread_scope_device> counter(*total);
    cuda::std::array<double, 2> weights = {0.5, 0.25};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) counter.fetch_add(2, cuda::memory_order_relaxed);
    if (i < n) atomicAdd(&sums[i % 2], weights[i % 2]);
}

// Names that the C library has taken are free on a GPU.
__device__ float gamma(float x) { return 2 * x; }
__constant__ int index = 3;
__global__ void free_names(float* random) { random[0] = gamma(index); }
"""
OWN = """
__device__ int own_architecture() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __CUDA_ARCH__;
#else
    return 0;
#endif
}
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("headers")
    (folder / "own.cuh").write_text(OWN)
    options = CudaOptions(architectures=("sm_80",), include_dirs=(str(folder),))
    return build_cuda_cell(CELL, options=options).kernels


def test_words_of_cuda_mean_what_they_mean_on_a_gpu(kernels: Any) -> None:
    out = np.zeros(11, np.float32)
    kernels["language"].emulator(out, 8, grid=1, block=8, shared_bytes=32)
    np.testing.assert_array_equal(out[:8], np.arange(7, -1, -1) ** 3)
    assert out[8] == 4 + 5 + 2.5
    assert out[9] == np.float32(np.pi) + np.float32(1)


def test_headers_of_the_users_see_the_architecture(kernels: Any) -> None:
    out = np.zeros(11, np.float32)
    kernels["language"].emulator(out, 8, grid=1, block=8, shared_bytes=32)
    assert out[10] == 800


def test_libcudacxx_is_there(kernels: Any) -> None:
    total, sums = np.zeros(1, np.int32), np.zeros(2)
    kernels["referenced"].emulator(total, sums, 100, grid=4, block=32)
    assert total[0] == 200
    assert sums.tolist() == [25, 12.5]


def test_names_of_the_c_library_are_free(kernels: Any) -> None:
    out = np.zeros(1, np.float32)
    kernels["free_names"].emulator(out, grid=1, block=1)
    assert out[0] == 6


@pytest.mark.parametrize("header", ["cuda/std/complex", "cuda/std/mdspan", "cuda/atomic"])
def test_the_architecture_changes_nothing_in_libcudacxx_but_how_it_ends(header: str) -> None:
    """Else it would have to be hidden from NVIDIA's headers, as `__CUDACC__` is."""

    def seen(*flags: str) -> list[str]:
        command = [find_cxx_compiler(), "-std=c++17", "-fno-exceptions", "-E", "-P", "-xc++", "-"]
        text = subprocess.run(
            [*command, f"-I{find_cuda_packages().cccl}", *flags],
            input=f"#include <{header}>\n", capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        lines = (" ".join(line.split()) for line in text.splitlines())
        return [line for line in lines if line and "#pragma GCC diagnostic" not in line]

    assert seen("-D__CUDA_ARCH__=800") == seen()


def test_emulated_headers_stand_for_those_of_the_runtime() -> None:
    include = Path(__file__).parents[2] / "kit" / "backends" / "emulator" / "include"
    names = {path.name for path in include.iterdir()}
    # cuda_runtime_api.h would tell libcu++ that a whole toolkit is there.
    assert {"cuda_fp16.h", "cuda_bf16.h", "cooperative_groups.h", "cuda_runtime.h"} <= names
    assert "cuda_runtime_api.h" not in names

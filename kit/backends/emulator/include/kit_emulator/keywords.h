// The words of CUDA C++ that a C++ compiler does not know, as attributes or nothing.
#pragma once

#define KIT_EMULATION 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
// Each worker runs one block at a time, so the memory of a block is the worker's own. Inside a
// function `thread_local` implies `static`, and `extern __shared__ T s[];` stays a declaration: the
// build defines what it declares (elf.py).
#define __shared__ thread_local

// On kit's own functions.
#define KIT_INLINE static inline __attribute__((always_inline))
#define KIT_COLD static __attribute__((noinline, cold))
#define KIT_LIKELY(x) __builtin_expect(!!(x), 1)
#define KIT_UNLIKELY(x) __builtin_expect(!!(x), 0)

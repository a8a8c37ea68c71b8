// Sums, minima, maxima of the threads of a warp or of a block, of values of any type that can be
// copied byte by byte: integers, float, double, half, complex numbers, structs of your own.
//
//     #include <kit/reduce.cuh>
//
//     __global__ void total(const double* x, double* sum, long long n) {
//         double mine = 0.0;
//         for (long long i : kit::grid_stride(n)) mine += x[i];
//         const double block = kit::block_sum(mine);
//         if (kit::block_rank() == 0) kit::atomic_add(sum, block);
//     }
//
// The order is fixed by the block's size alone: lanes at distance 16, 8, 4, 2, 1, then warps alike.
// So a block gives the same bits every time, on a device as in the emulator.
//
// Where nothing else is said, every thread of the block has to call, none may have returned before
// that, and every thread gets the result. Blocks may have any size up to 1024 threads, and up to
// three axes.
#pragma once

#include <kit/index.cuh>

#define KIT_REDUCE_FUNCTION __device__ __forceinline__

namespace kit {

struct Sum {
    template <class T> KIT_REDUCE_FUNCTION T operator()(const T& a, const T& b) const {
        return a + b;
    }
};
struct Product {
    template <class T> KIT_REDUCE_FUNCTION T operator()(const T& a, const T& b) const {
        return a * b;
    }
};
/// The smaller one; of NaN and a number, the number.
struct Min {
    template <class T> KIT_REDUCE_FUNCTION T operator()(const T& a, const T& b) const {
        return b < a || a != a ? b : a;
    }
};
/// The larger one; of NaN and a number, the number.
struct Max {
    template <class T> KIT_REDUCE_FUNCTION T operator()(const T& a, const T& b) const {
        return a < b || a != a ? b : a;
    }
};

namespace reduction {

template <class T> constexpr int words = (int)((sizeof(T) + 3) / 4);

/// The value of the lane `delta` above, of any size; every lane of `mask` has to call.
template <class T> KIT_REDUCE_FUNCTION T shuffle_down(const T& value, int delta, unsigned mask) {
    unsigned parts[words<T>] = {};
    memcpy(parts, &value, sizeof value);
    for (int part = 0; part < words<T>; ++part)
        parts[part] = __shfl_down_sync(mask, parts[part], delta);
    T result = value;
    memcpy(&result, parts, sizeof result);
    return result;
}

/// The value of lane 0, of any size.
template <class T> KIT_REDUCE_FUNCTION T from_first(const T& value, unsigned mask) {
    unsigned parts[words<T>] = {};
    memcpy(parts, &value, sizeof value);
    for (int part = 0; part < words<T>; ++part) parts[part] = __shfl_sync(mask, parts[part], 0);
    T result = value;
    memcpy(&result, parts, sizeof result);
    return result;
}

/// The lanes 0 .. count-1.
KIT_REDUCE_FUNCTION unsigned first_lanes(int count) {
    return count >= 32 ? 0xffffffffu : (1u << count) - 1;
}

}  // namespace reduction

/// Combine the values of the first `count` lanes of a warp; every one of them gets the result.
///
/// Those lanes have to call, together; a warp that is cut off by the end of the block has fewer
/// than 32. `op` has to be associative and commutative.
template <class T, class Op> KIT_REDUCE_FUNCTION T warp_reduce(T value, Op op, int count = 32) {
    const unsigned mask = reduction::first_lanes(count);
    const int lane = block_rank() % 32;
    for (int delta = 16; delta > 0; delta /= 2) {
        const T other = reduction::shuffle_down(value, delta, mask);
        if (lane + delta < count && lane < delta) value = op(value, other);
    }
    return reduction::from_first(value, mask);
}

/// Combine the values of all threads of the block.
///
/// Synchronises the block, and may be called again at once. Uses 32 values of static shared memory
/// for each type and operation.
template <class T, class Op> KIT_REDUCE_FUNCTION T block_reduce(T value, Op op) {
    // Bytes, because shared memory takes no type with a constructor, as complex numbers have.
    __shared__ __align__(16) unsigned char storage[32 * sizeof(T)];
    const int rank = block_rank(), threads = block_threads();
    const int warp = rank / 32, warps = (threads + 31) / 32;
    const int lanes = threads - warp * 32 < 32 ? threads - warp * 32 : 32;
    value = warp_reduce(value, op, lanes);
    if (rank % 32 == 0) memcpy(storage + warp * sizeof(T), &value, sizeof value);
    __syncthreads();
    if (rank < warps) {  // the first lanes of the first warp, one for each warp
        memcpy(&value, storage + rank * sizeof(T), sizeof value);
        value = warp_reduce(value, op, warps);
        if (rank == 0) memcpy(storage, &value, sizeof value);
    }
    __syncthreads();
    memcpy(&value, storage, sizeof value);
    __syncthreads();
    return value;
}

template <class T> KIT_REDUCE_FUNCTION T warp_sum(T value, int count = 32) {
    return warp_reduce(value, Sum(), count);
}
template <class T> KIT_REDUCE_FUNCTION T warp_min(T value, int count = 32) {
    return warp_reduce(value, Min(), count);
}
template <class T> KIT_REDUCE_FUNCTION T warp_max(T value, int count = 32) {
    return warp_reduce(value, Max(), count);
}

template <class T> KIT_REDUCE_FUNCTION T block_sum(T value) { return block_reduce(value, Sum()); }
template <class T> KIT_REDUCE_FUNCTION T block_min(T value) { return block_reduce(value, Min()); }
template <class T> KIT_REDUCE_FUNCTION T block_max(T value) { return block_reduce(value, Max()); }

// ---- masked: threads without a value call, too, and say so -------------------------------------

/// Combine the values of the threads that are `active`; `neutral` where there is none.
///
/// `neutral` has to change nothing: 0 for sums, 1 for products, the largest number for minima.
template <class T, class Op>
KIT_REDUCE_FUNCTION T block_reduce_where(bool active, T value, T neutral, Op op) {
    return block_reduce(active ? value : neutral, op);
}

/// The sum of the values of the threads that are `active`.
template <class T> KIT_REDUCE_FUNCTION T block_sum_where(bool active, T value) {
    return block_reduce_where(active, value, T(0), Sum());
}

/// How many threads of the block are `active`.
KIT_REDUCE_FUNCTION int block_count_where(bool active) { return __syncthreads_count(active); }

/// The same for a warp; `neutral` as for `block_reduce_where`.
template <class T, class Op>
KIT_REDUCE_FUNCTION T warp_reduce_where(bool active, T value, T neutral, Op op, int count = 32) {
    return warp_reduce(active ? value : neutral, op, count);
}

}  // namespace kit

#undef KIT_REDUCE_FUNCTION

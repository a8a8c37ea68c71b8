// Which elements a thread is responsible for: its place in the launch, and loops over all elements.
//
//     #include <kit/index.cuh>
//
//     __global__ void scale(double* x, double factor, long long n) {
//         for (long long i : kit::grid_stride(n)) x[i] *= factor;
//     }
//
//     __global__ void add(Array2D<const double> x, Array2D<double> y) {
//         for (auto [i, j] : kit::grid_stride(y.shape[0], y.shape[1])) y(i, j) += x(i, j);
//     }
//
// Thread x runs along axis 0, y along axis 1, z along axis 2, as kit's `n_threads` counts. Such
// loops are right for every launch, also where there are fewer threads than elements. All numbers
// have 64 bits: blockIdx.x * blockDim.x alone overflows at 2**32 threads.
//
// None of these functions synchronises or needs other threads to call it.
#pragma once

#define KIT_INDEX_FUNCTION __device__ __forceinline__

namespace kit {

/// Index of this thread in the whole launch, along x.
KIT_INDEX_FUNCTION long long global_x() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }
/// The same along y.
KIT_INDEX_FUNCTION long long global_y() { return (long long)blockIdx.y * blockDim.y + threadIdx.y; }
/// The same along z.
KIT_INDEX_FUNCTION long long global_z() { return (long long)blockIdx.z * blockDim.z + threadIdx.z; }

/// How many threads the launch has along x.
KIT_INDEX_FUNCTION long long threads_x() { return (long long)gridDim.x * blockDim.x; }
/// The same along y.
KIT_INDEX_FUNCTION long long threads_y() { return (long long)gridDim.y * blockDim.y; }
/// The same along z.
KIT_INDEX_FUNCTION long long threads_z() { return (long long)gridDim.z * blockDim.z; }

/// Number of this thread in its block, as warps are made of: x runs fastest.
KIT_INDEX_FUNCTION int block_rank() {
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
/// How many threads the block has.
KIT_INDEX_FUNCTION int block_threads() { return (int)(blockDim.x * blockDim.y * blockDim.z); }

struct Index2 { long long i, j; };
struct Index3 { long long i, j, k; };

// A loop `for (auto i : range)` asks begin() and end() below, and compares only for "not yet done".

/// Indices `first`, `first + step`, ... below `stop`: what `grid_stride(n)` gives.
struct Strided1 {
    long long first, stop, step;

    struct Place {
        long long i, stop, step;
        KIT_INDEX_FUNCTION long long operator*() const { return i; }
        KIT_INDEX_FUNCTION void operator++() { i += step; }
        KIT_INDEX_FUNCTION bool operator!=(const Place&) const { return i < stop; }
    };
};
KIT_INDEX_FUNCTION Strided1::Place begin(const Strided1& range) {
    return {range.first, range.stop, range.step};
}
KIT_INDEX_FUNCTION Strided1::Place end(const Strided1& range) {
    return {range.stop, range.stop, range.step};
}

/// The same for two axes; the first one runs fastest.
struct Strided2 {
    Strided1 x, y;

    struct Place {
        long long i, j;
        Strided1 x, y;
        KIT_INDEX_FUNCTION Index2 operator*() const { return {i, j}; }
        KIT_INDEX_FUNCTION void operator++() {
            i += x.step;
            if (i >= x.stop) { i = x.first; j += y.step; }
        }
        KIT_INDEX_FUNCTION bool operator!=(const Place&) const { return i < x.stop && j < y.stop; }
    };
};
KIT_INDEX_FUNCTION Strided2::Place begin(const Strided2& range) {
    return {range.x.first, range.y.first, range.x, range.y};
}
KIT_INDEX_FUNCTION Strided2::Place end(const Strided2& range) {
    return {range.x.stop, range.y.stop, range.x, range.y};
}

/// The same for three axes; the first one runs fastest.
struct Strided3 {
    Strided1 x, y, z;

    struct Place {
        long long i, j, k;
        Strided1 x, y, z;
        KIT_INDEX_FUNCTION Index3 operator*() const { return {i, j, k}; }
        KIT_INDEX_FUNCTION void operator++() {
            i += x.step;
            if (i < x.stop) return;
            i = x.first;
            j += y.step;
            if (j < y.stop) return;
            j = y.first;
            k += z.step;
        }
        KIT_INDEX_FUNCTION bool operator!=(const Place&) const {
            return i < x.stop && j < y.stop && k < z.stop;
        }
    };
};
KIT_INDEX_FUNCTION Strided3::Place begin(const Strided3& range) {
    return {range.x.first, range.y.first, range.z.first, range.x, range.y, range.z};
}
KIT_INDEX_FUNCTION Strided3::Place end(const Strided3& range) {
    return {range.x.stop, range.y.stop, range.z.stop, range.x, range.y, range.z};
}

/// This thread's share of 0 .. n-1: all threads of the launch together visit each index once.
KIT_INDEX_FUNCTION Strided1 grid_stride(long long n) { return {global_x(), n, threads_x()}; }

/// This thread's share of an n x m grid, as Index2 {i, j}.
KIT_INDEX_FUNCTION Strided2 grid_stride(long long n, long long m) {
    return {{global_x(), n, threads_x()}, {global_y(), m, threads_y()}};
}

/// This thread's share of an n x m x l grid, as Index3 {i, j, k}.
KIT_INDEX_FUNCTION Strided3 grid_stride(long long n, long long m, long long l) {
    return {{global_x(), n, threads_x()},
            {global_y(), m, threads_y()},
            {global_z(), l, threads_z()}};
}

/// This thread's share of 0 .. n-1 among the threads of its block, whatever the block's shape.
KIT_INDEX_FUNCTION Strided1 block_stride(long long n) { return {block_rank(), n, block_threads()}; }

}  // namespace kit

#undef KIT_INDEX_FUNCTION

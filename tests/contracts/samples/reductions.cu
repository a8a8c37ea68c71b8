// Sums, maxima, prefix sums, histograms: each in the styles that are met in the wild.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// ---- sums ------------------------------------------------------------------------------------

template <class T>
__device__ T warp_sum(T value) {
#pragma unroll
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

// One partial sum for each block: a tree in dynamic shared memory, then atomicAdd.
__global__ void sum_by_tree(const double* x, double* total, int n) {
    extern __shared__ double parts[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    double mine = i < n ? x[i] : 0.0;
    if (i + (int)blockDim.x < n) mine += x[i + blockDim.x];
    parts[t] = mine;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) parts[t] += parts[t + s];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, parts[0]);
}

// Grid-stride loop, shuffles in a warp, shared memory between warps.
__global__ void sum_by_shuffles(const float* x, float* total, int n) {
    __shared__ float parts[32];
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
    mine = warp_sum(mine);
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    if (lane == 0) parts[warp] = mine;
    __syncthreads();
    if (warp == 0) {
        mine = lane < blockDim.x / warpSize ? parts[lane] : 0;
        mine = warp_sum(mine);
        if (lane == 0) atomicAdd(total, mine);
    }
}

// Cooperative groups: a tile's reduction, one atomic operation for each tile.
__global__ void sum_by_tiles(const int* x, int* total, int n) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int i = block.group_index().x * block.size() + block.thread_rank();
    int sum = cg::reduce(tile, i < n ? x[i] : 0, cg::plus<int>());
    if (tile.thread_rank() == 0) atomicAdd(total, sum);
}

// A group that is given to a function; the size is known when it runs.
__device__ int sum_of_group(cg::thread_group g, int* room, int value) {
    int rank = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        room[rank] = value;
        g.sync();
        if (rank < i) value += room[rank + i];
        g.sync();
    }
    return value;
}
__global__ void sum_by_groups(const int* x, int* sums) {
    extern __shared__ int room[];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_group tile = cg::tiled_partition(block, 8);
    int rank = block.thread_rank();
    int sum = sum_of_group(tile, room + rank / 8 * 8, x[blockIdx.x * blockDim.x + rank]);
    if (tile.thread_rank() == 0) sums[(blockIdx.x * blockDim.x + rank) / 8] = sum;
}

// The last block to finish adds the others' sums: a ticket and __threadfence.
__device__ unsigned int n_finished = 0;
__global__ void sum_in_one_launch(const double* x, double* parts, double* total, int n) {
    __shared__ double room[256];
    __shared__ bool is_last;
    double mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
    room[threadIdx.x] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) room[threadIdx.x] += room[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = room[0];
        __threadfence();
        is_last = atomicInc(&n_finished, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        double sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += parts[b];
        *total = sum;
        n_finished = 0;
    }
}

// atomicMax on floats, by the order of their bits; and by atomicCAS.
__global__ void largest(const float* x, float* by_bits, double* by_exchange, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (x[i] >= 0) atomicMax((int*)by_bits, __float_as_int(x[i]));
    unsigned long long* address = (unsigned long long*)by_exchange;
    unsigned long long seen = *address, assumed;
    do {
        assumed = seen;
        seen = atomicCAS(address, assumed,
                         __double_as_longlong(fmax((double)x[i], __longlong_as_double(assumed))));
    } while (assumed != seen);
}

// ---- prefix sums -----------------------------------------------------------------------------

// Hillis and Steele, with two buffers.
__global__ void scan_in_block(const int* x, int* y) {
    __shared__ int room[2][128];
    int t = threadIdx.x, out = 0;
    room[0][t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    for (int offset = 1; offset < 128; offset *= 2) {
        int in = out;
        out = 1 - out;
        room[out][t] = room[in][t] + (t >= offset ? room[in][t - offset] : 0);
        __syncthreads();
    }
    y[blockIdx.x * 128 + t] = room[out][t];
}

// Blelloch: up and down a tree, exclusive.
__global__ void scan_by_tree(const float* x, float* y, int n) {
    extern __shared__ float tree[];
    int t = threadIdx.x, offset = 1;
    tree[2 * t] = x[2 * t];
    tree[2 * t + 1] = x[2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) tree[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            float left = tree[offset * (2 * t + 1) - 1];
            tree[offset * (2 * t + 1) - 1] = tree[offset * (2 * t + 2) - 1];
            tree[offset * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    y[2 * t] = tree[2 * t];
    y[2 * t + 1] = tree[2 * t + 1];
}

__global__ void scan_by_shuffles(const long long* x, long long* inclusive, long long* exclusive) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long sum = x[i];
    for (int delta = 1; delta < 32; delta *= 2) {
        long long before = tile.shfl_up(sum, delta);
        if (tile.thread_rank() >= delta) sum += before;
    }
    inclusive[i] = sum;
    exclusive[i] = cg::exclusive_scan(tile, x[i]);
}

// ---- compaction, histograms ------------------------------------------------------------------

// One atomic operation for all lanes of a branch.
__device__ int reserve(int* counter) {
    auto active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0) base = atomicAdd(counter, active.size());
    return active.shfl(base, 0) + active.thread_rank();
}
__global__ void keep_positive(const float* x, float* kept, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) kept[reserve(count)] = x[i];
}

// The same by a vote and the bits below this lane.
__global__ void keep_even(const int* x, int* kept, int* count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    bool wanted = x[i] % 2 == 0;
    unsigned votes = __ballot_sync(0xffffffff, wanted);
    int base = 0;
    if (lane == 0) base = atomicAdd(count, __popc(votes));
    base = __shfl_sync(0xffffffff, base, 0);
    if (wanted) kept[base + __popc(votes & ((1u << lane) - 1))] = x[i];
}

__global__ void histogram(const unsigned char* x, unsigned int* counts, int n) {
    __shared__ unsigned int mine[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[x[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&counts[b], mine[b]);
}

// Lanes with the same key add once.
__global__ void count_by_match(const int* keys, unsigned long long* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned active = __ballot_sync(0xffffffff, i < n);
    if (i >= n) return;
    unsigned alike = __match_any_sync(active, keys[i]);
    if ((threadIdx.x & 31) == __ffs(alike) - 1) atomicAdd(&counts[keys[i]], (unsigned long long)__popc(alike));
}

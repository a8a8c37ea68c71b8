// Operations of warps and groups, each lane's result for itself.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

struct Pair { double first; long long second; };

__global__ void shuffles(const int* x, int* out, int width, int n) {
    int t = threadIdx.x;
    out[t] = __shfl_sync(~0u, x[t], t + 3, width);
    out[n + t] = __shfl_up_sync(~0u, x[t], 3, width);
    out[2 * n + t] = __shfl_down_sync(~0u, x[t], 3, width);
    out[3 * n + t] = __shfl_xor_sync(~0u, x[t], 5, width);
}

// Wide values, by a group: CUDA's own shuffles take up to 8 bytes.
__global__ void wide_shuffle(double* first, long long* second) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    Pair mine = {threadIdx.x + 0.5, -(long long)threadIdx.x};
    Pair other = tile.shfl(mine, 31 - tile.thread_rank());
    first[threadIdx.x] = other.first;
    second[threadIdx.x] = other.second;
}

__global__ void votes(const int* x, unsigned* out, int n) {
    int t = threadIdx.x;
    out[t] = __ballot_sync(~0u, x[t] > 0);
    out[n + t] = __any_sync(~0u, x[t] > 7);
    out[2 * n + t] = __all_sync(~0u, x[t] > -9);
    int uniform;
    out[3 * n + t] = __match_any_sync(~0u, x[t]);
    out[4 * n + t] = __match_all_sync(~0u, x[t] / 100, &uniform);
    out[5 * n + t] = uniform;
    out[6 * n + t] = __syncthreads_count(x[t] > 0);
    out[7 * n + t] = 2 * __syncthreads_and(x[t] > -9) + __syncthreads_or(x[t] > 7);
}

__global__ void reductions(const int* x, int* out, int n) {
    int t = threadIdx.x;
    out[t] = __reduce_add_sync(~0u, x[t]);
    out[n + t] = __reduce_min_sync(~0u, x[t]);
    out[2 * n + t] = __reduce_max_sync(~0u, x[t]);
    out[3 * n + t] = __reduce_xor_sync(~0u, (unsigned)x[t]);
    out[4 * n + t] = __reduce_max_sync(~0u, (unsigned)x[t]);
}

// Two halves of a warp, each with a mask of its own, apart in time.
__global__ void divergent(int* out) {
    int t = threadIdx.x, value = t;
    if (t % 2) {
        for (int o = 16; o > 1; o /= 2) value += __shfl_xor_sync(0xaaaaaaaau, value, o);
    } else {
        value = __shfl_sync(0x55555555u, value, 30);
    }
    out[t] = value;
}

// Lanes that have returned are not waited for.
__global__ void some_return(int* out) {
    if (threadIdx.x % 32 >= 20) return;
    out[threadIdx.x] = __popc(__ballot_sync(~0u, 1)) + 100 * __popc(__activemask());
}

__global__ void active(unsigned* out) {
    int t = threadIdx.x;
    if (t < 10) {
        out[t] = __activemask();
    } else if (t % 2) {
        out[t] = __activemask();
    } else {
        out[t] = cg::coalesced_threads().size();
    }
}

__global__ void groups(const int* x, int* out, int n) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    auto inner = cg::tiled_partition<4>(tile);
    int t = block.thread_rank();
    out[t] = tile.meta_group_rank() * 1000 + tile.meta_group_size() * 10 + tile.thread_rank();
    out[n + t] = inner.meta_group_rank() * 1000 + inner.meta_group_size() * 10 + inner.thread_rank();
    out[2 * n + t] = tile.shfl_xor(x[t], 3) + 1000 * tile.any(x[t] > 5) + 2000 * tile.all(x[t] > -3);
    out[3 * n + t] = tile.ballot(x[t] > 0);
    out[4 * n + t] = cg::reduce(tile, x[t], cg::greater<int>());
    out[5 * n + t] = cg::inclusive_scan(tile, x[t]);
    out[6 * n + t] = cg::exclusive_scan(tile, x[t], cg::plus<int>());
    cg::coalesced_group alike = cg::labeled_partition(tile, x[t]);
    out[7 * n + t] = alike.meta_group_rank() * 1000 + alike.meta_group_size() * 10 + alike.size();
    cg::coalesced_group same = cg::binary_partition(tile, x[t] > 0);
    out[8 * n + t] = cg::reduce(same, 1, cg::plus<int>()) * 10 + same.thread_rank();
    out[9 * n + t] = same.shfl(x[t], same.size() - 1) * 10 + same.shfl_down(same.thread_rank(), 1);
}

__device__ int added(cg::thread_block_tile<16> tile, int value) {
    for (int o = 8; o; o /= 2) value += tile.shfl_down(value, o);
    return tile.shfl(value, 0);
}
__global__ void tile_as_argument(int* out) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    out[threadIdx.x] = added(tile, threadIdx.x);
}

// Locks of threads of one block, and of several blocks.
__device__ int lock = 0;
__global__ void locked(int* out) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            *out = *out + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}

// Two threads of a block ask until the other one has answered, in each way to ask.
__global__ void answered(int* out) {
    __shared__ int said[2][3];
    int t = threadIdx.x;
    if (t < 6) said[t / 3][t % 3] = 0;
    __syncthreads();
    if (t != 0 && t != blockDim.x - 1) return;
    int *mine = said[t == 0], *other = said[t != 0];
    for (int k = 0; k < 3; ++k) atomicExch(&mine[k], 1);
    while (atomicAdd(&other[0], 0) == 0) {}
    while (atomicCAS(&other[1], 1, 1) == 0) {}
    while (atomicExch(&other[2], 0) == 0) {}
    out[t == 0] = 1;
}

// Where a thread is: threadIdx, blockIdx, blockDim, gridDim, and the worker that runs it.
#pragma once

#include "keywords.h"
#include "vector_types.h"
#include "worker.h"

// Static, and their address is never taken: no pointer of the kernel can reach them, so that the
// loop over threads is vectorised. (dim3 has a constructor, which __thread does not take.)
static __thread uint3 threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;

static __thread kit_emulator::Worker* kit_emulator_worker;
static __thread int kit_emulator_promoted;  // whether this block's threads are fibers

namespace kit_emulator {

/// The running thread's number in its block.
KIT_INLINE unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

KIT_INLINE unsigned lane() { return thread_rank() % warp_lanes; }

KIT_INLINE void set_thread(const Worker* worker) {
    const std::uint32_t position = worker->position[worker->current];
    threadIdx.x = position & 2047;
    threadIdx.y = position >> 11 & 2047;
    threadIdx.z = position >> 22;
}

/// Whether an address is in this block's shared memory, static or dynamic.
KIT_INLINE bool is_shared(const void* address) {
    const Worker* worker = kit_emulator_worker;
    return (std::size_t)((const char*)address - worker->shared_low) < worker->shared_bytes;
}

}  // namespace kit_emulator

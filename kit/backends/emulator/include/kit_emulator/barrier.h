// Threads wait for each other: block-wide barriers, and the rendezvous of a warp's lanes.
#pragma once

#include "fiber.h"
#include "thread.h"

namespace kit_emulator {

KIT_COLD void promote() {
    kit_emulator_promoted = 1;
    kit_emulator_promote(kit_emulator_worker, thread_rank());
}

/// Run the next fiber; returns when somebody switches back.
KIT_INLINE void go(Worker* worker, Switch next) {
    if (KIT_LIKELY(next.save != nullptr)) {
        switch_fiber(next.save, next.load);
        set_thread(worker);
    }
}

KIT_INLINE void wait_block(int predicate, int line) {
    if (KIT_UNLIKELY(!kit_emulator_promoted)) promote();
    go(kit_emulator_worker, kit_emulator_arrive(predicate, line));
}

/// For how many threads the barrier's predicate was true.
KIT_INLINE int count_block(int predicate, int line) {
    wait_block(predicate != 0, line);
    return kit_emulator_worker->barrier_sum;
}

/// Meet the other lanes of `mask`; what `operation` gives this lane.
///
/// `value` and `source` are what this lane brings. Lanes that have returned are not waited for.
KIT_INLINE Bits meet(const Operation* operation, unsigned mask, Bits value, int source, int line) {
    if (KIT_UNLIKELY(!kit_emulator_promoted)) promote();
    Worker* worker = kit_emulator_worker;
    go(worker, kit_emulator_meet(operation, mask, value, source, line));
    const unsigned current = worker->current;
    return worker->warp[current / warp_lanes].result[current % warp_lanes];
}

/// Let another thread of the block run: for loops that wait for one.
KIT_COLD void yield() {
    if (!kit_emulator_promoted) promote();
    go(kit_emulator_worker, kit_emulator_yield());
}

}  // namespace kit_emulator

KIT_INLINE void __syncthreads(int line = __builtin_LINE()) { kit_emulator::wait_block(0, line); }
KIT_INLINE int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
    return kit_emulator::count_block(predicate, line);
}
KIT_INLINE int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
    return kit_emulator::count_block(predicate, line) != 0;
}
KIT_INLINE int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
    return kit_emulator::count_block(!predicate, line) == 0;
}

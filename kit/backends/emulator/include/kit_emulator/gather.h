// __activemask(): which lanes of a warp run together here.
#pragma once

#include "barrier.h"

namespace kit_emulator {

/// Lanes of one warp that ask who is with them.
struct Gathering {
    unsigned lanes;             // who asks
    int line[warp_lanes];       // of the cell, from where
    unsigned answer[warp_lanes];
};
static __thread Gathering gatherings[max_warps];

/// Before a launch: the one before may have ended by a fault.
KIT_INLINE void forget_gatherings() {
    for (Gathering& one : gatherings) one.lanes = 0;
}

KIT_COLD void answer_together(Gathering& gathering, int line) {
    unsigned together = 0;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        if (gathering.lanes >> lane & 1 && gathering.line[lane] == line) together |= 1u << lane;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        if (together >> lane & 1) gathering.answer[lane] = together;
    gathering.lanes &= ~together;
}

/// The lanes that ask from the same line, once no other lane of the warp can come any more.
///
/// CUDA promises no more than the asking lane itself; but programs rely on what a GPU does, which
/// runs the lanes of one branch together.
KIT_COLD unsigned gather(int line) {
    if (!kit_emulator_promoted) promote();
    Worker* worker = kit_emulator_worker;
    const unsigned lane = worker->current % warp_lanes, bit = 1u << lane;
    const Warp& warp = worker->warp[worker->current / warp_lanes];
    Gathering& gathering = gatherings[worker->current / warp_lanes];
    gathering.lanes |= bit;
    gathering.line[lane] = line;
    // A lane that spins until this one has done something never comes: do not wait for ever.
    for (int round = 0; round < 64 && gathering.lanes & bit; ++round) {
        if ((warp.ready & ~gathering.lanes) == 0) {
            answer_together(gathering, line);
        } else {
            yield();
        }
    }
    if (gathering.lanes & bit) answer_together(gathering, line);
    return gathering.answer[lane];
}

}  // namespace kit_emulator

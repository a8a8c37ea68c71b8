// Which thread of a promoted block runs next, and who waits for whom.
#include "internal.h"

#include <kit_emulator/fiber.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "fibers.h"

namespace kit_emulator {
namespace {

constexpr unsigned nobody = ~0u;

/// A thread that can run, after `current` in its warp, then in the warps that follow.
KIT_INLINE unsigned next_ready(const Worker* worker, unsigned current, bool own_warp_first) {
    const unsigned warp = current / warp_lanes, lane = current % warp_lanes;
    const unsigned ready = worker->warp[warp].ready;
    const unsigned above = lane == 31 ? 0 : ready & (~0u << (lane + 1));
    if (above) return warp * warp_lanes + __builtin_ctz(above);
    if (own_warp_first && ready) return warp * warp_lanes + __builtin_ctz(ready);
    for (unsigned i = 1; i <= worker->n_warps; ++i) {
        unsigned other = warp + i;
        if (other >= worker->n_warps) other -= worker->n_warps;
        const unsigned found = worker->warp[other].ready;
        if (found) return other * warp_lanes + __builtin_ctz(found);
    }
    return nobody;
}

[[noreturn]] void fail_running(Worker* worker, int kind, int line, const void* pc,
                               const char* message) {
    if (FaultReport* report = claim_fault(worker, kind)) {
        report->line = line;
        report->pc = pc;
        note_running_thread(worker, report);
        std::snprintf(report->message, sizeof report->message, "%s", message);
        wake_stopped(worker->launch);
    }
    leave(worker);
}

constexpr int most_waits = sizeof FaultReport::waits / sizeof FaultReport::waits[0];

Wait* add_wait(FaultReport* report) {
    return report->n_waits < most_waits ? &report->waits[report->n_waits++] : nullptr;
}

void note_meetings(const Worker* worker, unsigned w, FaultReport* report) {
    const Warp& warp = worker->warp[w];
    for (int i = 0; i < warp.n_meetings; ++i) {
        const Meeting& one = warp.meetings[i];
        Wait* wait = add_wait(report);
        if (wait == nullptr) return;
        wait->first = w * warp_lanes;
        wait->last = wait->first + warp_lanes - 1;
        wait->arrived = one.arrived;
        wait->awaited = one.mask & warp.present & ~one.arrived;
        wait->line = one.line;
        wait->pc = one.pc;
        std::snprintf(wait->operation, sizeof wait->operation, "%s", one.operation->name);
    }
}

/// Neighbours that wait at the same barrier are one entry.
void note_barriers(const Worker* worker, FaultReport* report) {
    for (unsigned t = worker->first; t < worker->n_threads;) {
        const void* here = worker->pc[t];
        const int line = worker->line[t];
        unsigned end = t + 1;
        while (end < worker->n_threads && worker->line[end] == line && worker->pc[end] == here) {
            ++end;
        }
        if (line != 0) {
            Wait* wait = add_wait(report);
            if (wait == nullptr) return;
            *wait = {t, end - 1, 0, 0, line, here, "__syncthreads"};
        }
        t = end;
    }
}

/// Nobody can run: every thread that has not returned waits for another one.
[[noreturn]] __attribute__((noinline, cold)) void fail_deadlock(Worker* worker) {
    if (FaultReport* report = claim_fault(worker, fault_sync)) {
        note_running_thread(worker, report);
        note_barriers(worker, report);
        for (unsigned w = 0; w < worker->n_warps; ++w) note_meetings(worker, w, report);
        if (report->n_waits > 0) {
            report->line = report->waits[0].line;
            report->pc = report->waits[0].pc;
            const Wait& wait = report->waits[0];
            const unsigned lane = wait.arrived ? __builtin_ctz(wait.arrived) : 0;
            const std::uint32_t position = worker->position[wait.first + lane];
            report->thread[0] = position & 2047;
            report->thread[1] = position >> 11 & 2047;
            report->thread[2] = position >> 22;
        }
        wake_stopped(worker->launch);
    }
    leave(worker);
}

KIT_INLINE Switch run_next(Worker* worker, bool own_warp_first) {
    const unsigned leaving = worker->current;
    const unsigned next = next_ready(worker, leaving, own_warp_first);
    if (KIT_UNLIKELY(next == nobody)) fail_deadlock(worker);
    worker->current = next;
    return {&worker->fiber[leaving], worker->fiber[next]};
}

void open_barrier(Worker* worker) {
    for (unsigned w = 0; w < worker->n_warps; ++w) {
        worker->warp[w].ready = worker->warp[w].present;
    }
    worker->arrived = 0;
    worker->barrier_sum = worker->sum;
    worker->sum = 0;
}

void finish_meeting(Warp& warp, int which) {
    const Meeting meeting = warp.meetings[which];
    warp.meetings[which] = warp.meetings[--warp.n_meetings];
    meeting.operation->finish(warp, meeting.arrived);
    warp.ready |= meeting.arrived & warp.present;
}

/// The running thread has returned: who waited for it alone can go on.
void end_thread(Worker* worker) {
    const unsigned current = worker->current;
    Warp& warp = worker->warp[current / warp_lanes];
    const unsigned bit = 1u << current % warp_lanes;
    warp.present &= ~bit;
    warp.ready &= ~bit;
    worker->line[current] = 0;
    worker->live--;
    for (int i = 0; i < warp.n_meetings;) {
        const Meeting& one = warp.meetings[i];
        const unsigned awaited = one.mask & warp.present;
        if ((one.arrived & awaited) == awaited) {
            finish_meeting(warp, i);
        } else {
            ++i;
        }
    }
    if (worker->live && worker->arrived == worker->live) open_barrier(worker);
}

}  // namespace

/// Where every fiber starts: its thread, to the end, then somebody else.
extern "C" __attribute__((used, visibility("hidden"))) void kit_emulator_fiber_main() {
    Worker* worker = my_worker;
    worker->kernel->run_thread(worker, worker->arguments);
    end_thread(worker);
    // The last one gives the stack of the worker back to where it runs blocks.
    if (worker->live == 0) {
        worker->current = worker->first;
    } else {
        const unsigned next = next_ready(worker, worker->current, false);
        if (next == nobody) fail_deadlock(worker);
        worker->current = next;
    }
    switch_fiber(&worker->ended, worker->fiber[worker->current]);
    __builtin_unreachable();
}

/// The thread that was promoted on the worker's own stack has returned: let the others finish.
void finish_block(Worker* worker) {
    worker->current = worker->first;
    end_thread(worker);
    if (worker->live == 0) return;
    const unsigned next = next_ready(worker, worker->current, false);
    if (next == nobody) fail_deadlock(worker);
    worker->current = next;
    switch_fiber(&worker->fiber[worker->first], worker->fiber[next]);
}

extern "C" {

void kit_emulator_promote(Worker* worker, unsigned current) {
    kit_emulator_shield(worker);
    const char* refusal = prepare_fibers(worker, current);
    kit_emulator_unshield(worker);
    worker->current = worker->first = current;
    if (refusal != nullptr) fail_running(worker, fault_limit, 0, nullptr, refusal);
    worker->is_promoted = true;
    worker->live = worker->n_threads - current;
    worker->arrived = 0;
    worker->sum = 0;
    std::memset(worker->line, 0, worker->n_threads * sizeof worker->line[0]);
    for (unsigned w = 0; w < worker->n_warps; ++w) {
        const unsigned low = w * warp_lanes, count = worker->n_threads - low;
        unsigned lanes = count >= warp_lanes ? ~0u : (1u << count) - 1;
        if (low + warp_lanes <= current) {
            lanes = 0;  // they have returned already
        } else if (low < current) {
            lanes &= ~0u << (current - low);
        }
        worker->warp[w].present = worker->warp[w].ready = lanes;
        worker->warp[w].n_meetings = 0;
    }
}

Switch kit_emulator_arrive(int predicate, int line) {
    Worker* worker = my_worker;
    const unsigned current = worker->current;
    worker->sum += predicate;
    worker->line[current] = line;
    worker->pc[current] = __builtin_return_address(0);
    worker->warp[current / warp_lanes].ready &= ~(1u << current % warp_lanes);
    if (++worker->arrived == worker->live) {
        open_barrier(worker);
        return {nullptr, nullptr};
    }
    return run_next(worker, false);
}

Switch kit_emulator_meet(const Operation* operation, unsigned mask, Bits value, int source,
                         int line) {
    Worker* worker = my_worker;
    const unsigned current = worker->current, lane = current % warp_lanes, bit = 1u << lane;
    Warp& warp = worker->warp[current / warp_lanes];
    if (KIT_UNLIKELY(!(mask & bit))) {
        char text[160];
        std::snprintf(text, sizeof text, "lane %u calls %s with the mask %#x, which lacks it", lane,
                      operation->name, mask);
        fail_running(worker, fault_sync, line, __builtin_return_address(0), text);
    }
    warp.value[lane] = value;
    warp.source[lane] = source;
    worker->line[current] = 0;
    int which = 0;
    while (which < warp.n_meetings && warp.meetings[which].mask != mask) ++which;
    if (which == warp.n_meetings) {
        warp.meetings[warp.n_meetings++] = {mask, 0, line, __builtin_return_address(0), operation};
    }
    Meeting& meeting = warp.meetings[which];
    if (KIT_UNLIKELY(meeting.operation != operation)) {
        char text[240];
        std::snprintf(text, sizeof text,
                      "lanes of the mask %#x are in different warp operations: %s at line %d, %s "
                      "at line %d",
                      mask, meeting.operation->name, meeting.line, operation->name, line);
        fail_running(worker, fault_sync, line, __builtin_return_address(0), text);
    }
    meeting.arrived |= bit;
    const unsigned awaited = mask & warp.present;
    if ((meeting.arrived & awaited) == awaited) {
        // Who runs is ready already; the others become so.
        finish_meeting(warp, which);
        return {nullptr, nullptr};
    }
    warp.ready &= ~bit;
    return run_next(worker, true);
}

Switch kit_emulator_yield() {
    Worker* worker = my_worker;
    const unsigned leaving = worker->current;
    const unsigned next = next_ready(worker, leaving, false);
    if (next == nobody || next == leaving) return {nullptr, nullptr};
    worker->current = next;
    return {&worker->fiber[leaving], worker->fiber[next]};
}

}  // extern "C"
}  // namespace kit_emulator

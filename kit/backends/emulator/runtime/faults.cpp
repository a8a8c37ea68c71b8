// A fault: written down once for a launch, then every worker leaves its kernel.
#include "internal.h"

#include <cstdio>
#include <cstring>

namespace kit_emulator {

void leave(Worker* worker) { __builtin_longjmp(worker->escape, 1); }

FaultReport* claim_fault(Worker* worker, int kind) {
    Launch* launch = worker->launch;
    int nothing = fault_none;
    if (!__atomic_compare_exchange_n(&launch->stop, &nothing, kind, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        return nullptr;
    }
    FaultReport* report = &launch->fault;
    std::memset(report, 0, sizeof *report);
    report->kind = kind;
    for (int i = 0; i < 3; ++i) report->block[i] = worker->block[i];
    return report;
}

void note_running_thread(const Worker* worker, FaultReport* report) {
    const std::uint32_t position = worker->position[worker->current];
    report->thread[0] = position & 2047;
    report->thread[1] = position >> 11 & 2047;
    report->thread[2] = position >> 22;
    report->thread_is_known = 1;
}

extern "C" void kit_emulator_fail(Worker* worker, int kind, int line, const char* file,
                                  const char* message, const void* pc, const unsigned thread[3]) {
    if (FaultReport* report = claim_fault(worker, kind)) {
        report->line = line;
        report->pc = pc;
        report->thread_is_known = 1;
        for (int i = 0; i < 3; ++i) report->thread[i] = thread[i];
        std::snprintf(report->file, sizeof report->file, "%s", file);
        std::snprintf(report->message, sizeof report->message, "%s", message);
        wake_stopped(worker->launch);
    }
    leave(worker);
}

extern "C" void kit_emulator_shield(Worker* worker) { worker->shielded = worker->shielded + 1; }

extern "C" void kit_emulator_unshield(Worker* worker) {
    worker->shielded = worker->shielded - 1;
    if (worker->shielded == 0 && worker->stop_deferred) {
        worker->stop_deferred = 0;
        leave(worker);
    }
}

}  // namespace kit_emulator

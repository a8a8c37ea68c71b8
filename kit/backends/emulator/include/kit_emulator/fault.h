// What a kernel can do to end its launch: trap, a failed assertion, an index out of bounds.
#pragma once

#include <cassert>  // before `assert` is defined below: a cell's own include then changes nothing

#include <cstdio>

#include "thread.h"

namespace kit_emulator {

/// End the launch with a fault of the running thread at a line of a file, or at `pc`.
[[noreturn]] KIT_COLD void fail(int kind, int line, const char* file, const char* message,
                                const void* pc = nullptr) {
    const unsigned thread[3] = {threadIdx.x, threadIdx.y, threadIdx.z};
    kit_emulator_fail(kit_emulator_worker, kind, line, file, message, pc, thread);
}

}  // namespace kit_emulator

[[noreturn]] KIT_COLD void __trap(int line = __builtin_LINE(),
                                  const char* file = __builtin_FILE()) {
    kit_emulator::fail(kit_emulator::fault_trap, line, file, "__trap() was called");
}

/// kit/array_view.cuh calls it; the line is that of the call in the cell.
[[noreturn]] KIT_COLD void kit_bounds_fail(int axis, long long index, long long low,
                                           long long high) {
    char message[160];
    std::snprintf(message, sizeof message,
                  "index %lld is out of bounds for axis %d, which has %lld to %lld", index, axis,
                  low, high);
    kit_emulator::fail(kit_emulator::fault_bounds, 0, "", message, __builtin_return_address(0));
}

// <cassert> and the host assertions of libcu++ end here instead of in abort().
extern "C" [[noreturn]] __attribute__((visibility("hidden"), weak)) void __assert_fail(
    const char* condition, const char* file, unsigned line, const char*) noexcept {
    kit_emulator::fail(kit_emulator::fault_assert, (int)line, file, condition,
                       __builtin_return_address(0));
}

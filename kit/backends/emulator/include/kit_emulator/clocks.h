// Time: clock, clock64, and sleeping.
#pragma once

#include <time.h>

#include "barrier.h"

namespace kit_emulator {
inline long long ticks() {
#if defined(__x86_64__)
    return (long long)__builtin_ia32_rdtsc();
#else
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
#endif
}
}  // namespace kit_emulator

/// Ticks of the processor, not of a GPU. system_headers.h has hidden the C library's.
inline clock_t clock() { return (clock_t)kit_emulator::ticks(); }
inline long long clock64() { return kit_emulator::ticks(); }

/// Who sleeps waits for somebody: another thread of the block runs.
inline void __nanosleep(unsigned int) { kit_emulator::yield(); }

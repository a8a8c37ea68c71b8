// The stacks of fibers, and their first switch.
#pragma once

#include "internal.h"

namespace kit_emulator {

/// Makes the threads after `current` fibers that wait at their start.
///
/// Null, or why that cannot be.
const char* prepare_fibers(Worker* worker, unsigned current);

/// Whether an address is below the stack of the running fiber: it has overflowed.
bool is_below_fiber(const Worker* worker, const void* address);

}  // namespace kit_emulator

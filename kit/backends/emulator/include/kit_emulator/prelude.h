// What every cell starts with.
#pragma once

#include "barrier.h"
#include "entry.h"
#include "fault.h"
#include "keywords.h"
#include "thread.h"

// What device code calls: warp operations, atomics, vector types, intrinsics, printf, ...
#if __has_include("library.h")
#include "library.h"
#endif

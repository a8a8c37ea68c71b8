// What device code may call without including anything; half numbers and cooperative groups come
// with their own headers, as in CUDA.
#pragma once

#include "atomics.h"
#include "clocks.h"
#include "float_intrinsics.h"
#include "integer_intrinsics.h"
#include "math_functions.h"
#include "memory.h"
#include "print.h"
#include "special_functions.h"
#include "vector_types.h"
#include "warp.h"

/// A promise to the compiler, as NVRTC has it.
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#define __assume(condition) __builtin_assume(condition)
#define __brkpt() __trap()

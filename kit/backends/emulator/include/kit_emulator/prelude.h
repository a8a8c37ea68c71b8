// What every cell starts with.
#pragma once

#include "system_headers.h"  // first: it hides names

#include "architecture.h"

#include "barrier.h"
#include "entry.h"
#include "fault.h"
#include "keywords.h"
#include "thread.h"

#include "library.h"  // what device code calls: warp operations, atomics, intrinsics, printf, ...

// The system headers that device code gets, with the names hidden that CUDA does not have: a kernel
// may be called `index`, a variable `gamma`, which glibc has taken in the global namespace.
#pragma once

#define clock kit_hidden_clock
#define drem kit_hidden_drem
#define gamma kit_hidden_gamma
#define index kit_hidden_index
#define pow10 kit_hidden_pow10
#define random kit_hidden_random
#define rindex kit_hidden_rindex
#define scalb kit_hidden_scalb
#define significand kit_hidden_significand

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef clock
#undef drem
#undef gamma
#undef index
#undef pow10
#undef random
#undef rindex
#undef scalb
#undef significand

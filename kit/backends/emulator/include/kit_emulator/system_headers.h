// The system headers that device code gets, with the names hidden that CUDA does not have: a kernel
// may be called `index`, a variable `gamma`, which glibc has taken in the global namespace.
#pragma once

#define clock kit_hidden_clock
#define div kit_hidden_div
#define drem kit_hidden_drem
#define exp10 kit_hidden_exp10
#define exp10f kit_hidden_exp10f
#define gamma kit_hidden_gamma
#define index kit_hidden_index
#define printf kit_hidden_printf
#define pow10 kit_hidden_pow10
#define random kit_hidden_random
#define rindex kit_hidden_rindex
#define scalb kit_hidden_scalb
#define significand kit_hidden_significand
#define sincos kit_hidden_sincos
#define sincosf kit_hidden_sincosf

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#undef clock
#undef div
#undef drem
#undef exp10
#undef exp10f
#undef gamma
#undef index
#undef printf
#undef pow10
#undef random
#undef rindex
#undef scalb
#undef significand
#undef sincos
#undef sincosf

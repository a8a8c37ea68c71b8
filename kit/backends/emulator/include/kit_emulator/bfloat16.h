// __nv_bfloat16 and __nv_bfloat162: what cuda_bf16.h gives to device code.
#pragma once

#include "atomics.h"
#include "small_float_conversions.h"
#include "small_float_pair.h"

struct __nv_bfloat16_raw { unsigned short x; };
struct alignas(4) __nv_bfloat162_raw { unsigned short x, y; };

struct __nv_bfloat16 : kit_emulator::SmallFloat<__nv_bfloat16, kit_emulator::BfloatFormat> {
    KIT_SMALL_FLOAT_MEMBERS(__nv_bfloat16, __nv_bfloat16_raw)
};

struct alignas(4) __nv_bfloat162 : kit_emulator::SmallFloatPair<__nv_bfloat162, __nv_bfloat16> {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    __nv_bfloat162(const __nv_bfloat16& x, const __nv_bfloat16& y) : x(x), y(y) {}
    __nv_bfloat162(const __nv_bfloat162_raw& raw) : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
    operator __nv_bfloat162_raw() const { return {x.__x, y.__x}; }
};
static_assert(sizeof(__nv_bfloat16) == 2 && sizeof(__nv_bfloat162) == 4, "as in CUDA");

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

KIT_SMALL_FLOAT_CONVERSIONS(__nv_bfloat16, bfloat16)

inline short __bfloat16_as_short(__nv_bfloat16 x) { return (short)x.__x; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
inline __nv_bfloat16 __short_as_bfloat16(short x) { return __nv_bfloat16::from_bits((unsigned short)x); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16::from_bits(x); }

inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
    return {__nv_bfloat16::nearest(x), __nv_bfloat16::nearest(y)};
}
inline __nv_bfloat162 __float2bfloat162_rn(float x) { return __floats2bfloat162_rn(x, x); }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x.value(), v.y.value()}; }
inline float __low2float(__nv_bfloat162 v) { return v.x.value(); }
inline float __high2float(__nv_bfloat162 v) { return v.y.value(); }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return {v.x, v.x}; }
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return {v.y, v.y}; }
inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }
inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return {v.y, v.x}; }

inline __nv_bfloat16 atomicAdd(__nv_bfloat16* address, __nv_bfloat16 value) {
    return kit_emulator::update(address, [=](__nv_bfloat16 old) { return __hadd(old, value); });
}
inline __nv_bfloat162 atomicAdd(__nv_bfloat162* address, __nv_bfloat162 value) {
    return kit_emulator::update(address, [=](__nv_bfloat162 old) { return __hadd2(old, value); });
}

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)

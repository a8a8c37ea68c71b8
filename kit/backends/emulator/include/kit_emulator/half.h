// __half and __half2: what cuda_fp16.h gives to device code.
#pragma once

#include "atomics.h"
#include "small_float_conversions.h"
#include "small_float_pair.h"

struct __half_raw { unsigned short x; };
struct alignas(4) __half2_raw { unsigned short x, y; };

struct __half : kit_emulator::SmallFloat<__half, kit_emulator::HalfFormat> {
    KIT_SMALL_FLOAT_MEMBERS(__half, __half_raw)
};

struct alignas(4) __half2 : kit_emulator::SmallFloatPair<__half2, __half> {
    __half x, y;
    __half2() = default;
    __half2(const __half& x, const __half& y) : x(x), y(y) {}
    __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
    operator __half2_raw() const { return {x.__x, y.__x}; }
};
static_assert(sizeof(__half) == 2 && sizeof(__half2) == 4, "as in CUDA");

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

KIT_SMALL_FLOAT_CONVERSIONS(__half, half)

inline short __half_as_short(__half x) { return (short)x.__x; }
inline unsigned short __half_as_ushort(__half x) { return x.__x; }
inline __half __short_as_half(short x) { return __half::from_bits((unsigned short)x); }
inline __half __ushort_as_half(unsigned short x) { return __half::from_bits(x); }

inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __float2half2_rn(float x) { return {__half::nearest(x), __half::nearest(x)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half::nearest(x), __half::nearest(y)}; }
inline __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
inline float2 __half22float2(__half2 v) { return {v.x.value(), v.y.value()}; }
inline float __low2float(__half2 v) { return v.x.value(); }
inline float __high2float(__half2 v) { return v.y.value(); }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
inline __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }

inline __half atomicAdd(__half* address, __half value) {
    return kit_emulator::update(address, [=](__half old) { return __hadd(old, value); });
}
inline __half2 atomicAdd(__half2* address, __half2 value) {
    return kit_emulator::update(address, [=](__half2 old) { return __hadd2(old, value); });
}

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)

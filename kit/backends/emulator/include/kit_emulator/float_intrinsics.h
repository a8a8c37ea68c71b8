// CUDA's floating-point intrinsics: operations and conversions in each rounding mode, fast functions,
// and the bits of a number (CUDA Math API: single, double, type casting).
#pragma once

#include <fenv.h>

#include "bits.h"

#if defined(__x86_64__)
#define KIT_FLOAT_REGISTER "+x"
#elif defined(__aarch64__)
#define KIT_FLOAT_REGISTER "+w"
#else
#define KIT_FLOAT_REGISTER "+m"
#endif

namespace kit_emulator {

/// A number that the compiler may not fuse with the next operation: `__fmul_rn` is a rounded product
/// also where a sum follows.
template <class T>
inline T rounded(T value) {
    asm("" : KIT_FLOAT_REGISTER(value));
    return value;
}

/// A number that stays on its side of every call before and after.
template <class T>
inline T fenced(T value) {
    asm volatile("" : KIT_FLOAT_REGISTER(value) : : "memory");
    return value;
}

/// The result of an operation under a rounding mode of the processor.
template <int Mode, class Operation, class... T>
inline auto in_mode(Operation operation, T... operands) {
    const int before = fegetround();
    fesetround(Mode);
    const auto result = fenced(operation(fenced(operands)...));
    fesetround(before);
    return result;
}

struct Add { template <class T> T operator()(T a, T b) const { return a + b; } };
struct Subtract { template <class T> T operator()(T a, T b) const { return a - b; } };
struct Multiply { template <class T> T operator()(T a, T b) const { return a * b; } };
struct Divide { template <class T> T operator()(T a, T b) const { return a / b; } };
struct Invert { template <class T> T operator()(T a) const { return 1 / a; } };
struct SquareRoot { template <class T> T operator()(T a) const { return ::sqrt(a); } };
struct Fuse { template <class T> T operator()(T a, T b, T c) const { return ::fma(a, b, c); } };
template <class To> struct Convert { template <class T> To operator()(T a) const { return (To)a; } };
struct ToWhole { template <class T> T operator()(T a) const { return ::nearbyint(a); } };

/// A whole number as an integer, as the GPU converts: clamped to the type's range. NaN is 0 in 32
/// bits; in 64 bits it is the number of which only the highest bit is set.
template <class Integer, class Float>
inline Integer to_integer(Float whole) {
    constexpr bool is_signed = Integer(-1) < Integer(0);
    constexpr int bits = 8 * (int)sizeof(Integer) - is_signed;
    constexpr Integer highest = (Integer)(~0ull >> (64 - bits));
    constexpr Float limit = bits == 64 ? 0x1p64 : bits == 63 ? 0x1p63 : bits == 32 ? 0x1p32 : 0x1p31;
    if (whole != whole) return sizeof(Integer) == 4 ? Integer(0) : (Integer)(1ull << 63);
    if (whole >= limit) return highest;
    if (whole < (is_signed ? -limit : Float(0))) return is_signed ? (Integer)(-highest - 1) : Integer(0);
    return (Integer)whole;
}

}  // namespace kit_emulator

#define KIT_IN_EACH_MODE(T, name, operation, parameters, ...)                                        \
    inline T name##_rn parameters { return kit_emulator::rounded(kit_emulator::operation{}(__VA_ARGS__)); } \
    inline T name##_rd parameters {                                                                  \
        return kit_emulator::in_mode<FE_DOWNWARD>(kit_emulator::operation{}, __VA_ARGS__);           \
    }                                                                                                \
    inline T name##_ru parameters {                                                                  \
        return kit_emulator::in_mode<FE_UPWARD>(kit_emulator::operation{}, __VA_ARGS__);             \
    }                                                                                                \
    inline T name##_rz parameters {                                                                  \
        return kit_emulator::in_mode<FE_TOWARDZERO>(kit_emulator::operation{}, __VA_ARGS__);         \
    }

// ---- operations --------------------------------------------------------------------------------

KIT_IN_EACH_MODE(float, __fadd, Add, (float x, float y), x, y)
KIT_IN_EACH_MODE(float, __fsub, Subtract, (float x, float y), x, y)
KIT_IN_EACH_MODE(float, __fmul, Multiply, (float x, float y), x, y)
KIT_IN_EACH_MODE(float, __fdiv, Divide, (float x, float y), x, y)
KIT_IN_EACH_MODE(float, __frcp, Invert, (float x), x)
KIT_IN_EACH_MODE(float, __fsqrt, SquareRoot, (float x), x)
KIT_IN_EACH_MODE(float, __fmaf, Fuse, (float x, float y, float z), x, y, z)
KIT_IN_EACH_MODE(double, __dadd, Add, (double x, double y), x, y)
KIT_IN_EACH_MODE(double, __dsub, Subtract, (double x, double y), x, y)
KIT_IN_EACH_MODE(double, __dmul, Multiply, (double x, double y), x, y)
KIT_IN_EACH_MODE(double, __ddiv, Divide, (double x, double y), x, y)
KIT_IN_EACH_MODE(double, __drcp, Invert, (double x), x)
KIT_IN_EACH_MODE(double, __dsqrt, SquareRoot, (double x), x)
KIT_IN_EACH_MODE(double, __fma, Fuse, (double x, double y, double z), x, y, z)
inline float __frsqrt_rn(float x) { return (float)(1.0 / ::sqrt((double)x)); }

// ---- conversions -------------------------------------------------------------------------------

KIT_IN_EACH_MODE(float, __double2float, Convert<float>, (double x), x)
KIT_IN_EACH_MODE(float, __int2float, Convert<float>, (int x), (double)x)
KIT_IN_EACH_MODE(float, __uint2float, Convert<float>, (unsigned int x), (double)x)
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned int x) { return x; }
#undef KIT_IN_EACH_MODE

// An integer of 64 bits does not fit into a register of floating-point numbers.
#define KIT_FROM_WIDE(To, name, From)                                                                \
    inline To name##_rn(From x) { return (To)x; }                                                    \
    inline To name##_rd(From x) { return kit_emulator::from_wide<FE_DOWNWARD, To>(x); }              \
    inline To name##_ru(From x) { return kit_emulator::from_wide<FE_UPWARD, To>(x); }                \
    inline To name##_rz(From x) { return kit_emulator::from_wide<FE_TOWARDZERO, To>(x); }
namespace kit_emulator {
template <int Mode, class To, class From>
inline To from_wide(From wide) {
    const int before = fegetround();
    fesetround(Mode);
    asm volatile("" : "+m"(wide) : : "memory");
    const To result = fenced((To)wide);
    fesetround(before);
    return result;
}
}  // namespace kit_emulator
KIT_FROM_WIDE(float, __ll2float, long long)
KIT_FROM_WIDE(float, __ull2float, unsigned long long)
KIT_FROM_WIDE(double, __ll2double, long long)
KIT_FROM_WIDE(double, __ull2double, unsigned long long)
#undef KIT_FROM_WIDE

#define KIT_TO_INTEGER(Integer, name, Float)                                                         \
    inline Integer name##_rn(Float x) { return kit_emulator::to_integer<Integer>(::nearbyint(x)); }  \
    inline Integer name##_rd(Float x) { return kit_emulator::to_integer<Integer>(::floor(x)); }      \
    inline Integer name##_ru(Float x) { return kit_emulator::to_integer<Integer>(::ceil(x)); }       \
    inline Integer name##_rz(Float x) { return kit_emulator::to_integer<Integer>(::trunc(x)); }
KIT_TO_INTEGER(int, __float2int, float)
KIT_TO_INTEGER(unsigned int, __float2uint, float)
KIT_TO_INTEGER(long long, __float2ll, float)
KIT_TO_INTEGER(unsigned long long, __float2ull, float)
KIT_TO_INTEGER(int, __double2int, double)
KIT_TO_INTEGER(unsigned int, __double2uint, double)
KIT_TO_INTEGER(long long, __double2ll, double)
KIT_TO_INTEGER(unsigned long long, __double2ull, double)
#undef KIT_TO_INTEGER

// ---- bits --------------------------------------------------------------------------------------

inline int __float_as_int(float x) { return kit_emulator::bit_cast<int>(x); }
inline unsigned int __float_as_uint(float x) { return kit_emulator::bit_cast<unsigned int>(x); }
inline float __int_as_float(int x) { return kit_emulator::bit_cast<float>(x); }
inline float __uint_as_float(unsigned int x) { return kit_emulator::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return kit_emulator::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return kit_emulator::bit_cast<double>(x); }
inline int __double2loint(double x) { return (int)(uint32_t)kit_emulator::bit_cast<uint64_t>(x); }
inline int __double2hiint(double x) { return (int)(kit_emulator::bit_cast<uint64_t>(x) >> 32); }
inline double __hiloint2double(int high, int low) {
    return kit_emulator::bit_cast<double>((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}

// ---- fast functions: here as exact as the plain ones -----------------------------------------------

// glibc declares functions of these names and does not export all of them: a cell would compile and
// not load.
#define __cosf kit_fast_cosf
#define __exp10f kit_fast_exp10f
#define __expf kit_fast_expf
#define __log10f kit_fast_log10f
#define __log2f kit_fast_log2f
#define __logf kit_fast_logf
#define __powf kit_fast_powf
#define __sincosf kit_fast_sincosf
#define __sinf kit_fast_sinf
#define __tanf kit_fast_tanf
#define __tanhf kit_fast_tanhf
inline float __cosf(float x) { return ::cosf(x); }
inline float __exp10f(float x) { return (float)::pow(10.0, (double)x); }
inline float __expf(float x) { return ::expf(x); }
inline float __log10f(float x) { return ::log10f(x); }
inline float __log2f(float x) { return ::log2f(x); }
inline float __logf(float x) { return ::logf(x); }
inline float __powf(float x, float y) { return ::powf(x, y); }
inline void __sincosf(float x, float* sine, float* cosine) { *sine = ::sinf(x), *cosine = ::cosf(x); }
inline float __sinf(float x) { return ::sinf(x); }
inline float __tanf(float x) { return ::tanf(x); }
inline float __tanhf(float x) { return ::tanhf(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline double fdivide(double x, double y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
/// Into [0, 1]; NaN becomes 0.
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

// Mathematical functions that CUDA has and the C library does not, or not with these types.
#pragma once

#include <math.h>

#include <type_traits>

#include "bits.h"

// ---- min and max of any two numbers ------------------------------------------------------------------

namespace kit_emulator {
template <class A, class B>
using common_number = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>>;
}  // namespace kit_emulator

/// The smaller one; of a number and NaN, the number. An unsigned operand makes both unsigned.
template <class A, class B>
constexpr kit_emulator::common_number<A, B> min(A a, B b) {
    const kit_emulator::common_number<A, B> x = a, y = b;
    return x < y || y != y ? x : y;
}
/// The greater one; of a number and NaN, the number. An unsigned operand makes both unsigned.
template <class A, class B>
constexpr kit_emulator::common_number<A, B> max(A a, B b) {
    const kit_emulator::common_number<A, B> x = a, y = b;
    return x > y || y != y ? x : y;
}
constexpr unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
constexpr unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
constexpr long long llmin(long long a, long long b) { return a < b ? a : b; }
constexpr long long llmax(long long a, long long b) { return a > b ? a : b; }
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
inline float saturate(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

// ---- roots, powers, norms ------------------------------------------------------------------------------

// From 2.41 and 2.42 on glibc declares C23's functions.
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 42)
#define KIT_HAS_RSQRT
#endif
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 41)
#define KIT_HAS_SINPI
#endif

#ifndef KIT_HAS_RSQRT
inline double rsqrt(double x) { return 1 / ::sqrt(x); }
inline float rsqrtf(float x) { return 1 / ::sqrtf(x); }
#endif
inline float rsqrt(float x) { return 1 / ::sqrtf(x); }
inline double rcbrt(double x) { return 1 / ::cbrt(x); }
inline float rcbrtf(float x) { return (float)(1 / ::cbrt((double)x)); }
inline float rcbrt(float x) { return rcbrtf(x); }
#ifndef __GLIBC__
inline double exp10(double x) { return (double)::powl(10.0L, x); }
inline float exp10f(float x) { return (float)::pow(10.0, (double)x); }
inline void sincos(double x, double* sine, double* cosine) { *sine = ::sin(x), *cosine = ::cos(x); }
inline void sincosf(float x, float* sine, float* cosine) { *sine = ::sinf(x), *cosine = ::cosf(x); }
#endif
inline float exp10(float x) { return exp10f(x); }

namespace kit_emulator {
/// Length of a vector, which neither overflows nor underflows on the way.
template <class T>
inline T norm_of(int count, const T* values) {
    T largest = 0, sum = 0;
    for (int k = 0; k < count; ++k) {
        const T size = values[k] < 0 ? -values[k] : values[k];
        if (::isinf(size)) return size;
        if (size > largest || size != size) largest = size;
    }
    if (largest == 0 || largest != largest) return largest;
    for (int k = 0; k < count; ++k) sum += (values[k] / largest) * (values[k] / largest);
    return largest * ::sqrt(sum);
}
template <class T, class... Rest>
inline T norm_of_all(T first, Rest... rest) {
    const T values[] = {first, rest...};
    return norm_of(1 + (int)sizeof...(rest), values);
}
}  // namespace kit_emulator

inline double norm(int count, const double* values) { return kit_emulator::norm_of(count, values); }
inline float normf(int count, const float* values) { return kit_emulator::norm_of(count, values); }
inline double rnorm(int count, const double* values) { return 1 / kit_emulator::norm_of(count, values); }
inline float rnormf(int count, const float* values) { return 1 / kit_emulator::norm_of(count, values); }
inline double norm3d(double a, double b, double c) { return kit_emulator::norm_of_all(a, b, c); }
inline float norm3df(float a, float b, float c) { return kit_emulator::norm_of_all(a, b, c); }
inline double norm4d(double a, double b, double c, double d) { return kit_emulator::norm_of_all(a, b, c, d); }
inline float norm4df(float a, float b, float c, float d) { return kit_emulator::norm_of_all(a, b, c, d); }
inline double rnorm3d(double a, double b, double c) { return 1 / kit_emulator::norm_of_all(a, b, c); }
inline float rnorm3df(float a, float b, float c) { return 1 / kit_emulator::norm_of_all(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) { return 1 / kit_emulator::norm_of_all(a, b, c, d); }
inline float rnorm4df(float a, float b, float c, float d) { return 1 / kit_emulator::norm_of_all(a, b, c, d); }
inline double rhypot(double a, double b) { return 1 / ::hypot(a, b); }
inline float rhypotf(float a, float b) { return 1 / ::hypotf(a, b); }

// ---- trigonometry ------------------------------------------------------------------------------------

inline void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }

namespace kit_emulator {
/// sin(pi x), with x brought into [-1/2, 1/2] exactly before it is multiplied.
inline double sine_of_turns(double x) {
    double rest = ::remainder(x, 2.0);
    if (rest > 0.5) rest = 1 - rest;
    if (rest < -0.5) rest = -1 - rest;
    return rest == 0 ? ::copysign(0.0, x) : ::sin(rest * 3.14159265358979323846);
}
inline double cosine_of_turns(double x) {
    const double rest = ::fabs(::remainder(x, 2.0));  // in [0, 1]
    return rest == 0.5 ? 0.0 : rest <= 0.25 ? ::cos(rest * 3.14159265358979323846)
                                            : ::sin((0.5 - rest) * 3.14159265358979323846);
}
}  // namespace kit_emulator

#ifndef KIT_HAS_SINPI
inline double sinpi(double x) { return kit_emulator::sine_of_turns(x); }
inline double cospi(double x) { return kit_emulator::cosine_of_turns(x); }
inline float sinpif(float x) { return (float)kit_emulator::sine_of_turns(x); }
inline float cospif(float x) { return (float)kit_emulator::cosine_of_turns(x); }
#endif
inline float sinpi(float x) { return (float)kit_emulator::sine_of_turns(x); }
inline float cospi(float x) { return (float)kit_emulator::cosine_of_turns(x); }
inline void sincospi(double x, double* sine, double* cosine) {
    *sine = kit_emulator::sine_of_turns(x), *cosine = kit_emulator::cosine_of_turns(x);
}
inline void sincospif(float x, float* sine, float* cosine) { *sine = sinpif(x), *cosine = cospif(x); }
inline void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }


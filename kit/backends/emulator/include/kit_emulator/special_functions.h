// Error functions and their inverses, the normal distribution, modified Bessel functions: computed in
// long double where the C library does not have them, so that rounding to double ends the error.
#pragma once

#include <math.h>

#include "bits.h"

namespace kit_emulator {

/// erfcinv: y = erfc(x) for x. Newton's method with Halley's correction on a start of Winitzki's
/// formula (S. Winitzki, "A handy approximation for the error function and its inverse", 2008).
inline long double inverse_erfc(long double y) {
    if (!(y >= 0 && y <= 2)) return NAN;
    if (y == 0) return INFINITY;
    if (y == 2) return -INFINITY;
    const long double two_over_sqrt_pi = 1.1283791670955125738961589L;
    const long double tail = y < 1 ? y : 2 - y;  // erfc of |x|
    const long double a = 0.147L, log_of = logl(tail) + log1pl(1 - tail);
    const long double half = 2 / (3.14159265358979323846L * a) + log_of / 2;
    long double x = sqrtl(sqrtl(half * half - log_of / a) - half);
    for (int step = 0; step < 4; ++step) {
        const long double slope = two_over_sqrt_pi * expl(-x * x);
        // Relative to the tail where it is small, and through erf where that has the digits.
        const long double miss = x > 0.5L ? erfcl(x) - tail : (1 - tail) - erfl(x);
        if (slope == 0) break;
        const long double newton = miss / slope;
        x += newton / (1 + x * newton);
    }
    return y < 1 ? x : -x;
}

inline long double inverse_erf(long double y) {
    if (!(y >= -1 && y <= 1)) return NAN;
    if (y == 0) return y;
    if (fabsl(y) == 1) return copysignl(INFINITY, y);
    if (fabsl(y) > 0.5L) return y > 0 ? inverse_erfc(1 - y) : -inverse_erfc(1 + y);
    long double x = y * 0.88622692545275801364908374L;  // sqrt(pi) / 2
    for (int step = 0; step < 6; ++step) {
        const long double newton = (erfl(x) - y) / (1.1283791670955125738961589L * expl(-x * x));
        x -= newton / (1 + x * newton);
    }
    return x;
}

/// erfcx: exp(x^2) erfc(x), which does not underflow.
inline long double scaled_erfc(long double x) {
    if (x < 26) return expl(x * x) * erfcl(x);
    const long double q = 1 / (2 * x * x);  // the asymptotic series, Abramowitz and Stegun 7.1.23
    return 0.56418958354775628694807945L / x * (1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q))));
}

/// Modified Bessel functions of the first kind of order 0 and 1 by their power series (Abramowitz
/// and Stegun 9.6.10): every term is positive, so nothing cancels.
inline long double modified_bessel(int order, long double x) {
    const long double quarter = x * x / 4;
    long double term = order == 0 ? 1 : x / 2, sum = term;
    if (!(fabsl(x) < 715)) return isnan(x) ? x : order && x < 0 ? -INFINITY : INFINITY;
    for (int k = 1; term != 0 && fabsl(term) > 1e-22L * fabsl(sum); ++k) {
        term *= quarter / ((long double)k * (k + order));
        sum += term;
    }
    return sum;
}

}  // namespace kit_emulator

inline double erfcinv(double y) { return (double)kit_emulator::inverse_erfc(y); }
inline float erfcinvf(float y) { return (float)kit_emulator::inverse_erfc(y); }
inline float erfcinv(float y) { return erfcinvf(y); }
inline double erfinv(double y) { return (double)kit_emulator::inverse_erf(y); }
inline float erfinvf(float y) { return (float)kit_emulator::inverse_erf(y); }
inline float erfinv(float y) { return erfinvf(y); }
inline double erfcx(double x) { return (double)kit_emulator::scaled_erfc(x); }
inline float erfcxf(float x) { return (float)kit_emulator::scaled_erfc(x); }
inline float erfcx(float x) { return erfcxf(x); }
inline double normcdf(double x) { return (double)(erfcl(-x * 0.70710678118654752440084436L) / 2); }
inline float normcdff(float x) { return (float)(erfc(-x * 0.70710678118654752440) / 2); }
inline float normcdf(float x) { return normcdff(x); }
inline double normcdfinv(double y) {
    return (double)(-1.41421356237309504880168872L * kit_emulator::inverse_erfc(2.0L * y));
}
inline float normcdfinvf(float y) { return (float)normcdfinv((double)y); }
inline float normcdfinv(float y) { return normcdfinvf(y); }
inline double cyl_bessel_i0(double x) { return (double)kit_emulator::modified_bessel(0, x); }
inline double cyl_bessel_i1(double x) { return (double)kit_emulator::modified_bessel(1, x); }
inline float cyl_bessel_i0f(float x) { return (float)kit_emulator::modified_bessel(0, x); }
inline float cyl_bessel_i1f(float x) { return (float)kit_emulator::modified_bessel(1, x); }

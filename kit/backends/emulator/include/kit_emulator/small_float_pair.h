// What __half2 and __nv_bfloat162 share: two numbers of 16 bits, side by side.
#pragma once

#include "small_float.h"

namespace kit_emulator {

#define KIT_PAIR_OF_ONE(name, one)                                                                   \
    friend Pair name(const Pair& a) { return {one(a.x), one(a.y)}; }
#define KIT_PAIR_OF_TWO(name, one)                                                                   \
    friend Pair name(const Pair& a, const Pair& b) { return {one(a.x, b.x), one(a.y, b.y)}; }
#define KIT_PAIR_OF_THREE(name, one)                                                                 \
    friend Pair name(const Pair& a, const Pair& b, const Pair& c) {                                  \
        return {one(a.x, b.x, c.x), one(a.y, b.y, c.y)};                                             \
    }
// A comparison in its four forms: 1 or 0 in each, true in both, all bits of each.
#define KIT_PAIR_COMPARED(relation)                                                                  \
    friend Pair __h##relation##2(const Pair& a, const Pair& b) {                                     \
        return {H::nearest(__h##relation(a.x, b.x)), H::nearest(__h##relation(a.y, b.y))};           \
    }                                                                                                \
    friend bool __hb##relation##2(const Pair& a, const Pair& b) {                                    \
        return __h##relation(a.x, b.x) && __h##relation(a.y, b.y);                                   \
    }                                                                                                \
    friend unsigned int __h##relation##2_mask(const Pair& a, const Pair& b) {                        \
        return (__h##relation(a.x, b.x) ? 0xffffu : 0) | (__h##relation(a.y, b.y) ? 0xffff0000u : 0); \
    }

/// Functions of a type Pair that holds two H; they are found by their arguments' type.
template <class Pair, class H>
struct SmallFloatPair {
    KIT_PAIR_OF_TWO(__hadd2, __hadd)
    KIT_PAIR_OF_TWO(__hsub2, __hsub)
    KIT_PAIR_OF_TWO(__hmul2, __hmul)
    KIT_PAIR_OF_TWO(__h2div, __hdiv)
    KIT_PAIR_OF_TWO(__hadd2_rn, __hadd)
    KIT_PAIR_OF_TWO(__hsub2_rn, __hsub)
    KIT_PAIR_OF_TWO(__hmul2_rn, __hmul)
    KIT_PAIR_OF_TWO(__hadd2_sat, __hadd_sat)
    KIT_PAIR_OF_TWO(__hsub2_sat, __hsub_sat)
    KIT_PAIR_OF_TWO(__hmul2_sat, __hmul_sat)
    KIT_PAIR_OF_TWO(__hmax2, __hmax)
    KIT_PAIR_OF_TWO(__hmin2, __hmin)
    KIT_PAIR_OF_TWO(__hmax2_nan, __hmax_nan)
    KIT_PAIR_OF_TWO(__hmin2_nan, __hmin_nan)
    KIT_PAIR_OF_THREE(__hfma2, __hfma)
    KIT_PAIR_OF_THREE(__hfma2_sat, __hfma_sat)
    KIT_PAIR_OF_THREE(__hfma2_relu, __hfma_relu)
    KIT_PAIR_OF_ONE(__hneg2, __hneg)
    KIT_PAIR_OF_ONE(__habs2, __habs)
    KIT_PAIR_OF_ONE(h2sqrt, hsqrt)
    KIT_PAIR_OF_ONE(h2rsqrt, hrsqrt)
    KIT_PAIR_OF_ONE(h2rcp, hrcp)
    KIT_PAIR_OF_ONE(h2exp, hexp)
    KIT_PAIR_OF_ONE(h2exp2, hexp2)
    KIT_PAIR_OF_ONE(h2exp10, hexp10)
    KIT_PAIR_OF_ONE(h2log, hlog)
    KIT_PAIR_OF_ONE(h2log2, hlog2)
    KIT_PAIR_OF_ONE(h2log10, hlog10)
    KIT_PAIR_OF_ONE(h2sin, hsin)
    KIT_PAIR_OF_ONE(h2cos, hcos)
    KIT_PAIR_OF_ONE(h2tanh, htanh)
    KIT_PAIR_OF_ONE(h2tanh_approx, htanh)
    KIT_PAIR_OF_ONE(h2rint, hrint)
    KIT_PAIR_OF_ONE(h2floor, hfloor)
    KIT_PAIR_OF_ONE(h2ceil, hceil)
    KIT_PAIR_OF_ONE(h2trunc, htrunc)
    KIT_PAIR_COMPARED(eq)
    KIT_PAIR_COMPARED(ne)
    KIT_PAIR_COMPARED(le)
    KIT_PAIR_COMPARED(ge)
    KIT_PAIR_COMPARED(lt)
    KIT_PAIR_COMPARED(gt)
    KIT_PAIR_COMPARED(equ)
    KIT_PAIR_COMPARED(neu)
    KIT_PAIR_COMPARED(leu)
    KIT_PAIR_COMPARED(geu)
    KIT_PAIR_COMPARED(ltu)
    KIT_PAIR_COMPARED(gtu)
    friend Pair __hisnan2(const Pair& a) {
        return {H::nearest(a.x.is_nan()), H::nearest(a.y.is_nan())};
    }
    /// Product and sum of complex numbers, (real, imaginary).
    friend Pair __hcmadd(const Pair& a, const Pair& b, const Pair& c) {
        return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
    }

    friend Pair operator+(const Pair& a, const Pair& b) { return __hadd2(a, b); }
    friend Pair operator-(const Pair& a, const Pair& b) { return __hsub2(a, b); }
    friend Pair operator*(const Pair& a, const Pair& b) { return __hmul2(a, b); }
    friend Pair operator/(const Pair& a, const Pair& b) { return __h2div(a, b); }
    friend Pair& operator+=(Pair& a, const Pair& b) { return a = __hadd2(a, b); }
    friend Pair& operator-=(Pair& a, const Pair& b) { return a = __hsub2(a, b); }
    friend Pair& operator*=(Pair& a, const Pair& b) { return a = __hmul2(a, b); }
    friend Pair& operator/=(Pair& a, const Pair& b) { return a = __h2div(a, b); }
    friend Pair& operator++(Pair& a) { ++a.x, ++a.y; return a; }
    friend Pair& operator--(Pair& a) { --a.x, --a.y; return a; }
    friend Pair operator+(const Pair& a) { return a; }
    friend Pair operator-(const Pair& a) { return __hneg2(a); }
    friend bool operator==(const Pair& a, const Pair& b) { return __hbeq2(a, b); }
    friend bool operator!=(const Pair& a, const Pair& b) { return __hbneu2(a, b); }
    friend bool operator<(const Pair& a, const Pair& b) { return __hblt2(a, b); }
    friend bool operator>(const Pair& a, const Pair& b) { return __hbgt2(a, b); }
    friend bool operator<=(const Pair& a, const Pair& b) { return __hble2(a, b); }
    friend bool operator>=(const Pair& a, const Pair& b) { return __hbge2(a, b); }
};

#undef KIT_PAIR_OF_ONE
#undef KIT_PAIR_OF_TWO
#undef KIT_PAIR_OF_THREE
#undef KIT_PAIR_COMPARED

}  // namespace kit_emulator

// What __half and __nv_bfloat16 share: numbers of 16 bits, rounded from what is computed in more.
#pragma once

#include "float_intrinsics.h"
#include "vector_types.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace kit_emulator {

enum class Rounding { nearest, down, up, to_zero };

/// How many bits a format of 16 bits gives to the fraction and to the exponent.
struct HalfFormat { static constexpr int fraction = 10, bias = 15; static constexpr uint16_t nan = 0x7fff; };
struct BfloatFormat { static constexpr int fraction = 7, bias = 127; static constexpr uint16_t nan = 0x7fff; };

/// The number of a format next to `value`. Exact for every double: one rounding, in the given mode,
/// with subnormal numbers.
template <class Format>
inline uint16_t encode(double value, Rounding rounding) {
    constexpr int fraction = Format::fraction, bias = Format::bias;
    constexpr uint16_t infinity = (uint16_t)((2 * bias + 1) << fraction);
    const uint64_t bits = bit_cast<uint64_t>(value);
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    if (value != value) return Format::nan;
    const bool away = rounding == (sign ? Rounding::down : Rounding::up);
    const int exponent = (int)(bits >> 52 & 2047) - 1023;
    if (exponent == 1024) return sign | infinity;
    if ((bits & ~(1ull << 63)) == 0) return sign;
    if (exponent > bias)
        return sign | (rounding == Rounding::nearest || away ? infinity : (uint16_t)(infinity - 1));
    // Below the smallest normal exponent all numbers have the same distance.
    const int least = 1 - bias, shift = 52 - fraction + (exponent < least ? least - exponent : 0);
    if (shift > 54) return sign | (away ? 1 : 0);
    const uint64_t digits = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    const uint64_t kept = digits >> shift, rest = digits & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    const bool up = rounding == Rounding::nearest ? rest > half || (rest == half && (kept & 1)) : away && rest;
    // The hidden bit adds one to the exponent; a carry out of the fraction does so by itself.
    const uint64_t scaled = exponent < least ? 0 : (uint64_t)(exponent + bias - 1) << fraction;
    const uint64_t result = scaled + kept + up;
    if (result >= infinity) return sign | (rounding == Rounding::nearest || away ? infinity : (uint16_t)(infinity - 1));
    return sign | (uint16_t)result;
}

inline float decode(uint16_t bits, BfloatFormat) { return bit_cast<float>((uint32_t)bits << 16); }
inline float decode(uint16_t bits, HalfFormat) {
#if defined(__F16C__)
    return _cvtsh_ss(bits);
#else
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return bit_cast<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) return (sign ? -1.0f : 1.0f) * (float)fraction * 0x1p-24f;
    return bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
#endif
}
inline uint16_t encode_float(float value, HalfFormat) {
#if defined(__F16C__)
    return value != value ? HalfFormat::nan : (uint16_t)_cvtss_sh(value, 0);
#else
    return encode<HalfFormat>(value, Rounding::nearest);
#endif
}
inline uint16_t encode_float(float value, BfloatFormat) {
    const uint32_t bits = bit_cast<uint32_t>(value);
    return value != value ? BfloatFormat::nan : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// x * y + z as a double that rounds to 16 bits as the exact value does: its last bit is set where
/// digits were lost (S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
inline double fuse_to_odd(double x, double y, double z) {
    const double product = x * y;  // exact: both have at most 11 bits
    const double sum = rounded(product + z);
    const double z_part = rounded(sum - product);
    const double lost = rounded(product - rounded(sum - z_part)) + rounded(z - z_part);
    uint64_t bits = bit_cast<uint64_t>(sum);
    if (lost == 0 || lost != lost || (bits & 1)) return sum;
    bits += (lost > 0) == (sum > 0) ? 1 : -1;
    return bit_cast<double>(bits);
}

/// A whole number as a double that rounds to 16 bits as the number itself does.
inline double to_odd(unsigned long long value) {
    return value >> 53 ? (double)(value & ~2047ull) + ((value & 2047) ? 2048.0 * !(value & 2048) : 0) : (double)value;
}
inline double to_odd(long long value) {
    return value < 0 ? -to_odd((unsigned long long)-(value + 1) + 1) : to_odd((unsigned long long)value);
}

/// A rounded float as an integer of any width, clamped; NaN is 0 up to 32 bits.
template <class Integer>
inline Integer clamp_to(float whole) {
    if constexpr (sizeof(Integer) >= 4) {
        return to_integer<Integer>(whole);
    } else {
        constexpr bool is_signed = Integer(-1) < Integer(0);
        constexpr int high = (1 << (8 * (int)sizeof(Integer) - is_signed)) - 1, low = is_signed ? -high - 1 : 0;
        const int value = to_integer<int>(whole);
        return (Integer)(value > high ? high : value < low ? low : value);
    }
}

/// Members and functions of a type H of 16 bits; functions are found by their arguments' type.
template <class H, class Format>
struct SmallFloat {
    unsigned short __x;

    SmallFloat() = default;
    constexpr explicit SmallFloat(unsigned short bits) : __x(bits) {}

    static H from_bits(unsigned short bits) { H h; h.__x = bits; return h; }
    static H nearest(float value) { return from_bits(encode_float(value, Format{})); }
    static H convert(double value, Rounding rounding = Rounding::nearest) {
        return from_bits(encode<Format>(value, rounding));
    }
    float value() const { return decode(__x, Format{}); }
    bool is_nan() const { return (__x & 0x7fff) > (2 * Format::bias + 1) << Format::fraction; }

    // Sums, products and quotients of floats have more than twice the digits: rounding twice is
    // rounding once.
    friend H __hadd(H a, H b) { return nearest(a.value() + b.value()); }
    friend H __hsub(H a, H b) { return nearest(a.value() - b.value()); }
    friend H __hmul(H a, H b) { return nearest(a.value() * b.value()); }
    friend H __hdiv(H a, H b) { return nearest(a.value() / b.value()); }
    friend H __hfma(H a, H b, H c) { return convert(fuse_to_odd(a.value(), b.value(), c.value())); }
    friend H __hadd_rn(H a, H b) { return __hadd(a, b); }
    friend H __hsub_rn(H a, H b) { return __hsub(a, b); }
    friend H __hmul_rn(H a, H b) { return __hmul(a, b); }
    friend H __hadd_sat(H a, H b) { return nearest(__saturatef(__hadd(a, b).value())); }
    friend H __hsub_sat(H a, H b) { return nearest(__saturatef(__hsub(a, b).value())); }
    friend H __hmul_sat(H a, H b) { return nearest(__saturatef(__hmul(a, b).value())); }
    friend H __hfma_sat(H a, H b, H c) { return nearest(__saturatef(__hfma(a, b, c).value())); }
    friend H __hfma_relu(H a, H b, H c) {
        const H sum = __hfma(a, b, c);
        return sum.is_nan() ? from_bits(Format::nan) : sum.value() > 0 ? sum : from_bits(0);
    }
    friend H __hneg(H a) { return from_bits(a.__x ^ 0x8000); }
    friend H __habs(H a) { return from_bits(a.__x & 0x7fff); }

    friend bool __heq(H a, H b) { return a.value() == b.value(); }
    friend bool __hne(H a, H b) { return a.value() < b.value() || a.value() > b.value(); }
    friend bool __hle(H a, H b) { return a.value() <= b.value(); }
    friend bool __hge(H a, H b) { return a.value() >= b.value(); }
    friend bool __hlt(H a, H b) { return a.value() < b.value(); }
    friend bool __hgt(H a, H b) { return a.value() > b.value(); }
    friend bool __hequ(H a, H b) { return !__hne(a, b); }
    friend bool __hneu(H a, H b) { return a.value() != b.value(); }
    friend bool __hleu(H a, H b) { return !__hgt(a, b); }
    friend bool __hgeu(H a, H b) { return !__hlt(a, b); }
    friend bool __hltu(H a, H b) { return !__hge(a, b); }
    friend bool __hgtu(H a, H b) { return !__hle(a, b); }
    friend bool __hisnan(H a) { return a.is_nan(); }
    friend int __hisinf(H a) {
        return (a.__x & 0x7fff) == (2 * Format::bias + 1) << Format::fraction ? (a.__x & 0x8000 ? -1 : 1) : 0;
    }
    friend H __hmax_nan(H a, H b) {
        if (a.is_nan() || b.is_nan()) return from_bits(Format::nan);
        return a.value() > b.value() || (a.value() == b.value() && b.__x & 0x8000) ? a : b;
    }
    friend H __hmin_nan(H a, H b) {
        if (a.is_nan() || b.is_nan()) return from_bits(Format::nan);
        return a.value() < b.value() || (a.value() == b.value() && a.__x & 0x8000) ? a : b;
    }
    friend H __hmax(H a, H b) { return a.is_nan() && !b.is_nan() ? b : b.is_nan() && !a.is_nan() ? a : __hmax_nan(a, b); }
    friend H __hmin(H a, H b) { return a.is_nan() && !b.is_nan() ? b : b.is_nan() && !a.is_nan() ? a : __hmin_nan(a, b); }

    friend H hsqrt(H a) { return nearest(::sqrtf(a.value())); }
    friend H hrsqrt(H a) { return convert(1 / ::sqrt((double)a.value())); }
    friend H hrcp(H a) { return nearest(1 / a.value()); }
    friend H hexp(H a) { return convert(::exp((double)a.value())); }
    friend H hexp2(H a) { return convert(::exp2((double)a.value())); }
    friend H hexp10(H a) { return convert(::pow(10.0, (double)a.value())); }
    friend H hlog(H a) { return convert(::log((double)a.value())); }
    friend H hlog2(H a) { return convert(::log2((double)a.value())); }
    friend H hlog10(H a) { return convert(::log10((double)a.value())); }
    friend H hsin(H a) { return convert(::sin((double)a.value())); }
    friend H hcos(H a) { return convert(::cos((double)a.value())); }
    friend H htanh(H a) { return convert(::tanh((double)a.value())); }
    friend H htanh_approx(H a) { return htanh(a); }
    friend H hrint(H a) { return nearest(::nearbyintf(a.value())); }
    friend H hfloor(H a) { return nearest(::floorf(a.value())); }
    friend H hceil(H a) { return nearest(::ceilf(a.value())); }
    friend H htrunc(H a) { return nearest(::truncf(a.value())); }

    friend H operator+(const H& a, const H& b) { return __hadd(a, b); }
    friend H operator-(const H& a, const H& b) { return __hsub(a, b); }
    friend H operator*(const H& a, const H& b) { return __hmul(a, b); }
    friend H operator/(const H& a, const H& b) { return __hdiv(a, b); }
    friend H& operator+=(H& a, const H& b) { return a = __hadd(a, b); }
    friend H& operator-=(H& a, const H& b) { return a = __hsub(a, b); }
    friend H& operator*=(H& a, const H& b) { return a = __hmul(a, b); }
    friend H& operator/=(H& a, const H& b) { return a = __hdiv(a, b); }
    friend H& operator++(H& a) { return a = __hadd(a, nearest(1)); }
    friend H& operator--(H& a) { return a = __hsub(a, nearest(1)); }
    friend H operator++(H& a, int) { const H before = a; ++a; return before; }
    friend H operator--(H& a, int) { const H before = a; --a; return before; }
    friend H operator+(const H& a) { return a; }
    friend H operator-(const H& a) { return __hneg(a); }
    friend bool operator==(const H& a, const H& b) { return __heq(a, b); }
    friend bool operator!=(const H& a, const H& b) { return __hneu(a, b); }
    friend bool operator<(const H& a, const H& b) { return __hlt(a, b); }
    friend bool operator>(const H& a, const H& b) { return __hgt(a, b); }
    friend bool operator<=(const H& a, const H& b) { return __hle(a, b); }
    friend bool operator>=(const H& a, const H& b) { return __hge(a, b); }
};

}  // namespace kit_emulator

// Conversions between a type of 16 bits and C++'s numbers, by name: `__int2half_rn`,
// `__bfloat162uint_rz`.
#pragma once

#include "small_float.h"

// From and to integers; `word` is what the type is called in names.
#define KIT_SMALL_FLOAT_FROM(H, word, from, Integer, exact)                                          \
    inline H __##from##2##word##_rn(Integer x) { return H::convert(exact(x)); }                      \
    inline H __##from##2##word##_rd(Integer x) { return H::convert(exact(x), kit_emulator::Rounding::down); } \
    inline H __##from##2##word##_ru(Integer x) { return H::convert(exact(x), kit_emulator::Rounding::up); } \
    inline H __##from##2##word##_rz(Integer x) { return H::convert(exact(x), kit_emulator::Rounding::to_zero); }
#define KIT_SMALL_FLOAT_TO(H, word, to, Integer)                                                     \
    inline Integer __##word##2##to##_rn(H x) { return kit_emulator::clamp_to<Integer>(::nearbyintf(x.value())); } \
    inline Integer __##word##2##to##_rd(H x) { return kit_emulator::clamp_to<Integer>(::floorf(x.value())); } \
    inline Integer __##word##2##to##_ru(H x) { return kit_emulator::clamp_to<Integer>(::ceilf(x.value())); } \
    inline Integer __##word##2##to##_rz(H x) { return kit_emulator::clamp_to<Integer>(::truncf(x.value())); }

#define KIT_SMALL_FLOAT_CONVERSIONS(H, word)                                                         \
    KIT_SMALL_FLOAT_FROM(H, word, short, short, (double))                                            \
    KIT_SMALL_FLOAT_FROM(H, word, ushort, unsigned short, (double))                                  \
    KIT_SMALL_FLOAT_FROM(H, word, int, int, (double))                                                \
    KIT_SMALL_FLOAT_FROM(H, word, uint, unsigned int, (double))                                      \
    KIT_SMALL_FLOAT_FROM(H, word, ll, long long, kit_emulator::to_odd)                               \
    KIT_SMALL_FLOAT_FROM(H, word, ull, unsigned long long, kit_emulator::to_odd)                     \
    KIT_SMALL_FLOAT_TO(H, word, short, short)                                                        \
    KIT_SMALL_FLOAT_TO(H, word, ushort, unsigned short)                                              \
    KIT_SMALL_FLOAT_TO(H, word, int, int)                                                            \
    KIT_SMALL_FLOAT_TO(H, word, uint, unsigned int)                                                  \
    KIT_SMALL_FLOAT_TO(H, word, ll, long long)                                                       \
    KIT_SMALL_FLOAT_TO(H, word, ull, unsigned long long)                                             \
    inline signed char __##word##2char_rz(H x) { return kit_emulator::clamp_to<signed char>(::truncf(x.value())); } \
    inline unsigned char __##word##2uchar_rz(H x) { return kit_emulator::clamp_to<unsigned char>(::truncf(x.value())); } \
    inline float __##word##2float(H x) { return x.value(); }                                         \
    inline H __float2##word(float x) { return H::nearest(x); }                                       \
    inline H __float2##word##_rn(float x) { return H::nearest(x); }                                  \
    inline H __float2##word##_rd(float x) { return H::convert(x, kit_emulator::Rounding::down); }    \
    inline H __float2##word##_ru(float x) { return H::convert(x, kit_emulator::Rounding::up); }      \
    inline H __float2##word##_rz(float x) { return H::convert(x, kit_emulator::Rounding::to_zero); } \
    inline H __double2##word(double x) { return H::convert(x); }

// Members: what converts implicitly, both ways, is what CUDA's classes convert.
#define KIT_SMALL_FLOAT_MEMBERS(H, Raw)                                                              \
    H() = default;                                                                                   \
    constexpr H(const Raw& raw) : SmallFloat(raw.x) {}                                               \
    H(float x) { *this = nearest(x); }                                                               \
    H(double x) { *this = convert(x); }                                                              \
    H(short x) { *this = nearest(x); }                                                               \
    H(unsigned short x) { *this = nearest(x); }                                                      \
    H(int x) { *this = convert(x); }                                                                 \
    H(unsigned int x) { *this = convert(x); }                                                        \
    H(long x) { *this = convert(kit_emulator::to_odd((long long)x)); }                               \
    H(unsigned long x) { *this = convert(kit_emulator::to_odd((unsigned long long)x)); }             \
    H(long long x) { *this = convert(kit_emulator::to_odd(x)); }                                     \
    H(unsigned long long x) { *this = convert(kit_emulator::to_odd(x)); }                            \
    operator Raw() const { return {__x}; }                                                           \
    operator float() const { return value(); }                                                       \
    operator bool() const { return (__x & 0x7fff) != 0; }                                            \
    operator char() const { return (char)kit_emulator::clamp_to<signed char>(::truncf(value())); }   \
    operator signed char() const { return kit_emulator::clamp_to<signed char>(::truncf(value())); }  \
    operator unsigned char() const { return kit_emulator::clamp_to<unsigned char>(::truncf(value())); } \
    operator short() const { return kit_emulator::clamp_to<short>(::truncf(value())); }              \
    operator unsigned short() const { return kit_emulator::clamp_to<unsigned short>(::truncf(value())); } \
    operator int() const { return kit_emulator::clamp_to<int>(::truncf(value())); }                  \
    operator unsigned int() const { return kit_emulator::clamp_to<unsigned int>(::truncf(value())); } \
    operator long() const { return (long)kit_emulator::clamp_to<long long>(::truncf(value())); }     \
    operator unsigned long() const {                                                                 \
        return (unsigned long)kit_emulator::clamp_to<unsigned long long>(::truncf(value()));         \
    }                                                                                                \
    operator long long() const { return kit_emulator::clamp_to<long long>(::truncf(value())); }      \
    operator unsigned long long() const {                                                            \
        return kit_emulator::clamp_to<unsigned long long>(::truncf(value()));                        \
    }

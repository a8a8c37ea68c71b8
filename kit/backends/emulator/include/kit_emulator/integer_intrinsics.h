// CUDA's integer intrinsics, exact for every argument (CUDA Math API, "Integer Intrinsics").
#pragma once

#include "bits.h"
#include "vector_types.h"

// ---- bits ------------------------------------------------------------------------------------

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
inline unsigned int __nv_bswap32(unsigned int x) { return __builtin_bswap32(x); }
inline unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }

inline unsigned int __brev(unsigned int x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

/// Each of the result's bytes is one of the eight of (y, x); selector bit 3 spreads that byte's sign.
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    const uint64_t bytes = (uint64_t)y << 32 | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned int choice = selector >> 4 * i & 15;
        unsigned int byte = bytes >> 8 * (choice & 7) & 255;
        if (choice & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}

/// Position of the n-th set bit from `base`, upwards for n > 0 and downwards for n < 0.
inline unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    if (offset == 0) return mask >> (base & 31) & 1 ? base : 0xffffffffu;
    const int step = offset > 0 ? 1 : -1;
    int left = offset > 0 ? offset : -offset;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0) return (unsigned)at;
    return 0xffffffffu;
}

// ---- shifts of two words -----------------------------------------------------------------------

inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    return (unsigned)((((uint64_t)high << 32 | low) << (shift & 31)) >> 32);
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// ---- products ----------------------------------------------------------------------------------

inline int __mulhi(int x, int y) { return (int)((int64_t)x * y >> 32); }
inline unsigned int __umulhi(unsigned int x, unsigned int y) { return (unsigned)((uint64_t)x * y >> 32); }
inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
/// The low 32 bits of the product of the low 24 bits, which keep their sign.
inline int __mul24(int x, int y) {
    return (int)(uint32_t)((int64_t)((int)((unsigned)x << 8) >> 8) * ((int)((unsigned)y << 8) >> 8));
}
inline unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffffu) * (y & 0xffffffu); }

inline int mulhi(int x, int y) { return __mulhi(x, y); }
inline unsigned int mulhi(unsigned int x, unsigned int y) { return __umulhi(x, y); }
inline unsigned int umulhi(unsigned int x, unsigned int y) { return __umulhi(x, y); }
inline long long mul64hi(long long x, long long y) { return __mul64hi(x, y); }
inline unsigned long long umul64hi(unsigned long long x, unsigned long long y) { return __umul64hi(x, y); }
inline int mul24(int x, int y) { return __mul24(x, y); }
inline unsigned int umul24(unsigned int x, unsigned int y) { return __umul24(x, y); }

// ---- sums and means ----------------------------------------------------------------------------

inline int __hadd(int x, int y) { return (int)(((int64_t)x + y) >> 1); }
inline int __rhadd(int x, int y) { return (int)(((int64_t)x + y + 1) >> 1); }
inline unsigned int __uhadd(unsigned int x, unsigned int y) { return (unsigned)(((uint64_t)x + y) >> 1); }
inline unsigned int __urhadd(unsigned int x, unsigned int y) { return (unsigned)(((uint64_t)x + y + 1) >> 1); }
inline unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return z + (x > y ? x - y : y - x); }
inline unsigned int __sad(int x, int y, unsigned int z) {
    return z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x);
}

// ---- dot products of packed bytes ----------------------------------------------------------------

namespace kit_emulator {

/// Sum of products of packed elements: element k of `a` with element `first + k` of `b`.
template <class A, class B, class Sum, class WordA, class WordB>
inline Sum packed_dot(WordA a, WordB b, Sum sum, int count, int first) {
    static_assert(sizeof a == 4 && sizeof b == 4, "packed into 32 bits");
    A left[4 / sizeof(A)];
    B right[4 / sizeof(B)];
    memcpy(left, &a, 4);
    memcpy(right, &b, 4);
    unsigned int total = (unsigned)sum;  // wraps as on a GPU
    for (int k = 0; k < count; ++k) total += (unsigned)((Sum)left[k] * (Sum)right[first + k]);
    return (Sum)total;
}

}  // namespace kit_emulator

inline int __dp4a(int a, int b, int sum) { return kit_emulator::packed_dot<int8_t, int8_t>(a, b, sum, 4, 0); }
inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int sum) {
    return kit_emulator::packed_dot<uint8_t, uint8_t>(a, b, sum, 4, 0);
}
inline int __dp4a(char4 a, char4 b, int sum) { return kit_emulator::packed_dot<int8_t, int8_t>(a, b, sum, 4, 0); }
inline unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int sum) {
    return kit_emulator::packed_dot<uint8_t, uint8_t>(a, b, sum, 4, 0);
}
#define KIT_DP2A(name, first)                                                                        \
    inline int name(int a, int b, int sum) {                                                         \
        return kit_emulator::packed_dot<int16_t, int8_t>(a, b, sum, 2, first);                       \
    }                                                                                                \
    inline unsigned int name(unsigned int a, unsigned int b, unsigned int sum) {                     \
        return kit_emulator::packed_dot<uint16_t, uint8_t>(a, b, sum, 2, first);                     \
    }                                                                                                \
    inline int name(short2 a, char4 b, int sum) {                                                    \
        return kit_emulator::packed_dot<int16_t, int8_t>(a, b, sum, 2, first);                       \
    }                                                                                                \
    inline unsigned int name(ushort2 a, uchar4 b, unsigned int sum) {                                \
        return kit_emulator::packed_dot<uint16_t, uint8_t>(a, b, sum, 2, first);                     \
    }
KIT_DP2A(__dp2a_lo, 0)
KIT_DP2A(__dp2a_hi, 2)
#undef KIT_DP2A

// What the lanes of a warp do together: shuffles, votes, matches, reductions.
//
// Every lane of the mask has to come, at whatever time; lanes that have returned are not waited for.
// A lane that reads from one that is not there (undefined on a GPU) reads its own value.
#pragma once

#include "barrier.h"
#include "bits.h"
#include "gather.h"

namespace kit_emulator {

// ---- an exchange of values of any type ---------------------------------------------------------------

/// What one lane brings and takes away. It lies on the lane's stack: the last lane to arrive serves
/// all of them before any goes on.
template <class T>
struct Exchange {
    T brought, taken;
};

template <class T>
inline Exchange<T>& exchange_of(Warp& warp, unsigned lane) { return *(Exchange<T>*)warp.value[lane]; }

/// Each lane meets the others of the mask with a value; `Serve::serve` fills what they take away.
template <class Serve, class T>
KIT_INLINE T exchange(unsigned mask, T brought, int source, int line) {
    static_assert(std::is_trivially_copyable_v<T>, "lanes exchange what can be copied byte by byte");
    Exchange<T> record{brought, brought};
    meet(&Serve::operation, mask, (Bits)(uintptr_t)&record, source, line);
    return record.taken;
}

template <class T>
struct Shuffle {
    static void serve(Warp& warp, unsigned arrived) {
        for (unsigned rest = arrived; rest; rest &= rest - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(rest), from = (unsigned)warp.source[lane];
            if (arrived >> from & 1) exchange_of<T>(warp, lane).taken = exchange_of<T>(warp, from).brought;
        }
    }
    static constexpr Operation operation = {serve, "a shuffle"};
};

/// Pairs at half the distance, again and again: the order of a reduction by __shfl_down_sync.
template <class T, class Combine>
struct Reduce {
    static void serve(Warp& warp, unsigned arrived) {
        T value[warp_lanes];
        unsigned count = 0;
        for (unsigned rest = arrived; rest; rest &= rest - 1)
            value[count++] = exchange_of<T>(warp, (unsigned)__builtin_ctz(rest)).brought;
        while (count > 1) {
            const unsigned half = (count + 1) / 2;
            for (unsigned i = 0; i + half < count; ++i) value[i] = Combine()(value[i], value[i + half]);
            count = half;
        }
        for (unsigned rest = arrived; rest; rest &= rest - 1)
            exchange_of<T>(warp, (unsigned)__builtin_ctz(rest)).taken = value[0];
    }
    static constexpr Operation operation = {serve, "a reduction"};
};

template <class T>
struct Match {
    static void serve(Warp& warp, unsigned arrived) {
        for (unsigned rest = arrived; rest; rest &= rest - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(rest);
            unsigned same_value = 0;
            for (unsigned others = arrived; others; others &= others - 1) {
                const unsigned other = (unsigned)__builtin_ctz(others);
                const T &mine = *(const T*)warp.value[lane], &its = *(const T*)warp.value[other];
                if (memcmp(&mine, &its, sizeof(T)) == 0) same_value |= 1u << other;
            }
            warp.result[lane] = same_value;
        }
    }
    static constexpr Operation operation = {serve, "a match"};
};

struct Ballot {
    static void serve(Warp& warp, unsigned arrived) {
        unsigned votes = 0;
        for (unsigned rest = arrived; rest; rest &= rest - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(rest);
            votes |= (unsigned)(warp.value[lane] != 0) << lane;
        }
        // Who is here goes into the upper half.
        for (unsigned rest = arrived; rest; rest &= rest - 1)
            warp.result[__builtin_ctz(rest)] = (Bits)arrived << 32 | votes;
    }
    static constexpr Operation operation = {serve, "a vote"};
};

struct Nothing {
    static void serve(Warp&, unsigned) {}
    static constexpr Operation operation = {serve, "__syncwarp()"};
};

KIT_INLINE Bits vote(unsigned mask, bool predicate, int line) {
    return meet(&Ballot::operation, mask, predicate, 0, line);
}

// ---- the lane that a shuffle reads from --------------------------------------------------------------

/// First lane of the part of `width` lanes that `lane` is in.
KIT_INLINE int part_start(int lane, int width) { return lane & ~(width - 1); }

template <class T>
KIT_INLINE T shuffle_from(unsigned mask, T value, int source, int line) {
    return exchange<Shuffle<T>>(mask, value, source, line);
}

struct Sum { template <class T> T operator()(T a, T b) const { return (T)(a + b); } };
struct Smaller { template <class T> T operator()(T a, T b) const { return b < a ? b : a; } };
struct Greater { template <class T> T operator()(T a, T b) const { return a < b ? b : a; } };
struct BitAnd { template <class T> T operator()(T a, T b) const { return (T)(a & b); } };
struct BitOr { template <class T> T operator()(T a, T b) const { return (T)(a | b); } };
struct BitXor { template <class T> T operator()(T a, T b) const { return (T)(a ^ b); } };

}  // namespace kit_emulator

#define KIT_LINE int line = __builtin_LINE()

KIT_INLINE void __syncwarp(unsigned mask = 0xffffffffu, KIT_LINE) {
    kit_emulator::meet(&kit_emulator::Nothing::operation, mask, 0, 0, line);
}

template <class T>
KIT_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = 32, KIT_LINE) {
    const int first = kit_emulator::part_start((int)kit_emulator::lane(), width);
    return kit_emulator::shuffle_from(mask, value, first + (source & (width - 1)), line);
}
template <class T>
KIT_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, KIT_LINE) {
    const int lane = (int)kit_emulator::lane(), source = lane - (int)delta;
    const bool inside = delta < 32 && source >= kit_emulator::part_start(lane, width);
    return kit_emulator::shuffle_from(mask, value, inside ? source : lane, line);
}
template <class T>
KIT_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, KIT_LINE) {
    const int lane = (int)kit_emulator::lane(), source = lane + (int)delta;
    const bool inside = delta < 32 && source < kit_emulator::part_start(lane, width) + width;
    return kit_emulator::shuffle_from(mask, value, inside ? source : lane, line);
}
template <class T>
KIT_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, KIT_LINE) {
    const int lane = (int)kit_emulator::lane(), source = (lane ^ lanes) & 31;
    const bool inside = source < kit_emulator::part_start(lane, width) + width;
    return kit_emulator::shuffle_from(mask, value, inside ? source : lane, line);
}

KIT_INLINE unsigned __ballot_sync(unsigned mask, int predicate, KIT_LINE) {
    return (unsigned)kit_emulator::vote(mask, predicate != 0, line);
}
KIT_INLINE int __any_sync(unsigned mask, int predicate, KIT_LINE) {
    return (unsigned)kit_emulator::vote(mask, predicate != 0, line) != 0;
}
KIT_INLINE int __all_sync(unsigned mask, int predicate, KIT_LINE) {
    return (unsigned)kit_emulator::vote(mask, predicate == 0, line) == 0;
}
KIT_INLINE int __uni_sync(unsigned mask, int predicate, KIT_LINE) {
    const kit_emulator::Bits votes = kit_emulator::vote(mask, predicate != 0, line);
    return (unsigned)votes == 0 || (unsigned)votes == votes >> 32;
}

template <class T>
KIT_INLINE unsigned __match_any_sync(unsigned mask, T value, KIT_LINE) {
    return (unsigned)kit_emulator::meet(&kit_emulator::Match<T>::operation, mask,
                                        (kit_emulator::Bits)(uintptr_t)&value, 0, line);
}
template <class T>
KIT_INLINE unsigned __match_all_sync(unsigned mask, T value, int* is_uniform, KIT_LINE) {
    const unsigned alike = __match_any_sync(mask, value, line);
    const unsigned here = (unsigned)(kit_emulator::vote(mask, true, line) >> 32);
    *is_uniform = alike == here;
    return alike == here ? mask : 0;
}

#define KIT_REDUCTION(name, Combine, T)                                                              \
    KIT_INLINE T __reduce_##name##_sync(unsigned mask, T value, KIT_LINE) {                          \
        return kit_emulator::exchange<kit_emulator::Reduce<T, kit_emulator::Combine>>(mask, value, 0, line); \
    }
KIT_REDUCTION(add, Sum, unsigned)
KIT_REDUCTION(add, Sum, int)
KIT_REDUCTION(min, Smaller, unsigned)
KIT_REDUCTION(min, Smaller, int)
KIT_REDUCTION(max, Greater, unsigned)
KIT_REDUCTION(max, Greater, int)
KIT_REDUCTION(and, BitAnd, unsigned)
KIT_REDUCTION(or, BitOr, unsigned)
KIT_REDUCTION(xor, BitXor, unsigned)
#undef KIT_REDUCTION

KIT_INLINE unsigned __activemask(KIT_LINE) { return kit_emulator::gather(line); }

// Cooperative groups: reductions and prefix sums over a tile or coalesced lanes.
#pragma once

#include "groups.h"

namespace cooperative_groups {

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

namespace kit_details {

/// What a lane brings to a collective operation: its value, and how to combine two.
template <class T, class Combine>
struct Contribution {
    T value;
    const Combine* combine;
};

template <class T, class Combine>
struct Reduce {
    using Part = Contribution<T, Combine>;
    static void serve(kit_emulator::Warp& warp, unsigned arrived) {
        T values[kit_emulator::warp_lanes];
        unsigned count = 0;
        for (unsigned rest = arrived; rest; rest &= rest - 1)
            values[count++] = ((Part*)warp.value[__builtin_ctz(rest)])->value;
        // Pairs at half the distance, again and again: the order of a loop of shfl_down.
        for (unsigned half = (count + 1) / 2; count > 1; count = half, half = (count + 1) / 2)
            for (unsigned i = 0; i + half < count; ++i) values[i] = (*first_of(warp, arrived)->combine)(values[i], values[i + half]);
        for (unsigned rest = arrived; rest; rest &= rest - 1) ((Part*)warp.value[__builtin_ctz(rest)])->value = values[0];
    }
    static Part* first_of(kit_emulator::Warp& warp, unsigned arrived) { return (Part*)warp.value[__builtin_ctz(arrived)]; }
    static constexpr kit_emulator::Operation operation = {serve, "a reduction"};
};

template <class T, class Combine>
struct Scan {
    using Part = Contribution<T, Combine>;
    static void serve(kit_emulator::Warp& warp, unsigned arrived) {
        Part* before = nullptr;
        for (unsigned rest = arrived; rest; rest &= rest - 1) {
            Part* part = (Part*)warp.value[__builtin_ctz(rest)];
            if (before != nullptr) part->value = (*part->combine)(before->value, part->value);
            before = part;
        }
    }
    static constexpr kit_emulator::Operation operation = {serve, "a scan"};
};

template <template <class, class> class Collective, class Group, class T, class Combine>
inline T collect(const Group& group, T value, const Combine& combine, int line) {
    static_assert(std::is_trivially_copyable_v<T>, "lanes exchange what can be copied byte by byte");
    Contribution<T, Combine> part{value, &combine};
    kit_emulator::meet(&Collective<T, Combine>::operation, group.kit_mask(), (kit_emulator::Bits)(uintptr_t)&part, 0, line);
    return part.value;
}

}  // namespace kit_details

template <class Group, class T, class Combine>
inline T reduce(const Group& group, T value, Combine combine, KIT_LINE) {
    return kit_details::collect<kit_details::Reduce>(group, value, combine, line);
}

template <class Group, class T, class Combine>
inline T inclusive_scan(const Group& group, T value, Combine combine, KIT_LINE) {
    return kit_details::collect<kit_details::Scan>(group, value, combine, line);
}
template <class Group, class T>
inline T inclusive_scan(const Group& group, T value, KIT_LINE) {
    return inclusive_scan(group, value, plus<T>(), line);
}
/// What the lanes before this one have; the first lane gets a zero.
template <class Group, class T, class Combine>
inline T exclusive_scan(const Group& group, T value, Combine combine, KIT_LINE) {
    const T own = inclusive_scan(group, value, combine, line);
    const unsigned mask = group.kit_mask(), below = mask & ((1u << kit_emulator::lane()) - 1);
    const int source = below ? 31 - __builtin_clz(below) : (int)kit_emulator::lane();
    const T before = kit_emulator::shuffle_from(mask, own, source, line);
    return below ? before : T{};
}
template <class Group, class T>
inline T exclusive_scan(const Group& group, T value, KIT_LINE) {
    return exclusive_scan(group, value, plus<T>(), line);
}

}  // namespace cooperative_groups

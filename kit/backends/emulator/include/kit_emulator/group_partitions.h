// Cooperative groups, divided: into tiles, by a label, by a condition.
#pragma once

#include "groups.h"

namespace cooperative_groups {

template <unsigned int Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
    const unsigned count = ((unsigned)parent.size() + Size - 1) / Size;
    return thread_block_tile<Size, Parent>((unsigned)parent.thread_rank() / Size, count);
}

/// Tiles of a size that is known when the kernel runs.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
    const unsigned rank = parent.thread_rank(), tile = rank / size, mask = parent.kit_mask();
    unsigned lanes = 0;
    for (unsigned k = tile * size; k < (tile + 1) * size && k < parent.size(); ++k)
        lanes |= 1u << kit_details::nth_lane(mask, k);
    return coalesced_group(lanes, tile, (parent.size() + size - 1) / size);
}
inline coalesced_group tiled_partition(const thread_block& parent, unsigned size) {
    return coalesced_group(kit_details::tile_mask(size), parent.thread_rank() / size,
                           (parent.size() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
    if (parent.is_block()) return tiled_partition(thread_block(), size);
    return tiled_partition(coalesced_group(parent.kit_mask()), size);
}

/// Those for whom the predicate has the same value.
template <class Group>
inline coalesced_group binary_partition(const Group& group, bool predicate, KIT_LINE) {
    const unsigned mask = group.kit_mask();
    const kit_emulator::Bits votes = kit_emulator::vote(mask, predicate, line);
    const unsigned here = (unsigned)(votes >> 32), yes = (unsigned)votes, no = here & ~yes;
    if (yes == 0 || no == 0) return coalesced_group(here);
    return coalesced_group(predicate ? yes : no, predicate, 2);
}

/// Those who have the same label; groups are counted in the order of their first lanes.
template <class Group, class Label>
inline coalesced_group labeled_partition(const Group& group, Label label, KIT_LINE) {
    static_assert(std::is_integral_v<Label> || std::is_pointer_v<Label>, "a label is an integer or a pointer");
    const unsigned mask = group.kit_mask(), alike = __match_any_sync(mask, label, line);
    const unsigned first = (unsigned)__builtin_ctz(alike);
    const unsigned leaders = __ballot_sync(mask, first == kit_emulator::lane(), line);
    const unsigned rank = (unsigned)__builtin_popcount(leaders & ((1u << first) - 1));
    return coalesced_group(alike, rank, (unsigned)__builtin_popcount(leaders));
}

template <class Group, class Function, class... Arguments>
inline void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
    if (group.thread_rank() == 0) static_cast<Function&&>(function)(static_cast<Arguments&&>(arguments)...);
}

}  // namespace cooperative_groups

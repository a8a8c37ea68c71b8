// Cooperative groups: a block, tiles of a warp's lanes, lanes that run together.
#pragma once

#include "vector_types.h"
#include "warp.h"

namespace cooperative_groups {

namespace kit_details {
inline unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
/// Lanes of this warp that the block has.
inline unsigned warp_mask() {
    const unsigned left = block_size() - kit_emulator::thread_rank() / 32 * 32;
    return left >= 32 ? ~0u : (1u << left) - 1;
}
/// Lanes of the tile of `size` lanes that this lane is in.
inline unsigned tile_mask(unsigned size) {
    const unsigned lanes = size >= 32 ? ~0u : (1u << size) - 1;
    return lanes << (kit_emulator::lane() & ~(size - 1)) & warp_mask();
}
/// The n-th lane of a mask.
inline int nth_lane(unsigned mask, unsigned n) {
    for (; n; --n) mask &= mask - 1;
    return mask ? __builtin_ctz(mask) : (int)kit_emulator::lane();
}
}  // namespace kit_details

/// Any group: the block where `mask` is 0, else lanes of one warp.
class thread_group {
public:
    unsigned long long size() const { return is_block() ? kit_details::block_size() : __builtin_popcount(mask_); }
    unsigned long long num_threads() const { return size(); }
    unsigned long long thread_rank() const {
        if (is_block()) return kit_emulator::thread_rank();
        return __builtin_popcount(mask_ & ((1u << kit_emulator::lane()) - 1));
    }
    void sync(KIT_LINE) const {
        if (is_block()) kit_emulator::wait_block(0, line);
        else __syncwarp(mask_, line);
    }
    bool is_valid() const { return true; }
    unsigned kit_mask() const { return is_block() ? kit_details::warp_mask() : mask_; }
    bool is_block() const { return mask_ == 0; }

protected:
    explicit thread_group(unsigned mask, unsigned rank = 0, unsigned count = 1)
        : mask_(mask), meta_group_rank_(rank), meta_group_size_(count) {}
    unsigned mask_, meta_group_rank_, meta_group_size_;
};

class thread_block : public thread_group {
public:
    thread_block() : thread_group(0) {}
    struct arrival_token {};
    static void sync(KIT_LINE) { kit_emulator::wait_block(0, line); }
    // Who has waited has arrived: all that was written before the arrival is seen.
    arrival_token barrier_arrive() const { return {}; }
    void barrier_wait(arrival_token&&, KIT_LINE) const { sync(line); }
    static unsigned thread_rank() { return kit_emulator::thread_rank(); }
    static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static dim3 group_dim() { return dim_threads(); }
    static unsigned num_threads() { return kit_details::block_size(); }
    static unsigned size() { return num_threads(); }
};

/// Room for tiles of more than a warp, which the emulator does not have: the name is enough.
template <unsigned int MaxBlockSize = 1024>
struct block_tile_memory {};

inline thread_block this_thread_block() { return {}; }
template <unsigned int N>
inline thread_block this_thread_block(block_tile_memory<N>&) { return {}; }

/// The whole grid; it cannot wait for all of its blocks (refusals.py says so before compiling).
class grid_group {
public:
    static bool is_valid() { return false; }
    static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static dim3 group_dim() { return dim_blocks(); }
    static unsigned long long num_threads() { return num_blocks() * kit_details::block_size(); }
    static unsigned long long size() { return num_threads(); }
    static unsigned long long thread_rank() {
        return block_rank() * kit_details::block_size() + kit_emulator::thread_rank();
    }
};
inline grid_group this_grid() { return {}; }

/// Lanes of one warp, in the order of their numbers.
class coalesced_group : public thread_group {
public:
    explicit coalesced_group(unsigned mask, unsigned rank = 0, unsigned count = 1) : thread_group(mask, rank, count) {}
    unsigned size() const { return (unsigned)__builtin_popcount(mask_); }
    unsigned num_threads() const { return size(); }
    unsigned meta_group_rank() const { return meta_group_rank_; }
    unsigned meta_group_size() const { return meta_group_size_; }
    unsigned thread_rank() const { return (unsigned)thread_group::thread_rank(); }

    template <class T> T shfl(T value, unsigned rank, KIT_LINE) const {
        return kit_emulator::shuffle_from(mask_, value, kit_details::nth_lane(mask_, rank % size()), line);
    }
    template <class T> T shfl_up(T value, unsigned delta, KIT_LINE) const {
        const unsigned rank = thread_rank();
        return kit_emulator::shuffle_from(mask_, value, lane_of(rank < delta ? rank : rank - delta), line);
    }
    template <class T> T shfl_down(T value, unsigned delta, KIT_LINE) const {
        const unsigned rank = thread_rank();
        return kit_emulator::shuffle_from(mask_, value, lane_of(rank + delta < size() ? rank + delta : rank), line);
    }
    int any(int predicate, KIT_LINE) const { return __any_sync(mask_, predicate, line); }
    int all(int predicate, KIT_LINE) const { return __all_sync(mask_, predicate, line); }
    unsigned ballot(int predicate, KIT_LINE) const { return packed(__ballot_sync(mask_, predicate, line)); }
    template <class T> unsigned match_any(T value, KIT_LINE) const {
        return packed(__match_any_sync(mask_, value, line));
    }
    template <class T> unsigned match_all(T value, int& is_uniform, KIT_LINE) const {
        return packed(__match_all_sync(mask_, value, &is_uniform, line));
    }

private:
    int lane_of(unsigned rank) const { return kit_details::nth_lane(mask_, rank); }
    /// Bits of the group's lanes, side by side.
    unsigned packed(unsigned lanes) const {
        unsigned bits = 0, rank = 0;
        for (unsigned rest = mask_; rest; rest &= rest - 1, ++rank)
            bits |= (lanes >> __builtin_ctz(rest) & 1) << rank;
        return bits;
    }
};
inline coalesced_group coalesced_threads(KIT_LINE) { return coalesced_group(__activemask(line)); }

/// `Size` neighbouring lanes of a warp.
template <unsigned int Size, class Parent = void>
class thread_block_tile : public thread_group {
    static_assert(Size <= 32, "the emulator has tiles of at most 32 threads: use this_thread_block() for more");
    static_assert(Size >= 1 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

public:
    explicit thread_block_tile(unsigned rank, unsigned count)
        : thread_group(kit_details::tile_mask(Size), rank, count) {}
    /// Without its parent's type, as functions take it.
    template <class Other>
    thread_block_tile(const thread_block_tile<Size, Other>& other)
        : thread_block_tile(other.meta_group_rank(), other.meta_group_size()) {}

    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned thread_rank() { return kit_emulator::lane() & (Size - 1); }
    unsigned meta_group_rank() const { return meta_group_rank_; }
    unsigned meta_group_size() const { return meta_group_size_; }

    template <class T> T shfl(T value, int rank, KIT_LINE) const { return __shfl_sync(mask_, value, rank, Size, line); }
    template <class T> T shfl_up(T value, unsigned delta, KIT_LINE) const {
        return __shfl_up_sync(mask_, value, delta, Size, line);
    }
    template <class T> T shfl_down(T value, unsigned delta, KIT_LINE) const {
        return __shfl_down_sync(mask_, value, delta, Size, line);
    }
    template <class T> T shfl_xor(T value, unsigned lanes, KIT_LINE) const {
        return __shfl_xor_sync(mask_, value, (int)lanes, Size, line);
    }
    int any(int predicate, KIT_LINE) const { return __any_sync(mask_, predicate, line); }
    int all(int predicate, KIT_LINE) const { return __all_sync(mask_, predicate, line); }
    unsigned ballot(int predicate, KIT_LINE) const { return own(__ballot_sync(mask_, predicate, line)); }
    template <class T> unsigned match_any(T value, KIT_LINE) const { return own(__match_any_sync(mask_, value, line)); }
    template <class T> unsigned match_all(T value, int& is_uniform, KIT_LINE) const {
        return own(__match_all_sync(mask_, value, &is_uniform, line));
    }

private:
    static unsigned own(unsigned lanes) {
        const unsigned first = kit_emulator::lane() & ~(Size - 1);
        return Size == 32 ? lanes : lanes >> first & ((1u << Size % 32) - 1);
    }
};

template <class Group> void sync(const Group& group, KIT_LINE) { group.sync(line); }
template <class Group> auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> auto group_size(const Group& group) { return group.size(); }

}  // namespace cooperative_groups

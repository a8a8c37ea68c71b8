// CUDA's atomic functions: the processor's own on memory that other blocks see; on shared memory,
// which one worker has for itself, plain ones.
#pragma once

#include <type_traits>

#include "barrier.h"
#include "bits.h"
#include "vector_types.h"

namespace kit_emulator {

/// T, for the types among which it is; a cell's own overloads for other types stay unambiguous.
template <class T, class... Types>
using one_of = std::enable_if_t<(std::is_same_v<T, Types> || ...), T>;

/// Nothing moves across. The loop over threads must not be vectorised around an atomic operation.
KIT_INLINE void compiler_fence() { asm volatile("" ::: "memory"); }

/// Replace `*address` by `change(*address)` at once; what it was before.
template <class T, class Change>
inline T update(T* address, Change change) {
    if (is_shared(address)) {
        compiler_fence();
        const T before = *address;
        *address = change(before);
        compiler_fence();
        return before;
    }
    using Word = typename unsigned_of<sizeof(T)>::type;
    Word* word = (Word*)address;
    Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (;;) {
        const T before = bit_cast<T>(seen);
        const Word after = bit_cast<Word>((T)change(before));
        if (__atomic_compare_exchange_n(word, &seen, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return before;
    }
}

template <class T>
inline T add(T* address, T value) {
    if constexpr (std::is_integral_v<T>) {
        if (!is_shared(address)) return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
    }
    return update(address, [=](T old) { return (T)(old + value); });
}

static __thread unsigned fruitless;  // atomic operations in a row that changed nothing

/// A thread that asks again and again waits for another one, which may be of the same block.
template <class T>
inline T noticed(T before, bool changed) {
    if (KIT_LIKELY(changed)) {
        fruitless = 0;
    } else if (KIT_UNLIKELY(++fruitless > 256)) {
        fruitless = 0;
        yield();
    }
    return before;
}

template <class T> bool is_same_word(T a, T b) {
    using Word = typename unsigned_of<sizeof(T)>::type;
    return bit_cast<Word>(a) == bit_cast<Word>(b);
}

}  // namespace kit_emulator

// `suffix`: of the whole device, of a block, of the system; here there is no difference.
#define KIT_ATOMICS(suffix)                                                                          \
    template <class T>                                                                               \
    inline kit_emulator::one_of<T, int, unsigned int, unsigned long long, float, double>             \
        atomicAdd##suffix(T* address, kit_emulator::same<T> value) {                                 \
        const T before = kit_emulator::add(address, value);                                          \
        return value == 0 ? kit_emulator::noticed(before, false) : before;                           \
    }                                                                                                \
    inline float2 atomicAdd##suffix(float2* address, float2 value) {                                 \
        return {atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y)};   \
    }                                                                                                \
    inline float4 atomicAdd##suffix(float4* address, float4 value) {                                 \
        return {atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y),    \
                atomicAdd##suffix(&address->z, value.z), atomicAdd##suffix(&address->w, value.w)};   \
    }                                                                                                \
    KIT_ATOMIC(suffix, atomicSub, old - value, int, unsigned int)                                    \
    KIT_ATOMIC(suffix, atomicMin, value < old ? value : old, int, unsigned int, long long, unsigned long long) \
    KIT_ATOMIC(suffix, atomicMax, value > old ? value : old, int, unsigned int, long long, unsigned long long) \
    KIT_ATOMIC(suffix, atomicAnd, old & value, int, unsigned int, unsigned long long)                \
    KIT_ATOMIC(suffix, atomicOr, old | value, int, unsigned int, unsigned long long)                 \
    KIT_ATOMIC(suffix, atomicXor, old ^ value, int, unsigned int, unsigned long long)                \
    KIT_ATOMIC(suffix, atomicInc, old >= value ? 0 : old + 1, unsigned int)                          \
    KIT_ATOMIC(suffix, atomicDec, old == 0 || old > value ? value : old - 1, unsigned int)           \
    template <class T>                                                                               \
    inline kit_emulator::one_of<T, int, unsigned int, unsigned long long, float>                     \
        atomicExch##suffix(T* address, kit_emulator::same<T> value) {                                \
        const T before = kit_emulator::update(address, [=](T) { return value; });                    \
        return kit_emulator::noticed(before, !kit_emulator::is_same_word(before, value));            \
    }                                                                                                \
    template <class T>                                                                               \
    inline kit_emulator::one_of<T, int, unsigned int, unsigned long long, unsigned short>            \
        atomicCAS##suffix(T* address, kit_emulator::same<T> expected, kit_emulator::same<T> value) { \
        const T before = kit_emulator::update(address, [=](T old) { return old == expected ? value : old; }); \
        return kit_emulator::noticed(before, before == expected && expected != value);               \
    }
#define KIT_ATOMIC(suffix, name, after, ...)                                                         \
    template <class T>                                                                               \
    inline kit_emulator::one_of<T, __VA_ARGS__> name##suffix(T* address, kit_emulator::same<T> value) { \
        return kit_emulator::update(address, [=](T old) { return (T)(after); });                     \
    }
KIT_ATOMICS()
KIT_ATOMICS(_block)
KIT_ATOMICS(_system)
#undef KIT_ATOMIC
#undef KIT_ATOMICS

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

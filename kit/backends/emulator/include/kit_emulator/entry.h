// From a `__global__` function to what the runtime launches: the loop over a block's threads.
#pragma once

#include <link.h>

#include <type_traits>
#include <utility>

#include "barrier.h"
#include "fault.h"
#include "gather.h"

namespace kit_emulator {

/// Where a cell's library and one worker's copy of its thread-local memory are.
struct Places {
    const char *code_low, *shared_low;
    std::size_t code_bytes, shared_bytes;
};

/// Finds the library that this code is in.
KIT_COLD int find_places(struct dl_phdr_info* library, std::size_t, void* out) {
    const std::uintptr_t here = (std::uintptr_t)(void*)&find_places;
    Places& places = *(Places*)out;
    const ElfW(Phdr)* local = nullptr;
    for (int i = 0; i < library->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = library->dlpi_phdr[i];
        const std::uintptr_t low = library->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && here - low < part.p_memsz) {
            places.code_low = (const char*)low;
            places.code_bytes = part.p_memsz;
        }
        if (part.p_type == PT_TLS) local = &part;
    }
    if (places.code_low == nullptr) return 0;
    if (local != nullptr && library->dlpi_tls_data != nullptr) {
        places.shared_low = (const char*)library->dlpi_tls_data;
        places.shared_bytes = local->p_memsz;
    }
    return 1;
}

KIT_COLD void enter(Worker* worker) {
    static __thread Places places;
    kit_emulator_worker = worker;
    kit_emulator_promoted = 0;
    if (places.code_low == nullptr) dl_iterate_phdr(find_places, &places);
    worker->code_low = places.code_low;
    worker->code_bytes = places.code_bytes;
    worker->shared_low = places.shared_low;
    worker->shared_bytes = places.shared_bytes;
    const unsigned *block = worker->block_extent, *grid = worker->grid_extent;
    blockDim.x = block[0];
    blockDim.y = block[1];
    blockDim.z = block[2];
    gridDim.x = grid[0];
    gridDim.y = grid[1];
    gridDim.z = grid[2];
}

KIT_INLINE void enter_block(const Worker* worker) {
    // Member by member: to assign all of it takes its address, and then GCC (12) believes until late
    // that any store of the kernel could change it.
    blockIdx.x = worker->block[0];
    blockIdx.y = worker->block[1];
    blockIdx.z = worker->block[2];
    kit_emulator_promoted = 0;
}

KIT_COLD void locate(unsigned thread[3]) {
    thread[0] = threadIdx.x;
    thread[1] = threadIdx.y;
    thread[2] = threadIdx.z;
}

/// The type of a kernel's parameter.
template <class F, std::size_t I>
struct Parameter;
template <class R, class A, class... B>
struct Parameter<R (*)(A, B...), 0> {
    using type = A;
};
template <class R, class A, class... B, std::size_t I>
struct Parameter<R (*)(A, B...), I> : Parameter<R (*)(B...), I - 1> {};

template <class A>
using Stored = std::remove_cv_t<std::remove_reference_t<A>>;

template <auto K, class... A>
struct Entry {
    /// One thread, to its end.
    template <std::size_t... I>
    KIT_INLINE void call(void** arguments, std::index_sequence<I...>) {
        K(*(Stored<A>*)arguments[I]...);
    }
    static __attribute__((noinline)) void thread(void** arguments) {
        call(arguments, std::index_sequence_for<A...>());
    }
    static void run_thread(Worker* worker, void** arguments) {
        set_thread(worker);
        thread(arguments);
    }

    /// One call for each thread, and no promises to the compiler: for grids so large that indices
    /// may wrap at 2^32, and for finding out which thread of a block faults.
    static __attribute__((noinline)) void run_slowly(Worker* worker, void** arguments) {
        enter_block(worker);
        for (unsigned i = 0; i < worker->n_threads; ++i) {
            worker->current = i;
            set_thread(worker);
            thread(arguments);
            if (kit_emulator_promoted) return;
        }
    }

    /// The threads as a loop, with the arguments in registers, until one has to wait.
    static __attribute__((noinline)) void loop(unsigned nx, unsigned ny, unsigned nz, A... a) {
        const unsigned bx = blockIdx.x, by = blockIdx.y;
        // GCC then sees that blockIdx.x * blockDim.x + threadIdx.x does not wrap.
        if (bx >= small_grid || by >= small_grid) __builtin_unreachable();
        if (nx == 0 || nx > max_threads || ny == 0 || ny > max_threads) __builtin_unreachable();
        blockIdx.x = bx;
        blockIdx.y = by;
        blockDim.x = nx;
        blockDim.y = ny;
        blockDim.z = nz;
        for (unsigned z = 0; z < nz; ++z) {
            for (unsigned y = 0; y < ny; ++y) {
                threadIdx.y = y;
                threadIdx.z = z;
#pragma GCC ivdep
                for (unsigned x = 0; x < nx; ++x) {
                    threadIdx.x = x;
                    K(a...);
                    if (KIT_UNLIKELY(kit_emulator_promoted)) return;
                }
            }
        }
    }
    template <std::size_t... I>
    KIT_INLINE void start(Worker* worker, void** arguments, std::index_sequence<I...>) {
        const unsigned* block = worker->block_extent;
        loop(block[0], block[1], block[2], *(Stored<A>*)arguments[I]...);
    }
    static void run_block(Worker* worker, void** arguments) {
        const unsigned* block = worker->block;
        enter_block(worker);
        if (block[0] >= small_grid || block[1] >= small_grid) {
            run_slowly(worker, arguments);
        } else {
            start(worker, arguments, std::index_sequence_for<A...>());
        }
    }

    static constexpr unsigned small_grid = 1u << 20;
    static constexpr unsigned sizes[sizeof...(A) + 1] = {sizeof(Stored<A>)..., 0};
    static inline float block_ns = -1.0f;
    static constexpr Kernel kernel = {run_block, run_slowly, run_thread,    enter,
                                      locate,    sizes,      sizeof...(A), &block_ns};
};

template <auto K, class F>
struct EntryOf;
template <auto K, class R, class... A>
struct EntryOf<K, R (*)(A...)> : Entry<K, A...> {};

/// A `__constant__` or `__device__` variable.
struct Symbol {
    const volatile void* address;
    std::size_t n_bytes;
    bool is_const;
};

}  // namespace kit_emulator

// Named like this because the cell's macros are in force where they are used.
template <auto K>
constexpr kit_emulator::Kernel kit_emulator_kernel_of = kit_emulator::EntryOf<K, decltype(K)>::kernel;
template <class T>
constexpr kit_emulator::Symbol kit_emulator_symbol_of(T& variable) {
    return {&variable, sizeof(T), std::is_const_v<std::remove_all_extents_t<T>>};
}
// What a parameter or a variable consists of, for the assertions of layouts.py.
template <class F, std::size_t I>
using kit_emulator_value = typename kit_emulator::Parameter<F, I>::type;
template <class F, std::size_t I>
using kit_emulator_pointee = std::remove_pointer_t<kit_emulator_value<F, I>>;
template <class F, std::size_t I>
using kit_emulator_viewed = std::remove_pointer_t<decltype(kit_emulator_value<F, I>::data)>;
template <class T>
using kit_emulator_variable = std::remove_all_extents_t<T>;
using kit_emulator_kernel = kit_emulator::Kernel;
using kit_emulator_symbol = kit_emulator::Symbol;

// malloc and its kin, for kernels: a stop (Ctrl-C, another block's fault) jumps out of what it
// interrupts, and must not leave the C library's heap locked or half changed.
//
// The linker puts these in the place of the C library's functions (--wrap, commands.py): in cells, and
// in what C++ allocates there.
#include <cstddef>
#include <type_traits>

#include "internal.h"

namespace kit_emulator {
namespace {

template <class Function, class... A>
auto undisturbed(Function function, A... arguments) {
    Worker* worker = my_worker;
    if (worker == nullptr || !worker->in_kernel) return function(arguments...);
    kit_emulator_shield(worker);
    if constexpr (std::is_void_v<decltype(function(arguments...))>) {
        function(arguments...);
        kit_emulator_unshield(worker);
    } else {
        auto result = function(arguments...);
        kit_emulator_unshield(worker);
        return result;
    }
}

}  // namespace
}  // namespace kit_emulator

#define KIT_UNDISTURBED(type, name, parameters, ...)                                    \
    extern "C" type __real_##name parameters;                                           \
    extern "C" __attribute__((visibility("default"))) type __wrap_##name parameters {   \
        return kit_emulator::undisturbed(__real_##name, __VA_ARGS__);                   \
    }

KIT_UNDISTURBED(void*, malloc, (std::size_t size), size)
KIT_UNDISTURBED(void*, calloc, (std::size_t count, std::size_t size), count, size)
KIT_UNDISTURBED(void*, realloc, (void* memory, std::size_t size), memory, size)
KIT_UNDISTURBED(void*, aligned_alloc, (std::size_t alignment, std::size_t size), alignment, size)
KIT_UNDISTURBED(void, free, (void* memory), memory)

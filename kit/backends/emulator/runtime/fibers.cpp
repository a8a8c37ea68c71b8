#include "fibers.h"

#include <kit_emulator/fiber.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#ifdef KIT_EMULATOR_PORTABLE
#include <ucontext.h>
#endif

extern "C" void kit_emulator_fiber_main();

namespace kit_emulator {
namespace {

/// How many fibers of the process may have a page below their stack that faults.
///
/// Each costs two mappings, and a process has some 65,530 (vm.max_map_count): half of them.
unsigned guard_limit() {
    static const unsigned limit = [] {
        unsigned long count = 65530;
        if (FILE* file = std::fopen("/proc/sys/vm/max_map_count", "r")) {
            if (std::fscanf(file, "%lu", &count) != 1) count = 65530;
            std::fclose(file);
        }
        return (unsigned)(count / 4);
    }();
    return limit;
}

unsigned n_guards;  // of all workers

/// Whether there may be one guard more; it counts from now on.
bool take_guard() {
    if (__atomic_fetch_add(&n_guards, 1, __ATOMIC_RELAXED) < guard_limit()) return true;
    __atomic_fetch_sub(&n_guards, 1, __ATOMIC_RELAXED);
    return false;
}

const char* map_stacks(Worker* worker) {
    if (worker->stacks == nullptr) {
        void* memory = mmap(nullptr, max_threads * stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return "no memory for the stacks of 1024 threads (64 MiB)";
        worker->stacks = (char*)memory;
    }
    // Workers share alike; so many Python threads may launch that nothing is left.
    const unsigned share = guard_limit() / (unsigned)worker_count();
    const unsigned wanted = worker->n_threads < share ? worker->n_threads : share;
    for (; worker->n_guarded < wanted && take_guard(); ++worker->n_guarded) {
        mprotect(worker->stacks + worker->n_guarded * stack_bytes, page_bytes, PROT_NONE);
    }
    return nullptr;
}

/// Where the stack of a fiber starts: at another cache set for each neighbour.
char* stack_top(Worker* worker, unsigned thread) {
    return worker->stacks + (thread + 1) * stack_bytes - 64 - thread % 48 * 64;
}

}  // namespace

bool is_below_fiber(const Worker* worker, const void* address) {
    if (worker->stacks == nullptr) return false;
    const char* low = worker->stacks + worker->current * stack_bytes;
    const std::ptrdiff_t offset = (const char*)address - low;
    return offset >= -(std::ptrdiff_t)stack_bytes && offset < (std::ptrdiff_t)page_bytes;
}

#ifdef KIT_EMULATOR_PORTABLE

const char* prepare_fibers(Worker* worker, unsigned current) {
    if (const char* refusal = map_stacks(worker)) return refusal;
    if (worker->contexts == nullptr) {
        worker->contexts = std::calloc(max_threads, sizeof(ucontext_t));
        if (worker->contexts == nullptr) return "no memory for the state of 1024 threads";
    }
    auto* contexts = (ucontext_t*)worker->contexts;
    for (unsigned t = current; t < worker->n_threads; ++t) {
        worker->fiber[t] = &contexts[t];
        if (t == current) continue;
        getcontext(&contexts[t]);
        contexts[t].uc_stack.ss_sp = worker->stacks + t * stack_bytes + page_bytes;
        contexts[t].uc_stack.ss_size =
            (std::size_t)(stack_top(worker, t) - (char*)contexts[t].uc_stack.ss_sp);
        contexts[t].uc_link = nullptr;
        makecontext(&contexts[t], kit_emulator_fiber_main, 0);
    }
    return nullptr;
}

extern "C" __attribute__((visibility("default"))) void kit_emulator_swap(void** save, void* load) {
    // The fiber that has ended has no context of its own any more.
    static thread_local ucontext_t nowhere;
    auto* saved = *save == nullptr ? &nowhere : (ucontext_t*)*save;
    swapcontext(saved, (ucontext_t*)load);
}

#else

// The first switch to a fiber comes here, with an aligned stack and no caller to unwind to.
extern "C" void kit_emulator_fiber_start();
asm(R"(
.text
.hidden kit_emulator_fiber_start
.globl kit_emulator_fiber_start
.type kit_emulator_fiber_start, @function
kit_emulator_fiber_start:
    .cfi_startproc
    .cfi_undefined rip
    xorl %ebp, %ebp
    andq $-16, %rsp
    call kit_emulator_fiber_main
    ud2
    .cfi_endproc
.size kit_emulator_fiber_start, .-kit_emulator_fiber_start
)");

const char* prepare_fibers(Worker* worker, unsigned current) {
    if (const char* refusal = map_stacks(worker)) return refusal;
    for (unsigned t = current + 1; t < worker->n_threads; ++t) {
        void** top = (void**)stack_top(worker, t);
        *--top = nullptr;
        *--top = (void*)kit_emulator_fiber_start;  // popped and jumped to by switch_fiber
        worker->fiber[t] = top;
    }
    return nullptr;
}

#endif

void free_fibers(Worker* worker) {
    if (worker->stacks != nullptr) munmap(worker->stacks, max_threads * stack_bytes);
    __atomic_fetch_sub(&n_guards, worker->n_guarded, __ATOMIC_RELAXED);
    std::free(worker->contexts);
}

}  // namespace kit_emulator

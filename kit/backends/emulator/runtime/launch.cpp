// A launch, from the call to the last block.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "internal.h"

namespace kit_emulator {
namespace {

// To wake another worker costs some 20 us; a launch that takes less is run by its own thread.
constexpr float worth_sharing_ns = 20e3f;

constexpr int printed_flag = 256;  // kit_emulator_output has something

pthread_key_t cleanup;
pthread_once_t cleanup_once = PTHREAD_ONCE_INIT;

struct Thread {
    Worker worker;
    Launch launch;
};

void free_thread(void* value) {
    auto* thread = (Thread*)value;
    my_worker = nullptr;
    if (thread->worker.signal_stack != nullptr) {
        stack_t none;
        std::memset(&none, 0, sizeof none);
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
        std::free(thread->worker.signal_stack);
    }
    free_fibers(&thread->worker);
    std::free(thread->launch.output.text);
    std::free(thread);
}

/// A stack for handlers, as the kernel's own may be what has overflowed.
void use_signal_stack(Worker* worker) {
    stack_t now;
    if (sigaltstack(nullptr, &now) == 0 && !(now.ss_flags & SS_DISABLE)) return;
    worker->signal_stack = (char*)std::malloc(signal_stack_bytes);
    if (worker->signal_stack == nullptr) return;
    stack_t ours;
    std::memset(&ours, 0, sizeof ours);
    ours.ss_sp = worker->signal_stack;
    ours.ss_size = signal_stack_bytes;
    sigaltstack(&ours, nullptr);
}

std::int64_t clock_ns() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (std::int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void set_extents(Worker* worker, const Launch* launch) {
    const unsigned* block = launch->block;
    const bool is_new = std::memcmp(worker->block_extent, block, sizeof launch->block) != 0;
    if (is_new) {
        worker->n_threads = block[0] * block[1] * block[2];
        worker->n_warps = (worker->n_threads + warp_lanes - 1) / warp_lanes;
        unsigned thread = 0;
        for (unsigned z = 0; z < block[2]; ++z)
            for (unsigned y = 0; y < block[1]; ++y)
                for (unsigned x = 0; x < block[0]; ++x)
                    worker->position[thread++] = x | y << 11 | z << 22;
        std::memcpy(worker->block_extent, block, sizeof launch->block);
    }
    std::memcpy(worker->grid_extent, launch->grid, sizeof launch->grid);
}

void run_chunk(Worker* worker, Launch* launch, std::uint64_t low, std::uint64_t high) {
    const unsigned gx = launch->grid[0], gy = launch->grid[1];
    unsigned* block = worker->block;
    block[0] = (unsigned)(low % gx);
    block[1] = (unsigned)(low / gx % gy);
    block[2] = (unsigned)(low / gx / gy);
    for (std::uint64_t i = low; i < high; ++i) {
        if (__atomic_load_n(&launch->stop, __ATOMIC_RELAXED)) return;
        worker->is_promoted = false;
        worker->kernel->run_block(worker, worker->arguments);
        if (worker->is_promoted) finish_block(worker);
        if (++block[0] == gx) {
            block[0] = 0;
            if (++block[1] == gy) {
                block[1] = 0;
                ++block[2];
            }
        }
    }
}

/// The next blocks for this worker: many at first, few towards the end, so that all end together.
bool take_blocks(Launch* launch, std::uint64_t* low, std::uint64_t* high) {
    std::uint64_t next = __atomic_load_n(&launch->next, __ATOMIC_RELAXED);
    for (;;) {
        if (next >= launch->n_blocks || launch->stop) return false;
        const std::uint64_t count = (launch->n_blocks - next) / launch->n_shares;
        *low = next;
        *high = next + (count < 1 ? 1 : count);
        if (__atomic_compare_exchange_n(&launch->next, &next, *high, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            return true;
        }
    }
}

enum Role : char { role_unknown, role_main, role_other };
thread_local Role my_role;

bool is_main_thread() {
    if (KIT_UNLIKELY(my_role == role_unknown)) {
#ifdef __linux__
        const bool is_main = (pid_t)syscall(SYS_gettid) == getpid();
#else
        const bool is_main = pthread_main_np() != 0;
#endif
        my_role = is_main ? role_main : role_other;
    }
    return my_role == role_main;
}

}  // namespace

thread_local Worker* my_worker;

void become_main_thread() { my_role = role_main; }

Worker* this_worker() {
    if (KIT_LIKELY(my_worker != nullptr)) return my_worker;
    pthread_once(&cleanup_once, [] { pthread_key_create(&cleanup, free_thread); });
    auto* thread = (Thread*)std::calloc(1, sizeof(Thread));
    if (thread == nullptr) return nullptr;
    my_worker = &thread->worker;
    pthread_setspecific(cleanup, thread);
    use_signal_stack(my_worker);
    return my_worker;
}

Launch* this_launch() { return &((Thread*)this_worker())->launch; }

void enter_launch(Worker* worker, Launch* launch) {
    worker->launch = launch;
    worker->kernel = launch->kernel;
    worker->arguments = launch->arguments;
    worker->dynamic_shared_bytes = launch->shared_bytes;
    set_extents(worker, launch);
    worker->kernel->enter(worker);
    worker->shielded = 0;
    worker->stop_deferred = 0;
    worker->stack_high = (const char*)__builtin_frame_address(0);
}

void run_blocks(Worker* volatile worker, Launch* volatile launch) {
    enter_launch(worker, launch);
    if (__builtin_setjmp(worker->escape) == 0) {
        worker->in_kernel = 1;
        std::uint64_t low, high;
        while (take_blocks(launch, &low, &high)) run_chunk(worker, launch, low, high);
    }
    worker->in_kernel = 0;
}

extern "C" {

/// Run every block; 0, or a Fault, which kit_emulator_fault tells about, and printed_flag.
__attribute__((visibility("default"))) int kit_emulator_launch(const Kernel* kernel,
                                                               void** arguments,
                                                               const unsigned* extents,
                                                               std::size_t shared_bytes) {
    Worker* worker = this_worker();
    if (worker == nullptr) return fault_limit;
    Launch* launch = this_launch();
    launch->kernel = kernel;
    launch->arguments = arguments;
    std::memcpy(launch->grid, extents, sizeof launch->grid);
    std::memcpy(launch->block, extents + 3, sizeof launch->block);
    launch->shared_bytes = shared_bytes;
    launch->n_blocks = (std::uint64_t)extents[0] * extents[1] * extents[2];
    launch->next = 0;
    launch->stop = fault_none;
    launch->owner = pthread_self();
    const bool is_main = is_main_thread();
    const float block_ns = *kernel->block_ns;
    const bool is_shared = launch->n_blocks > 1 && worker_count() > 1 &&
                           (block_ns < 0 || block_ns * (float)launch->n_blocks > worth_sharing_ns);
    launch->n_shares = is_shared ? 4 * (std::uint64_t)worker_count() : 1;
    install_handlers();
    if (is_main) main_launch = launch;
    const std::int64_t started = clock_ns();
    if (is_shared) publish(launch);
    run_blocks(worker, launch);
    if (is_shared) withdraw(launch);
    if (KIT_UNLIKELY(launch->stop == fault_signal && !launch->fault.thread_is_known)) {
        find_faulting_thread(worker, launch);
    }
    if (is_main) main_launch = nullptr;
    remove_handlers();
    const float elapsed = (float)(clock_ns() - started);
    *kernel->block_ns = elapsed * (float)(is_shared ? worker_count() : 1) / (float)launch->n_blocks;
    return launch->stop | (launch->output.n_bytes + launch->output.n_lost ? printed_flag : 0);
}

/// The fault of this thread's latest launch.
__attribute__((visibility("default"))) void kit_emulator_fault(FaultReport* out) {
    std::memcpy(out, &this_launch()->fault, sizeof *out);
}

}  // extern "C"
}  // namespace kit_emulator

// Signals while launches run: faults of kernels, Ctrl-C, and the wish that a worker stops.
//
// The handlers are there only then, and what was there before is put back. What is not a
// kernel's goes to the handler that was there before.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "fibers.h"
#include "internal.h"

namespace kit_emulator {

Launch* volatile main_launch;

namespace {

// SIGURG asks a worker to stop: whoever has no handler for it ignores it, so that one which comes
// late does no harm.
constexpr int stop_signal = SIGURG;
constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int all_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGURG, SIGINT};
constexpr int n_signals = sizeof all_signals / sizeof all_signals[0];

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int n_launches;
struct sigaction before[n_signals];
bool is_ours[n_signals];

int index_of(int signal) {
    for (int i = 0; i < n_signals; ++i) {
        if (all_signals[i] == signal) return i;
    }
    return 0;
}

/// What would have happened without kit.
void pass_on(int signal, siginfo_t* info, void* context) {
    const struct sigaction& old = before[index_of(signal)];
    if (old.sa_flags & SA_SIGINFO) {
        old.sa_sigaction(signal, info, context);
    } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
        old.sa_handler(signal);
    } else if (signal == stop_signal || old.sa_handler == SIG_IGN) {
        // An ignored fault of an instruction still ends the process.
        if (signal == stop_signal || info->si_code <= 0) return;
        sigaction(signal, &old, nullptr);
    } else {
        // Taken again when this handler returns: by the instruction, or by the line below.
        sigaction(signal, &old, nullptr);
        if (info->si_code <= 0) raise(signal);
    }
}

const char* describe(int signal, int code, bool is_stack) {
    if (is_stack) {
        return "stack overflow: recursion, or local variables of one thread need more memory than it "
               "has (64 KiB where the block has a barrier)";
    }
    switch (signal) {
        case SIGFPE: return "division of an integer by zero, or of the lowest one by -1";
        case SIGBUS: return "access of memory that is not there (bus error)";
        case SIGILL: return "__builtin_trap(), or a processor instruction that does not exist";
        case SIGABRT: return "abort() was called";
        default: break;
    }
    // x86 does not say where: a vector type at an odd address, or an address that no memory has.
    if (code == SI_KERNEL) return "access of memory at a misaligned or an impossible address";
    return "access of memory that is not the kernel's (segmentation fault)";
}

const void* program_counter(void* context) {
#if defined(__linux__) && defined(__x86_64__)
    return (const void*)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__linux__) && defined(__aarch64__)
    return (const void*)((ucontext_t*)context)->uc_mcontext.pc;
#else
    (void)context;
    return nullptr;
#endif
}

const char* stack_pointer(void* context) {
#if defined(__linux__) && defined(__x86_64__)
    return (const char*)((ucontext_t*)context)->uc_mcontext.gregs[REG_RSP];
#elif defined(__linux__) && defined(__aarch64__)
    return (const char*)((ucontext_t*)context)->uc_mcontext.sp;
#else
    (void)context;
    return nullptr;
#endif
}

/// Whether the access was near the stack pointer and the stack has no more room.
bool is_overflow(const Worker* worker, int signal, const siginfo_t* info, void* context) {
    if (signal != SIGSEGV && signal != SIGBUS) return false;
    const char* pointer = stack_pointer(context);
    if (worker->is_promoted && worker->current != worker->first) {
        return is_below_fiber(worker, info->si_addr);
    }
    const std::ptrdiff_t distance = pointer - (const char*)info->si_addr;
    // Below the main thread's stack is no memory, below the others' a page that nobody may touch.
    return pointer != nullptr && distance > -(std::ptrdiff_t)(2 * page_bytes) &&
           distance < (std::ptrdiff_t)(2 * page_bytes) &&
           (info->si_code == SEGV_MAPERR || info->si_code == SEGV_ACCERR);
}

/// The line to name: of the faulting instruction, or of the cell's call that led to it.
///
/// A fault may be in the C library (memset, abort). What it was called from is the first word on the
/// stack that is an address in the cell's code; nothing else is safe to ask in a handler.
const void* address_in_cell(const Worker* worker, void* context) {
    const char* pc = (const char*)program_counter(context);
    if ((std::size_t)(pc - worker->code_low) < worker->code_bytes) return pc;
    const char* high = worker->stack_high;
    if (worker->is_promoted && worker->current != worker->first) {
        high = worker->stacks + (worker->current + 1) * stack_bytes;
    }
    auto* word = (const char* const*)stack_pointer(context);
    for (int i = 0; i < 1024 && word != nullptr && (const char*)(word + 1) <= high; ++i, ++word) {
        if ((std::size_t)(*word - worker->code_low) < worker->code_bytes) return *word - 1;
    }
    return pc;
}

void note_fault(Worker* worker, int signal, siginfo_t* info, void* context) {
    FaultReport* report = claim_fault(worker, fault_signal);
    if (report == nullptr) return;
    report->signal = signal;
    report->pc = address_in_cell(worker, context);
    if (worker->is_promoted) {
        note_running_thread(worker, report);
    } else {
        worker->kernel->locate(report->thread);
    }
    std::strcpy(report->message, describe(signal, info->si_code, is_overflow(worker, signal, info, context)));
    wake_stopped(worker->launch);
}

/// A signal that another process or thread sent is no fault of the kernel that runs here.
bool is_kernels(int signal, const siginfo_t* info) {
    return info->si_code > 0 || (signal == SIGABRT && info->si_pid == getpid());
}

void on_fault(int signal, siginfo_t* info, void* context) {
    Worker* worker = my_worker;
    if (worker == nullptr || !worker->in_kernel || !is_kernels(signal, info)) {
        pass_on(signal, info, context);
        return;
    }
    note_fault(worker, signal, info, context);
    leave(worker);
}

/// Leaves the kernel if this worker's launch is to stop.
void leave_if_stopped(Worker* worker) {
    if (worker == nullptr || !worker->in_kernel || !worker->launch->stop) return;
    if (worker->shielded) {
        worker->stop_deferred = 1;
        return;
    }
    leave(worker);
}

void on_stop(int signal, siginfo_t* info, void* context) {
    // Sent by wake_stopped to this very process, or by somebody else with a meaning of their own.
    if (info->si_code != SI_TKILL || info->si_pid != getpid()) pass_on(signal, info, context);
    leave_if_stopped(my_worker);
}

void on_interrupt(int signal, siginfo_t* info, void* context) {
    pass_on(signal, info, context);  // Python notes it, and raises when the launch has returned
    Launch* launch = main_launch;
    if (launch == nullptr) return;
    int nothing = fault_none;
    __atomic_compare_exchange_n(&launch->stop, &nothing, (int)fault_interrupt, false,
                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    wake_stopped(launch);
    leave_if_stopped(my_worker);
}

auto handler_of(int signal) {
    return signal == SIGINT ? on_interrupt : signal == stop_signal ? on_stop : on_fault;
}

void install(int i) {
    struct sigaction ours;
    std::memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = handler_of(all_signals[i]);
    // Leaving a kernel does not return from the handler: nothing may stay blocked.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(all_signals[i], &ours, &before[i]);
    is_ours[i] = true;
    // Where Ctrl-C is ignored or ends the process it shall go on doing so.
    if (all_signals[i] == SIGINT && !(before[i].sa_flags & SA_SIGINFO) &&
        (before[i].sa_handler == SIG_IGN || before[i].sa_handler == SIG_DFL)) {
        sigaction(SIGINT, &before[i], nullptr);
        is_ours[i] = false;
    }
}

void restore(int i) {
    if (!is_ours[i]) return;
    is_ours[i] = false;
    struct sigaction now;
    sigaction(all_signals[i], &before[i], &now);
    // Somebody has put another handler there meanwhile: it is theirs.
    if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != handler_of(all_signals[i])) {
        sigaction(all_signals[i], &now, nullptr);
    }
}

}  // namespace

void install_handlers() {
    pthread_mutex_lock(&lock);
    if (n_launches++ == 0) {
        for (int i = 0; i < n_signals; ++i) install(i);
    }
    pthread_mutex_unlock(&lock);
}

void remove_handlers() {
    pthread_mutex_lock(&lock);
    if (--n_launches == 0) {
        for (int i = 0; i < n_signals; ++i) restore(i);
    }
    pthread_mutex_unlock(&lock);
}

void lock_handlers() { pthread_mutex_lock(&lock); }
void unlock_handlers() { pthread_mutex_unlock(&lock); }

void forget_handlers_in_child() {
    // Launches of other threads do not go on in the child.
    pthread_mutex_init(&lock, nullptr);
    if (n_launches > 0) {
        for (int i = 0; i < n_signals; ++i) restore(i);
    }
    n_launches = 0;
    main_launch = nullptr;
}

}  // namespace kit_emulator

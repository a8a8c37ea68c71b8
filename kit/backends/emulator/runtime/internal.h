// What the parts of the runtime library share. Only this library sees it.
#pragma once

#include <kit_emulator/keywords.h>
#include <kit_emulator/worker.h>
#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace kit_emulator {

inline constexpr std::size_t stack_bytes = 64 * 1024 + 4096;  // of a fiber and its guard
inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t signal_stack_bytes = 64 * 1024;

/// Who waits where when threads of a block wait for each other.
struct Wait {
    unsigned first, last;       // threads of the block
    unsigned arrived, awaited;  // lanes of their warp; both 0 at a block-wide barrier
    int line;
    const void* pc;
    char operation[40];
};

/// What Python reads of a fault; python: kit/backends/emulator/faults.py declares the same.
struct FaultReport {
    int kind;
    int line;  // of `file`, 0 where only `pc` is known
    unsigned block[3], thread[3];
    int thread_is_known;
    int signal;
    const void* pc;  // an address in the faulting line, or null
    char file[256];
    char message[256];
    int n_waits;
    Wait waits[8];
};

/// Text that the kernel printed.
struct Output {
    char* text;
    std::size_t n_bytes, capacity;
    std::size_t n_lost;
};

/// One launch. Lives in its thread for ever: a late signal may still look at it.
struct Launch {
    const Kernel* kernel;
    void** arguments;
    unsigned grid[3], block[3];
    std::size_t shared_bytes;
    std::uint64_t n_blocks;
    std::uint64_t n_shares;  // a worker takes the remaining blocks over this
    std::uint64_t next;   // first block that nobody has taken
    int stop;             // a Fault as soon as there is one
    bool is_published;    // other workers may join
    int n_joined;         // workers that have, besides the one that launched; under the pool's lock
    bool is_interruptible;  // by Ctrl-C: launched from the main thread
    pthread_t owner;
    FaultReport fault;
    Output output;
    Launch* next_active;
};

/// The calling thread's worker, made at its first launch and freed when the thread ends.
Worker* this_worker();
/// The same, null before it was made. In the static block of thread-local memory: a signal handler
/// must find it without allocating.
extern thread_local Worker* my_worker __attribute__((tls_model("initial-exec")));
Launch* this_launch();
/// In the child of a fork, whose only thread is the one that forked.
void become_main_thread();

// replay.cpp
/// Which thread of the reported block faults: it runs again, one thread after another, in a copy of
/// this process.
void find_faulting_thread(Worker* worker, Launch* launch);

// launch.cpp
/// Before the first block of a launch.
void enter_launch(Worker* worker, Launch* launch);

// pool.cpp
void run_blocks(Worker* worker, Launch* launch);
void publish(Launch* launch);    // to the pool
void withdraw(Launch* launch);   // waits until no other worker runs it
void wake_stopped(Launch* launch);  // safe in a signal handler
int worker_count();

// signals.cpp
void install_handlers();
void remove_handlers();
void lock_handlers();
void unlock_handlers();
void forget_handlers_in_child();
extern Launch* volatile main_launch;

// output.cpp
void lock_output();
void unlock_output();
void renew_output_in_child();

// scheduler.cpp
void finish_block(Worker* worker);
void free_fibers(Worker* worker);

// faults.cpp
/// Ends the worker's part of its launch. Safe in a signal handler.
[[noreturn]] void leave(Worker* worker);
/// Claims the launch's one fault report; null where there is one already. Safe in a handler.
FaultReport* claim_fault(Worker* worker, int kind);
/// Which thread of the block runs, by its position.
void note_running_thread(const Worker* worker, FaultReport* report);

}  // namespace kit_emulator

// What a cell and the runtime library share: the state of the block that an OS thread runs.
//
// A *worker* is an OS thread that runs blocks, one after another. The threads of a block start as
// a plain loop; the first barrier or warp operation *promotes* those that have not returned to
// fibers, which the worker switches between.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kit_emulator {

inline constexpr unsigned max_threads = 1024;  // of a block
inline constexpr unsigned warp_lanes = 32;
inline constexpr unsigned max_warps = max_threads / warp_lanes;

using Bits = std::uint64_t;

struct Worker;
struct Launch;

/// Kinds of faults; python: kit/backends/emulator/faults.py has the same numbers.
enum Fault : int {
    fault_none = 0,
    fault_trap = 1,
    fault_assert = 2,
    fault_signal = 3,
    fault_sync = 4,
    fault_bounds = 5,
    fault_align = 6,
    fault_limit = 7,
    fault_interrupt = 8,
};

/// What the lanes of a warp that named the same mask do together.
struct Meeting {
    unsigned mask;     // which lanes were named
    unsigned arrived;  // which of them are here
    int line;          // where the first one waits: a line, and an address in it
    const void* pc;
    const struct Operation* operation;
};

/// The lanes of one warp.
struct Warp {
    unsigned present;  // lanes that have not returned
    unsigned ready;    // lanes that can run
    int n_meetings;
    // Arrived lanes are distinct, so there are never more than lanes.
    Meeting meetings[warp_lanes];
    Bits value[warp_lanes], result[warp_lanes];
    int source[warp_lanes];
};

/// A warp operation: once all lanes have arrived, the last one gives all of them their results.
struct Operation {
    /// Fills `warp.result[lane]` for each lane in `arrived` from `warp.value` and `warp.source`.
    void (*finish)(Warp& warp, unsigned arrived);
    const char* name;
};

/// Where to save the running fiber, and the one to run; `save` is null where none is switched to.
struct Switch {
    void** save;
    void* load;
};

/// One kernel of a cell; the cell exports an array of them.
struct Kernel {
    void (*run_block)(Worker*, void** arguments);   // as a loop, until it is promoted
    void (*run_slowly)(Worker*, void** arguments);  // the same, with threadIdx always in memory
    void (*run_thread)(Worker*, void** arguments);  // worker->current, to its end
    void (*enter)(Worker*);                         // before the first block of a launch
    void (*locate)(unsigned thread[3]);             // threadIdx as memory has it
    const unsigned* sizes;                          // of the parameters [bytes]
    unsigned n_parameters;
    float* block_ns;                                // time of a block in the latest launch
};

/// An OS thread that runs blocks.
struct Worker {
    unsigned current;  // running thread of the block, counted along x, then y, then z
    std::uint32_t position[max_threads];  // its threadIdx: x | y << 11 | z << 22
    unsigned block[3], block_extent[3], grid_extent[3];
    unsigned n_threads, n_warps;

    // Of a promoted block.
    bool is_promoted;
    unsigned first;    // the thread that was promoted while it ran, on the worker's own stack
    unsigned live;     // threads that have not returned
    unsigned arrived;  // threads at the barrier
    int sum, barrier_sum;  // of the predicates: being counted, and of the barrier before
    // Where each thread waits at a barrier (line 0: it does not): the line is that of whatever file
    // calls the barrier, and the address leads through inlined calls to the cell.
    int line[max_threads];
    const void* pc[max_threads];
    void* fiber[max_threads];
    Warp warp[max_warps];
    void* ended;  // where a fiber that has returned is saved; nobody comes back

    // This worker's copy of the cell's thread-local memory, which holds its shared memory.
    const char* shared_low;
    std::size_t shared_bytes;
    // The cell's library, to tell its own code from what it calls.
    const char* code_low;
    std::size_t code_bytes;
    std::size_t dynamic_shared_bytes;

    // Of the runtime alone.
    const Kernel* kernel;
    void** arguments;
    Launch* launch;
    void* escape[5];  // __builtin_setjmp: where faults lead
    volatile int in_kernel;
    volatile int shielded;       // inside what a stop must not interrupt
    volatile int stop_deferred;  // a stop came meanwhile
    const char* stack_high;  // of the worker's own stack: where its kernels begin
    char* stacks;
    unsigned n_guarded;
    char* signal_stack;
    void* contexts;  // of portable fibers
};

#pragma GCC visibility push(default)
extern "C" {
/// Threads of the block that have not returned become fibers; `current` is the running one.
void kit_emulator_promote(Worker*, unsigned current);
// These find the worker themselves. A pointer to it that lies on the fiber's stack would be known
// only after the switch before, and make each switch twice as long.
/// The running thread is at a block-wide barrier.
Switch kit_emulator_arrive(int predicate, int line);
/// The running thread is at a warp operation.
Switch kit_emulator_meet(const Operation*, unsigned mask, Bits value, int source, int line);
/// The running thread lets another one run.
Switch kit_emulator_yield();
/// A fault ends the launch; `thread` is threadIdx, `pc` an address in the faulting line or null.
[[noreturn]] void kit_emulator_fail(Worker*, int kind, int line, const char* file,
                                    const char* message, const void* pc, const unsigned thread[3]);
/// Text that goes to sys.stdout after the launch.
void kit_emulator_print(Worker*, const char* text, std::size_t n_bytes);
/// A stop (Ctrl-C, another block's fault) waits until as many unshields have followed.
void kit_emulator_shield(Worker*);
void kit_emulator_unshield(Worker*);
}
#pragma GCC visibility pop

}  // namespace kit_emulator

// Which thread of a block has faulted.
//
// In the vectorised loop over threads nothing in memory says which one runs. Barriers and fibers
// know, and so does a loop that calls the kernel for each thread. So the block runs again in that
// way, in a copy of the process: the caller's arrays stay as the fault has left them. (Memory that is
// shared with files or other processes is written again.)
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "internal.h"

namespace kit_emulator {

#ifdef __linux__

namespace {

constexpr int patience_ms = 1000;

/// Runs in the copy; what it finds is in `found`, which both processes share.
void replay(Worker* volatile worker, Launch* launch, FaultReport* found) {
    struct sigaction ignore;
    std::memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, nullptr);  // the parent's, and the parent ends this process
    renew_output_in_child();  // a thread that is not here may have held its lock
    std::memcpy(worker->block, launch->fault.block, sizeof worker->block);
    launch->stop = fault_none;
    enter_launch(worker, launch);
    worker->is_promoted = false;
    if (__builtin_setjmp(worker->escape) == 0) {
        worker->in_kernel = 1;
        worker->kernel->run_slowly(worker, worker->arguments);
        if (worker->is_promoted) finish_block(worker);
    } else {
        std::memcpy(found, &launch->fault, sizeof *found);
    }
    syscall(SYS_exit_group, 0);
}

void await(pid_t child) {
    const timespec a_millisecond = {0, 1000000};
    for (int i = 0; i < patience_ms; ++i) {
        if (waitpid(child, nullptr, WNOHANG | __WALL) != 0) return;
        nanosleep(&a_millisecond, nullptr);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, __WALL);
}

}  // namespace

void find_faulting_thread(Worker* worker, Launch* launch) {
    void* memory = mmap(nullptr, sizeof(FaultReport), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    auto* found = (FaultReport*)memory;
    // Not fork(): what libraries have registered for that is not needed by a process that ends in
    // this file. No signal tells the parent of the end, so that nobody else's wait is disturbed.
    const pid_t child = (pid_t)syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
    if (child == 0) replay(worker, launch, found);
    if (child > 0) {
        await(child);
        FaultReport* report = &launch->fault;
        // Another fault than the first one would only confuse.
        if (found->kind == report->kind && found->signal == report->signal) {
            std::memcpy(report->thread, found->thread, sizeof report->thread);
            report->pc = found->pc;
            report->thread_is_known = 1;
        }
    }
    munmap(memory, sizeof(FaultReport));
}

#else

void find_faulting_thread(Worker*, Launch*) {}

#endif

}  // namespace kit_emulator

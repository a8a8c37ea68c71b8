// The OS threads that run blocks: the one that launches, and those that join it.
#include <pthread.h>
#include <signal.h>

#include <initializer_list>

#include "internal.h"

namespace kit_emulator {
namespace {

constexpr int max_workers = 1024;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t work_is_there = PTHREAD_COND_INITIALIZER;
pthread_cond_t somebody_left = PTHREAD_COND_INITIALIZER;
Launch* first_active;  // launches that others may join
pthread_t threads[max_workers];
volatile int n_threads;
int n_workers = 1;

/// One that has blocks left.
Launch* find_work() {
    for (Launch* one = first_active; one != nullptr; one = one->next_active) {
        if (__atomic_load_n(&one->next, __ATOMIC_RELAXED) < one->n_blocks && !one->stop) return one;
    }
    return nullptr;
}

void* serve(void*) {
    Worker* worker = this_worker();
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGURG);
    pthread_mutex_lock(&lock);
    for (;;) {
        Launch* launch = worker == nullptr ? nullptr : find_work();
        if (launch == nullptr) {
            pthread_cond_wait(&work_is_there, &lock);
            continue;
        }
        launch->n_joined++;
        pthread_mutex_unlock(&lock);
        // A stop that comes late waits for the next launch: between launches SIGURG has other handlers.
        pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
        run_blocks(worker, launch);
        pthread_sigmask(SIG_BLOCK, &stop, nullptr);
        pthread_mutex_lock(&lock);
        if (--launch->n_joined == 0) pthread_cond_broadcast(&somebody_left);
    }
    return nullptr;
}

/// Start threads up to one less than there are workers; fewer where the system has no more.
void start_threads() {
    sigset_t all, before;
    sigfillset(&all);
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, signal);
    // Signals for the process go to Python's threads.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (n_threads < n_workers - 1) {
        if (pthread_create(&threads[n_threads], &attributes, serve, nullptr) != 0) break;
        n_threads = n_threads + 1;
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// No other thread may be inside a lock while the process is copied: it would hold it there for ever.
void lock_for_fork() {
    pthread_mutex_lock(&lock);
    lock_handlers();
    lock_output();
}
void unlock_in_parent() {
    unlock_output();
    unlock_handlers();
    pthread_mutex_unlock(&lock);
}

/// No thread but the forking one lives on in the child: the pool starts anew.
void renew_in_child() {
    pthread_mutex_init(&lock, nullptr);
    pthread_cond_init(&work_is_there, nullptr);
    pthread_cond_init(&somebody_left, nullptr);
    first_active = nullptr;
    n_threads = 0;
    renew_output_in_child();
    forget_handlers_in_child();
    become_main_thread();
}

__attribute__((constructor)) void watch_forks() {
    pthread_atfork(lock_for_fork, unlock_in_parent, renew_in_child);
}

}  // namespace

int worker_count() { return n_workers; }

extern "C" __attribute__((visibility("default"))) void kit_emulator_set_workers(int count) {
    pthread_mutex_lock(&lock);
    n_workers = count < 1 ? 1 : count > max_workers ? max_workers : count;
    pthread_mutex_unlock(&lock);
}

void publish(Launch* launch) {
    pthread_mutex_lock(&lock);
    if (n_threads < n_workers - 1) start_threads();
    launch->n_joined = 0;
    launch->is_published = true;
    launch->next_active = first_active;
    first_active = launch;
    pthread_cond_broadcast(&work_is_there);
    pthread_mutex_unlock(&lock);
}

void withdraw(Launch* launch) {
    pthread_mutex_lock(&lock);
    for (Launch** one = &first_active; *one != nullptr; one = &(*one)->next_active) {
        if (*one == launch) {
            *one = launch->next_active;
            break;
        }
    }
    while (launch->n_joined > 0) pthread_cond_wait(&somebody_left, &lock);
    launch->is_published = false;
    pthread_mutex_unlock(&lock);
}

void wake_stopped(Launch* launch) {
    const pthread_t self = pthread_self();
    const int count = n_threads;
    for (int i = 0; i < count; ++i) {
        if (!pthread_equal(threads[i], self)) pthread_kill(threads[i], SIGURG);
    }
    if (!pthread_equal(launch->owner, self)) pthread_kill(launch->owner, SIGURG);
}

}  // namespace kit_emulator

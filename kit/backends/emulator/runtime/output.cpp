// What kernels print, kept until the launch has ended.
#include <pthread.h>

#include <cstdlib>
#include <cstring>

#include "internal.h"

namespace kit_emulator {
namespace {

// More is lost, and said to be: a loop over millions of threads shall not fill the memory.
constexpr std::size_t most_bytes = 16 << 20;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool reserve(Output& output, std::size_t n_bytes) {
    if (n_bytes <= output.capacity) return true;
    const std::size_t capacity = n_bytes < 4096 ? 8192 : 2 * n_bytes;
    auto* text = (char*)std::realloc(output.text, capacity);
    if (text == nullptr) return false;
    output.text = text;
    output.capacity = capacity;
    return true;
}

}  // namespace

void lock_output() { pthread_mutex_lock(&lock); }
void unlock_output() { pthread_mutex_unlock(&lock); }
void renew_output_in_child() { pthread_mutex_init(&lock, nullptr); }

extern "C" {

void kit_emulator_print(Worker* worker, const char* text, std::size_t n_bytes) {
    kit_emulator_shield(worker);
    pthread_mutex_lock(&lock);
    Output& output = worker->launch->output;
    if (output.n_bytes + n_bytes > most_bytes || !reserve(output, output.n_bytes + n_bytes)) {
        output.n_lost += n_bytes;
    } else {
        std::memcpy(output.text + output.n_bytes, text, n_bytes);
        output.n_bytes += n_bytes;
    }
    pthread_mutex_unlock(&lock);
    kit_emulator_unshield(worker);
}

/// Gives away what this thread's latest launch printed; free it with kit_emulator_free.
__attribute__((visibility("default"))) char* kit_emulator_output(std::size_t* n_bytes,
                                                                 std::size_t* n_lost) {
    Output& output = this_launch()->output;
    char* text = output.text;
    *n_bytes = output.n_bytes;
    *n_lost = output.n_lost;
    std::memset(&output, 0, sizeof output);
    return text;
}

__attribute__((visibility("default"))) void kit_emulator_free(char* text) { std::free(text); }

}  // extern "C"
}  // namespace kit_emulator

// printf, into what is shown after the launch.
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "thread.h"

namespace kit_emulator {

/// Text of one call, whole: lines of threads do not mix.
KIT_COLD void print_text(const char* format, ...) {
    // A stop (Ctrl-C, another block's fault) jumps out of what it interrupts: not out of the C library.
    Worker* worker = kit_emulator_worker;
    kit_emulator_shield(worker);
    va_list arguments;
    va_start(arguments, format);
    char text[512];
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof text) {
        char* longer = (char*)malloc((size_t)length + 1);
        if (longer != nullptr) {
            va_start(arguments, format);
            vsnprintf(longer, (size_t)length + 1, format, arguments);
            va_end(arguments);
            kit_emulator_print(worker, longer, (size_t)length);
            free(longer);
        }
    } else if (length > 0) {
        kit_emulator_print(worker, text, (size_t)length);
    }
    kit_emulator_unshield(worker);
}

/// The number of arguments, as CUDA's printf returns; -1 where there is no format.
template <class... Arguments>
inline int print(const char* format, Arguments... arguments) {
    static_assert(sizeof...(arguments) <= 32, "CUDA's printf takes at most 32 arguments");
    if (format == nullptr) return -1;
    print_text(format, arguments...);
    return (int)sizeof...(arguments);
}

}  // namespace kit_emulator

#define printf kit_emulator::print

// Switch from one fiber to another.
//
// x86-64: in the caller, by `jmp`. A `ret` after a switch is mispredicted every time (7 to 9 ns
// instead of 4), and so is a call of a library (boost.context: 11 ns). Other processors, and
// x86-64 with KIT_EMULATOR_PORTABLE, use ucontext (some 500 ns: it asks for the signal mask).
#pragma once

#include "keywords.h"

#if !defined(__x86_64__) && !defined(KIT_EMULATOR_PORTABLE)
#define KIT_EMULATOR_PORTABLE 1
#endif

#ifdef KIT_EMULATOR_PORTABLE

extern "C" __attribute__((visibility("default"))) void kit_emulator_swap(void** save, void* load);

namespace kit_emulator {
KIT_INLINE void switch_fiber(void** save, void* load) { kit_emulator_swap(save, load); }
}  // namespace kit_emulator

#else

#ifdef __AVX512F__
#define KIT_AVX512_REGISTERS                                                                \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24",      \
        "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3",    \
        "k4", "k5", "k6", "k7"
#else
#define KIT_AVX512_REGISTERS
#endif

namespace kit_emulator {
// Every register is declared lost: the compiler saves the few that it needs. The red zone of the
// leaving fiber is stepped over.
KIT_INLINE void switch_fiber(void** save, void* load) {
    asm volatile(
        "leaq -128(%%rsp), %%rsp\n\t"
        "pushq %%rbp\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "movq %%rsp, (%0)\n\t"
        "movq %1, %%rsp\n\t"
        "popq %%rax\n\t"
        "jmp *%%rax\n"
        "1:\n\t"
        "popq %%rbp\n\t"
        "leaq 128(%%rsp), %%rsp"
        : "+D"(save), "+S"(load)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
          "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
          "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15" KIT_AVX512_REGISTERS);
}
}  // namespace kit_emulator

#endif

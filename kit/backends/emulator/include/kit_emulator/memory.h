// Loads and stores with a cache hint, which has no meaning here, and questions about addresses.
#pragma once

#include "barrier.h"
#include "bits.h"

template <class T> inline T __ldg(const T* address) { return *address; }
template <class T> inline T __ldca(const T* address) { return *address; }
template <class T> inline T __ldcg(const T* address) { return *address; }
template <class T> inline T __ldcs(const T* address) { return *address; }
template <class T> inline T __ldlu(const T* address) { return *address; }
/// Not from a cache: the compiler must not keep an earlier value either.
template <class T> inline T __ldcv(const T* address) {
    asm volatile("" ::: "memory");
    return *address;
}
template <class T> inline void __stwb(T* address, kit_emulator::same<T> value) { *address = value; }
template <class T> inline void __stcg(T* address, kit_emulator::same<T> value) { *address = value; }
template <class T> inline void __stcs(T* address, kit_emulator::same<T> value) { *address = value; }
template <class T> inline void __stwt(T* address, kit_emulator::same<T> value) {
    *address = value;
    asm volatile("" ::: "memory");
}

inline unsigned int __isShared(const void* address) { return kit_emulator::is_shared(address); }
inline unsigned int __isGlobal(const void* address) { return !kit_emulator::is_shared(address); }

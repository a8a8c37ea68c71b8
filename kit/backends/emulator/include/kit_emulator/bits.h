// One value's bytes as another type.
#pragma once

#include "system_headers.h"

namespace kit_emulator {

template <class To, class From>
inline To bit_cast(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "both types have the same size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

/// The unsigned integer of a size, on which the processor's atomic operations work.
template <unsigned long Size> struct unsigned_of;
template <> struct unsigned_of<1> { using type = uint8_t; };
template <> struct unsigned_of<2> { using type = uint16_t; };
template <> struct unsigned_of<4> { using type = uint32_t; };
template <> struct unsigned_of<8> { using type = uint64_t; };

template <class T> struct identity { using type = T; };
/// A parameter from whose argument no template argument is deduced: `atomicAdd(&floats[0], 1)`.
template <class T> using same = typename identity<T>::type;

}  // namespace kit_emulator

// char1 ... double4, dim3 and make_*: the vector types, laid out and aligned as CUDA does.
#pragma once

// NVIDIA's own headers, where one of them is included, are not to define them again.
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_HPP__

namespace kit_emulator {
/// CUDA aligns a vector of four to its size, and never to more than 16 bytes.
constexpr unsigned long alignment_of_four(unsigned long size) { return 4 * size > 16 ? 16 : 4 * size; }
}  // namespace kit_emulator

#define KIT_VECTOR_TYPES(T, name)                                                                    \
    struct name##1 { T x; };                                                                         \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                               \
    struct name##3 { T x, y, z; };                                                                   \
    struct alignas(kit_emulator::alignment_of_four(sizeof(T))) name##4 { T x, y, z, w; };            \
    constexpr name##1 make_##name##1(T x) { return {x}; }                                            \
    constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }                                    \
    constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                            \
    constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

KIT_VECTOR_TYPES(signed char, char)
KIT_VECTOR_TYPES(unsigned char, uchar)
KIT_VECTOR_TYPES(short, short)
KIT_VECTOR_TYPES(unsigned short, ushort)
KIT_VECTOR_TYPES(int, int)
KIT_VECTOR_TYPES(unsigned int, uint)
KIT_VECTOR_TYPES(long, long)
KIT_VECTOR_TYPES(unsigned long, ulong)
KIT_VECTOR_TYPES(long long, longlong)
KIT_VECTOR_TYPES(unsigned long long, ulonglong)
KIT_VECTOR_TYPES(float, float)
KIT_VECTOR_TYPES(double, double)
#undef KIT_VECTOR_TYPES

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

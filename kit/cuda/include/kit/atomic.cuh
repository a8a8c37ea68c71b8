// Atomic updates beyond those of the hardware: minimum and maximum of floating-point numbers,
// sums of complex ones, products, anything that a function of the old value gives.
//
//     #include <kit/atomic.cuh>
//
//     kit::atomic_add(&total, x[i]);    // integers, half, float, double, complex
//     kit::atomic_max(&largest, x[i]);  // integers, float, double
//     kit::atomic_update(&y[k], [=](double old) { return old * factor; });
//
// They return the old value, are relaxed (they order nothing else; __threadfence() does) and may be
// called by any threads. The order in which threads are served is not fixed, so that sums of
// floating-point numbers differ in their last digits from run to run.
#pragma once

#define KIT_ATOMIC_FUNCTION __device__ __forceinline__

namespace kit {

namespace atomics {

// The unsigned integer of as many bytes, which the hardware compares and exchanges.
template <int size> struct word;
template <> struct word<2> { using type = unsigned short; };
template <> struct word<4> { using type = unsigned int; };
template <> struct word<8> { using type = unsigned long long; };

template <class To, class From> KIT_ATOMIC_FUNCTION To same_bits(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "the same number of bytes");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// The type under which the hardware's functions take an integer; `void` for what is none.
template <class T> struct integer { using type = void; };
template <> struct integer<int> { using type = int; };
template <> struct integer<unsigned> { using type = unsigned; };
template <> struct integer<long long> { using type = long long; };
template <> struct integer<unsigned long long> { using type = unsigned long long; };
template <> struct integer<long> { using type = long long; };
template <> struct integer<unsigned long> { using type = unsigned long long; };

template <class T> struct is_void { static constexpr bool value = false; };
template <> struct is_void<void> { static constexpr bool value = true; };
template <class T>
constexpr bool is_integer = !is_void<typename integer<T>::type>::value;

// What is added, and not a type to be deduced: atomic_add(&total, 1) is right for every total.
template <class T> struct same { using type = T; };

}  // namespace atomics

/// Replace `*address` by `f(*address)`, of 2, 4 or 8 bytes; the old value.
///
/// `f` may run several times, until no other thread came between, and must do nothing else. Values
/// are compared by their bits: NaN and -0.0 are values like any other.
template <class T, class F> KIT_ATOMIC_FUNCTION T atomic_update(T* address, F f) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "atomic_update works on 2, 4 or 8 bytes");
    using Word = typename atomics::word<sizeof(T)>::type;
    Word* place = (Word*)address;
    Word seen = *(volatile Word*)place;
    for (;;) {
        const Word wanted = atomics::same_bits<Word>(T(f(atomics::same_bits<T>(seen))));
        const Word found = atomicCAS(place, seen, wanted);
        if (found == seen) return atomics::same_bits<T>(found);
        seen = found;
    }
}

/// Add to `*address`; the old value. Integers wrap.
template <class T>
KIT_ATOMIC_FUNCTION T atomic_add(T* address, typename atomics::same<T>::type value) {
    if constexpr (atomics::is_integer<T> && sizeof(T) == 8)
        // The hardware adds unsigned ones; in two's complement the bits are the same.
        return (T)atomicAdd((unsigned long long*)address, (unsigned long long)value);
    else
        return atomicAdd(address, value);
}

/// Add a complex number: real and imaginary part are atomic each, not the pair.
///
/// Whoever reads meanwhile may see one part added and not yet the other; when all threads have
/// ended, the sum is complete. Returns nothing, since there may never have been such an old value.
template <template <class> class Complex, class Part>
KIT_ATOMIC_FUNCTION void atomic_add(Complex<Part>* address,
                                    typename atomics::same<Complex<Part>>::type value) {
    static_assert(sizeof(Complex<Part>) == 2 * sizeof(Part), "a real and an imaginary part");
    Part* parts = (Part*)address;
    atomic_add(parts, Part(value.real()));
    atomic_add(parts + 1, Part(value.imag()));
}

/// The smaller of `*address` and `value`; the old value.
///
/// Of floating-point numbers NaN counts as missing, as for fmin: a NaN in memory is replaced by a
/// number, and adding one changes nothing. -0.0 and 0.0 are equal: which one stays is open.
template <class T>
KIT_ATOMIC_FUNCTION T atomic_min(T* address, typename atomics::same<T>::type value) {
    if constexpr (atomics::is_integer<T>)
        return (T)atomicMin((typename atomics::integer<T>::type*)address, value);
    else
        return atomic_update(
            address, [=](T old) { return old < value || value != value ? old : value; });
}

/// The larger of `*address` and `value`; the old value. Rules as for `atomic_min`.
template <class T>
KIT_ATOMIC_FUNCTION T atomic_max(T* address, typename atomics::same<T>::type value) {
    if constexpr (atomics::is_integer<T>)
        return (T)atomicMax((typename atomics::integer<T>::type*)address, value);
    else
        return atomic_update(
            address, [=](T old) { return old > value || value != value ? old : value; });
}

/// Multiply `*address`; the old value.
template <class T>
KIT_ATOMIC_FUNCTION T atomic_multiply(T* address, typename atomics::same<T>::type value) {
    return atomic_update(address, [=](T old) { return T(old * value); });
}

}  // namespace kit

#undef KIT_ATOMIC_FUNCTION

// Typed views of arrays, as kernels receive them from kit: Array1D<T> to Array16D<T> with any
// strides, CArray1D<T> to CArray16D<T> of one gapless block in C order.
//
//     #include <kit/array_view.cuh>
//
//     __global__ void add(Array2D<const double> x, Array2D<double> y) {
//         int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
//         if (i < x.shape[0] && j < x.shape[1]) y(i, j) += x(i, j);
//     }
//
// A view is passed by value and holds no element. `const T` says that the kernel only reads.
// What lies behind these structs in memory is packed by kit/cuda and by kit/packer.c, and asked of
// the compiler by the probe of every cell: change all of them, or none.
//
// Needs no other header: it costs a compilation next to nothing.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define KIT_VIEW_FUNCTION __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define KIT_VIEW_FUNCTION inline __attribute__((always_inline))
#else
#define KIT_VIEW_FUNCTION inline
#endif

#if defined(KIT_CHECK_BOUNDS) && !defined(KIT_EMULATION)
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
// The emulator has its own, which knows the line of the cell. Here the launch ends, and with it
// the CUDA context: what was asked for is printed first.
__device__ __noinline__ inline void kit_bounds_fail(int axis, long long index, long long low,
                                                    long long high) {
    printf("index %lld is out of bounds for axis %d, which has %lld to %lld "
           "(block %u %u %u, thread %u %u %u)\n",
           index, axis, low, high, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y,
           threadIdx.z);
    __trap();
}
#else
// On the host, whoever compiles this says what becomes of an index out of bounds.
void kit_bounds_fail(int axis, long long index, long long low, long long high);
#endif
#endif

namespace kit {

namespace view {

// What an index may be; bool and floating-point numbers are mistakes.
template <class I> struct is_index { static constexpr bool value = false; };
template <> struct is_index<char> { static constexpr bool value = true; };
template <> struct is_index<signed char> { static constexpr bool value = true; };
template <> struct is_index<unsigned char> { static constexpr bool value = true; };
template <> struct is_index<short> { static constexpr bool value = true; };
template <> struct is_index<unsigned short> { static constexpr bool value = true; };
template <> struct is_index<int> { static constexpr bool value = true; };
template <> struct is_index<unsigned> { static constexpr bool value = true; };
template <> struct is_index<long> { static constexpr bool value = true; };
template <> struct is_index<unsigned long> { static constexpr bool value = true; };
template <> struct is_index<long long> { static constexpr bool value = true; };
template <> struct is_index<unsigned long long> { static constexpr bool value = true; };

// Whether U is `const T` of a T that is not const.
template <class T, class U> struct adds_const { static constexpr bool value = false; };
template <class T> struct adds_const<T, const T> { static constexpr bool value = true; };
template <class T> struct adds_const<const T, const T> { static constexpr bool value = false; };
template <bool B> struct when {};
template <> struct when<true> { using type = int; };

// Ends the kernel where index `i` of `axis` is not in low .. high; nothing without the checks.
KIT_VIEW_FUNCTION void check(int axis, long long i, long long low, long long high) {
#ifdef KIT_CHECK_BOUNDS
    if (i < low || i > high) kit_bounds_fail(axis, i, low, high);
#else
    (void)axis, (void)i, (void)low, (void)high;
#endif
}

}  // namespace view

/// A view with any strides: positive, zero, negative.
///
/// Where the array has ghost layers, index 0 is the first one of its body: a(-1) is the last ghost
/// below it and a(shape) the first one above.
template <class T, int N> struct ArrayView {
    static_assert(N >= 1 && N <= 16, "a view has 1 to 16 axes");
    static constexpr int ndim = N;

    T* data;               ///< address of index 0 on each axis
    long long shape[N];    ///< extents of the body [elements]
    long long strides[N];  ///< steps [elements]
    int ghost_low[N];      ///< layers below the body
    int ghost_high[N];     ///< layers above it

    /// Number of elements of the body.
    KIT_VIEW_FUNCTION long long size() const {
        long long product = 1;
        for (int axis = 0; axis < N; ++axis) product *= shape[axis];
        return product;
    }

    /// The element at one index for each axis.
    template <class... I> KIT_VIEW_FUNCTION T& operator()(I... indices) const {
        static_assert(sizeof...(I) == N, "a view takes as many indices as it has axes");
        static_assert((view::is_index<I>::value && ...), "an index is an integer");
        return data[offset<0>((long long)indices...)];
    }

    /// The element of a view with one axis.
    template <class I> KIT_VIEW_FUNCTION T& operator[](I index) const {
        static_assert(N == 1, "a[i] is for one axis; write a(i, j)");
        return (*this)(index);
    }

    /// The view of one index of the first axis, with the axes that are left.
    KIT_VIEW_FUNCTION ArrayView<T, N - 1> row(long long index) const {
        view::check(0, index, -(long long)ghost_low[0], shape[0] + ghost_high[0] - 1);
        ArrayView<T, N - 1> rest;
        rest.data = data + index * strides[0];
        for (int axis = 1; axis < N; ++axis) {
            rest.shape[axis - 1] = shape[axis];
            rest.strides[axis - 1] = strides[axis];
            rest.ghost_low[axis - 1] = ghost_low[axis];
            rest.ghost_high[axis - 1] = ghost_high[axis];
        }
        return rest;
    }

    /// The same view for functions that only read.
    template <class U, class = typename view::when<view::adds_const<T, U>::value>::type>
    KIT_VIEW_FUNCTION operator ArrayView<U, N>() const {
        ArrayView<U, N> same;
        same.data = data;
        for (int axis = 0; axis < N; ++axis) {
            same.shape[axis] = shape[axis];
            same.strides[axis] = strides[axis];
            same.ghost_low[axis] = ghost_low[axis];
            same.ghost_high[axis] = ghost_high[axis];
        }
        return same;
    }

  private:
    template <int axis, class... I>
    KIT_VIEW_FUNCTION long long offset(long long first, I... others) const {
        view::check(axis, first, -(long long)ghost_low[axis], shape[axis] + ghost_high[axis] - 1);
        if constexpr (sizeof...(others) == 0)
            return first * strides[axis];
        else
            return first * strides[axis] + offset<axis + 1>(others...);
    }
};

/// A view of one gapless block in C order: no strides, so that fewer numbers are read.
template <class T, int N> struct CArrayView {
    static_assert(N >= 1 && N <= 16, "a view has 1 to 16 axes");
    static constexpr int ndim = N;

    T* data;             ///< address of index 0 on each axis
    long long shape[N];  ///< extents [elements]

    /// Number of elements.
    KIT_VIEW_FUNCTION long long size() const {
        long long product = 1;
        for (int axis = 0; axis < N; ++axis) product *= shape[axis];
        return product;
    }

    /// The element at one index for each axis.
    template <class... I> KIT_VIEW_FUNCTION T& operator()(I... indices) const {
        static_assert(sizeof...(I) == N, "a view takes as many indices as it has axes");
        static_assert((view::is_index<I>::value && ...), "an index is an integer");
        return data[offset<0>(0, (long long)indices...)];
    }

    /// The element at a place in the block: of one axis its index.
    template <class I> KIT_VIEW_FUNCTION T& operator[](I place) const {
        static_assert(view::is_index<I>::value, "an index is an integer");
        view::check(0, (long long)place, 0, size() - 1);
        return data[(long long)place];
    }

    /// The same view for functions that only read.
    template <class U, class = typename view::when<view::adds_const<T, U>::value>::type>
    KIT_VIEW_FUNCTION operator CArrayView<U, N>() const {
        CArrayView<U, N> same;
        same.data = data;
        for (int axis = 0; axis < N; ++axis) same.shape[axis] = shape[axis];
        return same;
    }

  private:
    template <int axis, class... I>
    KIT_VIEW_FUNCTION long long offset(long long before, long long first, I... others) const {
        view::check(axis, first, 0, shape[axis] - 1);
        if constexpr (sizeof...(others) == 0)
            return before * shape[axis] + first;
        else
            return offset<axis + 1>(before * shape[axis] + first, others...);
    }
};

}  // namespace kit

#define KIT_VIEW_NAMES(N)                                   \
    template <class T> using Array##N##D = kit::ArrayView<T, N>; \
    template <class T> using CArray##N##D = kit::CArrayView<T, N>;
KIT_VIEW_NAMES(1)
KIT_VIEW_NAMES(2)
KIT_VIEW_NAMES(3)
KIT_VIEW_NAMES(4)
KIT_VIEW_NAMES(5)
KIT_VIEW_NAMES(6)
KIT_VIEW_NAMES(7)
KIT_VIEW_NAMES(8)
KIT_VIEW_NAMES(9)
KIT_VIEW_NAMES(10)
KIT_VIEW_NAMES(11)
KIT_VIEW_NAMES(12)
KIT_VIEW_NAMES(13)
KIT_VIEW_NAMES(14)
KIT_VIEW_NAMES(15)
KIT_VIEW_NAMES(16)
#undef KIT_VIEW_NAMES

// For test_cuda_views.py: kit's views, used by plain C++ as kernels use them.

#include <kit/array_view.cuh>

#include <utility>

struct Failure {
    long long axis, index, low, high;
};

void kit_bounds_fail(int axis, long long index, long long low, long long high) {
    throw Failure{axis, index, low, high};
}

template <class View, std::size_t... k>
auto& at(const View& view, const long long* index, std::index_sequence<k...>) {
    return view(index[k]...);
}

// Every element whose indices are in low .. high-1, in C order: reads it, and writes another one.
template <class View, class T>
void visit(const View& view, const long long* low, const long long* high, T* read, const T* write) {
    constexpr int rank = View::ndim;
    long long index[rank];
    for (int k = 0; k < rank; ++k) {
        index[k] = low[k];
        if (low[k] >= high[k]) return;
    }
    for (int k = rank - 1; k >= 0;) {
        T& element = at(view, index, std::make_index_sequence<rank>());
        *read++ = element;
        element = *write++;
        for (k = rank - 1; k >= 0 && ++index[k] == high[k]; --k) index[k] = low[k];
    }
}

// Whether a check of bounds fails at an index, and what it then tells.
template <class View> bool fails(const View& view, const long long* index, Failure* told) {
    try {
        (void)at(view, index, std::make_index_sequence<View::ndim>());
        return false;
    } catch (const Failure& failure) {
        *told = failure;
        return true;
    }
}

// No exception may leave a function that ctypes calls.
#define VISIT(name, View, T)                                                                    \
    extern "C" bool visit_##name(const View* view, const long long* low, const long long* high, \
                                 T* read, const T* write) {                                     \
        try {                                                                                   \
            visit(*view, low, high, read, write);                                               \
            return true;                                                                        \
        } catch (const Failure&) {                                                              \
            return false;                                                                       \
        }                                                                                       \
    }
#define FAILS(name, View, ConstView)                                                           \
    extern "C" bool fails_##name(const View* view, const long long* index, Failure* told) {    \
        return fails(ConstView(*view), index, told);                                           \
    }
#define RANK(N)                                                                            \
    VISIT(double_##N, Array##N##D<double>, double)                                         \
    VISIT(char_##N, Array##N##D<char>, char)                                               \
    VISIT(block_##N, CArray##N##D<double>, double)                                         \
    FAILS(view_##N, Array##N##D<double>, Array##N##D<const double>)                        \
    FAILS(block_##N, CArray##N##D<double>, CArray##N##D<const double>)                     \
    extern "C" long long size_##N(const Array##N##D<double>* view) { return view->size(); } \
    extern "C" int bytes_of_view_##N() { return sizeof(Array##N##D<float>); }              \
    extern "C" int bytes_of_block_##N() { return sizeof(CArray##N##D<float>); }
RANK(1) RANK(2) RANK(3) RANK(4) RANK(5) RANK(6) RANK(7) RANK(8)
RANK(9) RANK(10) RANK(11) RANK(12) RANK(13) RANK(14) RANK(15) RANK(16)

extern "C" double row(const Array2D<double>* view, long long i, long long j) {
    return view->row(i)[j];
}

// Where an element would be, from indices of 32 bits; the memory need not exist.
extern "C" long long place(const Array2D<char>* view, int i, unsigned j) {
    return &(*view)(i, j) - view->data;
}

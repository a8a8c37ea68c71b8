"""The templates of the probe: how the compiler turns a type into integers.

They need C++17 and nothing of any header. Everything ends in a ``@list<...>`` of integers, whose
order `kit.cuda.answers` knows:

=========  ======================================================================================
kernel     1; number of ``__launch_bounds__``'s arguments, these; number of parameters, these
parameter  size, alignment, its type; of a pointer: ``const`` or not, the type that it points at
number     `SCALAR`, size, alignment, code, width of a vector type or 0
pointer    `POINTER`, size, alignment: inside of another type it is not followed
class      `CLASS`, size, alignment; words of its name, these; template arguments; number of all
           that follows: index of the struct, and of each field 0 or 1, its offset, the field
field      number of its extents, these, the type of an element
variable   1; ``const`` or not; as of a field
=========  ======================================================================================
"""

from __future__ import annotations

from kit.cuda.codes import (
    ARRAY,
    CLASS,
    NAME_CHARACTERS,
    NAME_LONGEST,
    OTHER,
    POINTER,
    SCALAR,
    SCALARS,
    VECTORS,
    VOID,
)

__all__ = ["PROBE_TYPES"]


def _scalars() -> str:
    lines = ["struct __half;", "struct __half2;", "struct __nv_bfloat16;", "struct __nv_bfloat162;"]
    codes = {one.spelling: code for code, one in enumerate(SCALARS)}
    lines += [
        f"template<> struct @scalar<{name}> {{ using @is = @list<{code}, 0>; }};"
        for name, code in codes.items()
    ]
    lines += [
        f"template<> struct @scalar<{name}> {{ using @is = @list<{codes[of]}, {width}>; }};"
        for name, (of, width) in VECTORS.items()
    ]
    return "\n".join(lines)


PROBE_TYPES = f"""\
#pragma nv_diag_suppress 1215 // a kernel may be deprecated
template<int> __device__ char @absent;
template<int @N> constexpr auto @kernel = &@absent<@N>;
template<int @N> constexpr auto @symbol = &@absent<@N>;
// What is asked about. It is emitted, one byte each: an `extern` one would be an undefined symbol
// of the cubin, which may not load then.
template<class> __device__ char @fact;
template<long long...> struct @list;
template<class...> struct @cat;
template<> struct @cat<> {{ using @is = @list<>; }};
template<long long... @A> struct @cat<@list<@A...>> {{ using @is = @list<@A...>; }};
template<long long... @A, long long... @B, class... @R>
struct @cat<@list<@A...>, @list<@B...>, @R...> : @cat<@list<@A..., @B...>, @R...> {{}};
template<long long... @A, long long... @B, long long... @C, long long... @D, class @E,
         class... @R>
struct @cat<@list<@A...>, @list<@B...>, @list<@C...>, @list<@D...>, @E, @R...>
    : @cat<@list<@A..., @B..., @C..., @D...>, @E, @R...> {{}};
template<class> struct @sized;
template<long long... @A> struct @sized<@list<@A...>> {{
    using @is = @list<sizeof...(@A), @A...>;
}};

template<class @T> struct @plain {{
    using @is = @T;
    enum {{ @cv = 0 }};
}};
template<class @T> struct @plain<const @T> {{
    using @is = @T;
    enum {{ @cv = 1 }};
}};
template<class @T> struct @plain<volatile @T> {{
    using @is = @T;
    enum {{ @cv = 2 }};
}};
template<class @T> struct @plain<const volatile @T> {{
    using @is = @T;
    enum {{ @cv = 3 }};
}};
template<class @T> struct @strip {{ using @is = typename @plain<@T>::@is; }};
template<class @T, decltype(sizeof(0)) @N> struct @strip<@T[@N]> : @strip<@T> {{}};
template<class @T> using @bare = typename @strip<@T>::@is;

// Size and alignment; 0 of what is only declared.
template<class @T, decltype(sizeof(0)) = sizeof(@T)>
__device__ @list<sizeof(@T), alignof(@T)> @measure(int);
template<class @T> __device__ @list<0, 0> @measure(long);

// Names of classes as the compiler spells them, seven characters in an integer: what takes time
// here are template arguments, and calls that are evaluated.
template<int...> struct @indices;
template<int @N, int... @I> struct @count : @count<@N - 1, @N - 1, @I...> {{}};
template<int... @I> struct @count<0, @I...> {{ using @is = @indices<@I...>; }};
template<class @T> constexpr __device__ const char* @pretty() {{ return __PRETTY_FUNCTION__; }}
constexpr __device__ int @find(const char* @text, char @mark, int @at) {{
    while (@text[@at] && @text[@at] != @mark) ++@at;
    return @at;
}}
constexpr __device__ long long @word(const char* @text, int @at, int @end) {{
    long long @n = 0;
    for (int @i = 0; @i < {NAME_CHARACTERS}; ++@i, ++@at)
        @n = @n * 256 + (@at < @end ? (unsigned char)@text[@at] : 0);
    return @n;
}}
template<class @T, int @F, int @E, class> struct @spell;
template<class @T, int @F, int @E, int... @I> struct @spell<@T, @F, @E, @indices<@I...>> {{
    using @is = @list<sizeof...(@I), @word(@pretty<@T>(), @F + {NAME_CHARACTERS} * @I, @E)...>;
}};
template<class @T> struct @name {{
    enum {{
        @from = @find(@pretty<@T>(), '=', 0) + 2, // "[with T = "
        @to = @find(@pretty<@T>(), 0, @from) - 1,
        @most = {NAME_LONGEST},
        @end = @to - @from < @most ? @to : @from + @most,
        @words = (@end - @from + {NAME_CHARACTERS - 1}) / {NAME_CHARACTERS}
    }};
    using @is = typename @spell<@T, @from, @end, typename @count<@words>::@is>::@is;
}};

template<class> struct @scalar {{ using @is = @list<>; }};
template<class> struct @struct {{ using @is = @list<>; }};
template<class> struct @type;
template<class> struct @field;

// Arguments of the class templates that kit knows: complex<T>, ArrayView<T, N>.
template<class> struct @inside {{ using @is = @list<0>; }};
template<template<class> class @C, class @T> struct @inside<@C<@T>> {{
    using @is = typename @cat<@list<1>, typename @type<@T>::@is>::@is;
}};
template<template<class, int> class @C, class @T, int @N> struct @inside<@C<@T, @N>> {{
    using @is = typename @cat<@list<2, @N, @plain<@T>::@cv>,
                                typename @type<@T>::@is>::@is;
}};

template<class @T, int @kind> struct @sort;
template<class @T> struct @sort<@T, {SCALAR}> {{
    using @is = typename @cat<@list<{SCALAR}>, decltype(@measure<@T>(0)),
                                typename @scalar<@T>::@is>::@is;
}};
template<class @T> struct @sort<@T, 0> {{ // an enumeration
    using @is = typename @type<__underlying_type(@T)>::@is;
}};
template<class @T> struct @sort<@T, {CLASS}> {{
    using @is = typename @cat<
        @list<{CLASS}>, decltype(@measure<@T>(0)), typename @name<@T>::@is,
        typename @inside<@T>::@is,
        typename @sized<typename @struct<@T>::@is>::@is>::@is;
}};
template<class @T> struct @sort<@T, {OTHER}> {{ using @is = @list<{OTHER}>; }};
template<class @L> struct @empty {{ enum {{ @value = 0 }}; }};
template<> struct @empty<@list<>> {{ enum {{ @value = 1 }}; }};

template<class @T> struct @any {{
    enum {{ @number = !@empty<typename @scalar<@T>::@is>::@value }};
    using @is = typename @sort<
        @T, @number ? {SCALAR} : __is_enum(@T) ? 0
                 : __is_class(@T) || __is_union(@T) ? {CLASS} : {OTHER}>::@is;
}};
// A pointer inside of another type is not followed: types may point at themselves.
template<class @T> struct @any<@T*> {{
    using @is = @list<{POINTER}, sizeof(@T*), alignof(@T*)>;
}};
template<class @T, decltype(sizeof(0)) @N> struct @any<@T[@N]> {{
    using @is = @list<{ARRAY}>;
}};
template<> struct @any<void> {{ using @is = @list<{VOID}>; }};
template<class @T> struct @type : @any<typename @plain<@T>::@is> {{}};

// A variable or field: its extents, then its element.
template<class @L, class @T> struct @extents {{
    using @is = typename @cat<typename @sized<@L>::@is, typename @type<@T>::@is>::@is;
}};
template<long long... @A, class @T, decltype(sizeof(0)) @N>
struct @extents<@list<@A...>, @T[@N]> : @extents<@list<@A..., @N>, @T> {{}};
template<class @T> struct @field : @extents<@list<>, @T> {{}};

// A parameter: its own size, then what it is; a pointer is followed once.
template<class @T> struct @argument {{
    using @is = typename @cat<decltype(@measure<@T>(0)), typename @type<@T>::@is>::@is;
}};
template<class @T> struct @argument<@T*> {{
    using @is = typename @cat<
        @list<sizeof(@T*), alignof(@T*), {POINTER}, @plain<@T>::@cv>,
        typename @type<@T>::@is>::@is;
}};
template<class @T> struct @argument<@T&> {{ using @is = @list<0, 0, {OTHER}>; }};
template<class @T> struct @argument<@T&&> {{ using @is = @list<0, 0, {OTHER}>; }};
template<class> struct @call;
template<class... @P> struct @call<void (*)(@P...)> {{
    using @is = typename @cat<@list<sizeof...(@P)>, typename @argument<@P>::@is...>::@is;
}};
{_scalars()}"""
"""C++ templates: a type in, a ``@list`` of integers out. ``@`` stands for the names' prefix."""

"""The probe: what is appended to a cell so that its compiler says what its parameters are.

It consists of templates that turn types into numbers. NVRTC gives the mangled name of any variable
that it is asked about, and integers that are template arguments stand in it as they are:
``_Z..IJLx3ELx8EEEE``. So the types are the compiler's own, whatever aliases, macros or headers
they came through, at the cost of no second compilation. `kit.cuda.answers` reads the numbers.

Every name begins with `PREFIX`, which no cell contains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kit.cuda.codes import ARRAY, CLASS, OTHER, POINTER, SCALAR, SCALARS, VECTORS, VOID
from kit.cuda.text.found import FoundKernel, FoundStruct, FoundSymbol, TemplateParameter, qualified

__all__ = ["Probe", "write_probe"]

PREFIX = "kit_probe"


class Probe(NamedTuple):
    """Text to append, and what to ask.

    Parameters
    ----------
    source : str
        C++; every definition is a template or empties itself.
    kernels, facts : tuple of str
        Of each kernel, the name expressions of itself and of its facts.
    symbols, symbol_facts : tuple of str
        Of each variable, the same.
    """

    source: str
    kernels: tuple[str, ...]
    facts: tuple[str, ...]
    symbols: tuple[str, ...]
    symbol_facts: tuple[str, ...]


def write_probe(
    text: str,
    kernels: Sequence[tuple[FoundKernel, str]],
    symbols: Sequence[FoundSymbol],
    structs: Sequence[FoundStruct],
) -> Probe:
    """The probe of one cell.

    Parameters
    ----------
    text : str
        The cell, whose names are avoided.
    kernels : sequence of (FoundKernel, str)
        Each with its template arguments, ``<double, 3>`` or "".
    symbols : sequence of FoundSymbol
        Its variables.
    structs : sequence of FoundStruct
        Its structs, each after those that it contains.
    """
    prefix = PREFIX
    while prefix in text:
        prefix += "_"
    parts = [_TYPES, *(_struct(index, one) for index, one in enumerate(structs))]
    parts += [_kernel(index, one, arguments) for index, (one, arguments) in enumerate(kernels)]
    parts += [_symbol(index, one) for index, one in enumerate(symbols)]
    # The first line break ends a comment, the second one a line that goes on.
    source = '\n\n#line 1 "kit_probe"\n' + "\n".join(parts) + "\n"
    return Probe(
        source=source.replace("K_", f"{prefix}_"),
        kernels=tuple(f"{prefix}_kernel<{index}>" for index in range(len(kernels))),
        facts=tuple(f"&{prefix}_fact<{prefix}_kernel_{i}>" for i in range(len(kernels))),
        symbols=tuple(f"{prefix}_symbol<{index}>" for index in range(len(symbols))),
        symbol_facts=tuple(f"&{prefix}_fact<{prefix}_symbol_{i}>" for i in range(len(symbols))),
    )


def _conditional(name: str, conditions: Sequence[Sequence[str]], body: str, other: str) -> str:
    """`body` where the cell's own ``#if`` leaves it in, else `other`.

    The directives are taken again as they stand in the cell, so that the compiler decides.
    """
    if not conditions:
        return body
    lines = [line for branches in conditions for line in branches]
    lines += [f"#define K_in_{name}", *("#endif" for _ in conditions)]
    return "\n".join([*lines, f"#ifdef K_in_{name}", body, "#else", other, "#endif"])


def _kernel(index: int, kernel: FoundKernel, arguments: str) -> str:
    name = "::" + qualified(kernel.scope, kernel.name) + arguments
    bounds = "K_list<>"
    front = ""
    if kernel.bounds:
        front, bounds = _bounds(index, kernel, arguments)
    body = (
        f"{front}template<> constexpr auto K_kernel<{index}> = &{name};\n"
        f"using K_kernel_{index} = "
        f"K_cat<K_list<1>, K_sized<{bounds}>::type, K_call<decltype(&{name})>::type>::type;"
    )
    return _conditional(
        f"kernel_{index}", kernel.conditions, body, f"using K_kernel_{index} = K_list<0>;"
    )


def _bounds(index: int, kernel: FoundKernel, arguments: str) -> tuple[str, str]:
    """The numbers of ``__launch_bounds__``, computed where the kernel stands."""
    values = ", ".join(f"(long long)({one})" for one in kernel.bounds[:2])
    header = f"template<{_header(kernel.template)}> " if kernel.template is not None else ""
    opened = "".join(f"namespace {one} {{ " for one in kernel.scope)
    name = f"K_bounds_{index}"
    text = f"{opened}{header}struct {name} {{ using type = K_list<{values}>; }};"
    text += " }" * len(kernel.scope) + "\n"
    return text, f"::{qualified(kernel.scope, name)}{arguments}::type"


def _header(template: Sequence[TemplateParameter]) -> str:
    return ", ".join(one.text for one in template)


def _symbol(index: int, symbol: FoundSymbol) -> str:
    name = "::" + qualified(symbol.scope, symbol.name)
    body = (
        f"template<> constexpr auto K_symbol<{index}> = &{name};\n"
        f"using K_symbol_{index} = K_cat<K_list<1>, K_field<decltype({name})>::type>::type;"
    )
    return _conditional(
        f"symbol_{index}", symbol.conditions, body, f"using K_symbol_{index} = K_list<0>;"
    )


def _struct(index: int, struct: FoundStruct) -> str:
    """Offsets and types of a struct's fields; of what cannot be reached from outside, 0."""
    lines: list[str] = []
    for number, field in enumerate(struct.fields):
        function = f"K_field_{index}_{number}"
        # __INTADDR__ is what the offsetof of NVRTC's front end is made of (NVRTC 12.9).
        reached = f"K_list<1, __INTADDR__(&(((K_S*)0)->{field}))>"
        kind = f"typename K_field<decltype(K_S::{field})>::type"
        if field:
            lines.append(
                f"template<class K_S> __device__ typename K_cat<{reached}, {kind}>::type"
                f" {function}(int);"
            )
        lines.append(f"template<class K_S> __device__ K_list<0> {function}(long);")
    calls = "".join(
        f", decltype(K_field_{index}_{number}<{struct.spelling}>(0))"
        for number in range(len(struct.fields))
    )
    lines.append(
        f"template<{_header(struct.template)}> struct K_struct<{struct.spelling}> {{ using type = "
        f"{'typename ' if struct.template else ''}"
        f"K_cat<K_list<{index}>{calls}>::type; }};"
    )
    return _conditional(f"struct_{index}", struct.conditions, "\n".join(lines), "")


def _scalars() -> str:
    lines = ["struct __half;", "struct __half2;", "struct __nv_bfloat16;", "struct __nv_bfloat162;"]
    codes = {one.spelling: code for code, one in enumerate(SCALARS)}
    lines += [
        f"template<> struct K_scalar<{name}> {{ using type = K_list<{code}, 0>; }};"
        for name, code in codes.items()
    ]
    lines += [
        f"template<> struct K_scalar<{name}> {{ using type = K_list<{codes[of]}, {width}>; }};"
        for name, (of, width) in VECTORS.items()
    ]
    return "\n".join(lines)


_TYPES = f"""\
// Each of these is declared for kit's own questions; nothing of it is emitted.
#pragma nv_diag_suppress 20044, 1215
extern __device__ char K_absent;
template<int> constexpr auto K_kernel = &K_absent;
template<int> constexpr auto K_symbol = &K_absent;
template<class> extern __device__ char K_fact;
template<long long...> struct K_list;
template<class...> struct K_cat;
template<> struct K_cat<> {{ using type = K_list<>; }};
template<long long... K_A> struct K_cat<K_list<K_A...>> {{ using type = K_list<K_A...>; }};
template<long long... K_A, long long... K_B, class... K_R>
struct K_cat<K_list<K_A...>, K_list<K_B...>, K_R...> : K_cat<K_list<K_A..., K_B...>, K_R...> {{}};
template<long long... K_A, long long... K_B, long long... K_C, long long... K_D, class K_E,
         class... K_R>
struct K_cat<K_list<K_A...>, K_list<K_B...>, K_list<K_C...>, K_list<K_D...>, K_E, K_R...>
    : K_cat<K_list<K_A..., K_B..., K_C..., K_D...>, K_E, K_R...> {{}};
template<class> struct K_sized;
template<long long... K_A> struct K_sized<K_list<K_A...>> {{
    using type = K_list<sizeof...(K_A), K_A...>;
}};

template<class K_T> struct K_plain {{
    using type = K_T;
    static constexpr int qualifiers = 0;
}};
template<class K_T> struct K_plain<const K_T> {{
    using type = K_T;
    static constexpr int qualifiers = 1;
}};
template<class K_T> struct K_plain<volatile K_T> {{
    using type = K_T;
    static constexpr int qualifiers = 2;
}};
template<class K_T> struct K_plain<const volatile K_T> {{
    using type = K_T;
    static constexpr int qualifiers = 3;
}};
template<class K_T> struct K_strip {{ using type = typename K_plain<K_T>::type; }};
template<class K_T, decltype(sizeof(0)) K_N> struct K_strip<K_T[K_N]> : K_strip<K_T> {{}};
template<class K_T> using K_bare = typename K_strip<K_T>::type;

// Size and alignment; 0 of what is only declared.
template<class K_T, decltype(sizeof(0)) = sizeof(K_T)>
__device__ K_list<sizeof(K_T), alignof(K_T)> K_measure(int);
template<class K_T> __device__ K_list<0, 0> K_measure(long);

// Names of classes, character by character, as the compiler spells them.
template<int...> struct K_indices;
template<int K_N, int... K_I> struct K_count : K_count<K_N - 1, K_N - 1, K_I...> {{}};
template<int... K_I> struct K_count<0, K_I...> {{ using type = K_indices<K_I...>; }};
template<class K_T> constexpr __device__ const char* K_pretty() {{ return __PRETTY_FUNCTION__; }}
constexpr __device__ int K_length(const char* K_text) {{
    int K_n = 0;
    while (K_text[K_n]) ++K_n;
    return K_n;
}}
template<class K_T, class> struct K_spell;
template<class K_T, int... K_I> struct K_spell<K_T, K_indices<K_I...>> {{
    using type = K_list<sizeof...(K_I), K_pretty<K_T>()[K_I]...>;
}};
template<class K_T> struct K_name
    : K_spell<K_T, typename K_count<(K_length(K_pretty<K_T>()) < 150
                                         ? K_length(K_pretty<K_T>()) : 150)>::type> {{}};

template<class> struct K_scalar {{ using type = K_list<>; }};
template<class> struct K_struct {{ using type = K_list<>; }};
template<class> struct K_type;
template<class> struct K_field;

// Arguments of the class templates that kit knows: complex<T>, ArrayView<T, N>.
template<class> struct K_inside {{ using type = K_list<0>; }};
template<template<class> class K_C, class K_T> struct K_inside<K_C<K_T>> {{
    using type = typename K_cat<K_list<1>, typename K_type<K_T>::type>::type;
}};
template<template<class, int> class K_C, class K_T, int K_N> struct K_inside<K_C<K_T, K_N>> {{
    using type = typename K_cat<K_list<2, K_N, K_plain<K_T>::qualifiers>,
                                typename K_type<K_T>::type>::type;
}};

template<class K_T, int K_kind> struct K_sort;
template<class K_T> struct K_sort<K_T, {SCALAR}> {{
    using type = typename K_cat<K_list<{SCALAR}>, decltype(K_measure<K_T>(0)),
                                typename K_scalar<K_T>::type>::type;
}};
template<class K_T> struct K_sort<K_T, 0> {{ // an enumeration
    using type = typename K_type<__underlying_type(K_T)>::type;
}};
template<class K_T> struct K_sort<K_T, {CLASS}> {{
    using type = typename K_cat<
        K_list<{CLASS}>, decltype(K_measure<K_T>(0)), typename K_name<K_T>::type,
        typename K_inside<K_T>::type,
        typename K_sized<typename K_struct<K_T>::type>::type>::type;
}};
template<class K_T> struct K_sort<K_T, {OTHER}> {{ using type = K_list<{OTHER}>; }};
template<class K_L> struct K_empty {{ static constexpr bool value = false; }};
template<> struct K_empty<K_list<>> {{ static constexpr bool value = true; }};

template<class K_T> struct K_any {{
    static constexpr bool scalar = !K_empty<typename K_scalar<K_T>::type>::value;
    using type = typename K_sort<
        K_T, scalar ? {SCALAR} : __is_enum(K_T) ? 0
                 : __is_class(K_T) || __is_union(K_T) ? {CLASS} : {OTHER}>::type;
}};
// A pointer inside of another type is not followed: types may point at themselves.
template<class K_T> struct K_any<K_T*> {{
    using type = K_list<{POINTER}, sizeof(K_T*), alignof(K_T*)>;
}};
template<class K_T, decltype(sizeof(0)) K_N> struct K_any<K_T[K_N]> {{
    using type = K_list<{ARRAY}>;
}};
template<> struct K_any<void> {{ using type = K_list<{VOID}>; }};
template<class K_T> struct K_type : K_any<typename K_plain<K_T>::type> {{}};

// A variable or field: its extents, then its element.
template<class K_L, class K_T> struct K_extents {{
    using type = typename K_cat<typename K_sized<K_L>::type, typename K_type<K_T>::type>::type;
}};
template<long long... K_A, class K_T, decltype(sizeof(0)) K_N>
struct K_extents<K_list<K_A...>, K_T[K_N]> : K_extents<K_list<K_A..., K_N>, K_T> {{}};
template<class K_T> struct K_field : K_extents<K_list<>, K_T> {{}};

// A parameter: its own size, then what it is; a pointer is followed once.
template<class K_T> struct K_argument {{
    using type = typename K_cat<decltype(K_measure<K_T>(0)), typename K_type<K_T>::type>::type;
}};
template<class K_T> struct K_argument<K_T*> {{
    using type = typename K_cat<
        K_list<sizeof(K_T*), alignof(K_T*), {POINTER}, K_plain<K_T>::qualifiers>,
        typename K_type<K_T>::type>::type;
}};
template<class K_T> struct K_argument<K_T&> {{ using type = K_list<0, 0, {OTHER}>; }};
template<class K_T> struct K_argument<K_T&&> {{ using type = K_list<0, 0, {OTHER}>; }};
template<class> struct K_call;
template<class... K_P> struct K_call<void (*)(K_P...)> {{
    using type = typename K_cat<K_list<sizeof...(K_P)>, typename K_argument<K_P>::type...>::type;
}};
{_scalars()}"""

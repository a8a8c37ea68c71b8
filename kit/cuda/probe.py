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
    parts += _kernels(kernels)
    parts += [_symbol(index, one) for index, one in enumerate(symbols)]
    # "@" stands for the prefix: no name in C++ has one.
    # The first line break ends a comment, the second one a line that goes on.
    source = '\n\n#line 1 "kit_probe"\n' + "\n".join(parts) + "\n"
    return Probe(
        source=source.replace("@", f"{prefix}_"),
        kernels=tuple(f"{prefix}_kernel<{index}>" for index in range(len(kernels))),
        facts=tuple(f"&{prefix}_fact<{prefix}_kernel_{i}>" for i in range(len(kernels))),
        symbols=tuple(f"{prefix}_symbol<{index}>" for index in range(len(symbols))),
        symbol_facts=tuple(f"&{prefix}_fact<{prefix}_symbol_{i}>" for i in range(len(symbols))),
    )


def _flag(name: str, conditions: Sequence[Sequence[str]]) -> str:
    """A macro that is defined where the cell's own ``#if`` leaves a part in.

    The directives are taken again as they stand in the cell, so that the compiler decides.
    """
    lines = [line for branches in conditions for line in branches]
    return "\n".join([*lines, f"#define @in_{name}", *("#endif" for _ in conditions)])


def _chosen(test: str, body: str, other: str) -> str:
    return f"#if {test}\n{body}\n#else\n{other}\n#endif"


def _conditional(name: str, conditions: Sequence[Sequence[str]], body: str, other: str) -> str:
    """`body` where the cell's own ``#if`` leaves it in, else `other`."""
    if not conditions:
        return body
    return _flag(name, conditions) + "\n" + _chosen(f"defined(@in_{name})", body, other)


def _kernels(kernels: Sequence[tuple[FoundKernel, str]]) -> list[str]:
    parts = [_flag(f"kernel_{index}", one.conditions) for index, (one, _) in enumerate(kernels)]
    for index, (one, arguments) in enumerate(kernels):
        name = qualified(one.scope, one.name)
        others = [
            f"defined(@in_kernel_{other})"
            for other, (each, _) in enumerate(kernels)
            if other != index and qualified(each.scope, each.name) == name
        ]
        body = _kernel(index, one, arguments)
        if others:  # no expression means one of two overloads
            body = _chosen(" || ".join(others), f"using @kernel_{index} = @list<2>;", body)
        absent = f"using @kernel_{index} = @list<0>;"
        parts.append(_chosen(f"defined(@in_kernel_{index})", body, absent))
    return parts


def _kernel(index: int, kernel: FoundKernel, arguments: str) -> str:
    name = "::" + qualified(kernel.scope, kernel.name) + arguments
    bounds = "@list<>"
    front = ""
    if kernel.bounds:
        front, bounds = _bounds(index, kernel, arguments)
    return (
        f"{front}template<> constexpr auto @kernel<{index}> = &{name};\n"
        f"using @kernel_{index} = "
        f"@cat<@list<1>, @sized<{bounds}>::@is, @call<decltype(&{name})>::@is>::@is;"
    )


def _bounds(index: int, kernel: FoundKernel, arguments: str) -> tuple[str, str]:
    """The numbers of ``__launch_bounds__``, computed where the kernel stands."""
    values = ", ".join(f"(long long)({one})" for one in kernel.bounds[:2])
    template = kernel.template or ()
    declared = [f"{one.text} = {one.default}" if one.default else one.text for one in template]
    header = f"template<{', '.join(declared)}> " if kernel.template is not None else ""
    opened = "".join(f"namespace {one} {{ " for one in kernel.scope)
    name = f"@bounds_{index}"
    text = f"{opened}{header}struct {name} {{ using @is = @list<{values}>; }};"
    text += " }" * len(kernel.scope) + "\n"
    return text, f"::{qualified(kernel.scope, name)}{arguments}::@is"


def _header(template: Sequence[TemplateParameter]) -> str:
    return ", ".join(one.text for one in template)


def _symbol(index: int, symbol: FoundSymbol) -> str:
    name = "::" + qualified(symbol.scope, symbol.name)
    body = (
        f"template<> constexpr auto @symbol<{index}> = &{name};\n"
        f"using @symbol_{index} = @cat<@list<1>, @field<decltype({name})>::@is>::@is;"
    )
    return _conditional(
        f"symbol_{index}", symbol.conditions, body, f"using @symbol_{index} = @list<0>;"
    )


def _struct(index: int, struct: FoundStruct) -> str:
    """Offsets and types of a struct's fields; of what cannot be reached from outside, 0."""
    lines: list[str] = []
    for number, field in enumerate(struct.fields):
        function = f"@field_{index}_{number}"
        # __INTADDR__ is what the offsetof of NVRTC's front end is made of (NVRTC 12.9).
        reached = f"@list<1, __INTADDR__(&(((@S*)0)->{field}))>"
        kind = f"typename @field<decltype(@S::{field})>::@is"
        if field:
            lines.append(
                f"template<class @S> __device__ typename @cat<{reached}, {kind}>::@is"
                f" {function}(int);"
            )
        lines.append(f"template<class @S> __device__ @list<0> {function}(long);")
    calls = "".join(
        f", decltype(@field_{index}_{number}<{struct.spelling}>(0))"
        for number in range(len(struct.fields))
    )
    lines.append(
        f"template<{_header(struct.template)}> struct @struct<{struct.spelling}> {{ using @is = "
        f"{'typename ' if struct.template else ''}"
        f"@cat<@list<{index}>{calls}>::@is; }};"
    )
    return _conditional(f"struct_{index}", struct.conditions, "\n".join(lines), "")


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


_TYPES = f"""\
// Each of these is declared for kit's own questions; nothing of it is emitted.
#pragma nv_diag_suppress 20044, 1215
extern __device__ char @absent;
template<int> constexpr auto @kernel = &@absent;
template<int> constexpr auto @symbol = &@absent;
template<class> extern __device__ char @fact;
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
    static constexpr int @cv = 0;
}};
template<class @T> struct @plain<const @T> {{
    using @is = @T;
    static constexpr int @cv = 1;
}};
template<class @T> struct @plain<volatile @T> {{
    using @is = @T;
    static constexpr int @cv = 2;
}};
template<class @T> struct @plain<const volatile @T> {{
    using @is = @T;
    static constexpr int @cv = 3;
}};
template<class @T> struct @strip {{ using @is = typename @plain<@T>::@is; }};
template<class @T, decltype(sizeof(0)) @N> struct @strip<@T[@N]> : @strip<@T> {{}};
template<class @T> using @bare = typename @strip<@T>::@is;

// Size and alignment; 0 of what is only declared.
template<class @T, decltype(sizeof(0)) = sizeof(@T)>
__device__ @list<sizeof(@T), alignof(@T)> @measure(int);
template<class @T> __device__ @list<0, 0> @measure(long);

// Names of classes, character by character, as the compiler spells them.
template<int...> struct @indices;
template<int @N, int... @I> struct @count : @count<@N - 1, @N - 1, @I...> {{}};
template<int... @I> struct @count<0, @I...> {{ using @is = @indices<@I...>; }};
template<class @T> constexpr __device__ const char* @pretty() {{ return __PRETTY_FUNCTION__; }}
constexpr __device__ int @length(const char* @text) {{
    int @n = 0;
    while (@text[@n]) ++@n;
    return @n;
}}
template<class @T, class> struct @spell;
template<class @T, int... @I> struct @spell<@T, @indices<@I...>> {{
    using @is = @list<sizeof...(@I), @pretty<@T>()[@I]...>;
}};
template<class @T> struct @name
    : @spell<@T, typename @count<(@length(@pretty<@T>()) < 150
                                         ? @length(@pretty<@T>()) : 150)>::@is> {{}};

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
template<class @L> struct @empty {{ static constexpr bool @value = false; }};
template<> struct @empty<@list<>> {{ static constexpr bool @value = true; }};

template<class @T> struct @any {{
    static constexpr bool @number = !@empty<typename @scalar<@T>::@is>::@value;
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

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

from kit.cuda.probe_types import PROBE_TYPES
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
    parts = [PROBE_TYPES, *(_struct(index, one) for index, one in enumerate(structs))]
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
        f"using @symbol_{index} = @cat<@list<1, @plain<decltype({name})>::@cv>,"
        f" @field<decltype({name})>::@is>::@is;"
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

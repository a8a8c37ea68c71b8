"""Whether a Pyccel kernel and a CUDA kernel of one name can be one object: pure.

One call must mean the same on either side, whatever its arguments are passed as: the same names in
the same order, the same dtypes and axes, the same parameters written. A raw pointer knows no
extents, so that a CUDA kernel often takes them as integers; the Pyccel version must then take them,
too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kit.cuda.signature import CudaParameter, CudaSignature
from kit.cuda.template_values import template_argument
from kit.errors import CellError
from kit.signature import NO_DEFAULT, ArgumentType, Parameter, Signature

__all__ = ["Difference", "check_pair", "find_differences"]


class Difference(NamedTuple):
    """One place where the two versions disagree.

    Parameters
    ----------
    parameter : str
        Which parameter; "" where the kernel as a whole is meant.
    text : str
        What differs, the Pyccel version first.
    fix : str
        What to write in one of the two cells.
    """

    parameter: str
    text: str
    fix: str


def find_differences(
    host: Signature, cuda: CudaSignature, *, returns: bool = False
) -> tuple[Difference, ...]:
    """Every place where the two signatures disagree; empty where one call can serve both.

    Parameters
    ----------
    host : Signature
        Of the Pyccel kernel.
    cuda : CudaSignature
        Of the CUDA kernel.
    returns : bool
        Whether the Pyccel kernel returns a value, which no CUDA kernel does.
    """
    return tuple(_differences(host, cuda, returns))


def check_pair(
    host: Signature, cuda: CudaSignature, *, returns: bool = False, cell: str = ""
) -> None:
    """Refuse two kernels that one call cannot serve.

    Parameters
    ----------
    host, cuda, returns
        As in `find_differences`.
    cell : str
        Text of the CUDA cell, of which the error shows a line.

    Raises
    ------
    CellError
        At the first CUDA parameter that differs; names every difference and its fix.
    """
    found = find_differences(host, cuda, returns=returns)
    if not found:
        return
    places = {one.name: one for one in cuda.parameters}
    place = next((places[one.parameter] for one in found if one.parameter in places), None)
    listed = "".join(f"\n  {one.text}" for one in found)
    line = cuda.line if place is None else place.line
    raise CellError(
        f"--pair: the Pyccel and the CUDA version of {cuda.name} do not agree{listed}",
        line=line,
        column=None if place is None else place.column,
        source_line="".join(cell.split("\n")[line - 1 : line]) or None,
        fix="\n".join(dict.fromkeys(one.fix for one in found)),
    )


def _differences(host: Signature, cuda: CudaSignature, returns: bool) -> Iterator[Difference]:
    if returns:
        yield Difference(
            "",
            "the Pyccel version returns a value, which no CUDA kernel can",
            "write the result into an array of one element in both versions",
        )
    pyccel = {one.name: one for one in host.parameters}
    other = {one.name: one for one in cuda.parameters}
    for one in cuda.parameters:
        if one.name not in pyccel:
            yield _only_cuda(one)
    for one in host.parameters:
        if one.name not in other:
            yield _only_pyccel(one)
    shared = [name for name in pyccel if name in other]
    order = [name for name in other if name in pyccel]
    if shared != order:
        yield Difference(
            next(one for one, wanted in zip(order, shared, strict=True) if one != wanted),
            f"the order is ({', '.join(shared)}) in Pyccel and ({', '.join(order)}) in CUDA",
            f"take ({', '.join(shared)}) in this order in both",
        )
    for name in shared:
        yield from _of_parameter(pyccel[name], other[name])


def _only_cuda(one: CudaParameter) -> Difference:
    if one.kind == "scalar" and _is_integer(one.element.dtype):
        fix = f"add `{one.name}: int` to the Pyccel version, or take arrays that know their extents"
        fix += ": Array2D<double> of <kit/array_view.cuh>"
    else:
        fix = f"take {one.name} in both versions, under one name"
    return Difference(one.name, f"{one.name}: only the CUDA version takes `{one.text}`", fix)


def _only_pyccel(one: Parameter) -> Difference:
    return Difference(
        one.name,
        f"{one.name}: only the Pyccel version takes it ({one.annotation})",
        f"take {one.name} in both versions, under one name",
    )


def _of_parameter(pyccel: Parameter, cuda: CudaParameter) -> Iterator[Difference]:
    name = pyccel.name
    if len(pyccel.types) != 1:
        yield Difference(
            name,
            f"{name}: several types in Pyccel ({pyccel.annotation}), one in CUDA (`{cuda.text}`)",
            f"annotate {name} with one type",
        )
        return
    declared = pyccel.types[0]
    if declared.container is not None or declared.dtype == "str":
        yield Difference(
            name,
            f"{name}: a {declared.text} in Pyccel, which no CUDA kernel takes",
            f"pass {name} as an array",
        )
        return
    if declared.is_array != cuda.is_array:
        yield Difference(
            name,
            f"{name}: {_noun(declared.is_array)} in Pyccel ({declared.text}), "
            f"{_noun(cuda.is_array)} in CUDA (`{cuda.text}`)",
            f"declare {name} alike in both",
        )
        return
    compare = _of_array if cuda.is_array else _of_value
    yield from compare(pyccel, declared, cuda)


def _of_value(
    pyccel: Parameter, declared: ArgumentType, cuda: CudaParameter
) -> Iterator[Difference]:
    """Integers of any width agree: what does not fit is refused, never cut off."""
    name, dtype = pyccel.name, cuda.element.dtype
    is_number = cuda.kind == "scalar" and cuda.element.width == 1
    integers = _is_integer(declared.dtype) and _is_integer(dtype)
    if not is_number or (declared.dtype != dtype and not integers):
        yield _types_differ(name, declared, cuda)
    if pyccel.default is not NO_DEFAULT:
        yield Difference(
            name,
            f"{name}: has a default in Pyccel, which CUDA kernels have not",
            f"leave out the default of {name}, and pass it in every call",
        )


def _of_array(
    pyccel: Parameter, declared: ArgumentType, cuda: CudaParameter
) -> Iterator[Difference]:
    name = pyccel.name
    if declared.dtype != cuda.element.dtype:
        yield _types_differ(name, declared, cuda)
    # The components of a vector type are the last axis of the array.
    axes = None if cuda.ndim is None else cuda.ndim + (cuda.element.width > 1)
    if axes is not None and axes != declared.rank:
        yield Difference(
            name,
            f"{name}: {declared.rank}-D in Pyccel ({declared.text}), "
            f"{axes}-D in CUDA (`{cuda.text}`)",
            f"declare {name} as Array{declared.rank}D<...> in CUDA",
        )
    if declared.order == "F" and declared.rank > 1 and cuda.kind != "view":
        yield Difference(
            name,
            f"{name}: F order in Pyccel ({declared.text}), C order in CUDA (`{cuda.text}`)",
            f"declare {name} as Array{declared.rank}D<...> in CUDA, which takes every layout",
        )
    if (pyccel.intent != "in") != cuda.written:
        yield _intents_differ(pyccel, cuda)


def _types_differ(name: str, declared: ArgumentType, cuda: CudaParameter) -> Difference:
    return Difference(
        name,
        f"{name}: {declared.text} in Pyccel, `{cuda.text}` in CUDA",
        f"declare {name} with one dtype in both: {declared.dtype} is "
        f"`{template_argument(declared.dtype)}`",
    )


def _is_integer(dtype: str) -> bool:
    return dtype.removeprefix("u").startswith("int")


def _noun(is_array: bool) -> str:
    return "an array" if is_array else "a value"


def _intents_differ(pyccel: Parameter, cuda: CudaParameter) -> Difference:
    name = pyccel.name
    if cuda.written:
        return Difference(
            name,
            f"{name}: only read in Pyccel, not const in CUDA (`{cuda.text}`)",
            f"declare {name} const in CUDA",
        )
    return Difference(
        name,
        f"{name}: written in Pyccel, const in CUDA (`{cuda.text}`)",
        f"leave out the const of {name} in CUDA",
    )

"""Kernels and their parameters in a CUDA cell that may be half written.

Only for what costs nothing when it is wrong: the line of progress, Tab, and the names that get a
stub where the text cannot be read. What is compiled is read by `kit.cuda.prototypes`.
"""

from __future__ import annotations

import re

__all__ = ["kernel_names", "parameter_names", "split_arguments"]

_UNREAD = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
_NAME_AT_END = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*(?:\]|$)\s*)*(?:=.*)?$", re.DOTALL)


def kernel_names(text: str) -> tuple[str, ...]:
    """Names of the ``__global__`` functions, also where the text is no valid C++.

    Examples
    --------
    >>> kernel_names("__global__ void __launch_bounds__(128) f(double* x) { x[0] = ")
    ('f',)
    """
    return tuple(dict.fromkeys(name for name, _ in _headers(text)))


def parameter_names(text: str) -> tuple[str, ...]:
    """Names of the parameters of all kernels.

    Examples
    --------
    >>> parameter_names("__global__ void f(const double* __restrict__ x, int n = 3) {")
    ('x', 'n')
    """
    names: dict[str, None] = {}
    for _, parameters in _headers(text):
        for one in split_arguments(parameters):
            found = _NAME_AT_END.search(one.strip())
            if found is not None and found.group(1) != one.strip():  # not a type alone
                names.setdefault(found.group(1))
    return tuple(names)


def _headers(text: str) -> list[tuple[str, str]]:
    """Name and text between the brackets of each kernel."""
    found: list[tuple[str, str]] = []
    for piece in re.split(r"\b__global__\b", _UNREAD.sub(" ", text))[1:]:
        start = 0
        while (call := _CALL.search(piece, start)) is not None:
            inside = _bracketed(piece[call.end() :])
            if not call.group(1).startswith("__"):  # __launch_bounds__(128), __attribute__((x))
                found.append((call.group(1), inside))
                break
            start = call.end() + len(inside)
    return found


def _bracketed(text: str) -> str:
    """The text up to the bracket that closes what is open, or all of it."""
    depth = 1
    for index, one in enumerate(text):
        depth += (one == "(") - (one == ")")
        if depth == 0:
            return text[:index]
    return text


def split_arguments(text: str) -> list[str]:
    """Pieces between the commas that are in no bracket.

    Examples
    --------
    >>> split_arguments("T=Pair<int,float>,N=3")
    ['T=Pair<int,float>', 'N=3']
    """
    pieces, depth = [""], 0
    for one in text:
        depth += (one in "(<[{") - (one in ")>]}")
        if one == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += one
    return pieces

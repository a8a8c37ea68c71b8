"""Lists and sets of Python that a kernel writes: Fortran gets a copy, and nothing comes back."""

from __future__ import annotations

from typing import Final

from kit.errors import CellError
from kit.source.intent import Write
from kit.source.parameters import ArgumentType, Parameter, Signature
from kit.source.place import Source

__all__ = ["explain_lost_write", "plain_lists"]

_REFILLED: Final = ("list", "set")


def plain_lists(signature: Signature) -> frozenset[str]:
    """Parameters that are lists, sets or tuples of numbers, whatever the call."""
    return frozenset(
        one.name for one in signature.parameters if all(map(_holds_numbers, one.types))
    )


def _holds_numbers(one: ArgumentType) -> bool:
    return one.elements is not None and not one.elements.rank and one.elements.container is None


def explain_lost_write(parameter: Parameter, write: Write, source: Source) -> CellError | None:
    """The error where Fortran (2.2.3) loses what a kernel writes into a list or a set.

    Parameters
    ----------
    parameter : Parameter
        Of a function that Python calls.
    write : Write
        The first place that writes it.
    source : Source
        Where errors point.
    """
    kind = next((one for one in parameter.types if one.container in _REFILLED), None)
    if kind is None or write.how == "returned":
        return None
    name = parameter.name
    if write.how == "rebound":
        return source.error(
            f"{name!r} is the caller's {kind.container}, and gets another value here, which Pyccel "
            "does not compile",
            write.node,
            f"{name}_new = {name}  # under another name",
        )
    fix = "%%pyccel_kernel --language c"
    dtype = "float64" if kind.elements is None else kind.elements.dtype
    if kind.container == "list":
        fix = f"{name}: '{dtype}[:]'  # an array\n# or {fix}"
    return source.error(
        f"{name!r} is a {kind.container} of Python, of which fortran gets a copy: what is written "
        "here would be lost",
        write.node,
        fix,
    )

"""What stands in a CUDA cell, before its compiler has said what it means.

Offsets count characters of the cell. Conditions are the ``#if`` groups around a place, outermost
first, each with the directives of its branches so far, the last of which is the place's own.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = [
    "Conditions",
    "Found",
    "FoundKernel",
    "FoundParameter",
    "FoundStruct",
    "FoundSymbol",
    "TemplateParameter",
    "qualified",
]

Conditions = tuple[tuple[str, ...], ...]


class TemplateParameter(NamedTuple):
    """One parameter of a template.

    Parameters
    ----------
    name : str
        "" where it has none.
    kind : {"type", "value", "template"}
        What it stands for.
    text : str
        Its declaration, without a default.
    default : str
        What it is where it is left out; "" where it cannot be.
    is_pack : bool
        Whether it stands for any number of arguments.
    """

    name: str
    kind: Literal["type", "value", "template"]
    text: str
    default: str
    is_pack: bool


class FoundParameter(NamedTuple):
    """One parameter of a kernel.

    Parameters
    ----------
    name : str
        "" where it has none.
    text : str
        The declared type, as written.
    restrict : bool
        Whether it is declared ``__restrict__``.
    offset : int
        Where its declaration stands.
    name_offset : int
        Where its name stands.
    """

    name: str
    text: str
    restrict: bool
    offset: int
    name_offset: int


class FoundKernel(NamedTuple):
    """One definition of a ``__global__`` function.

    Parameters
    ----------
    name : str
        Without scope.
    scope : tuple of str
        Its namespaces; "" for one without a name.
    template : tuple of TemplateParameter or None
        None where it is no template.
    parameters : tuple of FoundParameter
        As its text has them.
    readable : bool
        Whether its parameters were understood.
    bounds : tuple of str
        Arguments of ``__launch_bounds__``.
    source, doc : str
        Its text, and the comment right above it without comment marks.
    offset, name_offset : int
        Where it begins; where its name stands.
    conditions : tuple of tuple of str
        Directives around it.
    """

    name: str
    scope: tuple[str, ...]
    template: tuple[TemplateParameter, ...] | None
    parameters: tuple[FoundParameter, ...]
    readable: bool
    bounds: tuple[str, ...]
    source: str
    doc: str
    offset: int
    name_offset: int
    conditions: Conditions


class FoundSymbol(NamedTuple):
    """One ``__constant__`` or ``__device__`` variable.

    Parameters
    ----------
    name : str
        Without scope.
    scope : tuple of str
        Its namespaces; "" for one without a name.
    space : {"constant", "device"}
        Which memory it is in.
    offset : int
        Where its name stands.
    conditions : tuple of tuple of str
        Directives around it.
    """

    name: str
    scope: tuple[str, ...]
    space: Literal["constant", "device"]
    offset: int
    conditions: Conditions


class FoundStruct(NamedTuple):
    """One struct whose fields can be seen.

    Parameters
    ----------
    spelling : str
        What C++ calls it, ``::physics::Vec<kit_T>``.
    template : tuple of TemplateParameter
        () where it is no template.
    fields : tuple of str
        Names, in their order.
    conditions : tuple of tuple of str
        Directives around it.
    """

    spelling: str
    template: tuple[TemplateParameter, ...]
    fields: tuple[str, ...]
    conditions: Conditions


class Found(NamedTuple):
    """Everything in a cell.

    Parameters
    ----------
    kernels : tuple of FoundKernel
        Definitions, in the order of the cell.
    symbols : tuple of FoundSymbol
        Definitions, in the order of the cell.
    structs : tuple of FoundStruct
        Each after those that it contains.
    launches, mains : tuple of int
        Where host code stands that no ``#if`` leaves out: ``<<<...>>>``, ``main``.
    unread : tuple of int
        Where ``__global__`` stands and no kernel was understood, outside of ``#if``.
    declared : tuple of (str, int)
        Kernels that are only declared, and where.
    """

    kernels: tuple[FoundKernel, ...]
    symbols: tuple[FoundSymbol, ...]
    structs: tuple[FoundStruct, ...]
    launches: tuple[int, ...]
    mains: tuple[int, ...]
    unread: tuple[int, ...]
    declared: tuple[tuple[str, int], ...]


def qualified(scope: tuple[str, ...], name: str) -> str:
    """A name with its namespaces; names in one without a name are seen from outside of it.

    Examples
    --------
    >>> qualified(("physics", ""), "push")
    'physics::push'
    """
    return "::".join([*filter(None, scope), name])

"""A CUDA cell, read: its kernels and variables, and what the compiler has to be asked about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kit.cuda.options import CudaOptions
from kit.cuda.signature import CudaSignature, CudaSymbol

__all__ = ["CellKernel", "CellSymbol", "CudaCell", "parse_cuda_cell"]


class CellKernel(NamedTuple):
    """One ``__global__`` function of a cell.

    Parameters
    ----------
    name : str
        Under which it is bound: without namespaces and template arguments.
    expression : str
        What C++ calls it: ``physics::push<double, 3>``.
    line : int
        Where its name stands in the cell.
    """

    name: str
    expression: str
    line: int


class CellSymbol(NamedTuple):
    """One ``__constant__``, ``__device__`` or ``__managed__`` variable of a cell.

    Parameters
    ----------
    name : str
        With its namespaces.
    line : int
        Where it stands in the cell.
    """

    name: str
    line: int


class CudaCell:
    """What a cell defines, and how to ask its compiler for the rest.

    Attributes
    ----------
    kernels : tuple of CellKernel
        In the order of the cell. Those in a part that ``#if`` leaves out are among them; they have
        no signature.
    symbols : tuple of CellSymbol
        In the order of the cell.
    probe_source : str
        C++ to append to the cell's text; it starts with a line break and adds no code.
    name_expressions : tuple of str
        For ``nvrtcAddNameExpression``: all of them, in one compilation of text and probe.
    """

    kernels: tuple[CellKernel, ...]
    symbols: tuple[CellSymbol, ...]
    probe_source: str
    name_expressions: tuple[str, ...]

    def signatures(self, lowered: Mapping[str, str]) -> tuple[CudaSignature, ...]:
        """The kernels' signatures.

        Parameters
        ----------
        lowered : mapping of str to str
            Of each name expression, what ``nvrtcGetLoweredName`` gave.

        Raises
        ------
        CellError
            A kernel takes what kit cannot pass, or declared outputs do not fit.
        """
        raise NotImplementedError

    def symbol_facts(self, lowered: Mapping[str, str]) -> tuple[CudaSymbol, ...]:
        """The variables that Python can read and write; others (pointers, say) are left out.

        Parameters
        ----------
        lowered : mapping of str to str
            Of each name expression, what ``nvrtcGetLoweredName`` gave.
        """
        raise NotImplementedError


def parse_cuda_cell(text: str, options: CudaOptions) -> CudaCell:
    """Read a cell; nothing is compiled.

    Parameters
    ----------
    text : str
        Of the cell; its first line stands for the magic line.
    options : CudaOptions
        Of which `template`, `outputs` and `defines` are looked at.

    Raises
    ------
    CellError
        No kernel, a template without arguments, an output that no kernel has, host code.
    """
    raise NotImplementedError

"""A CUDA cell, read: its kernels and variables, and what its compiler has to be asked.

The text gives names, places and comments (`kit.cuda.text.syntax`), the compiler gives types and
sizes (`kit.cuda.probe`); `CudaCell` puts both together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kit.cuda.answers import read_symbol
from kit.cuda.cell_checks import check_cell
from kit.cuda.compiled_types import readable_element
from kit.cuda.intents import check_output_kernels
from kit.cuda.options import CudaOptions
from kit.cuda.probe import Probe, write_probe
from kit.cuda.signature import CudaSignature, CudaSymbol
from kit.cuda.signing import python_name, sign
from kit.cuda.template_arguments import check_template_names, template_arguments
from kit.cuda.text.cell_places import CellPlaces
from kit.cuda.text.found import Found, FoundKernel, qualified
from kit.cuda.text.syntax import read_cell

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
    first_line, last_line : int
        Lines of its whole definition.
    """

    name: str
    expression: str
    line: int
    first_line: int
    last_line: int


class CellSymbol(NamedTuple):
    """One ``__constant__`` or ``__device__`` variable of a cell.

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
        C++ to append to the cell's text; it adds no code. Its lines are those of a file
        ``kit_probe``: an error there follows from one in the cell.
    name_expressions : tuple of str
        For ``nvrtcAddNameExpression``: all of them, in one compilation of text and probe.
    """

    __slots__ = (
        "_arguments",
        "_found",
        "_options",
        "_places",
        "_probe",
        "_text",
        "kernels",
        "name_expressions",
        "probe_source",
        "symbols",
    )

    def __init__(
        self, text: str, options: CudaOptions, found: Found, arguments: Sequence[str]
    ) -> None:
        self._text = text
        self._options = options
        self._found = found
        self._arguments = tuple(arguments)
        self._places = CellPlaces(text)
        self.kernels = tuple(
            self._kernel(one, expression)
            for one, expression in zip(found.kernels, self._expressions(), strict=True)
        )
        self.symbols = tuple(
            CellSymbol(qualified(one.scope, one.name), self._places.place(one.offset)[0])
            for one in found.symbols
        )
        self._probe: Probe = write_probe(
            text,
            list(zip(found.kernels, self._arguments, strict=True)),
            found.symbols,
            found.structs,
        )
        self.probe_source = self._probe.source
        probe = self._probe
        self.name_expressions = (
            *probe.kernels,
            *probe.facts,
            *probe.symbols,
            *probe.symbol_facts,
        )

    def _kernel(self, found: FoundKernel, expression: str) -> CellKernel:
        line = self._places.place(found.name_offset)[0]
        first = self._places.place(found.offset)[0]
        last = first + found.source.count("\n")
        return CellKernel(python_name(found.name), expression, line, first, last)

    def _expressions(self) -> list[str]:
        return [
            qualified(one.scope, one.name) + arguments
            for one, arguments in zip(self._found.kernels, self._arguments, strict=True)
        ]

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
        return sign(
            self._found,
            self._expressions(),
            [lowered[one] for one in self._probe.kernels],
            [lowered[one] for one in self._probe.facts],
            self._options.outputs,
            self._places,
        )

    def symbol_facts(self, lowered: Mapping[str, str]) -> tuple[CudaSymbol, ...]:
        """The variables that Python can read and write; others (pointers, say) are left out.

        Parameters
        ----------
        lowered : mapping of str to str
            Of each name expression, what ``nvrtcGetLoweredName`` gave.
        """
        probe = self._probe
        structs = self._found.structs
        facts: list[CudaSymbol] = []
        for index, symbol in enumerate(self.symbols):
            answer = read_symbol(lowered[probe.symbol_facts[index]])
            if answer is None:
                continue
            const, variable = answer
            element = readable_element(variable.type, structs)
            if element is None:
                continue
            name = lowered[probe.symbols[index]]
            space = self._found.symbols[index].space
            rest = (variable.shape, space, symbol.line, const)
            facts.append(CudaSymbol(symbol.name, name, element, *rest))
        return tuple(facts)


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
    found = read_cell(text, options.defines)
    places = CellPlaces(text)
    check_cell(found, places)
    check_template_names(options.template, found.kernels, places)
    check_output_kernels(options.outputs, found.kernels, places)
    arguments = [template_arguments(one, options.template, text, places) for one in found.kernels]
    return CudaCell(text, options, found, arguments)

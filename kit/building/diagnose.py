"""From what the toolchain said about a unit to one error in the cell's own lines."""

from __future__ import annotations

from collections.abc import Sequence

from kit.backends.protocol import CompileReply, Diagnostic
from kit.errors import BuildError
from kit.source.unit import Place, Unit

__all__ = ["build_error"]


def build_error(unit: Unit, reply: CompileReply) -> BuildError:
    """The first error of a failed build, with the rest and the log attached.

    Parameters
    ----------
    unit : Unit
        What was compiled; its line map leads back to the cell.
    reply : CompileReply
        A reply that is not `ok`.
    """
    errors = [one for one in reply.diagnostics if one.severity != "warning"]
    if not errors:
        return BuildError("the build failed and named no error", log=reply.log, fix="%kit_log")
    first, others = _first_and_others(errors)
    place = None if first.line is None else unit.place(first.line)
    return BuildError(
        _message(first),
        line=None if place is None else place.line,
        column=None if place is None else _column(first, place),
        source_line=None if place is None else place.source_line,
        cell=None if place is None else place.label,
        log=reply.log,
        others=[_one_line(unit, one) for one in others],
    )


def _first_and_others(errors: Sequence[Diagnostic]) -> tuple[Diagnostic, list[Diagnostic]]:
    """An error with a line says more than one without; otherwise the order is the toolchain's."""
    first = next((one for one in errors if one.line is not None), errors[0])
    return first, [one for one in errors if one is not first]


def _message(one: Diagnostic) -> str:
    symbol = "" if one.symbol is None or one.symbol in one.message else f" ({one.symbol})"
    return one.message + symbol


def _column(one: Diagnostic, place: Place) -> int | None:
    """The column that was named, or that of the symbol where it stands in the line only once."""
    if one.column is not None:
        return one.column
    if one.symbol and place.source_line.count(one.symbol) == 1:
        return place.source_line.index(one.symbol) + 1
    return None


def _one_line(unit: Unit, one: Diagnostic) -> str:
    place = None if one.line is None else unit.place(one.line)
    where = "" if place is None else f"cell line {place.line}: "
    return where + " ".join(_message(one).split())

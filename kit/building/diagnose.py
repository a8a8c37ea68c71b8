"""From what the toolchain said about a unit to one error in the cell's own lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kit.backends.protocol import CompileReply, Diagnostic
from kit.errors import BuildError
from kit.source.unit import Place, Unit

__all__ = ["build_error"]


_RETYPED: Final = re.compile(
    r"Object has already been defined with type '([\w.]+)'\. "
    r"Type '([\w.]+)' in assignment is incompatible"
)


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
    message, fix = _retyped(unit, first) or (_message(first), None)
    return BuildError(
        message,
        fix=fix,
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


def _retyped(unit: Unit, one: Diagnostic) -> tuple[str, str | None] | None:
    """What to say where a name gets a value of another type: ``total = 0``, then a float."""
    types = _RETYPED.match(one.message)
    target = re.match(r"([^\W\d]\w*)\s*=", one.symbol or "")
    if types is None or target is None or one.line is None:
        return None
    name = target[1]
    before, after = (text.removeprefix("numpy.") for text in types.groups())
    message = f"{name} has the type {before} since its first value, and this one is {after}"
    first = re.compile(rf"\s*{name}\s*=\s*([+-]?\d+)\s*(?:#.*)?")
    lines = unit.text.split("\n")[: one.line - 1]
    for number in range(len(lines), 0, -1):
        value = first.fullmatch(lines[number - 1])
        if value is not None and before == "int" and after.startswith("float"):
            place = unit.place(number)
            where = "" if place is None else f"  # in line {place.line}"
            return message, f"{name} = {value[1]}.0{where}"
    return message, None


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

"""What a function needs of its arguments, in terms of what one call of it gives them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kit.source.extents.needs import Number
from kit.source.extents.numbers import Value, whole_number
from kit.source.linear import Quantity

__all__ = ["cases_of_call", "in_terms"]

Case = tuple[Mapping[Quantity, "Number | None"], tuple[Number, ...]]
"""What the quantities of a called function are, and where that is so."""


def cases_of_call(
    parts: Sequence[Number], given: Mapping[str, Value | None], shortened: Collection[Number]
) -> Sequence[Case]:
    """What a call gives a function, by what it asks for; more than one case where slices are given.

    Parameters
    ----------
    parts : sequence of Linear
        Sums over the extents and integers of the function's own parameters.
    given : mapping of str to (Linear, tuple or None)
        What the call gives each.
    shortened : collection of Linear
        Lengths that are 0 where the sum is negative.
    """
    # A sum of that length alone has the same sign for 0 and for all that is below.
    joined = {atom for one in parts if len(one.terms) > 1 for atom, _ in one.terms}
    cases: list[Case] = [({}, ())]
    for one in dict.fromkeys(atom for part in parts for atom, _ in part.terms):
        value = _given(one, given)
        if value is None or value not in shortened or one not in joined:
            cases = [({**values, one: value}, when) for values, when in cases]
        else:
            cases = [
                ({**values, one: extent}, (*when, condition))
                for values, when in cases
                for extent, condition in ((value, value), (whole_number(0), -value - 1))
            ]
    return cases


def _given(one: Quantity, given: Mapping[str, Value | None]) -> Number | None:
    value = given[one.parameter]
    if isinstance(value, tuple):
        return None if one.axis is None or one.axis >= len(value) else value[one.axis]
    return value if one.axis is None else None


def in_terms(one: Number, values: Mapping[Quantity, Number | None]) -> Number | None:
    """A sum over a function's parameters as one over what a call gives them."""
    result = whole_number(one.number)
    for atom, factor in one.terms:
        value = values[atom]
        if value is None:
            return None
        result = result + value * factor
    return result

"""What to paste where extents do not fit: the call with parts of arrays, or longer arrays.

A fix is tried on the numbers of the call before it is given: with it, every rule holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kit.boundary.call_text import CallText
from kit.source.extent_rules import ExtentRule
from kit.source.linear import Linear, Quantity

__all__ = ["mend_call"]

# Quantities that a fix changes at most; each takes a round.
_ROUNDS = 16

_Found = Mapping[Quantity, int]
_Change = tuple[Quantity, int]


def mend_call(
    rules: Sequence[ExtentRule],
    found: _Found,
    ranks: Mapping[str, int],
    written: frozenset[str],
    call: CallText,
) -> str:
    """Lines after which the call keeps every rule.

    Parameters
    ----------
    rules : sequence of ExtentRule
        Those that count for the call; one at least is broken.
    found : mapping of Quantity to int
        What the call has.
    ranks : mapping of str to int
        Axes of each argument.
    written : frozenset of str
        Arguments that the kernel writes: those are made longer, and inputs that are too short
        mean that less of the others is passed.
    call : CallText
        The call.
    """
    first = next(rule for rule in rules if not rule.holds(found.__getitem__))
    short = _longer(first, found)
    is_output = short is not None and short[0].parameter in written
    ways = (_longer, _shorter) if is_output else (_shorter, _longer)
    for way in ways:
        after = _mended(rules, found, way)
        if after is not None:
            return _lines(first, found, after, ranks, call)
    return f"# arguments with {first.condition}"


def _mended(
    rules: Sequence[ExtentRule],
    found: _Found,
    way: Callable[[ExtentRule, _Found], _Change | None],
) -> dict[Quantity, int] | None:
    """What the quantities are once every rule holds; None where that way leads nowhere."""
    after = dict(found)
    for _ in range(_ROUNDS):
        broken = next((rule for rule in rules if not rule.holds(after.__getitem__)), None)
        if broken is None:
            return after
        change = way(broken, after) or _other_integer(broken, after)
        if change is None:
            return None
        after[change[0]] = change[1]
    return None


def _shorter(rule: ExtentRule, found: _Found) -> _Change | None:
    """The extent that is too long, and how long it may be."""
    value = rule.need.value(found.__getitem__)
    for atom, factor in rule.need.terms:
        # What counts against the rule; of two that have to be equal, the longer one.
        too_long = factor == (1 if value > 0 else -1)
        if atom.axis is not None and too_long and found[atom] > abs(value):
            return atom, found[atom] - abs(value)
    return None


def _longer(rule: ExtentRule, found: _Found) -> _Change | None:
    """The extent that is too short, and how long it has to be."""
    value = rule.need.value(found.__getitem__)
    for atom, factor in rule.need.terms:
        too_short = factor == (-1 if value > 0 else 1)
        if atom.axis is not None and too_short:
            return atom, found[atom] + abs(value)
    return None


def _other_integer(rule: ExtentRule, found: _Found) -> _Change | None:
    """The integer argument that is out of bounds, and its nearest value inside."""
    value = rule.need.value(found.__getitem__)
    for atom, factor in rule.need.terms:
        if atom.axis is None and abs(factor) == 1:
            return atom, found[atom] - value * factor
    return None


# ---- text --------------------------------------------------------------------------------------


def _lines(
    rule: ExtentRule, found: _Found, after: _Found, ranks: Mapping[str, int], call: CallText
) -> str:
    changed = {one: value for one, value in after.items() if value != found[one]}
    lines: list[str] = []
    passed: dict[str, str] = {}
    for name in dict.fromkeys(one.parameter for one in changed):
        by_axis = {one.axis: value for one, value in changed.items() if one.parameter == name}
        if None in by_axis:
            passed[name] = _value_text(rule, Quantity(name), changed)
            continue
        more = [0] * ranks[name]
        parts = [":"] * ranks[name]
        for axis, value in by_axis.items():
            assert axis is not None  # an array has no value of its own
            quantity = Quantity(name, axis)
            if value > found[quantity]:
                more[axis] = value - found[quantity]
            else:
                parts[axis] = f":{_value_text(rule, quantity, changed)}"
        if any(more):
            widths = [f"(0, {one})" for one in more]
            width = widths[0] if len(widths) == 1 else f"({', '.join(widths)})"
            lines.append(f"{name} = np.pad({name}, {width})")
        while parts and parts[-1] == ":":
            parts.pop()
        if parts:
            passed[name] = f"{name}[{', '.join(parts)}]"
    return "\n".join([*lines, _call_text(call, passed)] if passed else lines)


def _value_text(rule: ExtentRule, quantity: Quantity, changed: Mapping[Quantity, int]) -> str:
    """The new value: in terms of what the rule compares it with, else as a number."""
    factor = rule.need.factor(quantity)
    rest = rule.need - Linear.of(quantity) * factor
    is_alone = not any(one != quantity and one in changed for one, _ in rest.terms)
    if abs(factor) == 1 and rest.terms and is_alone:
        return str(rest * -factor)
    return str(changed[quantity])


def _call_text(call: CallText, passed: Mapping[str, str]) -> str:
    texts = [
        f"{name}={passed.get(name, name)}" if by_keyword else passed.get(name, name)
        for name, by_keyword in call.arguments
    ]
    named = {name for name, _ in call.arguments}
    texts += [f"{name}={text}" for name, text in passed.items() if name not in named]
    return f"{call.kernel}({', '.join(texts)})"

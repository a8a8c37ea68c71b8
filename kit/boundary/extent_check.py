"""What a kernel's source needs of extents and integers, against the arguments of one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from kit.arrays import plain_array
from kit.boundary.call_text import CallText
from kit.boundary.extent_fixes import mend_call
from kit.boundary.verdict import Refusal
from kit.signature import Signature
from kit.source.extent_rules import ExtentRule
from kit.source.linear import Quantity

__all__ = ["find_broken_rule"]


def find_broken_rule(
    signature: Signature, values: Sequence[object], call: CallText
) -> tuple[str, Refusal] | None:
    """The argument that is refused, and why, for the first rule that a call breaks; else None.

    Parameters
    ----------
    signature : Signature
        With the rules.
    values : sequence of object
        One per parameter; each by itself is what its parameter takes.
    call : CallText
        The call, for the fix.
    """
    if not signature.rules:
        return None
    named = dict(zip((one.name for one in signature.parameters), values, strict=True))
    rules = [
        rule
        for rule in signature.rules
        if all(named[one.parameter] is not None for one in rule.quantities)
    ]
    found = {one: _measured(named, one) for rule in rules for one in rule.quantities}
    broken = next((rule for rule in rules if not rule.holds(found.__getitem__)), None)
    if broken is None:
        return None
    refusal = Refusal(
        error="value",
        found=_found(broken, found),
        need=f"{broken.condition}, because of line {broken.line}: {broken.text}",
        fix=mend_call(rules, found, _ranks(named), frozenset(signature.outputs), call),
    )
    return broken.argument, refusal


def _measured(named: Mapping[str, object], one: Quantity) -> int:
    value = cast(Any, named[one.parameter])
    if one.axis is None:
        return int(value)
    # A subclass may say something else.
    is_array = isinstance(value, np.ndarray)
    shape = plain_array(cast(Any, value)).shape if is_array else np.shape(value)
    return int(shape[one.axis])


def _ranks(named: Mapping[str, object]) -> dict[str, int]:
    return {name: np.ndim(cast(Any, one)) for name, one in named.items() if one is not None}


def _found(rule: ExtentRule, found: Mapping[Quantity, int]) -> str:
    """Every quantity of the rule, that of the refused argument first."""
    atoms = [atom for atom, _ in rule.need.terms]
    atoms.sort(key=lambda one: (one.parameter, one.axis) != (rule.argument, rule.axis))
    texts = [f"{one} is {found[one]}" for one in atoms]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])}, and {texts[-1]}"

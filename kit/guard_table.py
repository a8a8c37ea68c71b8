"""What a guard checks: a signature as plain rows, for the compiled guard to walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from kit.boundary.scalars import INT_RANGES, convert_scalar, passing_types
from kit.boundary.sharing import share_elements
from kit.signature import NO_DEFAULT, ArgumentType, Parameter, Signature
from kit.source.extent_rules import ExtentRule
from kit.source.linear import Linear, Quantity
from kit.targets import CHOICES
from kit.terms import Language

__all__ = ["are_independent", "default_value", "guard_table", "has_fast_path"]

_MOST_VARIANTS: Final = 4
_MOST_PARAMETERS: Final = 64
# As in guard.c.
_ARRAY, _BOOL, _INT, _EXACT, _COMPLEX, _STR = range(6)

Row = tuple[Any, ...]


def has_fast_path(signature: Signature) -> bool:
    """Whether calls of such a kernel can pass without facts and plan.

    Examples
    --------
    >>> has_fast_path(Signature(name="f", parameters=(), variants=((),)))
    True
    """
    if signature.keeps:  # what is kept must be held after the call
        return False
    return 0 < len(signature.variants) <= _MOST_VARIANTS and not any(
        one.container is not None for variant in signature.variants for one in variant
    )


def guard_table(
    signature: Signature,
    language: Language,
    function: Callable[..., object],
    keywords: Mapping[str, str],
) -> Row | None:
    """The arguments of the compiled guard's `_arm`, or None where there is no fast path.

    Parameters
    ----------
    signature : Signature
        What the kernel declares.
    language : {"fortran", "c"}
        What it was translated to.
    function : callable
        The compiled function.
    keywords : mapping of str to str
        The wrapper's names of keyword-only parameters.
    """
    if not has_fast_path(signature) or len(signature.parameters) > _MOST_PARAMETERS:
        return None
    positions = {one.name: index for index, one in enumerate(signature.parameters)}
    alone = signature.variants[0] if len(signature.variants) == 1 else None
    parameters = tuple(
        (
            None if one.positional_only else one.name,
            keywords.get(one.name),
            _default(one, None if alone is None else alone[index]),
        )
        for index, one in enumerate(signature.parameters)
    )
    variants = tuple(
        tuple(_row(*pair) for pair in zip(signature.parameters, variant, strict=True))
        for variant in signature.variants
    )
    rules = tuple(_rule_row(one, positions) for one in signature.rules)
    return function, language == "c", parameters, variants, rules, CHOICES, are_independent


def default_value(default: object, expected: ArgumentType | None) -> object:
    """The default in the one type that the compiled function takes, where that is possible."""
    if default is None or expected is None or expected.rank or expected.container:
        return default
    try:
        return convert_scalar(default, expected)
    except Exception:  # refused at each call, by the slow path, with its reason
        return default


def are_independent(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays, one of them written, surely have no element in common."""
    return not share_elements(a, b)


def _default(parameter: Parameter, expected: ArgumentType | None) -> Row:
    if parameter.default is NO_DEFAULT:
        return ()
    return (default_value(parameter.default, expected),)


def _row(parameter: Parameter, expected: ArgumentType) -> Row:
    """Kind of the argument, whether None passes, and what the kind needs."""
    kind, rest = _kind(parameter, expected)
    return kind, parameter.default is None, rest


def _kind(parameter: Parameter, expected: ArgumentType) -> tuple[int, Row]:
    if expected.is_array:
        written = parameter.intent != "in"
        return _ARRAY, (np.dtype(expected.dtype), expected.rank, expected.order == "F", written)
    if expected.dtype == "str":
        return _STR, ()
    if expected.dtype == "bool":
        return _BOOL, ()
    if expected.python_scalar and expected.dtype in INT_RANGES:
        return _INT, INT_RANGES[expected.dtype]
    types = passing_types(expected)
    kind = _COMPLEX if expected.dtype.startswith("complex") else _EXACT
    return kind, (types[0], types[-1])


def _rule_row(rule: ExtentRule, positions: Mapping[str, int]) -> Row:
    when = tuple(_linear_row(one, positions) for one in rule.when)
    return when, _linear_row(rule.need, positions), rule.is_equal


def _linear_row(linear: Linear[Quantity], positions: Mapping[str, int]) -> Row:
    terms: Sequence[Row] = [
        (positions[atom.parameter], -1 if atom.axis is None else atom.axis, factor)
        for atom, factor in linear.terms
    ]
    return linear.number, tuple(terms)

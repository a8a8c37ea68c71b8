"""Elements of lists, sets and tuples: all of the one type that Pyccel's wrappers take, or refused.

The wrappers convert nothing: they read ``np.True_`` as False, run with -1 for an int outside int64
and answer an element of another type with an error that does not name it (2.2.3).
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

import numpy as np

from kit.boundary.scalars import INT_RANGES, is_mangled, judge_scalar, passing_types
from kit.boundary.verdict import Refusal, Verdict, refuse
from kit.signature import ArgumentType

__all__ = ["element_kinds", "refuse_element"]


def element_kinds(values: Collection[Any], element: ArgumentType) -> frozenset[type] | None:
    """The types of the elements, or None where one of them has to be refused.

    Examples
    --------
    >>> element = ArgumentType(dtype="int64", rank=0, order=None, python_scalar=True, text="int")
    >>> element_kinds([1, 2], element), element_kinds([1, True], element)
    (frozenset({<class 'int'>}), None)
    """
    # By types and extremes: a loop over the elements takes ten times as long.
    kinds = frozenset(map(type, values))
    if not kinds <= frozenset(passing_types(element)):
        return None
    if not values:
        return kinds
    if element.dtype in INT_RANGES:
        low, high = INT_RANGES[element.dtype]
        fits = low <= min(values) and max(values) <= high
    elif element.dtype.startswith("complex"):
        fits = not any(map(is_mangled, values))
    elif element.dtype == "str":
        fits = all(one.isascii() and "\0" not in one for one in values)
    else:
        fits = True
    return kinds if fits else None


def refuse_element(
    name: str, values: Collection[Any], expected: ArgumentType, *, written: bool
) -> Verdict:
    """The refusal of the first element that the kernel cannot take.

    Parameters
    ----------
    name : str
        The parameter's name.
    values : list, set or tuple
        What was passed; `element_kinds` said None of it.
    expected : ArgumentType
        What the kernel declares, with `elements`.
    written : bool
        Whether the kernel writes it: then the fix keeps a list's identity.
    """
    element = expected.elements
    assert element is not None  # otherwise nothing is known to be wrong
    judged = ((at, one, judge_scalar("one", one, element)) for at, one in enumerate(values))
    index, one, verdict = next(entry for entry in judged if entry[2].action != "PASS")
    place = f"an element of {name}" if isinstance(values, set) else f"{name}[{index}]"
    kind, error, why = expected.container or "list", verdict.refusal or _CONVERTIBLE, ""
    if type(one) in passing_types(element):
        why = f": {error.need}" if error.error == "value" else ""
    expression, comment = _conversion(values, element)
    text = f"[{expression} for one in {name}]"
    if kind != "list":
        text = f"{kind}({text})"
    target = f"{name}[:]" if written and kind == "list" else name
    return refuse(
        error.error,
        found=f"{place} is {_described(one)}",
        need=f"only {_type_text(element)} in {expected.text}{why}",
        fix=f"{target} = {text}{comment}",
    )


_CONVERTIBLE: Final = Refusal(error="type", found="", need="", fix="")


def _described(one: object) -> str:
    shown = reprlib.repr(one)
    return shown if shown.startswith("np.") else f"the {type(one).__name__} {shown}"


def _type_text(element: ArgumentType) -> str:
    kind = passing_types(element)[0]
    return kind.__name__ if kind.__module__ == "builtins" else f"np.{kind.__name__}"


def _conversion(values: Collection[Any], element: ArgumentType) -> tuple[str, str]:
    """An expression that makes every `one` fit, and a comment on what it changes."""
    to = _type_text(element)
    for expression, convert, comment in _conversions(to, element):
        try:
            with np.errstate(all="ignore"):
                made = [convert(one) for one in values]
        except Exception:  # whatever __int__ and the like of a stranger raise
            continue
        if element_kinds(made, element) is not None:
            is_exact = all(judge_scalar("one", one, element).action != "REFUSE" for one in values)
            return expression, "" if is_exact else comment
    return f"{to}(0)", "  # your values: not all of these are numbers"


def _conversions(
    to: str, element: ArgumentType
) -> Iterator[tuple[str, Callable[[Any], object], str]]:
    """Ever bolder ways to convert one element: text, what it does, and a comment."""
    kind = passing_types(element)[0]
    if element.dtype in INT_RANGES:
        low, high = INT_RANGES[element.dtype]
        # By way of int: np.int8(np.int16(300)) is 44.
        expression = "int(one)" if kind is int else f"{to}(int(one))"
        yield expression, lambda one: kind(int(one)), "  # not all exact"
        yield (
            f"{to}(min(max(int(one.real), {low}), {high}))",
            lambda one: kind(min(max(int(one.real), low), high)),
            "  # the nearest that fit",
        )
        return
    yield f"{to}(one)", kind, "  # not all exact"
    if element.dtype == "str":
        yield (
            'one.replace("\\0", "").encode("ascii", "replace").decode()',
            lambda one: one.replace("\0", "").encode("ascii", "replace").decode(),
            "  # ASCII only",
        )
    else:
        yield f"{to}(one.real)", lambda one: kind(one.real), "  # without imaginary parts"

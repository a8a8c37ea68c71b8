"""Lists, tuples, sets, dictionaries and objects of the cell's classes: passed on as they are.

Pyccel's wrappers check the elements themselves, with a clean TypeError. What they do not check is
the range of integers (2.2.3: the kernel runs with -1, then SystemError), and complex numbers lose
imaginary parts that are not finite.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from kit.boundary.refusals import describe_value
from kit.boundary.scalars import INT_RANGES, is_mangled
from kit.boundary.verdict import PASS, Verdict, refuse
from kit.signature import ArgumentType

__all__ = ["judge_container"]

_BUILTIN: dict[str, type] = {"list": list, "tuple": tuple, "set": set, "dict": dict}


def judge_container(name: str, value: object, expected: ArgumentType) -> Verdict:
    """Whether a container or an object of a class may be passed on.

    Parameters
    ----------
    name : str
        The parameter's name.
    value : object
        What was passed; it is iterated where it is a container.
    expected : ArgumentType
        A type with `container` set.
    """
    if expected.container == "class":
        return _judge_object(name, value, expected)
    builtin = _BUILTIN.get(expected.container or "")
    if builtin is None:
        return PASS
    if type(value) is not builtin:
        return refuse(
            "type",
            found=describe_value(value),
            need=f"a {builtin.__name__}, as {expected.text}",
            fix=f"{name} = {_converted(name, value, builtin)}",
        )
    outside = _first_bad(cast("Iterable[object]", value))
    if outside is None:
        return PASS
    if not isinstance(outside, int):
        return refuse(
            "value",
            found=f"the element {outside}",
            need=f"finite imaginary parts in {expected.text}, because Pyccel changes others",
            fix=f"{name} = {_finite(name, builtin)}  # without their imaginary parts\n"
            f"# or annotate {name}: 'complex128[:]', and pass an array",
        )
    low, high = INT_RANGES["int64"]
    return refuse(
        "value",
        found=f"the element {outside}",
        need=f"integers from {low} to {high} in {expected.text}",
        fix=_clamped(name, builtin, low, high),
    )


def _judge_object(name: str, value: object, expected: ArgumentType) -> Verdict:
    # By name: the class that was compiled is in the extension module, which checks it again.
    if any(one.__name__ == expected.dtype for one in type(value).__mro__):
        return PASS
    return refuse(
        "type",
        found=describe_value(value),
        need=f"an object of the cell's class {expected.dtype}",
        fix=f"{name} = {expected.dtype}(...)  # the class of the same cell, with its arguments",
    )


def _converted(name: str, value: object, builtin: type) -> str:
    if hasattr(value, "tolist"):
        name = f"{name}.tolist()"
    if builtin is dict and not isinstance(value, Mapping):
        return "{}  # key: value"
    try:
        iter(cast(Any, value))
    except TypeError:
        return "{}" if builtin is dict else f"{builtin.__name__}([{name}])"
    return f"{builtin.__name__}({name})"


def _clamped(name: str, builtin: type, low: int, high: int) -> str:
    clamp = f"min(max(one, {low}), {high})"
    if builtin is dict:
        return f"{name} = {{key: min(max(one, {low}), {high}) for key, one in {name}.items()}}"
    return f"{name} = {builtin.__name__}([{clamp} for one in {name}])"


def _finite(name: str, builtin: type) -> str:
    return f"{builtin.__name__}([one if np.isfinite(one) else complex(one.real) for one in {name}])"


def _first_bad(values: Iterable[object]) -> object:
    """The first number that a wrapper would change, or None."""
    low, high = INT_RANGES["int64"]
    if isinstance(values, Mapping):
        mapping = cast("Mapping[object, object]", values)
        values = [*mapping.keys(), *mapping.values()]
    for one in values:
        if isinstance(one, int):
            if not low <= one <= high:
                return one
        elif is_mangled(one):
            return one
        elif type(one) in (list, tuple, set, dict):
            nested = _first_bad(cast("Iterable[object]", one))
            if nested is not None:
                return nested
    return None

"""Lists, tuples, sets and objects of the cell's classes: passed on as they are, or refused.

Pyccel's C wrapper empties each list and set after the call and fills it with what the kernel has of
it, also where it only reads (2.2.3); that is no change only where the elements are of the type that
it makes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from kit.boundary.container_elements import element_kinds, refuse_element
from kit.boundary.refusals import describe_value
from kit.boundary.scalars import passing_types
from kit.boundary.verdict import PASS, Verdict, refuse
from kit.signature import ArgumentType

__all__ = ["judge_container"]

_BUILTIN: dict[str, type] = {"list": list, "tuple": tuple, "set": set, "dict": dict}


def judge_container(
    name: str,
    value: object,
    expected: ArgumentType,
    *,
    written: bool = False,
    refilled: bool = False,
    module: object = None,
) -> Verdict:
    """Whether a container or an object of a class may be passed on.

    Parameters
    ----------
    name : str
        The parameter's name.
    value : object
        What was passed; it is iterated where it is a container.
    expected : ArgumentType
        A type with `container` set.
    written : bool
        Whether the kernel writes it.
    refilled : bool
        Whether the wrapper fills lists and sets anew, whatever the kernel does.
    module : object
        The kernel's extension module, where its classes are; None where it is not known.
    """
    if expected.container == "class":
        return _judge_object(name, value, expected, module)
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
    element = expected.elements
    if element is None or element.rank or element.container is not None:
        return PASS
    values = cast("Collection[Any]", value)
    kinds = element_kinds(values, element)
    if kinds is None:
        return refuse_element(name, values, expected, written=written)
    made = passing_types(element)[0]
    if refilled and not written and builtin is not tuple and kinds - {made}:
        kind, other = builtin.__name__, next(iter(kinds - {made})).__name__
        reason = (
            f"to a {kind} of its own, because Pyccel replaces each {other} by a {made.__name__}"
        )
        return Verdict(action="CONVERT", reason=reason)
    return PASS


def _judge_object(name: str, value: object, expected: ArgumentType, module: object) -> Verdict:
    # By name where the class that was compiled is not known; the wrapper then checks it again.
    compiled = getattr(module, expected.dtype, None)
    alike = any(one.__name__ == expected.dtype for one in type(value).__mro__)
    if isinstance(value, compiled) if isinstance(compiled, type) else alike:
        return PASS
    found = describe_value(value)
    return refuse(
        "type",
        found=f"{found} of another build of its cell, or of another cell" if alike else found,
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

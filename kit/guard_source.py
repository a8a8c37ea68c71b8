"""The text of the Python guard: the few checks that the usual call needs, inline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from kit.boundary.scalars import INT_RANGES, passing_types
from kit.boundary.strides import C_INDEX_LIMIT, why_not_in_place
from kit.guard_table import are_independent, default_value, has_fast_path
from kit.signature import NO_DEFAULT, ArgumentType, Parameter, Signature, definition_pieces
from kit.source.extent_rules import ExtentRule
from kit.source.linear import Linear, Quantity
from kit.terms import Language, Order

__all__ = ["guard_scope", "guard_source"]

NdArray = np.ndarray[Any, Any]

_ALIGNED: Final = 0x0100  # NPY_ARRAY_ALIGNED
_WRITEABLE: Final = 0x0400  # NPY_ARRAY_WRITEABLE


def guard_source(
    signature: Signature, language: Language, then: str = "True", otherwise: str = "False"
) -> str | None:
    """The text of a guard, or None where the signature has no fast path.

    Parameters
    ----------
    signature : Signature
        What the kernel declares.
    language : {"fortran", "c"}
        What it was translated to.
    then, otherwise : str
        Expressions that are returned.
    """
    if not has_fast_path(signature):
        return None
    blocks: list[str] = []
    for variant in signature.variants:
        checks = _variant_checks(signature, variant, language)
        condition = "\n        and ".join(checks) if checks else "True"
        blocks.append(f"    if (\n        {condition}\n    ):\n        return {then}\n")
    head = f"def {signature.name}({_parameter_list(signature.parameters)}):\n"
    return f"{head}{''.join(blocks)}    return {otherwise}\n"


def _parameter_list(parameters: Sequence[Parameter]) -> str:
    texts = [
        one.name if one.default is NO_DEFAULT else f"{one.name}=_kit_default_{one.name}"
        for one in parameters
    ]
    return ", ".join(definition_pieces(parameters, texts))


def guard_scope(signature: Signature, language: Language) -> dict[str, object]:
    """Global names of the generated function; none can be one of its parameters."""
    scope: dict[str, object] = {
        "_kit_type": type,
        "_kit_len": len,
        "_kit_ndarray": np.ndarray,
        "_kit_in_place": _in_place_for_c if language == "c" else _in_place_for_fortran,
        "_kit_independent": _independent,
        "_kit_int": int,
    }
    for index, parameter in enumerate(signature.parameters):
        if parameter.default is not NO_DEFAULT:
            alone = parameter.types[0] if len(signature.variants) == 1 else None
            scope[f"_kit_default_{parameter.name}"] = default_value(parameter.default, alone)
        for variant in signature.variants:
            expected = variant[index]
            if expected.is_array:
                scope[f"_kit_{expected.dtype}"] = np.dtype(expected.dtype)
            else:
                for one in passing_types(expected):
                    scope[f"_kit_{one.__name__}_type"] = one
    return scope


def _variant_checks(
    signature: Signature, variant: Sequence[ArgumentType], language: Language
) -> list[str]:
    checks: list[str] = []
    arrays: list[tuple[int, Parameter]] = []
    for index, (parameter, expected) in enumerate(zip(signature.parameters, variant, strict=True)):
        if expected.is_array:
            arrays.append((index, parameter))
            check = _array_check(index, parameter, expected, language)
        else:
            check = _scalar_check(parameter.name, expected)
        if parameter.default is None:
            check = f"({parameter.name} is None or ({check}))"
        checks.append(check)
    by_name = {one.name: one for one in signature.parameters}
    rules = [_rule_check(one, by_name) for one in signature.rules]
    return [*checks, *rules, *_sharing_checks(arrays)]


def _array_check(
    index: int, parameter: Parameter, expected: ArgumentType, language: Language
) -> str:
    """Exact type, dtype and rank; then usual contiguous arrays inline, all others by the rule."""
    x, order, rank = parameter.name, expected.order or "C", expected.rank
    written = parameter.intent != "in"
    # By the bits: NumPy (2.4) warns who asks by name if what broadcast_arrays gave is writeable.
    bits = _ALIGNED | _WRITEABLE if written else _ALIGNED
    flags = f"_kit_f{index}"
    usual = f"({flags} := {x}.flags).{order.lower()}_contiguous and {flags}.num & {bits} == {bits}"
    # A contiguous array may have any stride on an axis of extent 1, and in an empty one on all.
    if rank == 1:
        usual += f" and _kit_len({x}) > 1"
    else:
        extents = " and ".join(f"_kit_s{index}[{axis}] > 1" for axis in range(1, rank))
        usual += f" and (_kit_s{index} := {x}.shape)[0] > 1 and {extents}"
    if language == "c":
        usual += f" and {x}.size < {C_INDEX_LIMIT}"
    rule = f"_kit_in_place({x}, {order!r}, {written})"
    return (
        f"_kit_type({x}) is _kit_ndarray and {x}.dtype is _kit_{expected.dtype}"
        f" and {x}.ndim == {rank}\n        and (({usual}) or {rule})"
    )


def _scalar_check(name: str, expected: ArgumentType) -> str:
    if expected.dtype == "bool":
        return f"({name} is True or {name} is False)"
    types = [f"_kit_{one.__name__}_type" for one in passing_types(expected)]
    check = " or ".join(f"_kit_type({name}) is {one}" for one in types)
    if len(types) > 1:
        check = f"({check})"
    if expected.dtype == "str":
        check += f' and {name}.isascii() and "\\0" not in {name}'
    elif expected.dtype.startswith("complex"):
        check += f" and -1e999 < {name}.imag < 1e999"  # finite: see `is_mangled`
    elif expected.python_scalar and expected.dtype in INT_RANGES:
        low, high = INT_RANGES[expected.dtype]
        check += f" and {low} <= {name} <= {high}"
    return check


def _rule_check(rule: ExtentRule, parameters: Mapping[str, Parameter]) -> str:
    """`ExtentRule.holds`, as text."""
    optional = sorted(
        {one.parameter for one in rule.quantities if parameters[one.parameter].optional}
    )
    need = f"{_linear_text(rule.need)} {'==' if rule.is_equal else '>='} 0"
    absent = [f"{name} is None" for name in optional]
    spared = [f"{_linear_text(one)} < 0" for one in rule.when]
    return f"({' or '.join([*absent, *spared, need])})"


def _linear_text(linear: Linear[Quantity]) -> str:
    terms = [str(linear.number)]
    for atom, factor in linear.terms:
        # NumPy's integers would wrap around.
        text = str(atom) if atom.axis is not None else f"_kit_int({atom})"
        terms.append(f"{factor} * {text}")
    return f"({' + '.join(terms)})"


def _sharing_checks(arrays: Sequence[tuple[int, Parameter]]) -> list[str]:
    """No written array shares elements with another one; arrays that own their memory cannot."""
    pairs = [
        (one, other)
        for position, one in enumerate(arrays)
        for other in arrays[position + 1 :]
        if one[1].intent != "in" or other[1].intent != "in"
    ]
    if not pairs:
        return []
    involved = sorted({one for pair in pairs for one in pair}, key=lambda one: one[0])
    checks = [f"{a[1].name} is not {b[1].name}" for a, b in pairs]
    if any(one[1].default is None for one in involved):
        owned = "False"
        checks = []
    else:
        owned = " and ".join(f"_kit_f{index}.owndata" for index, _ in involved)
    shown = ", ".join(f"({a[1].name}, {b[1].name})" for a, b in pairs)
    return [*checks, f"(({owned}) or _kit_independent(({shown},)))"]


def _independent(pairs: Sequence[tuple[NdArray | None, NdArray | None]]) -> bool:
    return all(a is None or b is None or are_independent(a, b) for a, b in pairs)


def _in_place_for_fortran(array: NdArray, order: Order, written: bool) -> bool:
    return _in_place(array, order, written, "fortran")


def _in_place_for_c(array: NdArray, order: Order, written: bool) -> bool:
    return _in_place(array, order, written, "c")


def _in_place(array: NdArray, order: Order, written: bool, language: Language) -> bool:
    """The whole no-copy rule, for arrays with gaps, steps, read-only memory or unit axes."""
    flags = array.flags
    if array.size == 0 or not flags.aligned:
        return False
    reason = why_not_in_place(
        array.shape,
        array.strides,
        array.itemsize,
        order,
        has_base=array.base is not None,
        language=language,
    )
    return reason is None and (not written or bool(flags.num & _WRITEABLE))

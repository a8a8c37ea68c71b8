"""Which arguments of a kernel are arrays, and in which layouts it takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from kit.arrayview import ArrayView
from kit.errors import KitError
from kit.kernel import PyccelKernel
from kit.kernel_cuda import CudaKernel
from kit.testing.argument_copies import Values, generated_layouts
from kit.testing.array_layout import ArrayLayout

__all__ = ["ArrayChoice", "array_choices", "bound_arguments"]


class ArrayChoice(NamedTuple):
    """One array argument, and how it may lie.

    Parameters
    ----------
    values : Values
        What it holds.
    layouts : tuple of ArrayLayout
        How it may lie; C order comes first.
    written : bool
        Whether the kernel may write it.
    first : str
        The first parameter that was given the same object; usually its own.
    """

    values: Values
    layouts: tuple[ArrayLayout, ...]
    written: bool
    first: str

    def named(self, name: str) -> ArrayLayout | None:
        """The layout of that name, where it may lie so."""
        return next((one for one in self.layouts if one.name == name), None)


class _Rule(NamedTuple):
    """What a kernel takes for one parameter."""

    written: bool
    any_strides: bool
    any_memory: bool
    width: int = 1

    def allows(self, layout: ArrayLayout) -> bool:
        if self.written and (not layout.writeable or 0 in layout.strides_bytes):
            return False
        return self.any_memory or (self.any_strides and layout.is_for_views)


def bound_arguments(kernel: PyccelKernel, given: object) -> dict[str, Any]:
    """Arguments by the names of the parameters, in the order in which they were given.

    Raises
    ------
    KitError
        `make_args` made no arguments, or too many.
    """
    if isinstance(given, Mapping):
        return dict(cast("Mapping[str, Any]", given))
    if not isinstance(given, (tuple, list)):
        raise KitError(
            f"assert_kernels_agree: make_args returned {type(given).__name__}\n"
            "  need:  all arguments of a call, as a sequence or by name\n"
            "  fix:   return (x, y)  # or (x,) for one argument"
        )
    values = cast("Sequence[Any]", given)
    names = [one.name for one in kernel.signature.parameters]
    if len(values) > len(names):
        raise KitError(
            f"assert_kernels_agree: make_args made {len(values)} arguments, and {kernel.__name__} "
            f"takes {len(names)} ({', '.join(names)})"
        )
    return dict(zip(names, values, strict=False))


def array_choices(kernel: PyccelKernel, arguments: Mapping[str, Any]) -> dict[str, ArrayChoice]:
    """The arguments that are arrays."""
    rules = _rules(kernel)
    shared: dict[int, list[str]] = {}
    for name, value in arguments.items():
        shared.setdefault(id(value), []).append(name)
    found: dict[str, ArrayChoice] = {}
    for name, value in arguments.items():
        rule = rules.get(name)
        if rule is None or not isinstance(value, (np.ndarray, ArrayView)):
            continue
        names = [one for one in shared[id(arguments[name])] if one in rules]
        values = _values(value, rule)
        together = [rules[one] for one in names]
        layouts = generated_layouts(values)
        allowed = [
            one
            for one in layouts[1:]
            if all(each.allows(one) for each in together)
            and (one.is_for_views or not isinstance(value, ArrayView))
        ]
        found[name] = ArrayChoice(values, (layouts[0], *allowed), rule.written, names[0])
    return {
        name: choice if choice.first == name else choice._replace(layouts=choice.layouts[:1])
        for name, choice in found.items()
    }


def _values(value: Any, rule: _Rule) -> Values:
    if not isinstance(value, ArrayView):
        return Values(np.asarray(value), width=rule.width)
    return Values(value.ndarray, nghost=value.nghost, width=rule.width)


def _rules(kernel: PyccelKernel) -> dict[str, _Rule]:
    """What each array parameter takes; of a pair, what both versions take."""
    if isinstance(kernel, CudaKernel):
        return {
            one.name: _Rule(one.written, one.kind == "view", False, one.element.width)
            for one in kernel.cuda_signature.parameters
            if one.is_array
        }
    return {
        # What is left in an object must not be a copy.
        one.name: _Rule(one.intent != "in", True, not one.kept_by)
        for one in kernel.signature.parameters
        if one.is_array
    }

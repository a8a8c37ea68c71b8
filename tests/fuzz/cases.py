"""One case: a kernel and its arguments, built from a seed and a number as often as wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kit.terms import Policy
from tests.fuzz import strangers
from tests.fuzz.addresses import is_writeable
from tests.fuzz.aliases import SharedMemory
from tests.fuzz.arrays import make_array, make_shape
from tests.fuzz.kernels import REQUIRED, Kind, Slot, Subject
from tests.fuzz.layouts import Shape
from tests.fuzz.memory import Workshop
from tests.fuzz.scalars import make_fitting, make_scalar
from tests.fuzz.subjects import case_weights


@dataclass(frozen=True, kw_only=True)
class Case:
    """One building of a case.

    Parameters
    ----------
    subject : Subject
        The kernel.
    values : list
        One per slot, defaults included.
    args, kwargs : list, dict
        How they are passed.
    wrapped, overwrites : bool
        Whether the kernel goes without its Python text, and declares its outputs as overwritten.
    policy : {"copy", "warn", "strict"}
        Of the kernel.
    shop : Workshop
        Holds the memory.
    """

    subject: Subject
    values: list[Any]
    args: list[Any]
    kwargs: dict[str, Any]
    wrapped: bool
    overwrites: bool
    policy: Policy
    shop: Workshop

    @property
    def kinds(self) -> list[str]:
        """What was made, for the table."""
        return list(dict.fromkeys(self.shop.kinds))

    @property
    def label(self) -> str:
        """The call in words."""
        texts = [
            f"{slot.name}={_describe(value)}"
            for slot, value in zip(self.subject.slots, self.values, strict=True)
        ]
        return f"{self.subject.name}({', '.join(texts)}) [{', '.join(self.kinds)}]"


def _describe(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return f"{type(value).__name__} {value!r:.40}"
    kind = "" if type(value) is np.ndarray else f"{type(value).__name__} "
    read_only = "" if is_writeable(value) else "read-only "
    return f"{kind}{read_only}{value.dtype.str}{value.shape} by {value.strides}"


def build(subjects: tuple[Subject, ...], seed: int, number: int, folder: Path) -> Case:
    """Case `number` of `seed`; the same elements each time, in memory of its own."""
    shop = Workshop(seed, number, folder)
    subject = shop.pick(subjects, _weights(subjects))
    values = _values(shop, subject)
    # Without its source, a kernel of several keyword-only types is not told apart (KitError).
    can_be_wrapped = not any(slot.keyword_only for slot in subject.slots)
    args, kwargs = _pass(shop, subject.slots, values)
    return Case(
        subject=subject,
        values=values,
        args=args,
        kwargs=kwargs,
        wrapped=shop.chance(0.08) and can_be_wrapped,
        overwrites=subject.overwrites and shop.chance(0.2),
        policy=shop.pick(["copy", "warn", "strict"], [0.84, 0.08, 0.08]),
        shop=shop,
    )


@cache
def _weights(subjects: tuple[Subject, ...]) -> list[float]:
    return case_weights(subjects)


def _values(shop: Workshop, subject: Subject) -> list[Any]:
    shape = None if subject.shapes == "free" else make_shape(shop, _rank(subject))
    hostile = 0.09 if len(subject.slots) < 3 else 0.03
    kinds = _variant(shop, subject)
    is_uneven = shape is not None and shop.chance(0.12)
    if is_uneven:
        shop.kinds.append("unequal extents")
    shared = None
    if shape is not None and shop.chance(0.5):
        shop.kinds.append("aliases")
        shared = SharedMemory(shop, shape, kinds)
    values: list[Any] = []
    for slot, kind in zip(subject.slots, kinds, strict=True):
        if slot.default is not REQUIRED and shop.chance(0.4):
            values.append(slot.default)
        elif not kind.rank:
            values.append(_scalar(shop, subject, kind))
        else:
            wanted = _shape_of(shop, subject, kind, shape)
            if is_uneven and shop.chance(0.5):
                wanted = _changed_extent(shop, wanted)
            values.append(_array(shop, kind, wanted, shared, hostile))
    return values


def _variant(shop: Workshop, subject: Subject) -> list[Kind]:
    choice = shop.integer(0, 1)
    return [slot.kinds[choice if len(slot.kinds) > 1 else 0] for slot in subject.slots]


def _rank(subject: Subject) -> int:
    return max(kind.rank for slot in subject.slots for kind in slot.kinds)


def _shape_of(shop: Workshop, subject: Subject, kind: Kind, shape: Shape | None) -> Shape:
    if shape is None:
        return make_shape(shop, kind.rank)
    return shape[-kind.rank :] if subject.shapes == "rows" else shape


def _changed_extent(shop: Workshop, shape: Shape) -> Shape:
    axis = shop.integer(0, len(shape) - 1)
    extent = max(0, shape[axis] + shop.pick([-2, -1, 1, 2]))
    return (*shape[:axis], extent, *shape[axis + 1 :])


def _scalar(shop: Workshop, subject: Subject, kind: Kind) -> Any:
    shop.kinds.append("scalars")
    # Only an echo says what an extreme number should become.
    if subject.name.startswith("echo") or shop.chance(0.06):
        value = make_scalar(shop, kind.dtype)
        if subject.name.startswith("echo") or not isinstance(value, (int, float, np.number)):
            return value
    return make_fitting(shop, kind.dtype)


def _array(
    shop: Workshop, kind: Kind, shape: Shape, shared: SharedMemory | None, hostile: float
) -> Any:
    if shop.chance(hostile):
        wrong = shop.pick(["dtype", "rank", "no array"])
        shop.kinds.append({"dtype": "other elements", "rank": "another rank"}.get(wrong, wrong))
        if wrong == "dtype":
            return strangers.wrong_dtype(shop, shape, kind.dtype, kind.order)
        if wrong == "rank":
            return strangers.wrong_rank(shop, kind.rank, kind.dtype, kind.order)
        return strangers.no_array(shop, shape, kind.dtype, kind.order)
    value = None
    if shared is not None and shop.chance(0.85):
        value = shared.view(kind, shape)
    if value is None:
        value = make_array(shop, shape, kind.dtype, kind.order)
    if shop.chance(hostile):
        value = strangers.with_class(shop, value)
    if shop.chance(0.07):
        value = strangers.make_read_only(shop, value)
    if shared is not None:
        shared.made.append(value)
    return value


def _pass(
    shop: Workshop, slots: Sequence[Slot], values: Sequence[Any]
) -> tuple[list[Any], dict[str, Any]]:
    """By position, by keyword, or left out where the value is the default."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    by_keyword = False
    first_keyword = shop.integer(0, len(slots)) if shop.chance(0.25) else len(slots)
    for index, (slot, value) in enumerate(zip(slots, values, strict=True)):
        if value is slot.default and shop.chance(0.7):
            by_keyword = True
        elif by_keyword or slot.keyword_only or index >= first_keyword:
            kwargs[slot.name] = value
            by_keyword = True
        else:
            args.append(value)
    return args, kwargs

"""What a call owes, written down anew from the contract (DESIGN.md), without asking kit.

For each argument: the reasons for which it must be refused, or none. By brute force where kit
computes: whether elements overlap is asked of the set of their addresses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from tests.fuzz.addresses import is_plain_layout, is_writeable, overlaps_itself, share_bytes
from tests.fuzz.kernels import Kind, Slot, Subject
from tests.fuzz.memory import Array
from tests.fuzz.owed_scalars import Reason, refuse_scalar


@dataclass(frozen=True, kw_only=True)
class Owed:
    """What one call owes.

    Parameters
    ----------
    reasons : mapping of str to list of Reason
        Parameter -> why it must be refused. Empty: the call must work.
    variant : tuple of Kind
        The types that the call runs with; of a refused call, the first.
    passes : frozenset of str
        Parameters that must be passed without a copy.
    short : bool
        Whether it is refused because an array is shorter than what the kernel reads of it.
    """

    reasons: Mapping[str, list[Reason]]
    variant: tuple[Kind, ...]
    passes: frozenset[str] = field(default_factory=frozenset)
    short: bool = False

    @property
    def works(self) -> bool:
        return not self.reasons


def owe_call(subject: Subject, values: Sequence[Any], *, uncompiled: bool, language: str) -> Owed:
    """What a call with `values`, one per slot, owes.

    Parameters
    ----------
    uncompiled : bool
        Whether the kernel has its Python text, which serves arrays without elements in C.
    """
    refused: dict[str, list[Reason]] = {}
    variants = list(_variants(subject))
    for variant in variants:
        reasons = _reasons(subject.slots, variant, values)
        if language == "c" and not uncompiled:
            _merge(reasons, _empty(subject.slots, values))
        if not reasons:
            passes = frozenset(_must_pass(subject.slots, variant, values))
            return Owed(reasons={}, variant=variant, passes=passes)
        _merge(refused, reasons)
    return Owed(reasons=refused, variant=variants[0])


def owe_extents(subject: Subject, values: Sequence[Any], also: Owed) -> Owed:
    """What a call owes that goes beside an array: any of them may be named, and others `also`."""
    reasons = {
        slot.name: [Reason("value", "an index beside the array")]
        for slot, value in zip(subject.slots, values, strict=True)
        if isinstance(value, np.ndarray)
    }
    _merge(reasons, also.reasons)
    return Owed(reasons=reasons, variant=also.variant, short=also.works)


def _merge(into: dict[str, list[Reason]], more: Mapping[str, list[Reason]]) -> None:
    for name, some in more.items():
        into.setdefault(name, []).extend(some)


def _variants(subject: Subject) -> Iterator[tuple[Kind, ...]]:
    tied = [slot for slot in subject.slots if slot.tied]
    for choice in range(len(tied[0].kinds) if tied else 1):
        pools = [[slot.kinds[choice]] if slot.tied else slot.kinds for slot in subject.slots]
        yield from product(*pools)


def _reasons(
    slots: Sequence[Slot], variant: Sequence[Kind], values: Sequence[Any]
) -> dict[str, list[Reason]]:
    found: dict[str, list[Reason]] = {}
    for slot, kind, value in zip(slots, variant, values, strict=True):
        reasons = refuse_value(value, kind, written=slot.written)
        if reasons and not (slot.default is None and value is None):
            found[slot.name] = reasons
    _merge(found, _shared_outputs(slots, variant, values))
    return found


def refuse_value(value: Any, kind: Kind, *, written: bool) -> list[Reason]:
    """Why one value must be refused for one type."""
    if kind.rank:
        return list(_refuse_array(value, kind, written))
    return list(refuse_scalar(value, kind.dtype))


# ---- arrays ---------------------------------------------------------------------------------


def _refuse_array(value: Any, kind: Kind, written: bool) -> Iterator[Reason]:
    if not isinstance(value, np.ndarray):
        yield Reason("type", "no array")
        return
    array: Array = value
    if type(array).__array_ufunc__ is not np.ndarray.__array_ufunc__:
        yield Reason("type", "arithmetic of its own")
    if isinstance(array, np.ma.MaskedArray) and np.any(np.ma.getmaskarray(array)):
        yield Reason("value", "masked elements")
    if array.ndim != kind.rank:
        yield Reason("type", "another rank")
    if not _same_elements(array.dtype, kind.dtype):
        yield Reason("type", "other elements")
    if written and not is_writeable(array):
        yield Reason("value", "read-only")
    if written and overlaps_itself(array):
        yield Reason("value", "elements overlap")


def _same_elements(found: np.dtype[Any], declared: str) -> bool:
    want = np.dtype(declared)
    return found.names is None and (found.kind, found.itemsize) == (want.kind, want.itemsize)


def _arrays(
    slots: Sequence[Slot], variant: Sequence[Kind], values: Sequence[Any]
) -> list[tuple[Slot, Array]]:
    return [
        (slot, value)
        for slot, kind, value in zip(slots, variant, values, strict=True)
        if kind.rank and isinstance(value, np.ndarray)
    ]


def _shared_outputs(
    slots: Sequence[Slot], variant: Sequence[Kind], values: Sequence[Any]
) -> dict[str, list[Reason]]:
    """Two written arrays that share elements: either may be named."""
    found: dict[str, list[Reason]] = {}
    written = [(slot, array) for slot, array in _arrays(slots, variant, values) if slot.written]
    for index, (slot, array) in enumerate(written):
        for other, second in written[index + 1 :]:
            if share_bytes(array, second):
                found[slot.name] = found[other.name] = [Reason("value", "outputs share elements")]
    return found


def _empty(slots: Sequence[Slot], values: Sequence[Any]) -> dict[str, list[Reason]]:
    return {
        slot.name: [Reason("value", "no elements, in C, without Python text")]
        for slot, value in zip(slots, values, strict=True)
        if isinstance(value, np.ndarray) and value.size == 0
    }


def _must_pass(
    slots: Sequence[Slot], variant: Sequence[Kind], values: Sequence[Any]
) -> Iterator[str]:
    arrays = _arrays(slots, variant, values)
    kinds = {slot.name: kind for slot, kind in zip(slots, variant, strict=True)}
    for slot, array in arrays:
        others = [
            second
            for other, second in arrays
            if other is not slot and (slot.written or other.written)
        ]
        if is_plain_layout(array, kinds[slot.name].order) and not any(
            share_bytes(array, second) for second in others
        ):
            yield slot.name

"""What a call owes, written down anew from the contract (DESIGN.md), without asking kit.

For each argument: the reasons for which it must be refused, or none. By brute force where kit
computes: whether elements overlap is asked of the set of their addresses.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np

from tests.fuzz.kernels import Kind, Slot, Subject
from tests.fuzz.memory import Array

ErrorKind = Literal["type", "value"]
_FAMILIES = ("bool", "int", "float", "complex")


class Reason(NamedTuple):
    """Why an argument must be refused, and as which error."""

    error: ErrorKind
    why: str


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


class _Bounded(np.ndarray[Any, Any]):
    """Has no elements below index 0, as compiled arrays have none."""

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(_within(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(_within(index), value)


def _within(index: Any) -> Any:
    for one in index if isinstance(index, tuple) else (index,):
        if isinstance(one, int) and one < 0:
            raise IndexError
    return index


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
    return list(_refuse_scalar(value, kind.dtype))


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


def is_writeable(array: Array) -> bool:
    with warnings.catch_warnings():
        # NumPy warns at the question where broadcast_arrays made the array.
        warnings.simplefilter("ignore")
        return array.flags.writeable


def element_starts(array: Array) -> Array:
    """The address of every element."""
    starts = np.array(array.__array_interface__["data"][0], dtype=np.int64)
    for extent, stride in zip(array.shape, array.strides, strict=True):
        starts = starts[..., None] + np.arange(extent, dtype=np.int64) * stride
    return starts.reshape(-1)


def used_bytes(array: Array) -> Array:
    """The address of every byte of every element, repeated where elements share it."""
    return (element_starts(array)[:, None] + np.arange(array.itemsize)).reshape(-1)


def overlaps_itself(array: Array) -> bool:
    used = used_bytes(array)
    return len(np.unique(used)) < len(used)


def share_bytes(a: Array, b: Array) -> bool:
    return bool(np.intersect1d(used_bytes(a), used_bytes(b)).size)


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


def is_plain_layout(array: Array, order: str) -> bool:
    """Contiguous, with gaps, or stepped along the fastest or slowest axis, in `order`.

    Axes of extent 1 are left out: their strides are anybody's.
    """
    strides = np.array(array.strides if order == "F" else array.strides[::-1])
    shape = array.shape if order == "F" else array.shape[::-1]
    if not (array.dtype.isnative and array.flags.aligned and all(n > 1 for n in shape)):
        return False
    if array.base is None and not (
        array.flags.c_contiguous if order == "C" else array.flags.f_contiguous
    ):
        return False
    reach = array.itemsize
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        multiple = array.itemsize if axis < 2 else strides[axis - 1]
        if stride < reach or stride % multiple:
            return False
        reach = extent * stride
    return True


# ---- scalars --------------------------------------------------------------------------------


def _refuse_scalar(value: Any, dtype: str) -> Iterator[Reason]:
    if dtype == "str":
        if not isinstance(value, str):
            yield Reason("type", "no str")
        elif not value.isascii() or "\0" in value:
            yield Reason("value", "more than ASCII")
        return
    found, wanted = family_of(value), next(one for one in _FAMILIES if dtype.startswith(one))
    if found is None or (found == "bool") < (wanted == "bool"):
        yield Reason("type", "no number of this kind")
        return
    if _FAMILIES.index(found) > _FAMILIES.index(wanted):
        # A complex whose imaginary part is lost on the way anyway may be told so first.
        yield Reason("type", "a wider kind of number")
        return
    if wanted in ("float", "complex"):
        exact = arrives_exactly(value, dtype)
    else:
        exact = _in_range(value, dtype)
    if not exact:
        yield Reason("value", "would become another number")


def family_of(value: Any) -> str | None:
    if isinstance(value, np.timedelta64):
        return None
    for name, kinds in zip(
        _FAMILIES,
        ((bool, np.bool_), (int, np.integer), (float, np.floating), (complex, np.complexfloating)),
        strict=True,
    ):
        if isinstance(value, kinds):
            return name
    return None


def _in_range(value: Any, dtype: str) -> bool:
    bits = {"bool": 64, "int": 64}.get(dtype) or int(dtype.removeprefix("int"))
    return -(2 ** (bits - 1)) <= int(value) < 2 ** (bits - 1)


def arrives_exactly(value: Any, dtype: str) -> bool:
    """Whether a float or complex parameter can hold this number, as fractions compare."""
    bits = {"float": 53, "float64": 53, "complex": 53, "complex128": 53}.get(dtype, 24)
    if isinstance(value, (complex, np.complexfloating)):
        if not np.isfinite(value.imag):  # 2.2.3 makes nan + inf i of inf i
            return False
        return _fits(value.real, bits) and _fits(value.imag, bits)
    return _fits(value, bits)


def _fits(value: Any, bits: int) -> bool:
    if isinstance(value, (float, np.floating)) and not np.isfinite(value):
        return True
    number = Fraction(int(value)) if not isinstance(value, (float, np.floating)) else None
    if number is None:
        number = Fraction(*value.as_integer_ratio())
    if not number:
        return True
    top, bottom = (127, -149) if bits == 24 else (1023, -1074)
    odd = number.numerator // (number.numerator & -number.numerator)
    if number.denominator & (number.denominator - 1) or abs(odd).bit_length() > bits:
        return False
    low = (number.numerator & -number.numerator).bit_length() - number.denominator.bit_length()
    high = low + abs(odd).bit_length() - 1
    return low >= bottom and high <= top


# ---- the numbers ----------------------------------------------------------------------------


def snapshot(value: Any, kind: Kind) -> Any:
    """The value in the plainest form of its type, in memory of its own."""
    if value is None:
        return None
    if kind.rank:
        plain = np.asarray(value.view(np.ndarray))
        return np.array(plain, dtype=kind.dtype, order="C", copy=True).view(_Bounded)
    python = {"int": int, "float": float, "complex": complex, "bool": bool, "str": str}
    make: Any = python[kind.dtype] if kind.dtype in python else getattr(np, kind.dtype)
    if kind.dtype == "str" or family_of(value) == "complex":
        return make(value)
    return make(_python(value))


def _python(value: Any) -> Any:
    return int(value) if family_of(value) in ("bool", "int") else float(value)


def equal(a: Any, b: Any) -> bool:
    """Equal numbers; NaN equals NaN, in each part of a complex number."""
    if a is None or b is None:
        return a is b
    first: Any = np.asarray(a)
    second: Any = np.asarray(b)
    if first.shape != second.shape:
        return False
    if first.dtype.kind == "c" or second.dtype.kind == "c":
        return equal(first.real, second.real) and equal(first.imag, second.imag)
    if first.dtype.kind == "f" or second.dtype.kind == "f":
        return bool(np.array_equal(first, second, equal_nan=True))
    return bool(np.array_equal(first, second))

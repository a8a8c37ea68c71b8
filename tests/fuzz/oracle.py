"""The plainest form of every argument, for the Python text; and equality with what it gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.kernels import Kind
from tests.fuzz.owed_scalars import family_of


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

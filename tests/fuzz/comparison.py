"""What a call has left against what the oracle says, and how that is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from kit import CopyWarning
from tests.fuzz.addresses import is_writeable
from tests.fuzz.cases import Case
from tests.fuzz.memory import Array
from tests.fuzz.oracle import equal
from tests.fuzz.owed import Owed


class Failure(Exception):
    """What went wrong: the first argument is its column in the table."""


def fail(kind: str, why: str) -> NoReturn:
    raise Failure(kind, why)


@dataclass
class Expected:
    """What the oracle says: the result, and every byte of memory after the call."""

    owed: Owed
    result: Any
    memory: list[Array]
    values: list[Any]


@contextmanager
def copy_warnings() -> Iterator[list[str]]:
    """The texts of CopyWarnings; every other warning is an error."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", CopyWarning)
        yield texts
    texts += [str(one.message) for one in caught]


@contextmanager
def quiet_warnings() -> Iterator[None]:
    """Without the warnings that a fix may give: of copies, and of NumPy to who writes into them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*broadcast_arrays", DeprecationWarning)
        warnings.simplefilter("ignore", CopyWarning)
        yield


def _equal_elements(a: Array, b: Array) -> bool:
    if a.dtype.kind in "biufc":
        return equal(a.view(np.ndarray), b.view(np.ndarray))
    if a.dtype.kind == "O":
        return bool(np.all(np.asarray(a == b)))
    return a.tobytes() == b.tobytes()


def _nan_somewhere(values: Sequence[Any]) -> bool:
    return any(
        isinstance(one, np.ndarray)
        and one.dtype.kind in "fc"
        and bool(np.isnan(one.view(np.ndarray)).any())
        for one in values
    )


def changed_read_only(case: Case, expected: Expected) -> bool:
    return any(
        isinstance(value, np.ndarray)
        and not is_writeable(value)
        and not _equal_elements(value, other)
        for value, other in zip(case.values, expected.values, strict=True)
    )


def compare(case: Case, expected: Expected, result: Any, way: str = "bare") -> None:
    """Fail where the result or a byte of memory is not the oracle's."""
    if not equal(result, expected.result):
        fail("wrong", f"{way}: the result is {result}, and {expected.result} is right")
    compare_memory(case, expected, "wrong", way)


def compare_memory(case: Case, expected: Expected, kind: str, way: str) -> None:
    names = [slot.name for slot in case.subject.slots]
    for name, value, other in zip(names, case.values, expected.values, strict=True):
        if isinstance(value, np.ndarray) and not _equal_elements(value, other):
            fail(kind, f"{way}: {name} is\n{np.asarray(value)}\nand this is right:\n{other}")
    for found, right in zip(case.shop.memory, expected.memory, strict=True):
        # NaNs of another sign or payload are NaN all the same.
        if not np.array_equal(found, right) and not _nan_somewhere(expected.values):
            at = np.flatnonzero(found != right)
            fail(kind, f"{way}: bytes {at[:20]} of {found.size} changed beside the arrays")

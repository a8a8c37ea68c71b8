"""Hostile arguments never end the process, never change a number, never reach read-only memory.

500 cases in each language here, the same ones each time, with few kernels; `make fuzz` draws many
more with all of them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz.addresses import overlaps_itself, used_bytes
from tests.fuzz.arrays import LAYOUTS
from tests.fuzz.cases import build
from tests.fuzz.kernels import Kind
from tests.fuzz.memory import Workshop
from tests.fuzz.owed import refuse_value
from tests.fuzz.run import LANGUAGES, describe_failures, follow, run_cases
from tests.fuzz.subjects import subjects
from tests.fuzz.table import FAILED, WORKED, Counts

SEED = int(os.environ.get("KIT_FUZZ_SEED") or 1)
CASES = 500


@pytest.fixture(scope="session")
def counts() -> dict[str, Counts]:
    return run_cases("kit", "small", SEED, 0, CASES)


@pytest.mark.fuzz
@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_arguments_give_what_python_gives_or_the_refusal_that_is_owed(
    language: str, counts: dict[str, Counts]
) -> None:
    found = counts[language]
    assert not found.failures, describe_failures(SEED, language, found)
    assert found.total.total() == CASES
    assert all(found.total[one] for one in WORKED)


@pytest.mark.fuzz
def test_every_kind_of_array_is_among_the_cases(counts: dict[str, Counts]) -> None:
    kinds = {label for label, *_ in LAYOUTS}
    kinds |= {"other byte order", "read-only", "subclasses and masks", "no elements", "aliases"}
    kinds |= {"other elements", "another rank", "no array", "scalars", "unequal extents"}
    assert kinds <= set(counts["c"].by_kind)


def test_a_death_is_counted_for_its_case_and_the_cases_after_it_run() -> None:
    child = """
import json, os, sys
for number in range(int(sys.argv[1]), 4):
    print(json.dumps({"start": number}), flush=True)
    if number == 1:
        os.abort()
    print(json.dumps({"number": number, "said": "passed", "kinds": []}), flush=True)
print(json.dumps({"finished": True}))
"""
    reports = list(
        follow(lambda first: [sys.executable, "-c", child, str(first)], 0, 4, dict(os.environ))
    )
    said = {one["number"]: one["said"] for one in reports}
    assert said == {0: "passed", 1: "aborts", 2: "passed", 3: "passed"}
    assert "aborts" in FAILED


def test_a_case_is_built_alike_each_time_in_memory_of_its_own(tmp_path: Path) -> None:
    small = subjects("small")
    for number in range(60):
        first, second = (build(small, 3, number, tmp_path) for _ in range(2))
        assert first.label.partition(" object at ")[0] == second.label.partition(" object at ")[0]
        for one, other in zip(first.shop.memory, second.shop.memory, strict=True):
            assert np.array_equal(one, other)
            assert one.ctypes.data != other.ctypes.data
        first.shop.close()
        second.shop.close()


def test_arrays_lie_within_memory_that_is_watched(tmp_path: Path) -> None:
    """What kit would do wrong around an array must be seen."""
    shop = Workshop(1, 1, tmp_path)
    for label, make, _ in LAYOUTS:
        for shape in ((5,), (3, 1), (2, 3, 4)):
            for dtype in ("bool", "int16", "float64", "complex64"):
                array = make(shop, shape, np.dtype(dtype), "C")
                used = used_bytes(array)
                assert any(
                    one.ctypes.data <= used.min() and used.max() < one.ctypes.data + one.nbytes
                    for one in shop.memory
                ), label
    shop.close()


def test_the_oracle_refuses_what_the_contract_refuses() -> None:
    line = Kind(dtype="float64", rank=1)
    whole = np.arange(6.0)
    window = np.lib.stride_tricks.as_strided(whole, (3, 2), (8, 8))
    assert overlaps_itself(window)
    assert not overlaps_itself(whole[::-2])
    refused = {
        "list": [1.0],
        "rank": window,
        "dtype": whole.astype("float32"),
        "mask": np.ma.array(whole, mask=whole == 0),
        "read-only": np.frombuffer(whole.tobytes()),
        "repeated": np.broadcast_to(whole[:1], (6,)),
    }
    assert all(refuse_value(one, line, written=True) for one in refused.values())
    assert [key for key, one in refused.items() if not refuse_value(one, line, written=False)] == [
        "read-only",
        "repeated",
    ]
    assert not refuse_value(whole.astype(">f8")[::-1], line, written=True)

"""Compiled kernels on pooled buffers: the same numbers, for small arrays in every layout, too.

Pyccel's wrapper looks at an array's base to guess what it is a view of; a pooled buffer has one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from kit.copying import blocked, pool, threads, tiles
from tests.contracts.host_probes import Probes

EXTENTS = (1, 2, 3)


@pytest.fixture(autouse=True)
def _everything_is_pooled_and_cut(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pool, "LEAST_BYTES", 1)
    monkeypatch.setattr(blocked, "LEAST_BYTES", 0)
    monkeypatch.setattr(tiles, "SHORT_SIDE", 1)
    monkeypatch.setattr(tiles, "LONG_SIDE_BYTES", 16)
    monkeypatch.setattr(tiles, "FEWEST_ELEMENTS", 2)
    monkeypatch.setattr(threads, "BYTES_PER_THREAD", 64)
    yield
    pool.release_buffers()


def reversed_arrays(rank: int) -> Iterator[Any]:
    """Layouts that are always copied, in both orders, axes of one element included."""
    for shape in itertools.product(EXTENTS, repeat=rank):
        for array in (np.zeros(shape, ">f8", order="C"), np.zeros(shape, ">f8", order="F")):
            yield array[(slice(None, None, -1),) * rank]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("rank", [2, 3, 4])
def test_pooled_copies_arrive_and_come_back(probes: Probes, rank: int, order: str) -> None:
    name = f"into_{rank}{order}"
    kernel, python = probes.kernel(name), probes.python[name]
    for count, y in enumerate(reversed_arrays(rank)):
        x = np.random.default_rng(count).random(y.shape).astype(">f8").T.copy().T
        expected = np.zeros(y.shape)
        python(x, expected)
        kernel(x, y)
        assert np.array_equal(y, expected)
    assert kernel._buffers is not None
    assert kernel._buffers.free_bytes > 0


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_without_elements_is_not_pooled(probes: Probes, order: str) -> None:
    kernel = probes.kernel(f"fold_float64_2{order}")
    for shape in ((0, 3), (3, 0), (0, 0)):
        assert kernel(np.zeros((4, 4), ">f8")[: shape[0], : shape[1]]) == 0

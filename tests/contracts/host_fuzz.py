"""Random strides: rank 0 to 4, positive, negative, zero and odd steps, unit axes, size 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

Array = np.ndarray[Any, Any]
ITEM = 8


def random_arrays(seed: int, count: int) -> Iterator[tuple[int, str, Callable[[], Array]]]:
    """Rank, declared order, and a function that gives the same float64 array each time."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        rank = int(random.integers(1, 5))
        order = str(random.choice(["C", "F"])) if rank > 1 else "C"
        yield rank, order, _random_array(random, rank, order)


def _random_array(random: np.random.Generator, rank: int, order: str) -> Callable[[], Array]:
    shape = tuple(int(n) for n in random.choice([0, 1, 1, 2, 3, 4, 5], rank, p=_EXTENT_CHANCES))
    if random.random() < 0.4:
        strides = _nested_strides(random, shape, order)
    else:
        steps = random.choice([-3, -2, -1, 0, 1, 1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 24, 60], rank)
        strides = tuple(int(step) * ITEM for step in steps)
    if random.random() < 0.1:
        strides = tuple(s + int(random.integers(-4, 5)) for s in strides)
    low = sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if n and s < 0)
    high = sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if n and s > 0) + ITEM

    def make() -> Array:
        memory = np.zeros(high - low + ITEM, dtype=np.uint8)
        start = memory[-low:]
        array = as_strided(start[:ITEM].view("f8"), shape, strides)
        if array.size:
            array[...] = np.arange(1, array.size + 1).reshape(shape)
        return array

    return make


_EXTENT_CHANCES = [0.05, 0.1, 0.1, 0.2, 0.25, 0.2, 0.1]


def _nested_strides(
    random: np.random.Generator, shape: tuple[int, ...], order: str
) -> tuple[int, ...]:
    """What slicing gives: gaps and steps, some axes reversed, sometimes in the other order."""
    axes = list(range(len(shape)))
    if (order == "C") != (random.random() < 0.2):
        axes.reverse()
    strides = [0] * len(shape)
    step = ITEM
    for axis in axes:
        step *= int(random.choice([1, 1, 1, 2, 3]))
        strides[axis] = step if random.random() < 0.9 else -step
        step *= max(1, shape[axis] + int(random.choice([0, 0, 0, 1, 2])))
    return tuple(strides)

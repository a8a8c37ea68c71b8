"""Memory that a case lays its arrays in, with guard zones, and everything random of one case."""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

Array = np.ndarray[Any, Any]
T = TypeVar("T")

GUARD: Final = 48
_ALIGNMENT: Final = 64


class Workshop:
    """What one building of a case draws from; the same seed builds the same case again.

    Parameters
    ----------
    seed, number : int
        Of the case.
    folder : Path
        For the files behind memory maps.

    Attributes
    ----------
    memory : list of numpy.ndarray of uint8
        Every byte that the arrays of the case lie in, guard zones included.
    kinds : list of str
        What was made, for the table.
    """

    def __init__(self, seed: int, number: int, folder: Path) -> None:
        self.number = number
        self._random = random.Random(f"{seed} {number}")
        self._numbers = np.random.default_rng([seed, number])
        self._folder = folder
        self.memory: list[Array] = []
        self.files: list[Path] = []
        self.kinds: list[str] = []
        self.keep: list[object] = []

    # ---- chance -----------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def integer(self, low: int, high: int) -> int:
        """From `low` to `high`, both included."""
        return self._random.randint(low, high)

    def pick(self, choices: Sequence[T], weights: Sequence[float] | None = None) -> T:
        return self._random.choices(choices, weights)[0]

    def permutation(self, count: int) -> list[int]:
        return self._random.sample(range(count), count)

    # ---- memory -----------------------------------------------------------------------------

    def raw(self, count: int, *, shift: int = 0) -> Array:
        """`count` bytes at a multiple of 64, or `shift` bytes further; random bytes around them."""
        whole = np.empty(count + 2 * GUARD + 2 * _ALIGNMENT, np.uint8)
        start = -(whole.ctypes.data + GUARD) % _ALIGNMENT + GUARD
        watched = whole[start - GUARD : start + count + GUARD]
        watched[...] = self._numbers.integers(0, 256, watched.size, np.uint8)
        self.memory.append(watched)
        return whole[start + shift : start + shift + count]

    def plain(self, shape: Sequence[int], dtype: Any, order: Any = "C", *, shift: int = 0) -> Array:
        """A filled array that is contiguous in `order`."""
        kind = np.dtype(dtype)
        count = math.prod(shape)
        memory = self.raw(count * kind.itemsize + shift, shift=shift)
        array = memory[: count * kind.itemsize].view(kind).reshape(shape, order=order)
        self.fill(array)
        return array

    def file(self, content: Array) -> Path:
        """A file with these elements in memory order."""
        with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as made:
            made.write(content.tobytes())
        path = Path(made.name)
        self.files.append(path)
        return path

    def watch(self, array: Array) -> None:
        """Compare these bytes, too: those of a contiguous array with memory of its own."""
        self.memory.append(array.reshape(-1, order="A").view(np.ndarray).view(np.uint8))

    # ---- elements ---------------------------------------------------------------------------

    def numbers(self, shape: Sequence[int], dtype: Any) -> Array:
        """Small whole numbers, now and then with infinities and NaN where the dtype has them."""
        kind = np.dtype(dtype)
        found = self._numbers.integers(0, 50, tuple(shape))
        if self.chance(0.3):
            found = found - 20
        if kind.kind == "b":
            return found % 2 == 0
        if kind.kind == "u":
            return np.abs(found)
        if kind.kind not in "fc":
            return found
        real = found.astype(float)
        if real.size and self.chance(0.12):
            for value in (np.nan, np.inf, -np.inf):
                real.reshape(-1)[self.integer(0, real.size - 1)] = value
        return real + 1j * self._numbers.integers(0, 9, tuple(shape)) if kind.kind == "c" else real

    def fill(self, array: Array) -> None:
        """Give an array of numbers its elements."""
        if array.size:
            array[...] = self.numbers(array.shape, array.dtype).astype(array.dtype)

    def close(self) -> None:
        for path in self.files:
            path.unlink(missing_ok=True)

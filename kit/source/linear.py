"""Linear expressions: integer multiples of quantities that are known later, and a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Linear", "Quantity"]

Atom = TypeVar("Atom")


@dataclass(frozen=True, slots=True)
class Quantity:
    """An integer that a call supplies.

    Parameters
    ----------
    parameter : str
        Which argument.
    axis : int or None
        The array's extent along this axis [elements]; None stands for an integer argument itself.

    Examples
    --------
    >>> str(Quantity("x", 1)), str(Quantity("n"))
    ('x.shape[1]', 'n')
    """

    parameter: str
    axis: int | None = None

    def __str__(self) -> str:
        return self.parameter if self.axis is None else f"{self.parameter}.shape[{self.axis}]"


@dataclass(frozen=True, slots=True)
class Linear(Generic[Atom]):
    """``sum(factor * atom) + number``, in one canonical form, so that equal sums compare equal.

    Parameters
    ----------
    terms : tuple of (Atom, int)
        Each atom once, by its text, no factor 0.
    number : int
        What is added.

    Examples
    --------
    >>> n, m = Linear.of("n"), Linear.of("m")
    >>> str(n * 2 - m - 1), (n - n) == Linear()
    ('-m + 2 * n - 1', True)
    """

    terms: tuple[tuple[Atom, int], ...] = ()
    number: int = 0

    @staticmethod
    def of(atom: Atom) -> Linear[Atom]:
        """One atom by itself."""
        return Linear(((atom, 1),))

    def __add__(self, other: Linear[Atom] | int) -> Linear[Atom]:
        if isinstance(other, int):
            return Linear(self.terms, self.number + other)
        found = dict(self.terms)
        for atom, factor in other.terms:
            found[atom] = found.get(atom, 0) + factor
        terms = sorted((pair for pair in found.items() if pair[1]), key=lambda pair: str(pair[0]))
        return Linear(tuple(terms), self.number + other.number)

    def __neg__(self) -> Linear[Atom]:
        return self * -1

    def __sub__(self, other: Linear[Atom] | int) -> Linear[Atom]:
        return self + -other

    def __mul__(self, times: int) -> Linear[Atom]:
        if times == 0:
            return Linear()
        return Linear(
            tuple((atom, factor * times) for atom, factor in self.terms), self.number * times
        )

    def value(self, values: Callable[[Atom], int]) -> int:
        """The number that it is, where `values` gives each atom's."""
        return self.number + sum(factor * values(atom) for atom, factor in self.terms)

    def __str__(self) -> str:
        text = ""
        for atom, factor in self.terms:
            sign = "-" if factor < 0 else "+"
            shown = str(atom) if abs(factor) == 1 else f"{abs(factor)} * {atom}"
            text += f" {sign} {shown}" if text else (f"-{shown}" if factor < 0 else shown)
        if self.number or not text:
            number = f"{abs(self.number)}"
            text += f" {'-' if self.number < 0 else '+'} {number}" if text else str(self.number)
        return text

"""Linear expressions: integer multiples of quantities that are known later, and a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar, cast

__all__ = ["Linear", "Quantity"]

Atom = TypeVar("Atom")
Some = TypeVar("Some")


class Quantity(NamedTuple):
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


# No dataclass: a cell makes thousands of these, and every process that reads one makes the class.
class Linear(Generic[Atom]):
    """``sum(factor * atom) + number``, in one canonical form, so that equal sums compare equal.

    Immutable.

    Parameters
    ----------
    terms : tuple of (Atom, int)
        Each atom once, in its order, no factor 0. Atoms are texts or tuples.
    number : int
        What is added.

    Examples
    --------
    >>> n, m = Linear.of("n"), Linear.of("m")
    >>> str(n * 2 - m - 1), (n - n) == Linear()
    ('-m + 2 * n - 1', True)
    """

    __slots__ = ("number", "terms")

    def __init__(self, terms: tuple[tuple[Atom, int], ...] = (), number: int = 0) -> None:
        self.terms = terms
        self.number = number

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Linear):
            return NotImplemented
        same = cast("Linear[Any]", other)
        return self.number == same.number and self.terms == same.terms

    def __hash__(self) -> int:
        return hash((self.terms, self.number))

    @staticmethod
    def of(atom: Some) -> Linear[Some]:
        """One atom by itself."""
        return Linear(((atom, 1),))

    def __add__(self, other: Linear[Atom] | int) -> Linear[Atom]:
        return self._plus(other, 1)

    def __neg__(self) -> Linear[Atom]:
        return self * -1

    def __sub__(self, other: Linear[Atom] | int) -> Linear[Atom]:
        return self._plus(other, -1)

    def _plus(self, other: Linear[Atom] | int, times: int) -> Linear[Atom]:
        if isinstance(other, int):
            return Linear(self.terms, self.number + times * other)
        if not other.terms:  # the usual case, at a tenth of the cost
            return Linear(self.terms, self.number + times * other.number)
        found = dict(self.terms)
        for atom, factor in other.terms:
            found[atom] = found.get(atom, 0) + times * factor
        terms = [pair for pair in found.items() if pair[1]]
        if len(terms) > 1:
            cast("list[Any]", terms).sort()  # tuples and texts, which compare
        return Linear(tuple(terms), self.number + times * other.number)

    def __mul__(self, times: int) -> Linear[Atom]:
        if times == 0:
            return Linear()
        if times == 1:
            return self
        return Linear(
            tuple((atom, factor * times) for atom, factor in self.terms), self.number * times
        )

    def factor(self, atom: Atom) -> int:
        """How often an atom counts; 0 where it does not occur."""
        for one, factor in self.terms:
            if one == atom:
                return factor
        return 0

    def replaced(self, atom: Atom, by: Linear[Atom]) -> Linear[Atom]:
        """The same with a sum in the place of an atom.

        Examples
        --------
        >>> str(Linear.of("i").replaced("i", Linear.of("n") - 1))
        'n - 1'
        """
        factor = self.factor(atom)
        if not factor:
            return self
        rest = tuple(pair for pair in self.terms if pair[0] != atom)
        return Linear(rest, self.number) + by * factor

    def value(self, values: Callable[[Atom], int]) -> int:
        """The number that it is, where `values` gives each atom's."""
        return self.number + sum(factor * values(atom) for atom, factor in self.terms)

    def __repr__(self) -> str:
        return f"Linear({self.terms!r}, {self.number!r})"

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

"""What must hold between extents and integers of a call, because the source relies on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kit.source.linear import Linear, Quantity

__all__ = ["ExtentRule", "comparison"]


# No dataclass, whose class takes half a millisecond to make in every process that reads a cell.
class ExtentRule(NamedTuple):
    """One thing that compiled code takes for granted, and that a call is checked for.

    Parameters
    ----------
    when : tuple of Linear
        The rule counts only where each of these is at least 0: the loops around it run. A rule
        one of whose arguments is None (an optional one left out) never counts.
    need : Linear
        What is required to be at least 0, or to be 0.
    is_equal : bool
        Whether `need` must be 0.
    argument : str
        The array that is too short or too long, or the integer: a refusal names it.
    axis : int or None
        Along which of its axes; None for an integer.
    text : str
        The statement or the expression, as written.
    line : int
        Where it stands in the cell; from 1.

    Examples
    --------
    >>> x, y = (Linear.of(Quantity(name, 0)) for name in "xy")
    >>> rule = ExtentRule(
    ...     when=(), need=y - x, is_equal=True, argument="y", axis=0, text="y[:] = x[:]", line=3
    ... )
    >>> extents = {"x": 4, "y": 3}
    >>> rule.holds(lambda one: extents[one.parameter])
    False
    """

    when: tuple[Linear[Quantity], ...]
    need: Linear[Quantity]
    is_equal: bool
    argument: str
    axis: int | None
    text: str
    line: int

    def holds(self, values: Callable[[Quantity], int]) -> bool:
        """Whether a call with these values keeps the rule."""
        if any(one.value(values) < 0 for one in self.when):
            return True
        need = self.need.value(values)
        return need == 0 if self.is_equal else need >= 0

    @property
    def condition(self) -> str:
        """What is needed, as one would write it in Python."""
        return comparison(self.need, "==" if self.is_equal else ">=")

    def __str__(self) -> str:
        """The condition with its line, and with what it depends on.

        Examples
        --------
        >>> x, n = Linear.of(Quantity("x", 0)), Linear.of(Quantity("n"))
        >>> print(
        ...     ExtentRule(
        ...         when=(n - 2,), need=x - n - 1, is_equal=False, argument="x", axis=0,
        ...         text="x[i + 1]", line=5,
        ...     )
        ... )
        x.shape[0] >= n + 1 where n >= 2 (line 5)
        """
        when = " and ".join(comparison(one, ">=") for one in self.when)
        return f"{self.condition}{' where ' if when else ''}{when} (line {self.line})"

    @property
    def quantities(self) -> frozenset[Quantity]:
        """Everything that the rule asks of a call."""
        return frozenset(atom for one in (*self.when, self.need) for atom, _ in one.terms)


def comparison(one: Linear[Quantity], sign: str) -> str:
    """``one >= 0`` or ``one == 0``, with what is subtracted on the other side.

    Examples
    --------
    >>> n, m = (Linear.of(Quantity(name)) for name in "nm")
    >>> comparison(n - m + 1, ">="), comparison(-n + 3, ">="), comparison(n - 3, "==")
    ('n >= m - 1', 'n <= 3', 'n == 3')
    """
    plus = Linear(tuple(pair for pair in one.terms if pair[1] > 0))
    minus = plus - one
    if not plus.terms:
        return f"{minus + one.number} {sign.replace('>', '<')} {one.number}"
    return f"{plus} {sign} {minus}"

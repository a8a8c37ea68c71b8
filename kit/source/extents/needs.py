"""What one place of the source takes for granted, and where in a nest of loops it stands.

Only what certainly happens counts: of an index that runs through a loop, its first and its last
value. Both are steps that are taken wherever the loop runs at all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import gcd

from kit.source.linear import Linear, Quantity

__all__ = ["Corner", "Loop", "Need", "Number", "find_corners", "is_never_negative"]

Number = Linear[Quantity]

# Corners of one nest; a deeper one is followed no further: its place counts as not certain.
_MOST_CORNERS = 64


class Loop:
    """A loop over a range whose bounds are known before the call.

    Parameters
    ----------
    counter : Quantity
        Stands for its variable; no parameter has this name.
    first, last : Linear
        The variable's first and last value.
    runs : Linear
        At least 0 where the loop runs.
    is_upward : bool
        Whether the variable grows.
    is_exact : bool
        Whether `last` is reached: no break or return before it, no step that misses it.
    """

    __slots__ = (
        "_conditions",
        "_has_conditions",
        "counter",
        "first",
        "is_exact",
        "is_flat",
        "is_upward",
        "last",
        "runs",
    )

    def __init__(
        self, counter: Quantity, first: Number, last: Number, *, is_upward: bool, is_exact: bool
    ) -> None:
        self.counter = counter
        self.first = first
        self.last = last
        self.runs = last - first if is_upward else first - last
        self.is_upward = is_upward
        self.is_exact = is_exact
        self._conditions: tuple[Number, ...] | None = None
        self._has_conditions = False
        # Whether its bounds are the same in every step of the loops around it.
        self.is_flat = all(atom.parameter[0] != "#" for atom, _ in self.runs.terms)

    def conditions(self, loops: tuple[Loop, ...]) -> tuple[Number, ...] | None:
        """When all of `loops` run, of which this is the innermost one; computed once."""
        if not self._has_conditions:
            self._conditions = simplify(tuple(one.runs for one in loops))
            self._has_conditions = True
        return self._conditions


class Need:
    """Something that has to be at least 0, or 0, in every step of a nest of loops.

    Parameters
    ----------
    need : Linear
        May name the counters of `loops`.
    is_equal : bool
        Whether it has to be 0.
    when : tuple of Linear
        Only where each of these is at least 0, too.
    loops : tuple of Loop
        From the outermost one.
    is_certain : bool
        Whether it is reached in every step: under no condition, after no way out.
    node : ast.expr or ast.stmt
        The place.
    is_index : bool
        Whether `need` is an index itself, which must not be negative.
    is_filled : bool
        Whether `need` says that an array has elements.
    """

    __slots__ = ("is_certain", "is_equal", "is_filled", "is_index", "loops", "need", "node", "when")

    def __init__(
        self,
        need: Number,
        node: ast.expr | ast.stmt,
        loops: tuple[Loop, ...],
        *,
        is_certain: bool,
        is_equal: bool = False,
        when: tuple[Number, ...] = (),
        is_index: bool = False,
        is_filled: bool = False,
    ) -> None:
        self.need = need
        self.is_filled = is_filled
        self.is_index = is_index
        self.node = node
        self.loops = loops
        self.is_certain = is_certain
        self.is_equal = is_equal
        self.when = when


Corner = tuple[Number, "tuple[Number, ...] | None", bool]
"""What is needed in one step, when (None: never), and whether that step is certain."""


def find_corners(one: Need) -> Iterator[tuple[Number, tuple[Number, ...], bool, bool]]:
    """The steps that say the most, when, whether each is certain, and whether always wrong."""
    loops = one.loops
    is_plain = not one.is_equal and not one.when
    if is_plain and all(loop.is_flat and loop.is_exact for loop in loops):
        # The usual case, at a third of the cost: the conditions are the same in every step.
        need = one.need
        for loop in reversed(loops):
            factor = need.factor(loop.counter)
            if factor:
                end = loop.last if (factor < 0) == loop.is_upward else loop.first
                need = need.replaced(loop.counter, end)
        when = loops[-1].conditions(loops) if loops else ()
        corners: list[Corner] = [(need, when, one.is_certain)]
    else:
        corners = _all_corners(one)
    for need, when, is_certain in corners:
        if when is not None and not _is_met(need, when, one.is_equal):
            # Of a need with conditions of its own, those are one case of several.
            is_hopeless = not need.terms or (is_plain and _contradict((need, *when)))
            yield need, _asked(need, when, one.is_equal), is_certain, is_hopeless


def _all_corners(one: Need) -> list[Corner]:
    corners: list[Corner] = [(one.need, one.when, one.is_certain)]
    left: list[Corner] = []
    for loop in reversed(one.loops):
        reached: list[Corner] = []
        for need, when, is_certain in corners:
            when = (*(when or ()), loop.runs)
            for end, is_sure in _ends(loop, need, when, one.is_equal):
                reached.append(
                    (
                        need.replaced(loop.counter, end),
                        tuple(part.replaced(loop.counter, end) for part in when),
                        is_certain and is_sure,
                    )
                )
        if len(reached) > _MOST_CORNERS:
            left = [(one.need, (), False)]
        corners = reached[:_MOST_CORNERS]
    return left + [(need, simplify(when or ()), is_sure) for need, when, is_sure in corners]


def _ends(
    loop: Loop, need: Number, when: tuple[Number, ...], is_equal: bool
) -> list[tuple[Number, bool]]:
    """The values of the counter to look at, and whether each is certainly reached."""
    factor = need.factor(loop.counter)
    in_when = any(part.factor(loop.counter) for part in when)
    first, last = (loop.first, True), (loop.last, loop.is_exact)
    if not factor and not in_when:
        return [first]
    if in_when or is_equal:
        return [first, last]
    if (factor < 0) != loop.is_upward:
        return [first]
    return [last] if loop.is_exact else [first, last]


def simplify(when: tuple[Number, ...]) -> tuple[Number, ...] | None:
    """The conditions that a call decides; None where they are never true together."""
    kept: dict[tuple[tuple[Quantity, int], ...], Number] = {}
    for one in map(_tightened, when):
        if is_never_negative(one):
            continue
        if not one.terms:
            return None  # a negative number: never so
        before = kept.get(one.terms)
        if before is None or one.number < before.number:
            kept[one.terms] = one
    parts = tuple(kept.values())
    return None if _contradict(parts) else parts


def _is_met(need: Number, when: tuple[Number, ...], is_equal: bool) -> bool:
    if is_equal:
        return not need.terms and not need.number
    return is_never_negative(need) or _follows(need, when)


def _asked(need: Number, when: tuple[Number, ...], is_equal: bool) -> tuple[Number, ...]:
    """The conditions without those of which the need holds anyway where they do not."""
    if is_equal:
        return when
    return tuple(
        one
        for one in when
        if need.number + one.number < -1 or not is_never_negative(need + one + 1)
    )


def _tightened(one: Number) -> Number:
    """``2 * n - 3 >= 0`` says ``n - 2 >= 0``, of integers."""
    common = gcd(*(factor for _, factor in one.terms))
    if common < 2:
        return one
    terms = tuple((atom, factor // common) for atom, factor in one.terms)
    return Linear(terms, one.number // common)


def _contradict(when: tuple[Number, ...]) -> bool:
    for index, one in enumerate(when):
        for other in when[index + 1 :]:
            if one.number + other.number < 0 and not (one + other).terms:
                return True
    return False


def _follows(need: Number, when: tuple[Number, ...]) -> bool:
    """Whether the conditions make the need true: one of them, or two together."""
    for index, one in enumerate(when):
        rest = need - one
        if is_never_negative(rest):
            return True
        for other in when[index + 1 :]:
            if other.number <= rest.number and is_never_negative(rest - other):
                return True
    return False


def is_never_negative(one: Number) -> bool:
    """Whether a sum of extents cannot be negative; an integer argument can."""
    return one.number >= 0 and all(
        factor > 0 and atom.axis is not None for atom, factor in one.terms
    )

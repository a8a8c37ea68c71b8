"""From what single places need to the rules that a call is checked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kit.errors import CellError
from kit.source.extent_rules import ExtentRule
from kit.source.extents.needs import Need, Number, find_corners, is_never_negative
from kit.source.linear import Quantity
from kit.source.place import Source

__all__ = ["MAX_RULES", "collect_rules", "place_text"]

MAX_RULES = 64
"""Rules that one kernel is checked for; what whole arrays need comes first."""

_WIDTH = 72

# The compiled guard adds up such numbers in 128 bits.
_LARGEST_FACTOR = 2**53
_LARGEST_NUMBER = 2**63 - 1

_Found = tuple[Number, bool, tuple[Number, ...], "ast.expr | ast.stmt"]
_Key = tuple[Quantity, tuple[tuple[Quantity, int], ...]]


def collect_rules(
    needs: Sequence[Need], source: Source, *, line_offset: int = 0
) -> tuple[tuple[ExtentRule, ...], list[ast.expr | ast.stmt]]:
    """The rules of one function, in the order of its lines, and places that no rule covers.

    Raises
    ------
    CellError
        Where a place is outside its array whenever it is reached.
    """
    certain: dict[tuple[object, ...], _Found] = {}
    possible: list[_Found] = []
    for one in needs:
        for need, when, is_certain, is_hopeless in find_corners(one):
            found = (need, one.is_equal, when, one.node)
            if not is_certain or not all(map(_is_small, (need, *when))):
                possible.append(found)
                continue
            if is_hopeless:
                raise _always_outside(one, need, source)
            key = (need.terms, need.number if one.is_equal else None, when)
            # Of those that differ by a number, the lowest says it all.
            if key not in certain or need.number < certain[key][0].number:
                certain[key] = found
    kept = _strongest(list(certain.values()))
    kept.sort(key=lambda one: not one[1])
    rules, left = kept[:MAX_RULES], kept[MAX_RULES:]
    known = _Known(rules)
    uncovered = [one[3] for one in (*possible, *left) if not known.cover(one)]
    rules.sort(key=lambda one: (one[3].lineno, one[3].col_offset))
    return tuple(_rule(one, source, line_offset) for one in rules), uncovered


def _is_small(one: Number) -> bool:
    return abs(one.number) <= _LARGEST_NUMBER and all(
        abs(factor) <= _LARGEST_FACTOR for _, factor in one.terms
    )


def _strongest(found: list[_Found]) -> list[_Found]:
    """Without those that another one makes superfluous."""
    known = _Known(found)
    places = {id(one): place for place, one in enumerate(found)}
    return [
        one
        for one in found
        if not any(
            places[id(other)] < places[id(one)] or not _covers(one, other)
            for other in known.covering(one)
            if other is not one
        )
    ]


class _Known:
    """Rules, of which each place is compared with those alone that may cover it.

    A rule covers another one only where what it needs of integer arguments is the same, less what
    the other's conditions give, and where both need more of some extent: generated functions have
    thousands of places, of which all pairs would take minutes.
    """

    def __init__(self, rules: Sequence[_Found]) -> None:
        self._by_key: dict[_Key, list[_Found]] = {}
        for one in rules:
            need, is_equal = one[:2]
            for form in (need, -need) if is_equal else (need,):
                atom = max(form.terms, key=lambda term: (term[0].axis is not None, term[1] > 0))[0]
                self._by_key.setdefault((atom, _integers(form)), []).append(one)

    def covering(self, other: _Found) -> Iterator[_Found]:
        """The rules that make another one superfluous."""
        need, _, when, _ = other
        for part in (need, *(need - one for one in when)):
            integers = _integers(part)
            for atom in dict.fromkeys(atom for atom, _ in (*need.terms, *part.terms)):
                for one in self._by_key.get((atom, integers), ()):
                    if _covers(one, other):
                        yield one

    def cover(self, other: _Found) -> bool:
        """Whether one of them makes another one superfluous."""
        return next(self.covering(other), None) is not None


def _integers(one: Number) -> tuple[tuple[Quantity, int], ...]:
    """The part of a sum that is no extents."""
    return tuple(term for term in one.terms if term[0].axis is None)


def _covers(rule: _Found, other: _Found) -> bool:
    """Whether a call that keeps the rule keeps the other one too."""
    need, is_equal, when, _ = rule
    other_need, other_equal, other_when, _ = other
    if other_equal:
        if not is_equal or (need != other_need and need != -other_need):
            return False
    elif is_equal:
        if not (is_never_negative(other_need - need) or is_never_negative(other_need + need)):
            return False
    else:
        rest = other_need - need
        if not is_never_negative(rest) and not any(
            is_never_negative(rest - one) for one in other_when
        ):
            return False
    return when == other_when or all(
        any(is_never_negative(one - mine) for mine in other_when) for one in when
    )


def _rule(found: _Found, source: Source, line_offset: int) -> ExtentRule:
    need, is_equal, when, node = found
    # What is too short; of an integer that is too large, the integer.
    blamed = max(
        need.terms, key=lambda term: (term[0].axis is not None and term[1] > 0, term[1] < 0)
    )[0]
    return ExtentRule(
        when=when,
        need=need,
        is_equal=is_equal,
        argument=blamed.parameter,
        axis=blamed.axis,
        text=place_text(node, source),
        line=node.lineno + line_offset,
    )


def place_text(node: ast.expr | ast.stmt, source: Source) -> str:
    """A statement or an expression as written, in one line; a long one without its end."""
    if isinstance(node, ast.FunctionDef):
        return f"def {node.name}(...)"
    # Not `Source.segment`, which splits the whole text anew: 0.5 ms a cell.
    end = node.end_lineno or node.lineno
    lines = [line.encode() for line in source.lines[node.lineno - 1 : end]]
    lines[-1] = lines[-1][: node.end_col_offset]
    lines[0] = lines[0][node.col_offset :]
    text = " ".join(b" ".join(lines).decode().split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 4] + " ..."


def _always_outside(one: Need, need: Number, source: Source) -> CellError:
    """The error of a place that goes wrong with every argument that reaches it."""
    text = place_text(one.node, source)
    if one.is_equal:
        return source.error(
            f"{text}: the extents differ by {abs(need.number)}, whatever the arguments",
            one.node,
            "# give both sides the same number of elements",
        )
    if one.is_filled:
        return source.error(
            f"{text}: an array without elements in some step, which C cannot take",
            one.node,
            "%%pyccel_kernel --language fortran\n"
            "# or let the steps begin later, or take the elements one by one in a loop",
        )
    array = one.node.value if isinstance(one.node, ast.Subscript) else None
    if one.is_index and isinstance(array, ast.Name):
        return source.error(
            f"{text}: the index gets down to {need}, which compiled code takes for an "
            "element in front of the array",
            one.node,
            "from pyccel.decorators import allow_negative_index\n"
            f"@allow_negative_index({array.id!r})  # above the function: counts from the end",
        )
    return source.error(
        f"{text}: reaches {-need} beyond the array, whatever the arguments",
        one.node,
        "# change the bounds of the index",
    )

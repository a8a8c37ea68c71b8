"""From what single places need to the rules that a call is checked for."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from kit.errors import CellError
from kit.source.extent_rules import ExtentRule
from kit.source.extents.needs import Need, Number, find_corners, is_never_negative
from kit.source.place import Source

__all__ = ["MAX_RULES", "collect_rules", "place_text"]

MAX_RULES = 64
"""Rules that one kernel is checked for; what whole arrays need comes first."""

_WIDTH = 72

_Found = tuple[Number, bool, tuple[Number, ...], "ast.expr | ast.stmt"]


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
        for need, when, is_certain in find_corners(one):
            found = (need, one.is_equal, when, one.node)
            if not is_certain:
                possible.append(found)
                continue
            if not need.terms:
                raise _always_outside(one, need, source)
            certain.setdefault((need.terms, need.number, one.is_equal, when), found)
    kept = _strongest(list(certain.values()))
    uncovered = [one[3] for one in possible if not any(_covers(rule, one) for rule in kept)]
    kept.sort(key=lambda one: not one[1])
    uncovered += [one[3] for one in kept[MAX_RULES:]]
    del kept[MAX_RULES:]
    kept.sort(key=lambda one: (one[3].lineno, one[3].col_offset))
    return tuple(_rule(one, source, line_offset) for one in kept), uncovered


def _strongest(found: list[_Found]) -> list[_Found]:
    """Without those that another one makes superfluous."""
    return [
        one
        for index, one in enumerate(found)
        if not any(
            _covers(other, one) and (place < index or not _covers(one, other))
            for place, other in enumerate(found)
            if place != index
        )
    ]


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
    array = one.node.value if isinstance(one.node, ast.Subscript) else None
    if one.is_index and isinstance(array, ast.Name):
        return source.error(
            f"{text}: the index gets down to {need.number}, which compiled code takes for an "
            "element in front of the array",
            one.node,
            "from pyccel.decorators import allow_negative_index\n"
            f"@allow_negative_index({array.id!r})  # above the function: counts from the end",
        )
    return source.error(
        f"{text}: reaches {-need.number} beyond the array, whatever the arguments",
        one.node,
        "# change the bounds of the index",
    )

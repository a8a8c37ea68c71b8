"""Indices and slices: what each needs of the extent that it is taken from.

Pyccel 2.2.3, measured in both languages: a slice is not clipped to the array as in Python, and an
index or a bound that is computed does not count from the end where it is negative, unless
``@allow_negative_index`` names the array. A literal ``-1`` always counts from the end.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from kit.source.extents.needs import Number, is_never_negative
from kit.source.extents.numbers import (
    Shape,
    filled,
    is_shape,
    literal,
    literal_from_end,
    whole_number,
)
from kit.source.extents.walk import Walk

__all__ = ["IndexWalk"]

_ONE = whole_number(1)


class IndexWalk(Walk):
    """What one function needs; this part knows indices."""

    # ---- indices ----------------------------------------------------------------------------

    def subscript(self, node: ast.Subscript) -> Shape | None:
        """The extents of an element, a slice or a row."""
        is_view, self.is_view = self.is_view, False
        shape = self.shape(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not shape:
            for one in items:
                self.shape(one)
            if shape is None and not is_shape(node.value, self.known, self.imports):
                self.unseen.append(node)
            return None
        base = node.value
        while isinstance(base, ast.Subscript):
            base = base.value
        wraps = isinstance(base, ast.Name) and base.id in self.wrapping
        result = self._indexed(node, filled(items, len(shape)), shape, wraps)
        if is_view:
            self.fill(result, node, shape)
        return result

    def _indexed(
        self, node: ast.Subscript, items: Sequence[ast.expr | None], shape: Shape, wraps: bool
    ) -> Shape | None:
        result: list[Number | None] = []
        for one, extent in zip(items, shape, strict=False):
            if one is None:
                result.append(extent)
            elif isinstance(one, ast.Slice):
                result.append(self._slice(one, extent, node, wraps))
            elif not self._index(one, extent, node, wraps):
                return None
        return (*result, *shape[len(items) :])

    def _index(self, one: ast.expr, extent: Number | None, node: ast.expr, wraps: bool) -> bool:
        """Check one index; whether it is a single one."""
        index = self.number(one)
        if index is None:
            self.unseen.append(node)
            return not self.shape(one)
        if extent is None:
            self.unseen.append(node)
            return True
        from_end = literal_from_end(one)
        if from_end is not None:
            self.need(extent - from_end, node)
            return True
        key = (id(extent), index.terms, id(self.loops), self.is_certain, wraps)
        found = self.places.get(key)
        if found is None:
            low = self.need(index + extent if wraps else index, node, is_index=not wraps)
            high = self.need(extent - index - 1, node)
            # A Need keeps its loops alive.
            self.places[key] = (low, high, extent, [index.number, index.number])
            return True
        # Of indices that differ by a number, the lowest and the highest say it all.
        low, high, _, ends = found
        number = index.number
        if number < ends[0]:
            low.need, low.node, ends[0] = low.need + (number - ends[0]), node, number
        elif number > ends[1]:
            high.need, high.node, ends[1] = high.need + (ends[1] - number), node, number
        return True

    # ---- slices -----------------------------------------------------------------------------

    def _slice(
        self, one: ast.Slice, extent: Number | None, node: ast.expr, wraps: bool
    ) -> Number | None:
        """Check one slice; how many elements it has, at most 0 where it is empty."""
        if one.lower is None and one.upper is None and one.step is None:
            return extent
        step = 1 if one.step is None else literal(one.step)
        if step == -1 and one.lower is None and one.upper is None:
            return extent
        start = self._bound(one.lower, whole_number(0), extent)
        end = self._bound(one.upper, extent, extent)
        if extent is None or start is None or end is None or step is None or step < 1:
            self.unseen.append(node)
            return None
        self._check_slice(one, start, end, extent, node, wraps)
        if wraps and not (is_never_negative(start) and is_never_negative(end)):
            self.unseen.append(node)
            return None  # either may count from the end
        length = end - start
        if step != 1:
            return None if length.terms else whole_number(max(0, -(-length.number // step)))
        if not is_never_negative(length):
            self.shortened.add(length)
        return length

    def _bound(
        self, one: ast.expr | None, default: Number | None, extent: Number | None
    ) -> Number | None:
        if one is None:
            return default
        from_end = literal_from_end(one)
        if from_end is not None:
            return None if extent is None else extent - from_end
        number = self.number(one)
        if number is None:
            self.shape(one)
        return number

    def _check_slice(
        self,
        one: ast.Slice,
        start: Number,
        end: Number,
        extent: Number,
        node: ast.expr,
        wraps: bool,
    ) -> None:
        # Empty slices are the same wherever they lie.
        filled = (end - start - _ONE,)
        is_computed = one.upper is not None and literal_from_end(one.upper) is None
        if is_computed:
            self.need(extent - end, node, when=filled)
        if wraps:
            return
        if one.lower is not None and not is_never_negative(start):
            self.need(start, node, when=filled)
        if is_computed and not is_never_negative(end):
            # Python counts it from the end and finds elements; compiled, the slice is empty.
            self.need(end, node, when=(extent + end - start - _ONE, start))

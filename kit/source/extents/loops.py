"""Loops: over ranges and arrays, in statements and in generators."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kit.source.extents.expressions import ExpressionWalk
from kit.source.extents.needs import Loop, Number
from kit.source.extents.numbers import Shape, Value, whole_number
from kit.source.linear import Linear, Quantity

__all__ = ["LoopWalk", "assigned_names", "vague"]

_ZERO = whole_number(0)
_ONE = whole_number(1)


class LoopWalk(ExpressionWalk):
    """What one function needs; this part knows loops."""

    def __init__(self, imports: Mapping[str, str], wrapping: frozenset[str], *, is_c: bool) -> None:
        super().__init__(imports, wrapping, is_c=is_c)
        self._loop_count = 0

    def forget(self, names: Iterable[str]) -> None:
        """Of what is assigned again, no more is known than the number of axes."""
        for name in names:
            self.known[name] = vague(self.known.get(name))

    def comprehension(self, node: ast.GeneratorExp | ast.ListComp) -> Shape | None:
        """Follow ``x[i] for i in range(n)``, of which some function takes every element."""
        before = dict(self.known)
        certain, loops = self.is_certain, self.loops
        for generator in node.generators:
            loop, values = self.over(generator.iter)
            self.forget(assigned_names(generator.target))
            if isinstance(generator.target, ast.Name) and len(values) == 1:
                self.known[generator.target.id] = values[0]
            self.is_certain = self.is_certain and loop is not None and not generator.ifs
            self.loops = self.loops if loop is None else (*self.loops, loop)
            for one in generator.ifs:
                self.shape(one)
        self.shape(node.elt)
        self.known, self.is_certain, self.loops = before, certain, loops
        return None

    def over(self, node: ast.expr) -> tuple[Loop | None, list[Value | None]]:
        """The loop over something, and what its variables hold."""
        if isinstance(node, ast.Call):
            name = self.called(node.func)
            if name == "range" and 1 <= len(node.args) <= 3:
                return self._range(node.args)
            if name == "enumerate" and len(node.args) == 1:
                loop, rows = self._rows(node.args[0])
                return loop, [None if loop is None else Linear.of(loop.counter), *rows]
            if name == "zip":
                pairs = [self._rows(one) for one in node.args]
                # Python and compiled code end with the shortest.
                lasts = {None if loop is None else loop.last for loop, _ in pairs}
                return pairs[0][0] if len(lasts) == 1 else None, [row for _, (row,) in pairs]
        return self._rows(node)

    def _rows(self, node: ast.expr) -> tuple[Loop | None, list[Value | None]]:
        """The loop over the first axis, and the extents of what its variable holds."""
        shape = self.shape(node)
        if not shape or shape[0] is None:
            return None, [shape[1:] if shape else None]
        loop = self._loop(_ZERO, shape[0] - 1, 1)
        before, self.loops = self.loops, (*self.loops, loop)
        self.fill(shape[1:], node)
        self.loops = before
        return loop, [shape[1:]]

    def _range(self, arguments: Sequence[ast.expr]) -> tuple[Loop | None, list[Value | None]]:
        numbers = [self.number(one) for one in arguments]
        if len(numbers) < 3:  # upward
            numbers[-1] = self.length(arguments[-1])
        for one, number in zip(arguments, numbers, strict=True):
            if number is None:
                self.shape(one)
        start = _ZERO if len(numbers) == 1 else numbers[0]
        stop = numbers[0] if len(numbers) == 1 else numbers[1]
        step = _ONE if len(numbers) < 3 else numbers[2]
        if start is None or stop is None or step is None or step.terms or not step.number:
            return None, [()]
        loop = self._loop(start, stop - (1 if step.number > 0 else -1), step.number)
        return loop, [Linear.of(loop.counter)]

    def _loop(self, first: Number, last: Number, step: int) -> Loop:
        self._loop_count += 1
        length = last - first
        if not length.terms and length.number * step > 0:
            last = first + (length.number - length.number % step)
        is_exact = abs(step) == 1 or not length.terms
        counter = Quantity(f"#{self._loop_count}")
        return Loop(counter, first, last, is_upward=step > 0, is_exact=is_exact)


def vague(value: Value | None) -> Value | None:
    """What stays true of a variable that is assigned again: compiled, its rank is fixed."""
    return (None,) * len(value) if isinstance(value, tuple) else None if value is None else ()


def assigned_names(target: ast.expr) -> Iterator[str]:
    """The variables of a target."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple):
        for one in target.elts:
            yield from assigned_names(one)

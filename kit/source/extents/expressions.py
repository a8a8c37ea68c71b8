"""Expressions: the extents that each has, and what it needs of the arrays in it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

from kit.source.extents.calls import CallWalk
from kit.source.extents.indices import IndexWalk
from kit.source.extents.numbers import Shape, Value, whole_number
from kit.source.linear import Linear

__all__ = ["ExpressionWalk"]


_NUMBERS: Final = frozenset(
    ("numpy.pi", "math.pi", "math.e", "math.inf", "math.nan", "math.tau", "cmath.pi")
)


class ExpressionWalk(CallWalk):
    """What one function needs; this part knows expressions."""

    def shape(self, node: ast.expr) -> Shape | None:
        """The extents of an expression; collects what it needs on the way."""
        handler = self._handlers.get(type(node))
        if handler is not None:
            return handler(self, node)
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.expr):
                self.shape(one)
        return None

    def value(self, node: ast.expr) -> Value | None:
        """What is known of an expression that a variable is given."""
        number = self.number(node)
        return self.shape(node) if number is None else number

    def comprehension(self, node: ast.GeneratorExp | ast.ListComp) -> Shape | None:
        """Follow ``x[i] for i in range(n)``."""
        raise NotImplementedError

    def _comprehended(self, node: ast.GeneratorExp | ast.ListComp) -> Shape | None:
        return self.comprehension(node)

    # ---- names and operators ------------------------------------------------------------------

    def _name(self, node: ast.Name) -> Shape | None:
        value = self.known.get(node.id)
        return () if isinstance(value, Linear) else value

    def _lambda(self, node: ast.Lambda) -> Shape | None:
        # Its body runs where it is called.
        self.unseen.append(node)
        return None

    def _constant(self, node: ast.Constant) -> Shape | None:
        return ()

    def _list(self, node: ast.List) -> Shape | None:
        shapes = [self.shape(one) for one in node.elts]
        return (whole_number(len(shapes)),) if all(one == () for one in shapes) else None

    def _attribute(self, node: ast.Attribute) -> Shape | None:
        if self.called(node) in _NUMBERS:
            return ()
        if node.attr in {"T", "size"}:
            shape = self.view(node.value)
            if node.attr == "size":
                return ()
            self.fill(shape, node)
            return shape and shape[::-1]
        shape = self.shape(node.value)
        return shape if node.attr in {"real", "imag"} else None

    def _binary(self, node: ast.BinOp) -> Shape | None:
        if isinstance(node.op, ast.MatMult):
            return self._product(self.view(node.left), self.view(node.right), node)
        left, right = self.shape(node.left), self.shape(node.right)
        if left == () and right == ():
            return ()
        return self.together([left, right], node)

    def _unary(self, node: ast.UnaryOp) -> Shape | None:
        return self.shape(node.operand)

    def _compare(self, node: ast.Compare) -> Shape | None:
        shapes = [self.shape(node.left), self.shape(node.comparators[0])]
        return self.together(shapes + self._sometimes(node.comparators[1:]), node)

    def _any_of(self, node: ast.BoolOp) -> Shape | None:
        self.shape(node.values[0])
        self._sometimes(node.values[1:])
        return ()

    def _either(self, node: ast.IfExp) -> Shape | None:
        self.shape(node.test)
        one, other = self._sometimes([node.body, node.orelse])
        return one if one == other else None

    def _sometimes(self, nodes: Sequence[ast.expr]) -> list[Shape | None]:
        """What is evaluated under a condition only."""
        certain, self.is_certain = self.is_certain, False
        shapes = [self.shape(one) for one in nodes]
        self.is_certain = certain
        return shapes

    # One table for all instances: each function of a cell makes one.
    _handlers: ClassVar[Mapping[type[ast.expr], Callable[..., Shape | None]]] = {
        ast.Name: _name,
        ast.Constant: _constant,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.Compare: _compare,
        ast.BoolOp: _any_of,
        ast.IfExp: _either,
        ast.Call: CallWalk.call,
        ast.Attribute: _attribute,
        ast.Subscript: IndexWalk.subscript,
        ast.GeneratorExp: _comprehended,
        ast.ListComp: _comprehended,
        ast.List: _list,
        ast.Lambda: _lambda,
    }

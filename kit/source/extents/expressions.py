"""Expressions: the extents that each has, and what it needs of the arrays in it.

Pyccel 2.2.3, measured in both languages: operands of unequal extents are read, and written, past
their ends, also where one extent is 1, which Python would repeat. Only whole axes in front are
repeated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

from kit.source.extents.indices import IndexWalk
from kit.source.extents.needs import Number, is_never_negative
from kit.source.extents.numbers import Shape, Value, called_name, whole_number
from kit.source.linear import Linear

__all__ = ["ExpressionWalk"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ELEMENTWISE: Final = _words(
    "abs absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh bool complex complex128 "
    "complex64 conj conjugate cos cosh divide double exp expm1 fabs float float32 float64 floor "
    "imag int int16 int32 int64 int8 isfinite isinf isnan log mod real sign sin sinh sqrt tan tanh "
    "true_divide where"
)
_LIKE: Final = _words("array copy empty_like full_like ones_like zeros_like")
_REDUCTIONS: Final = _words("amax amin count_nonzero max min norm prod product size sum")
_MADE: Final = _words("empty full ones zeros")
_SCALARS: Final = _words("bool complex float int len max min round sum")
_SAME: Final = _words("conj conjugate copy")
_NUMBERS: Final = _words("numpy.pi math.pi math.e math.inf math.nan math.tau cmath.pi")


class ExpressionWalk(IndexWalk):
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

    def helper(self, name: str, node: ast.Call) -> Shape | None:
        """The extents of what one of `functions` gives; collects what that needs."""
        raise NotImplementedError

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
        shape = self.shape(node.value)
        if node.attr == "size":
            return ()
        if node.attr == "T" and shape is not None:
            return shape[::-1]
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

    def together(self, shapes: Sequence[Shape | None], node: ast.expr | ast.stmt) -> Shape | None:
        """The extents of an element-wise result: those of its operands, which have to agree."""
        result: Shape = ()
        is_known = True
        for shape in shapes:
            if shape is None:
                is_known = False
            elif shape:
                # From the last axis on; what one of them lacks in front is repeated.
                for one, other in zip(reversed(result), reversed(shape), strict=False):
                    self.equal(one, other, node)
                if len(shape) > len(result):
                    result = shape
        if not is_known and result:
            self.unseen.append(node)
        return result if is_known else None

    def equal(self, one: Number | None, other: Number | None, node: ast.expr | ast.stmt) -> None:
        """Collect that two extents have to be equal; negative ones are those of empty slices."""
        if one is None or other is None:
            self.unseen.append(node)
        elif one != other:
            both = is_never_negative(one) and is_never_negative(other)
            for when in ((),) if both else ((one - 1,), (other - 1,)):
                self.need(one - other, node, is_equal=True, when=when)

    def _product(self, left: Shape | None, right: Shape | None, node: ast.expr) -> Shape | None:
        if not left or not right or len(left) > 2 or len(right) > 2:
            self.unseen.append(node)
            return None
        for inner, first in zip(left[-1:], right[:1], strict=True):
            self.equal(inner, first, node)
        return (*left[:-1], *right[1:])

    # ---- calls --------------------------------------------------------------------------------

    def called(self, node: ast.expr) -> str | None:
        """What a function is called where it comes from."""
        return called_name(node, self.known, self.imports)

    def _call(self, node: ast.Call) -> Shape | None:
        name = self.called(node.func)
        if name is None and isinstance(node.func, ast.Attribute):
            shape = self.shape(node.func.value)
            self._arguments(node)
            return self._method(node, shape)
        module, _, last = (name or "").rpartition(".")
        shapes = self._arguments(node, are_views=name in self.functions or last == "matmul")
        if name is None:
            return None
        if module in {"numpy", "numpy.linalg"} or name == "abs":
            return self._numpy(last, shapes, node)
        if name in self.functions:
            return self.helper(name, node)
        return () if module in {"math", "cmath"} or name in _SCALARS else None

    def _arguments(self, node: ast.Call, *, are_views: bool = False) -> list[Shape | None]:
        follow = self.view if are_views else self.shape
        shapes = [follow(one) for one in node.args]
        for keyword in node.keywords:
            self.shape(keyword.value)
        return shapes

    def _method(self, node: ast.Call, shape: Shape | None) -> Shape | None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name == "transpose":
            return shape[::-1] if shape is not None and not node.args else None
        if name in {"sum", "min", "max"} and shape is not None:
            return None if node.args or node.keywords else ()
        return shape if name in _SAME else None

    def _numpy(self, name: str, shapes: Sequence[Shape | None], node: ast.Call) -> Shape | None:
        first = shapes[0] if shapes else None
        if name in _ELEMENTWISE and (name != "where" or len(shapes) == 3):
            return self.together(shapes, node)
        if name in _MADE:
            return self._extents(node.args[0]) if node.args else None
        if name in _REDUCTIONS:
            is_whole = len(node.args) == 1 and all(one.arg == "dtype" for one in node.keywords)
            return () if is_whole else None
        if name == "matmul" and len(shapes) == 2:
            result = self._product(first, shapes[1], node)
            out = [self.shape(one.value) for one in node.keywords if one.arg == "out"]
            return self.together([*out, result], node)
        if name in _LIKE:
            return None if {one.arg for one in node.keywords} & {"ndmin", "shape"} else first
        if name == "cross" or (name == "vecdot" and node.keywords):
            self.unseen.append(node)
        elif name == "vecdot":
            joined = self.together(shapes, node)
            return joined and joined[:-1]
        if name == "transpose":
            return first[::-1] if first is not None and len(shapes) == 1 else None
        if name == "arange" or (name == "linspace" and shapes[:2] == [(), ()]):
            position = 0 if name == "arange" else 2
            return (self.length(node.args[position]) if len(node.args) == position + 1 else None,)
        return None

    def _extents(self, node: ast.expr) -> Shape | None:
        """What ``np.zeros`` and its like are given."""
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(self.length(one) for one in node.elts)
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            return self.peek(node.value)
        number = self.length(node)
        return (number,) if number is not None or self.peek(node) == () else None

    # One table for all instances: each function of a cell makes one.
    _handlers: ClassVar[Mapping[type[ast.expr], Callable[..., Shape | None]]] = {
        ast.Name: _name,
        ast.Constant: _constant,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.Compare: _compare,
        ast.BoolOp: _any_of,
        ast.IfExp: _either,
        ast.Call: _call,
        ast.Attribute: _attribute,
        ast.Subscript: IndexWalk.subscript,
        ast.GeneratorExp: _comprehended,
        ast.ListComp: _comprehended,
        ast.List: _list,
        ast.Lambda: _lambda,
    }

"""Calls and operands: the extents that the functions of NumPy give, and what they need.

Pyccel 2.2.3, measured in both languages: operands of unequal extents are read, and written, past
their ends, also where one extent is 1, which Python would repeat. Only whole axes in front are
repeated.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from kit.source.extents.indices import IndexWalk
from kit.source.extents.needs import Number, is_never_negative
from kit.source.extents.numbers import Shape, called_name

__all__ = ["CallWalk"]


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
_SMALLEST: Final = _words("amax amin max min")
_FILLED: Final = _words("full full_like ones ones_like zeros zeros_like")
_MADE: Final = _words("empty full ones zeros")
_SCALARS: Final = _words("bool complex float int len max min round sum")
_SAME: Final = _words("conj conjugate copy")


class CallWalk(IndexWalk):
    """What one function needs; this part knows calls."""

    def helper(self, name: str, node: ast.Call) -> Shape | None:
        """The extents of what one of `functions` gives; collects what that needs."""
        raise NotImplementedError

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

    def call(self, node: ast.Call) -> Shape | None:
        """The extents of what a call gives; collects what it needs."""
        name = self.called(node.func)
        if name is None and isinstance(node.func, ast.Attribute):
            is_whole = node.func.attr not in _SAME
            shape = (self.view if is_whole else self.shape)(node.func.value)
            self._arguments(node)
            return self._method(node, shape)
        module, _, last = (name or "").rpartition(".")
        is_numpy = module in {"numpy", "numpy.linalg"}
        takes_views = is_numpy and (last == "matmul" or (last in _REDUCTIONS and last != "size"))
        shapes = self._arguments(node, are_views=takes_views or name in self.functions)
        if name is None:
            return None
        if is_numpy or name == "abs":
            shape = self._numpy(last, shapes, node)
            if last in _FILLED and shape is not None and len(shape) > 1:
                self.fill(shape, node)
            return shape
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
            self.fill(shape, node)
            return shape[::-1] if shape is not None and not node.args else None
        if name in {"sum", "min", "max"} and shape is not None:
            self._reduce(name, shape, node)
            return None if node.args or node.keywords else ()
        return shape if name in _SAME else None

    def _reduce(self, name: str, shape: Shape | None, node: ast.Call) -> None:
        """Collect what the sum, norm or largest element of all of an array needs."""
        if shape and (len(shape) > 1 or name in _SMALLEST):
            self.fill(shape, node)

    def _numpy(self, name: str, shapes: Sequence[Shape | None], node: ast.Call) -> Shape | None:
        first = shapes[0] if shapes else None
        if name in _ELEMENTWISE and (name != "where" or len(shapes) == 3):
            return self.together(shapes, node)
        if name in _MADE:
            return self._extents(node.args[0]) if node.args else None
        if name in _REDUCTIONS:
            if name != "size":
                self._reduce(name, first, node)
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
            self.fill(first, node)
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

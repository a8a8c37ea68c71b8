"""What the places of one function need, as they are collected.

Pyccel 2.2.3, measured in C: a part with no elements ends the process, or gives wrong numbers, where
it is taken as a view, and so does a whole array of several axes that is filled or reduced. An empty
array of one axis is right, and so are empty operands, targets and copies.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from kit.source.extents.needs import Loop, Need, Number
from kit.source.extents.numbers import Shape, Value, called_name, read_number
from kit.source.linear import Linear

__all__ = ["Walk"]


class Walk:
    """What one function needs, collected place by place; this part keeps them.

    Parameters
    ----------
    imports : mapping of str to str
        Local names and where they come from.
    wrapping : frozenset of str
        Arrays that ``@allow_negative_index`` names.
    is_c : bool
        Whether the cell is translated to C.
    """

    def __init__(self, imports: Mapping[str, str], wrapping: frozenset[str], *, is_c: bool) -> None:
        self.known: dict[str, Value | None] = {}
        self.needs: list[Need] = []
        self.unseen: list[ast.expr | ast.stmt] = []
        self.loops: tuple[Loop, ...] = ()
        self.is_certain = True
        self.imports = imports
        self.wrapping = wrapping
        self.is_c = is_c
        self.is_view = False
        self.functions: Collection[str] = ()
        # Lengths of slices that may come out negative, of which arrays make 0.
        self.shortened: set[Number] = set()
        # The keys hold ids; the values keep alive what those belong to.
        self.places: dict[tuple[object, ...], tuple[Need, Need, Number, list[int]]] = {}

    def shape(self, node: ast.expr) -> Shape | None:
        """The extents of an expression; collects what it needs on the way."""
        raise NotImplementedError

    def number(self, node: ast.expr) -> Number | None:
        """An integer expression as a sum of what is known before the call."""
        return read_number(node, self.known, self.imports, self.exact_extents)

    def length(self, node: ast.expr) -> Number | None:
        """How many elements or steps there are; a negative number says none, as 0 does."""
        is_read = isinstance(node, ast.Attribute | ast.Subscript) or called_name(
            getattr(node, "func", node), self.known, self.imports
        ) in {"len", "numpy.size"}
        extents = self.peek if is_read else self.exact_extents
        return read_number(node, self.known, self.imports, extents)

    def exact_extents(self, node: ast.expr) -> Shape | None:
        """As `peek`, without those that may be 0 where their sum is negative."""
        shape = self.peek(node)
        return shape and tuple(None if one in self.shortened else one for one in shape)

    def peek(self, node: ast.expr) -> Shape | None:
        """The extents of an array of which nothing else is read; collects nothing."""
        needs, unseen, places = len(self.needs), len(self.unseen), self.places
        self.places = {}
        shape = self.shape(node)
        del self.needs[needs:], self.unseen[unseen:]
        self.places = places
        return shape

    def need(
        self,
        need: Number,
        node: ast.expr | ast.stmt,
        *,
        is_equal: bool = False,
        when: tuple[Number, ...] = (),
        is_index: bool = False,
        is_filled: bool = False,
    ) -> Need:
        """Collect what is needed here."""
        one = Need(
            need,
            node,
            self.loops,
            is_certain=self.is_certain,
            is_equal=is_equal,
            when=when,
            is_index=is_index,
            is_filled=is_filled,
        )
        self.needs.append(one)
        return one

    def view(self, node: ast.expr) -> Shape | None:
        """The extents of what is given another name, passed on, multiplied or reduced.

        2.2.3: C makes a view of a part then, and an empty one ends the process.
        """
        self.is_view = self.is_c and isinstance(node, ast.Subscript)
        return self.shape(node)

    def fill(self, shape: Shape | None, node: ast.expr, base: Shape = ()) -> None:
        """Collect that an array needs elements, in C; `base` is what it is a part of."""
        for length in (shape or ()) if self.is_c else ():
            if length is None:
                self.unseen.append(node)
                continue
            # Of an empty argument, there is no compiled call in C.
            extents = {
                atom
                for one in (*(shape or ()), *base)
                for atom, _ in (() if one is None else one.terms)
                if atom.axis is not None
            }
            when = tuple(Linear.of(atom) - 1 for atom in sorted(extents))
            self.need(length - 1, node, when=when, is_filled=True)

"""Statements: what is known of each variable from line to line, and what certainly runs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import ClassVar

from kit.source.extents.loops import LoopWalk, assigned_names, vague
from kit.source.extents.needs import Loop
from kit.source.extents.numbers import Shape, Value, shaped
from kit.source.imports import imported_names

__all__ = ["StatementWalk"]

# Ways out of a block.
_RETURN, _BREAK, _CONTINUE = 1, 2, 4


class StatementWalk(LoopWalk):
    """What one function needs; this part knows statements."""

    def __init__(self, imports: Mapping[str, str], wrapping: frozenset[str], *, is_c: bool) -> None:
        super().__init__(imports, wrapping, is_c=is_c)
        self.results: list[Shape | None] = []
        self._ways_out = 0
        self._shared: frozenset[str] = frozenset()

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Follow a whole function."""
        # Compiled, a function inside shares its variables with this one: they change at any call.
        self._shared = frozenset(
            name
            for one in _inside(statements)
            if isinstance(one, ast.FunctionDef)
            for name in _stored(one.body, ())
        )
        self._block(statements)

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for one in statements:
            handler = self._handled.get(type(one))
            if handler is not None:
                handler(self, one)

    def _bind(self, name: str, value: Value | None) -> None:
        self.known[name] = None if name in self._shared else value

    # ---- assignments --------------------------------------------------------------------------

    def _assign(self, node: ast.Assign) -> None:
        self._store(node.targets[0], node.value, node)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._store(node.target, node.value, node)

    def _store(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
        if isinstance(target, ast.Name):
            number = self.number(value)
            found = self.view(value) if number is None else number
            if isinstance(value, ast.Name) and isinstance(found, tuple):
                self.fill(found, value)
            self._bind(target.id, found)
        elif isinstance(target, ast.Subscript):
            self._fill(target, value, node)
        elif isinstance(target, ast.Tuple):
            self._unpack(target, value, node)
        else:
            self.shape(value)

    def _fill(self, target: ast.Subscript, value: ast.expr, node: ast.stmt) -> None:
        given = self.shape(value)
        self._agree(self.subscript(target), given, node)

    def _agree(self, taken: Shape | None, given: Value | None, node: ast.stmt) -> None:
        """Collect what filling a part of an array needs; a number fills all of it."""
        if taken and given is None:
            self.unseen.append(node)
        elif taken and isinstance(given, tuple):
            for one, other in zip(reversed(taken), reversed(given), strict=False):
                self.equal(one, other, node)

    def _unpack(self, target: ast.Tuple, value: ast.expr, node: ast.stmt) -> None:
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            values = [self.value(one) for one in value.elts]
        else:
            extents = shaped(value, self.known, self.imports, self.exact_extents)
            if extents is None:
                self.shape(value)
            is_whole = extents is not None and len(extents) == len(target.elts)
            values = extents if extents is not None and is_whole else [None] * len(target.elts)
        for one, found in zip(target.elts, values, strict=True):
            if isinstance(one, ast.Name):
                self._bind(one.id, found)
            elif isinstance(one, ast.Subscript):
                self._agree(self.subscript(one), found, node)

    def _augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            self._fill(node.target, node.value, node)
            return
        if not isinstance(node.target, ast.Name):
            self.shape(node.value)
            return
        read, name = node.target, node.target.id
        value = self.known.get(name)
        if isinstance(value, tuple) and value:  # an array, written element by element
            self.together([value, self.shape(node.value)], node)
        else:
            result = ast.BinOp(left=read, op=node.op, right=node.value)
            self._bind(name, self.value(ast.copy_location(result, node)))

    # ---- branches and ways out ------------------------------------------------------------------

    def _if(self, node: ast.If) -> None:
        self.shape(node.test)
        certain, outer = self.is_certain, self._ways_out
        self.is_certain, self._ways_out = False, 0
        before = dict(self.known)
        self._block(node.body)
        after_body, self.known = self.known, before
        self._block(node.orelse)
        for name, value in after_body.items():
            other = self.known.get(name)
            if other != value:
                # A name that one branch alone assigns is read only where that one has run.
                self.known[name] = vague(value if other is None else other)
        self.is_certain = certain and not self._ways_out
        self._ways_out |= outer

    def _return(self, node: ast.Return) -> None:
        self.results.append(None if node.value is None else self.shape(node.value))
        self._ways_out |= _RETURN
        self.is_certain = False

    def _leave(self, node: ast.Break | ast.Continue) -> None:
        self._ways_out |= _BREAK if isinstance(node, ast.Break) else _CONTINUE
        self.is_certain = False

    def _assert(self, node: ast.Assert) -> None:
        # What follows a failed one counts as reached: the call is wrong either way.
        self.shape(node.test)

    def _expression(self, node: ast.Expr) -> None:
        self.shape(node.value)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.imports = {**self.imports, **imported_names(node)}

    def _nested(self, node: ast.FunctionDef) -> None:
        self.known[node.name] = None
        self.unseen.append(node)

    def _with(self, node: ast.With) -> None:
        for one in node.items:
            self.shape(one.context_expr)
        targets = [one.optional_vars for one in node.items if one.optional_vars is not None]
        self.forget(name for target in targets for name in assigned_names(target))
        self._block(node.body)

    # ---- loops ----------------------------------------------------------------------------------

    def _while(self, node: ast.While) -> None:
        names = self._assigned(node.body)
        self.forget(names)
        self.shape(node.test)
        self._repeat(node.body, None)
        self.forget(names)

    def _for(self, node: ast.For) -> None:
        loop, values = self.over(node.iter)
        names = self._assigned(node.body, node.target)
        self.forget(names)
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        if len(targets) == len(values):
            for target, value in zip(targets, values, strict=True):
                if isinstance(target, ast.Name):
                    self._bind(target.id, value)
        self._repeat(node.body, loop)
        self.forget(names)

    def _repeat(self, body: Sequence[ast.stmt], loop: Loop | None) -> None:
        certain, outer, loops = self.is_certain, self._ways_out, self.loops
        self._ways_out = 0
        if loop is None:
            self.is_certain = False
        else:
            self.loops = (*loops, loop)
        self._block(body)
        if loop is not None and self._ways_out & (_RETURN | _BREAK):
            loop.is_exact = False
        left = self._ways_out & _RETURN
        self.loops, self.is_certain = loops, certain and not left
        self._ways_out = outer | left

    def _assigned(self, body: Sequence[ast.stmt], *targets: ast.expr) -> list[str]:
        """What a loop assigns; ``x += 1`` leaves an array the same."""
        arrays = {name for name, value in self.known.items() if value and type(value) is tuple}
        names = [name for target in targets for name in assigned_names(target)]
        return [*names, *_stored(body, arrays)]

    _handled: ClassVar[Mapping[type[ast.stmt], Callable[..., None]]] = {
        ast.Assign: _assign,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.For: _for,
        ast.While: _while,
        ast.If: _if,
        ast.Return: _return,
        ast.Break: _leave,
        ast.Continue: _leave,
        ast.Expr: _expression,
        ast.FunctionDef: _nested,
        ast.Import: _import,
        ast.ImportFrom: _import,
        ast.With: _with,
        ast.Assert: _assert,
    }


def _inside(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, and those inside them; not those of functions inside."""
    for one in statements:
        yield one
        if isinstance(one, ast.If | ast.For | ast.While | ast.With):
            yield from _inside(one.body)
            if not isinstance(one, ast.With):
                yield from _inside(one.orelse)


def _stored(statements: Sequence[ast.stmt], arrays: Collection[str]) -> Iterator[str]:
    """The variables that statements assign; ``x += 1`` leaves an array the same."""
    for one in _inside(statements):
        if isinstance(one, ast.Assign):
            yield from assigned_names(one.targets[0])
        elif isinstance(one, ast.AnnAssign | ast.For):
            yield from assigned_names(one.target)
        elif isinstance(one, ast.AugAssign):
            yield from (name for name in assigned_names(one.target) if name not in arrays)

"""Loops whose counter or bounds mean something else when compiled (Pyccel 2.2.3).

Compiled code counts on in the variable itself: after the loop it is one step further than in
Python. C looks at the bounds again in every step.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence

from kit.source.index_places import are_elsewhere, indices_of
from kit.source.place import Source

__all__ = ["check_loops"]

_Place = tuple[int, int]


def check_loops(function: ast.FunctionDef, source: Source, *, fortran: bool) -> None:
    """Check every ``for`` over a range in one function.

    Raises
    ------
    CellError
        Where a counter is assigned in its loop or read after it, or, in C, a bound is assigned.
    """
    loops: list[tuple[ast.For, str, ast.Call]] = []
    names: list[ast.Name] = []
    augmented: set[int] = set()
    elements: list[ast.Subscript] = []
    own: set[int] = set()
    for one in _nodes(function):
        if isinstance(one, ast.Name):
            names.append(one)
        elif isinstance(one, ast.Subscript):
            elements.append(one)
        elif isinstance(one, ast.AugAssign):
            augmented.add(id(one.target))
        elif isinstance(one, ast.ListComp | ast.GeneratorExp):
            own.update(_own_names(one))
        elif isinstance(one, ast.For) and isinstance(one.target, ast.Name):
            over = one.iter
            if isinstance(over, ast.Call) and _called(over) == "range" and over.args:
                loops.append((one, one.target.id, over))
    for loop, name, over in loops:
        stored = list(_stored(loop, names, elements))
        _check_counter(name, stored, source)
        others = list(_other_branches(function.body, loop))
        after = [
            one
            for one in names
            if one.id == name
            and _start(one) >= _end(loop)
            and id(one) not in own
            and not any(first <= _start(one) < last for first, last in others)
        ]
        _check_after(name, after, augmented, source)
        if not fortran:
            _check_bounds(over, stored, source)


def _nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of the body; half of the time of `ast.walk`.

    Functions inside it belong to it: compiled, they share their variables with it (2.2.3).
    """
    pending: list[ast.AST] = list(function.body)
    while pending:
        one = pending.pop()
        yield one
        if isinstance(one, ast.Name | ast.Constant):
            continue
        for field in one._fields:
            value = getattr(one, field, None)
            if isinstance(value, list):
                pending.extend(part for part in value if isinstance(part, ast.AST))  # pyright: ignore[reportUnknownVariableType]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                pending.append(value)


def _own_names(node: ast.ListComp | ast.GeneratorExp) -> Iterator[int]:
    """The variables of a comprehension, which assigns them before it reads them."""
    targets = {
        one.id
        for generator in node.generators
        for one in ast.walk(generator.target)
        if isinstance(one, ast.Name)
    }
    outside = {id(one) for one in ast.walk(node.generators[0].iter)}
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id in targets and id(one) not in outside:
            yield id(one)


def _other_branches(body: Sequence[ast.stmt], loop: ast.For) -> Iterator[tuple[_Place, _Place]]:
    """What runs instead of the loop, as far as no other loop brings both."""
    for one in body:
        if isinstance(one, ast.If) and _start(one) <= _start(loop) < _end(one):
            if one.orelse and _start(loop) < _start(one.orelse[0]):
                yield _start(one.orelse[0]), _end(one)
            yield from _other_branches([*one.body, *one.orelse], loop)


def _called(node: ast.Call) -> str | None:
    return node.func.id if isinstance(node.func, ast.Name) else None


def _start(node: ast.expr | ast.stmt) -> _Place:
    return node.lineno, node.col_offset


def _end(node: ast.stmt) -> _Place:
    return node.end_lineno or 0, node.end_col_offset or 0


def _stored(
    loop: ast.For, names: Iterable[ast.Name], elements: Iterable[ast.Subscript]
) -> Iterator[tuple[str, ast.expr]]:
    """What the body assigns: names, and arrays by their elements."""
    first, last = _start(loop.body[0]), _end(loop)
    for one in names:
        if isinstance(one.ctx, ast.Store) and first <= _start(one) < last:
            yield one.id, one
    for one in elements:
        is_stored = isinstance(one.ctx, ast.Store) and first <= _start(one) < last
        if is_stored and isinstance(one.value, ast.Name):
            yield one.value.id, one


def _check_counter(name: str, stored: Sequence[tuple[str, ast.expr]], source: Source) -> None:
    for one, node in stored:
        if one == name:
            raise source.error(
                f"{name!r} counts this loop, and is assigned in it: compiled code would go on "
                "from the new value",
                node,
                f"{name}_new = {name} + 1  # another variable",
            )


def _check_after(
    name: str, after: Iterable[ast.Name], augmented: Collection[int], source: Source
) -> None:
    # A line reads before it assigns.
    first = min(after, key=lambda one: (one.lineno, isinstance(one.ctx, ast.Store)), default=None)
    if first is not None and (isinstance(first.ctx, ast.Load) or id(first) in augmented):
        raise source.error(
            f"{name!r} is read after the loop that it counts, where compiled code has it one step "
            "further than Python",
            first,
            f"last_{name} = {name}  # the last line of the loop; then read last_{name}",
        )


def _check_bounds(over: ast.Call, stored: Sequence[tuple[str, ast.expr]], source: Source) -> None:
    bounds = [found for one in over.args for found in _read(one)]
    for one, node in stored:
        written = indices_of(node)[1]
        if any(one == name and not are_elsewhere(written, read) for name, read in bounds):
            stop = ast.unparse(over.args[0] if len(over.args) == 1 else over.args[1])
            raise source.error(
                f"{one!r} bounds this loop, and is assigned in it: C looks at the bound again in "
                "every step",
                node,
                f"stop = {stop}  # above the loop, which then ends at stop",
            )


def _read(node: ast.expr) -> Iterator[tuple[str, list[ast.expr]]]:
    """Names whose values a bound reads, with indices; not those of which it takes the extent."""
    if isinstance(node, ast.Attribute):
        return
    if isinstance(node, ast.Call) and _called(node) == "len":
        return
    name, indices = indices_of(node)
    if name is not None:
        yield name, indices
    for one in indices or ast.iter_child_nodes(node):
        if isinstance(one, ast.expr):
            yield from _read(one)

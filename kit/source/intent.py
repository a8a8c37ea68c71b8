"""Which parameters a function may write, found from its own body and those that it calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kit.source.roots import (
    USUAL_IMPORTS,
    Body,
    Shared,
    join_roots,
    pair_arguments,
    resolve_roots,
)
from kit.source.storage import How

__all__ = ["Write", "find_writes", "written_parameters"]


class Write(NamedTuple):
    """The first place that may write a parameter.

    Parameters
    ----------
    how : {"assigned", "rebound", "passed", "kept", "returned"}
        Stored into; given another value as a whole; passed to a function that may write it; kept
        in an attribute; returned, so that the caller may write it.
    node : ast.expr or ast.stmt
        Where.
    """

    how: How
    node: ast.expr | ast.stmt


@dataclass(slots=True)
class _Function:
    """One function, and what is known so far of what it writes."""

    body: Body
    writes: dict[str, Write] = field(default_factory=dict[str, Write])
    returned: dict[str, int] = field(default_factory=dict[str, int])


def written_parameters(
    node: ast.FunctionDef,
    functions: Mapping[str, ast.FunctionDef],
    *,
    ranks: Mapping[str, Mapping[str, int | None]] | None = None,
    imports: Mapping[str, str] | None = None,
) -> frozenset[str]:
    """Parameters that a function may write; whatever is not provably only read is one.

    Parameters
    ----------
    node : ast.FunctionDef
        The function.
    functions : mapping of str to ast.FunctionDef
        Every function whose body is known: of the cell, and of the cells that it uses.
    ranks : mapping of str to mapping of str to (int or None), optional
        For each function, the axes of its parameters; None where they are not known. Left out,
        they are read from annotations that are plain strings or number types.
    imports : mapping of str to str, optional
        Local names and where they come from; `np`, `numpy`, `math` and `cmath` by default.

    Examples
    --------
    >>> body = "def f(x: 'float[:]', y: 'float[:]'):\\n    y[0] = x[0]"
    >>> sorted(written_parameters(ast.parse(body).body[0], {}))
    ['y']
    """
    every = dict(functions)
    every[node.name] = node
    return frozenset(find_writes(every, ranks=ranks, imports=imports)[node.name])


def find_writes(
    functions: Mapping[str, ast.FunctionDef],
    *,
    ranks: Mapping[str, Mapping[str, int | None]] | None = None,
    imports: Mapping[str, str] | None = None,
    classes: Mapping[str, ast.ClassDef] | None = None,
    lists: Mapping[str, frozenset[str]] | None = None,
) -> Mapping[str, Mapping[str, Write]]:
    """For each function, the parameters that it may write and the first place that does.

    `lists` are the parameters that are lists, sets or tuples of numbers.
    """
    names = frozenset(functions)
    given = ranks or {}
    # A class may have a method `extend` that writes what it is given.
    plain: Mapping[str, frozenset[str]] = lists if lists and not classes else {}
    origins = USUAL_IMPORTS if imports is None else imports
    known = {
        name: _Function(
            Body.of(node, names, given.get(name), origins, plain.get(name, frozenset()))
        )
        for name, node in functions.items()
    }
    operators = [_Function(Body.of(one, names, None, origins)) for one in _operators(classes or {})]
    pending = [*operators, *known.values()]
    while pending:
        changed = [one for one in pending if _solve(one, known, operators)]
        # Only a function that uses others can learn something from the next round.
        pending = [one for one in pending if one.body.facts.calls or operators] if changed else []
    return {name: one.writes for name, one in known.items()}


def _operators(classes: Mapping[str, ast.ClassDef]) -> list[ast.FunctionDef]:
    """The methods that operators call."""
    return [
        one
        for node in classes.values()
        for one in node.body
        if isinstance(one, ast.FunctionDef) and one.name[:2] == "__" and one.name != "__init__"
    ]


def _solve(
    function: _Function, known: Mapping[str, _Function], operators: Sequence[_Function]
) -> bool:
    """Follow the facts until nothing changes; whether anything new was found."""
    body, facts = function.body, function.body.facts
    shared: Shared = {name: {name: 0} for name in body.parameters}
    growing = True
    while growing:
        growing = False
        for target, origins in facts.binds:
            growing |= join_roots(shared, target, origins, body.ranks)
        for call in facts.calls:
            callee = known[call.callee]
            for parameter, origins in pair_arguments(call, callee.body):
                dropped = callee.returned.get(parameter)
                if dropped is not None:
                    result = tuple((name, n + dropped) for name, n in origins)
                    growing |= join_roots(shared, call.result, result, body.ranks)
    before = (len(function.writes), dict(function.returned))
    # The first parameter is the object, whose arrays count as written when it gets them.
    writing = any(one.writes.keys() - one.body.parameters[:1] for one in operators)
    for store in [*facts.stores, *(facts.operands if writing else ())]:
        for name in resolve_roots(shared, store.origins, body.ranks):
            _note(function.writes, name, Write(how=store.how, node=store.node))
    for call in facts.calls:
        callee = known[call.callee]
        for parameter, origins in pair_arguments(call, callee.body):
            # What is only returned is written where the result is.
            if parameter in callee.writes and callee.writes[parameter].how != "returned":
                for name in resolve_roots(shared, origins, body.ranks):
                    _note(function.writes, name, Write(how="passed", node=call.node))
    function.returned.update(resolve_roots(shared, tuple(facts.returned), body.ranks))
    return (len(function.writes), function.returned) != before


def _note(writes: dict[str, Write], name: str, write: Write) -> None:
    """Keep the first write, but any before a mere return."""
    if name not in writes or (writes[name].how == "returned" and write.how != "returned"):
        writes[name] = write

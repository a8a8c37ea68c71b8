"""Which parameters a function may write, found from its own body and those that it calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kit.source.aliasing import lower_function
from kit.source.storage import CallFact, Facts, How, Origins

__all__ = ["Write", "find_writes", "written_parameters"]

# What `np` means where the caller does not say what is imported.
_USUAL_IMPORTS: Final[Mapping[str, str]] = {
    "np": "numpy",
    "numpy": "numpy",
    "math": "math",
    "cmath": "cmath",
}
# Nobody nests tuples deeper; the bound only makes the search end.
_DEEPEST: Final = -128


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
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
    """One function: its facts, and what is known so far of what it writes."""

    parameters: list[str]
    positional: int
    ranks: Mapping[str, int | None]
    facts: Facts
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
) -> Mapping[str, Mapping[str, Write]]:
    """For each function, the parameters that it may write and the first place that does."""
    names = frozenset(functions)
    given = ranks or {}
    origins = _USUAL_IMPORTS if imports is None else imports
    known = {
        name: _prepare(node, names, given.get(name), origins) for name, node in functions.items()
    }
    operators = [_prepare(one, names, None, origins) for one in _operators(classes or {})]
    pending = [*operators, *known.values()]
    while pending:
        changed = [one for one in pending if _solve(one, known, operators)]
        # Only a function that uses others can learn something from the next round.
        pending = [one for one in pending if one.facts.calls or operators] if changed else []
    return {name: one.writes for name, one in known.items()}


def _operators(classes: Mapping[str, ast.ClassDef]) -> list[ast.FunctionDef]:
    """The methods that operators call."""
    return [
        one
        for node in classes.values()
        for one in node.body
        if isinstance(one, ast.FunctionDef) and one.name[:2] == "__" and one.name != "__init__"
    ]


def _prepare(
    node: ast.FunctionDef,
    names: frozenset[str],
    ranks: Mapping[str, int | None] | None,
    imports: Mapping[str, str],
) -> _Function:
    arguments = [*node.args.posonlyargs, *node.args.args]
    every = [*arguments, *node.args.kwonlyargs]
    every += [one for one in (node.args.vararg, node.args.kwarg) if one is not None]
    return _Function(
        parameters=[one.arg for one in every],
        positional=len(arguments),
        ranks=ranks if ranks is not None else {one.arg: _rank(one.annotation) for one in every},
        facts=lower_function(node, names, imports),
    )


def _rank(annotation: ast.expr | None) -> int | None:
    """The axes that a plain annotation gives; None where it takes more to know."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value.strip(), mode="eval").body
        except SyntaxError:
            return None
    if isinstance(annotation, ast.Call):  # (order=F)
        annotation = annotation.func
    if isinstance(annotation, ast.Subscript):
        items = annotation.slice
        parts = items.elts if isinstance(items, ast.Tuple) else [items]
        if all(isinstance(one, ast.Slice) for one in parts):
            return len(parts)
        name = annotation.value
        is_final = isinstance(name, ast.Name | ast.Attribute) and "Final" in ast.unparse(name)
        return _rank(items) if is_final else None
    if isinstance(annotation, ast.Name):
        return 0 if annotation.id in {"int", "float", "bool", "complex", "str"} else None
    if isinstance(annotation, ast.Attribute):
        return 0  # np.float64
    return None


def _solve(
    function: _Function, known: Mapping[str, _Function], operators: Sequence[_Function]
) -> bool:
    """Follow the facts until nothing changes; whether anything new was found."""
    shared = {name: {name: 0} for name in function.parameters}
    facts = function.facts
    growing = True
    while growing:
        growing = False
        for target, origins in facts.binds:
            growing |= _join(shared, target, origins, function.ranks)
        for call in facts.calls:
            for parameter, origins in _passed(call, known[call.callee]):
                dropped = known[call.callee].returned.get(parameter)
                if dropped is not None:
                    result = tuple((name, n + dropped) for name, n in origins)
                    growing |= _join(shared, call.result, result, function.ranks)
    before = (len(function.writes), dict(function.returned))
    # The first parameter is the object, whose arrays count as written when it gets them.
    writing = any(one.writes.keys() - one.parameters[:1] for one in operators)
    for store in [*facts.stores, *(facts.operands if writing else ())]:
        for name in _resolve(shared, store.origins, function.ranks):
            _note(function.writes, name, Write(how=store.how, node=store.node))
    for call in facts.calls:
        writes = known[call.callee].writes
        for parameter, origins in _passed(call, known[call.callee]):
            # What is only returned is written where the result is.
            if parameter in writes and writes[parameter].how != "returned":
                for name in _resolve(shared, origins, function.ranks):
                    _note(function.writes, name, Write(how="passed", node=call.node))
    function.returned.update(_resolve(shared, tuple(facts.returned), function.ranks))
    return (len(function.writes), function.returned) != before


def _note(writes: dict[str, Write], name: str, write: Write) -> None:
    """Keep the first write, but any before a mere return."""
    if name not in writes or (writes[name].how == "returned" and write.how != "returned"):
        writes[name] = write


def _passed(call: CallFact, callee: _Function) -> list[tuple[str, Origins]]:
    """The callee's parameters and what this call gives them."""
    pairs = list(zip(callee.parameters[: callee.positional], call.positional, strict=False))
    pairs += [(name, origins) for name, origins in call.keywords.items()]
    if call.spread or len(call.positional) > callee.positional:
        rest = call.spread + tuple(o for one in call.positional[callee.positional :] for o in one)
        pairs += [(name, rest) for name in callee.parameters]
    return pairs


def _join(
    shared: dict[str, dict[str, int]],
    target: str,
    origins: Origins,
    ranks: Mapping[str, int | None],
) -> bool:
    """Let `target` share storage with `origins`; whether that is news."""
    own = shared.setdefault(target, {})
    news = False
    for name, dropped in _resolve(shared, origins, ranks).items():
        if name not in own or dropped < own[name]:
            own[name] = dropped
            news = True
    return news


def _resolve(
    shared: Mapping[str, Mapping[str, int]],
    origins: Origins,
    ranks: Mapping[str, int | None],
) -> dict[str, int]:
    """The parameters behind some names, with the axes taken away; elements share nothing."""
    found: dict[str, int] = {}
    for name, dropped in origins:
        for root, before in list(shared.get(name, {}).items()):
            total = max(before + dropped, _DEEPEST)
            rank = ranks.get(root)
            if rank is not None and (rank == 0 or rank - total <= 0):
                continue
            found[root] = min(total, found.get(root, total))
    return found

"""Which parameters a function may leave in an object that outlives the call.

An attribute points at the storage of the array that it was given, so such an array must be the
caller's own: a copy of kit's is used again by the next call.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from kit.source.holdings import Holdings, Keeping
from kit.source.parameters import IN_MODULE, IN_RESULT
from kit.source.roots import USUAL_IMPORTS, Body

__all__ = ["find_kept"]


def find_kept(
    functions: Mapping[str, ast.FunctionDef],
    *,
    ranks: Mapping[str, Mapping[str, int | None]] | None = None,
    imports: Mapping[str, str] | None = None,
    classes: Mapping[str, ast.ClassDef] | None = None,
) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """For each function, the parameters that it may leave in an object, and in which.

    Parameters
    ----------
    functions : mapping of str to ast.FunctionDef
        Every function whose body is known: of the cell, and of the cells that it uses.
    ranks, imports, classes : mapping, optional
        As of `find_writes`. Unknown classes may keep whatever they are given.

    Returns
    -------
    mapping of str to mapping of str to tuple of str
        Function -> parameter -> keepers: names of parameters, `IN_RESULT` or `IN_MODULE`.

    Examples
    --------
    >>> put = ast.parse("def put(s: 'Store', x: 'float[:]'):\\n    s.x = x[1:]").body[0]
    >>> find_kept({"put": put})
    {'put': {'x': ('s',)}}
    """
    names, given = frozenset(functions), ranks or {}
    origins = USUAL_IMPORTS if imports is None else imports
    known = {
        name: [Keeping(Body.of(node, names, given.get(name), origins))]
        for name, node in functions.items()
    }
    every = {**known, **_methods(classes or {}, names, origins)}
    pending = [one for bodies in every.values() for one in bodies]
    while any(_solve(one, every) for one in pending):
        pass
    several = any(one.gives_objects for one in pending)
    return {name: _keepers(one, several) for name, [one] in known.items()}


def _methods(
    classes: Mapping[str, ast.ClassDef], names: frozenset[str], imports: Mapping[str, str]
) -> dict[str, list[Keeping]]:
    """Methods under `".name"`, of whatever class, and constructors under their class, too."""
    found: dict[str, list[Keeping]] = {}
    for name, node in classes.items():
        for one in node.body:
            if isinstance(one, ast.FunctionDef):
                method = Keeping(Body.of(one, names, None, imports))
                found.setdefault(f".{one.name}", []).append(method)
                if one.name == "__init__":
                    found[name] = [method]
    return found


def _keepers(function: Keeping, several: bool) -> dict[str, tuple[str, ...]]:
    """What keeps each parameter; the module as well where one object may have `several` names.

    Pyccel (2.2.3) makes a Python object each time that it gives one out (`outer.inner`, a returned
    parameter), so that nobody can tell from it when the object itself goes.
    """
    kept: dict[str, set[str]] = {}
    for keeper, name in function.keeps:
        kept.setdefault(name, {IN_MODULE} if several else set()).add(keeper)
    # The module last: it is named only where nothing else is.
    return {
        name: tuple(sorted(keepers, key=lambda one: (one == IN_MODULE, one)))
        for name, keepers in kept.items()
    }


def _solve(function: Keeping, every: Mapping[str, Sequence[Keeping]]) -> bool:
    """Follow the facts until nothing changes; whether anything new was found."""
    before = function.learned()
    holdings = Holdings(function, every)
    facts, parameters = function.body.facts, set(function.body.parameters)
    returned = holdings.resolve(tuple(facts.returned))
    for root, dropped in returned.items():
        if root in parameters:
            function.returned[root] = min(dropped, function.returned.get(root, dropped))
    keepers = {one: one for one in parameters if function.can_hold(one)} | {IN_MODULE: IN_MODULE}
    # Pyccel compiles no function that returns a part of an object of its own (2.2.3).
    made = [one[0] for one in returned.items() if holdings.is_object(one)]
    keepers |= {root: IN_RESULT for root in made if root not in parameters}
    passed_on = any(map(holdings.is_object, function.returned.items()))
    function.makes_objects |= bool(made)
    function.gives_objects |= holdings.nests or passed_on
    for root, keeper in keepers.items():
        if root in holdings.inside:
            function.inside.add(keeper)
        found = holdings.closure(root) & parameters
        function.keeps |= {(keeper, one) for one in found if one != keeper}
    return function.learned() != before

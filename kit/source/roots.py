"""Which parameters and fresh objects a name may share storage with, given a body's facts."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kit.source.aliasing import lower_function
from kit.source.header import every_argument
from kit.source.storage import CallFact, Facts, Origins

__all__ = ["USUAL_IMPORTS", "Body", "Shared", "join_roots", "pair_arguments", "resolve_roots"]

# What `np` means where the caller does not say what is imported.
USUAL_IMPORTS: Final[Mapping[str, str]] = {
    "np": "numpy",
    "numpy": "numpy",
    "math": "math",
    "cmath": "cmath",
}
# Nobody nests tuples deeper; the bound only makes the search end.
_DEEPEST: Final = -128

Shared = dict[str, dict[str, int]]
"""Name -> what it may share storage with, and how many axes were taken away."""


@dataclass(slots=True, kw_only=True)
class Body:
    """One function: its parameters, and the facts of its body.

    Parameters
    ----------
    parameters : list of str
        In the order of a call; the first `positional` of them can be passed by position.
    positional : int
        How many.
    ranks : mapping of str to (int or None)
        Axes of the parameters; None where they are not known, as of objects.
    facts : Facts
        What the body does.
    """

    parameters: list[str]
    positional: int
    ranks: Mapping[str, int | None]
    facts: Facts

    @staticmethod
    def of(
        node: ast.FunctionDef,
        names: frozenset[str],
        ranks: Mapping[str, int | None] | None,
        imports: Mapping[str, str],
        plain: frozenset[str] = frozenset(),
    ) -> Body:
        """The body of a function; ranks that are not given are read from plain annotations.

        `plain` are the parameters that are lists, sets or tuples of numbers.
        """
        every = every_argument(node.args)
        return Body(
            parameters=[one.arg for one in every],
            positional=len(node.args.posonlyargs) + len(node.args.args),
            ranks=ranks if ranks is not None else {one.arg: _rank(one.annotation) for one in every},
            facts=lower_function(node, names, imports, plain),
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


def pair_arguments(call: CallFact, callee: Body) -> list[tuple[str, Origins]]:
    """The callee's parameters and what this call gives them."""
    pairs = list(zip(callee.parameters[: callee.positional], call.positional, strict=False))
    pairs += [(name, origins) for name, origins in call.keywords.items()]
    if call.spread or len(call.positional) > callee.positional:
        rest = call.spread + tuple(o for one in call.positional[callee.positional :] for o in one)
        pairs += [(name, rest) for name in callee.parameters]
    return pairs


def join_roots(
    shared: Shared, target: str, origins: Origins, ranks: Mapping[str, int | None]
) -> bool:
    """Let `target` share storage with `origins`; whether that is news."""
    own = shared.setdefault(target, {})
    news = False
    for name, dropped in resolve_roots(shared, origins, ranks).items():
        if name not in own or dropped < own[name]:
            own[name] = dropped
            news = True
    return news


def resolve_roots(
    shared: Shared, origins: Origins, ranks: Mapping[str, int | None]
) -> dict[str, int]:
    """The roots behind some names, with the axes taken away; elements share nothing."""
    found: dict[str, int] = {}
    for name, dropped in origins:
        for root, before in list(shared.get(name, {}).items()):
            total = max(before + dropped, _DEEPEST)
            rank = ranks.get(root)
            if rank is not None and (rank == 0 or rank - total <= 0):
                continue
            found[root] = min(total, found.get(root, total))
    return found

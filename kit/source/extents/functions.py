"""The rules of every function of a cell, those of the functions that it calls included."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from kit.source.extent_rules import ExtentRule
from kit.source.extents.arguments import cases_of_call, in_terms
from kit.source.extents.numbers import Shape, Value, whole_number
from kit.source.extents.rules import collect_rules, place_text
from kit.source.extents.statements import StatementWalk
from kit.source.linear import Linear, Quantity
from kit.source.parameters import Parameter, Signature
from kit.source.place import Source

__all__ = ["FunctionRules", "find_rules"]

_INTEGERS: Final = frozenset(("int8", "int16", "int32", "int64"))

# A cell that is run again has its rules already, the least recently used go first: they are half
# of what it takes to read it.
_KNOWN: Final[dict[tuple[object, ...], Mapping[str, FunctionRules]]] = {}
_MOST_KNOWN: Final = 64


class FunctionRules:
    """What one function needs of its arguments.

    Parameters
    ----------
    rules : tuple of ExtentRule
        What a call is checked for.
    unseen : tuple of str
        Places that no rule covers.
    result : tuple or None
        Extents of what it returns, () for numbers; None where they are not known.
    """

    __slots__ = ("result", "rules", "unseen")

    def __init__(
        self, rules: tuple[ExtentRule, ...], unseen: tuple[str, ...], result: Shape | None
    ) -> None:
        self.rules = rules
        self.unseen = unseen
        self.result = result


class _Cell:
    """The functions of a cell, each followed once, those that are called first."""

    def __init__(
        self,
        nodes: Mapping[str, ast.FunctionDef],
        signatures: Mapping[str, Signature],
        imports: Mapping[str, str],
        integers: Mapping[str, int],
        source: Source,
        *,
        is_c: bool,
        line_offset: int,
    ) -> None:
        self._nodes = nodes
        self.signatures = signatures
        self._imports = imports
        self._integers = integers
        self._source = source
        self._is_c = is_c
        self._line_offset = line_offset
        self.found: dict[str, FunctionRules | None] = {}

    def rules_of(self, name: str) -> FunctionRules | None:
        """The rules of a function; None while it is followed itself: it calls itself."""
        if name not in self.found:
            self.found[name] = None
            node = self._nodes.get(name)
            if node is None:  # of another cell
                known = self.signatures[name]
                self.found[name] = FunctionRules(known.rules, known.unseen, None)
            else:
                self.found[name] = self._follow(node, self.signatures[name])
        return self.found[name]

    def _follow(self, node: ast.FunctionDef, signature: Signature) -> FunctionRules:
        walk = _FunctionWalk(self, self._imports, _wrapping(node), is_c=self._is_c)
        walk.known.update((name, whole_number(value)) for name, value in self._integers.items())
        walk.known.update(_parameters(signature))
        walk.body(node.body)
        rules, uncovered = collect_rules(walk.needs, self._source, line_offset=self._line_offset)
        unseen = dict.fromkeys(
            f"{place_text(one, self._source)}, line {one.lineno + self._line_offset}"
            for one in sorted(
                (*walk.unseen, *uncovered), key=lambda one: (one.lineno, one.col_offset)
            )
        )
        results = set(walk.results)
        return FunctionRules(rules, tuple(unseen), results.pop() if len(results) == 1 else None)


class _FunctionWalk(StatementWalk):
    """What one function needs; this part knows what the functions need that it calls."""

    def __init__(
        self, cell: _Cell, imports: Mapping[str, str], wrapping: frozenset[str], *, is_c: bool
    ) -> None:
        super().__init__(imports, wrapping, is_c=is_c)
        self._cell = cell
        self.functions = cell.signatures

    def helper(self, name: str, node: ast.Call) -> Shape | None:
        """Collect what a function needs of what it is given here."""
        signature = self._cell.signatures[name]
        called = self._cell.rules_of(name)
        if called is None:
            self.unseen.append(node)
            return None
        given = self._given(signature, node)
        for rule in called.rules:
            self._apply(rule, given, node)
        # What it does with an empty array is not known here: in C, that may end the process.
        certain, self.is_certain = self.is_certain, False
        for value in given.values():
            if isinstance(value, tuple) and None not in value:
                self.fill(value, node)
        self.is_certain = certain
        if called.unseen:
            self.unseen.append(node)
        # An elemental function gives an array of an array.
        is_elemental = any(
            isinstance(given.get(one.name), tuple) and given[one.name] != () and not one.is_array
            for one in signature.parameters
        )
        return () if called.result == () and not is_elemental else None

    def _given(self, signature: Signature, node: ast.Call) -> dict[str, Value | None]:
        """What the call gives each parameter; those that it leaves out and None are left out."""
        passed = dict(zip((one.name for one in signature.parameters), node.args, strict=False))
        passed.update((one.arg, one.value) for one in node.keywords if one.arg is not None)
        given: dict[str, Value | None] = {}
        for one in signature.parameters:
            value = passed.get(one.name)
            if value is not None:
                if not (isinstance(value, ast.Constant) and value.value is None):
                    number = self.number(value)
                    given[one.name] = self.peek(value) if number is None else number
            elif type(one.default) is int:
                given[one.name] = whole_number(one.default)
            elif one.default is not None:
                given[one.name] = None
        return given

    def _apply(self, rule: ExtentRule, given: Mapping[str, Value | None], node: ast.Call) -> None:
        if any(one.parameter not in given for one in rule.quantities):
            return
        asked = (rule.need, *rule.when)
        for values, when in cases_of_call(asked, given, self.shortened):
            parts = [in_terms(one, values) for one in asked]
            known = [one for one in parts if one is not None]
            # What is wrong only where a slice is empty is no error of the cell.
            if len(known) < len(parts) or (when and not known[0].terms and known[0].number):
                self.unseen.append(node)
            else:
                self.need(known[0], node, is_equal=rule.is_equal, when=(*known[1:], *when))


def find_rules(
    nodes: Mapping[str, ast.FunctionDef],
    signatures: Mapping[str, Signature],
    *,
    imports: Mapping[str, str],
    integers: Mapping[str, int],
    source: Source,
    is_c: bool = False,
    line_offset: int = 0,
) -> Mapping[str, FunctionRules]:
    """The rules of every function of a cell.

    Parameters
    ----------
    nodes : mapping of str to ast.FunctionDef
        The functions of the cell.
    signatures : mapping of str to Signature
        Theirs, and those of functions of other cells, with their rules.
    imports : mapping of str to str
        Local names and where they come from.
    integers : mapping of str to int
        The cell's integer constants.
    source : Source
        The text of the cell.
    is_c : bool
        Whether it is translated to C.
    line_offset : int
        What to add to line numbers.

    Raises
    ------
    CellError
        Where an index is outside its array whenever it is reached.
    """
    others = tuple(one for name, one in signatures.items() if name not in nodes)
    key = (source.text, is_c, line_offset, others)
    known = _KNOWN.pop(key, None)
    if known is None:
        cell = _Cell(
            nodes, signatures, imports, integers, source, is_c=is_c, line_offset=line_offset
        )
        known = {name: found for name in nodes if (found := cell.rules_of(name)) is not None}
    _KNOWN[key] = known
    if len(_KNOWN) > _MOST_KNOWN:
        del _KNOWN[next(iter(_KNOWN))]
    return known


def _parameters(signature: Signature) -> dict[str, Value | None]:
    return {one.name: _parameter(one) for one in signature.parameters}


def _parameter(one: Parameter) -> Value | None:
    if any(kind.container is not None for kind in one.types):
        return None
    ranks = {kind.rank for kind in one.types}
    if len(ranks) > 1:
        return None
    rank = ranks.pop()
    if rank:
        return tuple(Linear.of(Quantity(one.name, axis)) for axis in range(rank))
    is_integer = all(kind.dtype in _INTEGERS for kind in one.types)
    return Linear.of(Quantity(one.name)) if is_integer else ()


def _wrapping(node: ast.FunctionDef) -> frozenset[str]:
    """The arrays that ``@allow_negative_index`` names."""
    return frozenset(
        name.value
        for one in node.decorator_list
        if isinstance(one, ast.Call) and ast.unparse(one.func).endswith("allow_negative_index")
        for name in one.args
        if isinstance(name, ast.Constant) and isinstance(name.value, str)
    )

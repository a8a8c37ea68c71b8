"""One function's body as a few facts: which names may share storage, and what is stored where."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from kit.source.header import every_argument
from kit.source.vocabulary import BUILTINS, MODULES

__all__ = ["CallFact", "Facts", "How", "Origin", "StoreFact", "lower_function"]

How = Literal["assigned", "rebound", "passed", "kept", "returned"]
"""Why a name counts as written: stored into; given another value as a whole; passed to a function
that may write it; kept in an attribute; returned, so that the caller may write it."""

Origin = tuple[str, int]
"""A name, and how many of its axes an index has taken away: `x[i]` is `("x", 1)`."""

_NOTHING: Final[tuple[Origin, ...]] = ()
# A view whose number of axes is not followed; no array has as many.
_UNKNOWN_RANK: Final = -64
_NO_VIEW: Final = frozenset({"shape", "size", "dtype", "ndim", "nbytes", "itemsize", "strides"})
_SAME_RANK_VIEW: Final = frozenset({"T", "real", "imag", "conj", "conjugate", "transpose"})
_VIEWS: Final = frozenset(
    {"reshape", "ravel", "squeeze", "view", "swapaxes", "diagonal", "flat", "asarray"}
    | {"ascontiguousarray", "asfortranarray", "expand_dims", "broadcast_to", "flip", "moveaxis"}
)
_PURE_METHODS: Final = frozenset(
    {"sum", "min", "max", "copy", "mean", "std", "var", "prod", "any", "all", "dot", "argmin"}
    | {"argmax", "astype", "flatten", "tolist", "item", "cumsum", "round", "trace", "nonzero"}
)
_PURE_NUMPY: Final = frozenset(
    {"mean", "std", "var", "dot", "inner", "outer", "maximum", "minimum", "clip", "power", "any"}
    | {"all", "argmin", "argmax", "cumsum", "round", "ceil", "log10", "log2", "log1p", "hypot"}
    | {"add", "subtract", "multiply", "negative", "square", "median", "diff", "average"}
)
_BINARY_NUMPY: Final = frozenset(
    {"arctan2", "cross", "divide", "matmul", "mod", "true_divide", "vecdot", "add", "subtract"}
    | {"multiply", "power", "maximum", "minimum", "dot", "hypot", "linspace", "full", "full_like"}
    | {"array", "arange", "zeros", "ones", "empty", "sum", "min", "max", "amin", "amax", "prod"}
)
_ELEMENTS: Final = frozenset({"zip", "enumerate"})
_SAME: Final = frozenset({"list", "tuple", "set", "dict", "min", "max"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFact:
    """Something is stored into, or given away."""

    origins: tuple[Origin, ...]
    how: How
    node: ast.expr | ast.stmt


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFact:
    """A function of the cell is called; `result` names what it returns."""

    callee: str
    positional: tuple[tuple[Origin, ...], ...]
    keywords: Mapping[str, tuple[Origin, ...]]
    spread: tuple[Origin, ...]
    result: str
    node: ast.Call


@dataclass(slots=True)
class Facts:
    """What one body does, in no order: every statement may run before every other.

    `operands` are what operators are given: written only where a class of the cell has an operator
    that writes.
    """

    binds: list[tuple[str, tuple[Origin, ...]]] = field(
        default_factory=list[tuple[str, tuple[Origin, ...]]]
    )
    stores: list[StoreFact] = field(default_factory=list[StoreFact])
    calls: list[CallFact] = field(default_factory=list[CallFact])
    operands: list[StoreFact] = field(default_factory=list[StoreFact])
    returned: list[Origin] = field(default_factory=list[Origin])


def lower_function(
    node: ast.FunctionDef, functions: frozenset[str], imports: Mapping[str, str]
) -> Facts:
    """The facts of one function; `functions` are those whose bodies are known too."""
    lowering = _Lowering(functions, imports)
    lowering.parameters = {one.arg for one in every_argument(node.args)}
    lowering.statements(node.body)
    return lowering.facts


class _Lowering:
    """Walks one body once. Names of nested functions get a prefix of their own."""

    def __init__(self, functions: frozenset[str], imports: Mapping[str, str]) -> None:
        self.facts = Facts()
        self.parameters: set[str] = set()
        self._functions = functions
        self._imports = dict(imports)
        self._nested: dict[str, list[str]] = {}
        self._scopes: list[dict[str, str]] = []
        self._return = ""
        self._count = 0
        self._statement: dict[type[ast.stmt], Callable[..., None]] = {
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.While: self._while,
            ast.If: self._while,
            ast.Return: self._returned,
            ast.Expr: self._expression,
            ast.FunctionDef: self._define,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Delete: self._delete,
            ast.Pass: self._skip,
            ast.Break: self._skip,
            ast.Continue: self._skip,
        }
        self._expressions: dict[type[ast.expr], Callable[..., tuple[Origin, ...]]] = {
            ast.Name: self._name,
            ast.Constant: self._constant,
            ast.Subscript: self._subscript,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.IfExp: self._either,
            ast.BoolOp: self._any_of,
            ast.Tuple: self._display,
            ast.List: self._display,
            ast.Set: self._display,
            ast.Dict: self._dict,
            ast.NamedExpr: self._walrus,
            ast.Starred: self._starred,
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.Lambda: self._lambda,
        }

    # ---- statements ---------------------------------------------------------------------

    def statements(self, body: Sequence[ast.stmt]) -> None:
        for one in body:
            handler = self._statement.get(type(one))
            if handler is None:
                self._other(one)
            else:
                handler(one)

    def _skip(self, node: ast.stmt) -> None:
        pass

    def _other(self, node: ast.AST) -> None:
        """A statement without a rule: all its expressions, then all its statements."""
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.stmt):
                self.statements([one])
            elif isinstance(one, ast.expr):
                self.value(one)
            elif isinstance(one, ast.withitem):
                origins = self.value(one.context_expr)
                if one.optional_vars is not None:
                    self._bind(one.optional_vars, origins)
            else:
                self._other(one)

    def _assign(self, node: ast.Assign) -> None:
        self._name_lambda(node)
        origins = self.value(node.value)
        for target in node.targets:
            self._bind_value(target, node.value, origins)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._bind(node.target, self.value(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        self._operands(node, self.value(node.value))
        if isinstance(node.target, ast.Name):
            self._store(self.value(node.target), "assigned", node)
        else:
            self._bind(node.target, _NOTHING)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        self._bind(node.target, _drop(self.value(node.iter), 1))
        self.statements(node.body)
        self.statements(node.orelse)

    def _while(self, node: ast.While | ast.If) -> None:
        self.value(node.test)
        self.statements(node.body)
        self.statements(node.orelse)

    def _returned(self, node: ast.Return) -> None:
        if node.value is None:
            return
        origins = self.value(node.value)
        if self._return:
            self.facts.binds.append((self._return, origins))
        else:
            self.facts.returned.extend(origins)
            self._store(origins, "returned", node)

    def _expression(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._store(self.value(target), "assigned", node)

    def _import(self, node: ast.Import) -> None:
        for one in node.names:
            self._imports[one.asname or one.name.partition(".")[0]] = (
                one.name if one.asname else one.name.partition(".")[0]
            )

    def _import_from(self, node: ast.ImportFrom) -> None:
        for one in node.names:
            self._imports[one.asname or one.name] = f"{node.module}.{one.name}"

    def _define(self, node: ast.FunctionDef) -> None:
        self._nest(node.name, node.args, lambda: self.statements(node.body), _assigned(node.body))

    def _nest(
        self, name: str, arguments: ast.arguments, body: Callable[[], None], assigned: set[str]
    ) -> None:
        """A nested function: a call binds its parameters, its body sees the names around it."""
        prefix = f"{name}."
        parameters = [one.arg for one in every_argument(arguments)]
        self._nested[name] = [prefix + one for one in parameters]
        self._scopes.append({one: prefix + one for one in {*parameters, *assigned}})
        outer, self._return = self._return, f"{prefix}return"
        body()
        self._return = outer
        self._scopes.pop()

    # ---- targets ------------------------------------------------------------------------

    def _bind_value(self, target: ast.expr, value: ast.expr, origins: tuple[Origin, ...]) -> None:
        if (
            isinstance(target, ast.Tuple | ast.List)
            and isinstance(value, ast.Tuple | ast.List)
            and len(target.elts) == len(value.elts)
            and not any(isinstance(one, ast.Starred) for one in (*target.elts, *value.elts))
        ):
            # The values were lowered with the whole; once more costs little and loses nothing.
            for one, part in zip(target.elts, value.elts, strict=True):
                self._bind_value(one, part, self.value(part))
        else:
            self._bind(target, origins)

    def _bind(self, target: ast.expr, origins: tuple[Origin, ...]) -> None:
        if isinstance(target, ast.Name):
            key = self._key(target.id)
            self.facts.binds.append((key, origins))
            if key in self.parameters:
                # 2.2.3 compiles `x = x + 1` to a store into the caller's array.
                self._store(((key, 0),), "rebound", target)
        elif isinstance(target, ast.Tuple | ast.List):
            for one in target.elts:
                self._bind(one, _drop(origins, 1))
        elif isinstance(target, ast.Starred):
            self._bind(target.value, _drop(origins, -1))
        elif isinstance(target, ast.Subscript):
            self.value(target.slice)
            self._store(self.value(target.value), "assigned", target)
        elif isinstance(target, ast.Attribute):
            self._store(self.value(target.value), "assigned", target)
            self._store(origins, "kept", target)

    def _store(self, origins: tuple[Origin, ...], how: How, node: ast.expr | ast.stmt) -> None:
        if origins:
            self.facts.stores.append(StoreFact(origins=origins, how=how, node=node))

    # ---- expressions --------------------------------------------------------------------

    def value(self, node: ast.expr) -> tuple[Origin, ...]:
        """What the value may share storage with."""
        handler = self._expressions.get(type(node))
        if handler is not None:
            return handler(node)
        # Operators and comparisons make new values.
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.expr):
                self._operands(node, self.value(one))
        return _NOTHING

    def _operands(self, node: ast.expr | ast.stmt, origins: tuple[Origin, ...]) -> None:
        if origins:
            self.facts.operands.append(StoreFact(origins=origins, how="passed", node=node))

    def _key(self, name: str) -> str:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return name

    def _name(self, node: ast.Name) -> tuple[Origin, ...]:
        return ((self._key(node.id), 0),)

    def _constant(self, node: ast.Constant) -> tuple[Origin, ...]:
        return _NOTHING

    def _subscript(self, node: ast.Subscript) -> tuple[Origin, ...]:
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        dropped = 0
        for one in items:
            if isinstance(one, ast.Slice):
                for part in (one.lower, one.upper, one.step):
                    if part is not None:
                        self.value(part)
            elif not (isinstance(one, ast.Constant) and one.value in (..., None)):
                self.value(one)
                dropped += 1
        return _drop(self.value(node.value), dropped)

    def _attribute(self, node: ast.Attribute) -> tuple[Origin, ...]:
        origins = self.value(node.value)
        if node.attr in _NO_VIEW:
            return _NOTHING
        return origins if node.attr in _SAME_RANK_VIEW else _drop(origins, _UNKNOWN_RANK)

    def _either(self, node: ast.IfExp) -> tuple[Origin, ...]:
        self.value(node.test)
        return (*self.value(node.body), *self.value(node.orelse))

    def _any_of(self, node: ast.BoolOp) -> tuple[Origin, ...]:
        return tuple(origin for one in node.values for origin in self.value(one))

    def _display(self, node: ast.Tuple | ast.List | ast.Set) -> tuple[Origin, ...]:
        return tuple((name, n - 1) for one in node.elts for name, n in self.value(one))

    def _dict(self, node: ast.Dict) -> tuple[Origin, ...]:
        every = [*node.values, *(one for one in node.keys if one is not None)]
        return tuple((name, n - 1) for one in every for name, n in self.value(one))

    def _walrus(self, node: ast.NamedExpr) -> tuple[Origin, ...]:
        origins = self.value(node.value)
        self._bind(node.target, origins)
        return origins

    def _starred(self, node: ast.Starred) -> tuple[Origin, ...]:
        return _drop(self.value(node.value), 1)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp
    ) -> tuple[Origin, ...]:
        for one in node.generators:
            self._bind(one.target, _drop(self.value(one.iter), 1))
            for condition in one.ifs:
                self.value(condition)
        return _drop(self.value(node.elt), -1)

    def _name_lambda(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Lambda):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._nest_lambda(target.id, node.value)

    def _lambda(self, node: ast.Lambda) -> tuple[Origin, ...]:
        self._count += 1
        self._nest_lambda(f"lambda{self._count}", node)
        return _NOTHING

    def _nest_lambda(self, name: str, node: ast.Lambda) -> None:
        def body() -> None:
            self.facts.binds.append((self._return, self.value(node.body)))

        self._nest(name, node.args, body, set())

    # ---- calls --------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> tuple[Origin, ...]:
        positional = [self.value(one) for one in node.args]
        keywords = {one.arg or "**": self.value(one.value) for one in node.keywords}
        function = node.func
        if isinstance(function, ast.Name):
            return self._call_name(node, function.id, positional, keywords)
        origin = self._origin(function)
        if origin is not None:
            return self._call_library(node, origin, positional, keywords)
        if isinstance(function, ast.Attribute):
            return self._call_method(node, function, positional, keywords)
        self.value(function)
        return self._call_unknown(node, positional, keywords)

    def _origin(self, node: ast.expr) -> str | None:
        """`np.linalg.norm` as `numpy.linalg.norm`, where `np` is an imported module."""
        if isinstance(node, ast.Name):
            return self._imports.get(node.id) if self._key(node.id) == node.id else None
        if isinstance(node, ast.Attribute):
            base = self._origin(node.value)
            return None if base is None else f"{base}.{node.attr}"
        return None

    def _call_name(
        self,
        node: ast.Call,
        name: str,
        positional: list[tuple[Origin, ...]],
        keywords: dict[str, tuple[Origin, ...]],
    ) -> tuple[Origin, ...]:
        if name in self._nested:
            return self._call_nested(name, positional, keywords)
        if name in self._functions:
            return self._call_known(node, name, positional, keywords)
        if name in self._imports:
            return self._call_library(node, self._imports[name], positional, keywords)
        if name in BUILTINS and name not in self.parameters:
            shared = tuple(origin for one in positional for origin in one)
            if name == "map" and node.args:
                return self._call_map(node, positional)
            if name in _ELEMENTS:
                return _drop(shared, -1)
            if name in _SAME:
                return _drop(shared, 1) if len(positional) == 1 and name in "minmax" else shared
            return _NOTHING
        return self._call_unknown(node, positional, keywords)

    def _call_map(self, node: ast.Call, positional: list[tuple[Origin, ...]]) -> tuple[Origin, ...]:
        """`map(f, x)` calls `f` with the elements of `x`."""
        elements = [_drop(one, 1) for one in positional[1:]]
        call = ast.copy_location(ast.Call(node.args[0], node.args[1:], []), node)
        if not isinstance(call.func, ast.Name):
            return self._call_unknown(node, elements, {})
        return _drop(self._call_name(call, call.func.id, elements, {}), -1)

    def _call_nested(
        self,
        name: str,
        positional: list[tuple[Origin, ...]],
        keywords: dict[str, tuple[Origin, ...]],
    ) -> tuple[Origin, ...]:
        parameters = self._nested[name]
        self.facts.binds.extend(zip(parameters, positional, strict=False))
        self.facts.binds.extend((f"{name}.{key}", one) for key, one in keywords.items())
        return ((f"{name}.return", 0),)

    def _call_known(
        self,
        node: ast.Call,
        name: str,
        positional: list[tuple[Origin, ...]],
        keywords: dict[str, tuple[Origin, ...]],
    ) -> tuple[Origin, ...]:
        self._count += 1
        result = f"call{self._count}."
        starred = any(isinstance(one, ast.Starred) for one in node.args)
        every = tuple(origin for one in positional for origin in one)
        self.facts.calls.append(
            CallFact(
                callee=name,
                positional=() if starred else tuple(positional),
                keywords={key: one for key, one in keywords.items() if key != "**"},
                spread=(every if starred else ()) + keywords.get("**", ()),
                result=result,
                node=node,
            )
        )
        return ((result, 0),)

    def _call_library(
        self,
        node: ast.Call,
        origin: str,
        positional: list[tuple[Origin, ...]],
        keywords: dict[str, tuple[Origin, ...]],
    ) -> tuple[Origin, ...]:
        module, _, name = origin.rpartition(".")
        self._store(keywords.get("out", ()), "passed", node)
        if module == "numpy" and name in _VIEWS | _SAME_RANK_VIEW:
            shared = positional[0] if positional else _NOTHING
            return shared if name in _SAME_RANK_VIEW else _drop(shared, _UNKNOWN_RANK)
        known = name in MODULES.get(module, ()) or (module == "numpy" and name in _PURE_NUMPY)
        if not known:
            return self._call_unknown(node, positional, keywords)
        if module == "numpy" and name != "where":
            # np.sqrt(x, y) and np.multiply(x, y, z) write their last argument.
            for one in positional[2 if name in _BINARY_NUMPY else 1 :]:
                self._store(one, "passed", node)
        if name == "array" and "copy" in keywords:
            return positional[0] if positional else _NOTHING
        return _NOTHING

    def _call_method(
        self,
        node: ast.Call,
        function: ast.Attribute,
        positional: list[tuple[Origin, ...]],
        keywords: dict[str, tuple[Origin, ...]],
    ) -> tuple[Origin, ...]:
        receiver = self.value(function.value)
        # Classes may have methods of these names, too, which write what they are given.
        self._call_unknown(node, positional, keywords)
        if function.attr in _PURE_METHODS:
            return _NOTHING
        if function.attr in _SAME_RANK_VIEW:
            return receiver
        if function.attr in _VIEWS:
            return _drop(receiver, _UNKNOWN_RANK)
        self._store(receiver, "passed", node)
        return _NOTHING

    def _call_unknown(
        self,
        node: ast.Call,
        positional: list[tuple[Origin, ...]],
        keywords: dict[str, tuple[Origin, ...]],
    ) -> tuple[Origin, ...]:
        for one in (*positional, *keywords.values()):
            self._store(one, "passed", node)
        return _NOTHING


def _drop(origins: tuple[Origin, ...], axes: int) -> tuple[Origin, ...]:
    if not axes:
        return origins
    return tuple((name, dropped + axes) for name, dropped in origins)


def _assigned(body: Sequence[ast.stmt]) -> set[str]:
    """Names that a nested function assigns, which are then its own."""
    return {
        node.id
        for one in body
        for node in ast.walk(one)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }

"""One function's body as a few facts: which names may share storage, and what is stored where."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from kit.source.header import every_argument
from kit.source.library_calls import (
    Effect,
    attribute_shares,
    builtin_shares,
    library_effect,
    list_effect,
    method_effect,
    stranger_effect,
)
from kit.source.storage import (
    NOTHING,
    CallFact,
    Facts,
    HoldFact,
    How,
    Origins,
    StoreFact,
    drop_axes,
)
from kit.source.vocabulary import BUILTINS

__all__ = ["lower_function"]


def lower_function(
    node: ast.FunctionDef,
    functions: frozenset[str],
    imports: Mapping[str, str],
    plain: frozenset[str] = frozenset(),
) -> Facts:
    """The facts of one function.

    `functions` are those whose bodies are known too, `plain` the parameters that are lists, sets
    and tuples of numbers: what is made of their elements shares nothing with them.
    """
    lowering = _Lowering(functions, imports, plain)
    lowering.parameters = {one.arg for one in every_argument(node.args)}
    lowering.statements(node.body)
    return lowering.facts


class _Lowering:
    """Walks one body once. Names of nested functions get a prefix of their own."""

    def __init__(
        self, functions: frozenset[str], imports: Mapping[str, str], plain: frozenset[str]
    ) -> None:
        self.facts = Facts()
        self.parameters: set[str] = set()
        self._functions = functions
        self._plain = plain
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
        self._expressions: dict[type[ast.expr], Callable[..., Origins]] = {
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
            self._bind(node.target, NOTHING)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        self._bind(node.target, drop_axes(self.value(node.iter), 1))
        self.statements(node.body)
        self.statements(node.orelse)

    def _while(self, node: ast.While | ast.If) -> None:
        self.value(node.test)
        self.statements(node.body)
        self.statements(node.orelse)

    def _returned(self, node: ast.Return) -> None:
        if node.value is None:
            return
        elements = node.value.elts if isinstance(node.value, ast.Tuple) else []
        if elements and not any(isinstance(one, ast.Starred) for one in elements):
            # Each element leaves by itself: of `x[0], 3` with a vector x, nothing shares.
            each = tuple(origin for one in elements for origin in self.value(one))
            origins = drop_axes(each, -1)
        else:
            each = origins = self.value(node.value)
        if self._return:
            self.facts.binds.append((self._return, origins))
        else:
            self.facts.returned.extend(origins)
            self._store(each, "returned", node)

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

    def _bind_value(self, target: ast.expr, value: ast.expr, origins: Origins) -> None:
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

    def _bind(self, target: ast.expr, origins: Origins) -> None:
        if isinstance(target, ast.Name):
            key = self._key(target.id)
            self.facts.binds.append((key, origins))
            if key in self.parameters:
                # 2.2.3 compiles `x = x + 1` to a store into the caller's array.
                self._store(((key, 0),), "rebound", target)
        elif isinstance(target, ast.Tuple | ast.List):
            for one in target.elts:
                self._bind(one, drop_axes(origins, 1))
        elif isinstance(target, ast.Starred):
            self._bind(target.value, drop_axes(origins, -1))
        elif isinstance(target, ast.Subscript):
            self.value(target.slice)
            self._store(self.value(target.value), "assigned", target)
        elif isinstance(target, ast.Attribute):
            container = self.value(target.value)
            self._store(container, "assigned", target)
            self._store(origins, "kept", target)
            if origins:
                self.facts.holds.append(HoldFact(container=container, value=origins))

    def _store(self, origins: Origins, how: How, node: ast.expr | ast.stmt) -> None:
        if origins:
            self.facts.stores.append(StoreFact(origins=origins, how=how, node=node))

    # ---- expressions --------------------------------------------------------------------

    def value(self, node: ast.expr) -> Origins:
        """What the value may share storage with."""
        handler = self._expressions.get(type(node))
        if handler is not None:
            return handler(node)
        # Operators and comparisons make new values.
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.expr):
                self._operands(node, self.value(one))
        return NOTHING

    def _operands(self, node: ast.expr | ast.stmt, origins: Origins) -> None:
        if origins:
            self.facts.operands.append(StoreFact(origins=origins, how="passed", node=node))

    def _key(self, name: str) -> str:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return name

    def _name(self, node: ast.Name) -> Origins:
        return ((self._key(node.id), 0),)

    def _constant(self, node: ast.Constant) -> Origins:
        return NOTHING

    def _subscript(self, node: ast.Subscript) -> Origins:
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        dropped = 0
        if isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load):
            dropped = self._drops_all(node.value)
        for one in items:
            if isinstance(one, ast.Slice):
                for part in (one.lower, one.upper, one.step):
                    if part is not None:
                        self.value(part)
            elif not (isinstance(one, ast.Constant) and one.value in (..., None)):
                self.value(one)
                dropped += 1
        return drop_axes(self.value(node.value), dropped)

    def _drops_all(self, node: ast.expr) -> int:
        """1 for a list of numbers, of which a slice is a copy; 0 for all else."""
        return int(isinstance(node, ast.Name) and self._key(node.id) in self._plain)

    def _attribute(self, node: ast.Attribute) -> Origins:
        return attribute_shares(node.attr, self.value(node.value))

    def _either(self, node: ast.IfExp) -> Origins:
        self.value(node.test)
        return (*self.value(node.body), *self.value(node.orelse))

    def _any_of(self, node: ast.BoolOp) -> Origins:
        return tuple(origin for one in node.values for origin in self.value(one))

    def _display(self, node: ast.Tuple | ast.List | ast.Set) -> Origins:
        return tuple((name, n - 1) for one in node.elts for name, n in self.value(one))

    def _dict(self, node: ast.Dict) -> Origins:
        every = [*node.values, *(one for one in node.keys if one is not None)]
        return tuple((name, n - 1) for one in every for name, n in self.value(one))

    def _walrus(self, node: ast.NamedExpr) -> Origins:
        origins = self.value(node.value)
        self._bind(node.target, origins)
        return origins

    def _starred(self, node: ast.Starred) -> Origins:
        return drop_axes(self.value(node.value), 1)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Origins:
        for one in node.generators:
            self._bind(one.target, drop_axes(self.value(one.iter), 1))
            for condition in one.ifs:
                self.value(condition)
        return drop_axes(self.value(node.elt), -1)

    def _name_lambda(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Lambda):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._nest_lambda(target.id, node.value)

    def _lambda(self, node: ast.Lambda) -> Origins:
        self._count += 1
        self._nest_lambda(f"lambda{self._count}", node)
        return NOTHING

    def _nest_lambda(self, name: str, node: ast.Lambda) -> None:
        def body() -> None:
            self.facts.binds.append((self._return, self.value(node.body)))

        self._nest(name, node.args, body, set())

    # ---- calls --------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Origins:
        positional = [self.value(one) for one in node.args]
        keywords = {one.arg or "**": self.value(one.value) for one in node.keywords}
        function = node.func
        if isinstance(function, ast.Name):
            return self._call_name(node, function.id, positional, keywords)
        origin = self._origin(function)
        if origin is not None:
            return self._apply(node, library_effect(origin, positional, keywords))
        if isinstance(function, ast.Attribute):
            receiver = self.value(function.value)
            effect = method_effect(function.attr, receiver, positional, keywords)
            if self._plain:
                effect = list_effect(function.attr, effect, self._plain, receiver)
            use = self._call_fact(node, f".{function.attr}", [receiver, *positional], keywords)
            self.facts.uses.append(use)
            return (*self._apply(node, effect), (use.result, 0))
        self.value(function)
        return self._apply(node, stranger_effect(positional, keywords))

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
        positional: list[Origins],
        keywords: dict[str, Origins],
    ) -> Origins:
        if name in self._nested:
            return self._call_nested(name, positional, keywords)
        if name in self._functions:
            return self._call_known(node, name, positional, keywords)
        if name in self._imports:
            return self._apply(node, library_effect(self._imports[name], positional, keywords))
        if name in BUILTINS and name not in self.parameters:
            if name == "map" and node.args:
                return self._call_map(node, positional)
            if name in {"list", "set", "tuple"} and node.args and self._drops_all(node.args[0]):
                return NOTHING
            return builtin_shares(name, positional)
        # A class of the cell, whose object is then the first argument, or an unknown function.
        made = ((self._next_result(), 0),)
        use = self._call_fact(node, name, [made, *positional], keywords)
        self.facts.uses.append(use)
        self._apply(node, stranger_effect(positional, keywords))
        return made

    def _call_map(self, node: ast.Call, positional: list[Origins]) -> Origins:
        """`map(f, x)` calls `f` with the elements of `x`."""
        elements = [drop_axes(one, 1) for one in positional[1:]]
        call = ast.copy_location(ast.Call(node.args[0], node.args[1:], []), node)
        if not isinstance(call.func, ast.Name):
            return self._apply(node, stranger_effect(elements, {}))
        return drop_axes(self._call_name(call, call.func.id, elements, {}), -1)

    def _call_nested(
        self,
        name: str,
        positional: list[Origins],
        keywords: dict[str, Origins],
    ) -> Origins:
        parameters = self._nested[name]
        self.facts.binds.extend(zip(parameters, positional, strict=False))
        self.facts.binds.extend((f"{name}.{key}", one) for key, one in keywords.items())
        return ((f"{name}.return", 0),)

    def _call_known(
        self,
        node: ast.Call,
        name: str,
        positional: list[Origins],
        keywords: dict[str, Origins],
    ) -> Origins:
        call = self._call_fact(node, name, positional, keywords)
        self.facts.calls.append(call)
        return ((call.result, 0),)

    def _call_fact(
        self,
        node: ast.Call,
        name: str,
        positional: list[Origins],
        keywords: dict[str, Origins],
    ) -> CallFact:
        result = self._next_result()
        self._count += 1
        starred = any(isinstance(one, ast.Starred) for one in node.args)
        every = tuple(origin for one in positional for origin in one)
        return CallFact(
            callee=name,
            positional=() if starred else tuple(positional),
            keywords={key: one for key, one in keywords.items() if key != "**"},
            spread=(every if starred else ()) + keywords.get("**", ()),
            result=result,
            node=node,
        )

    def _next_result(self) -> str:
        return f"call{self._count + 1}."

    def _apply(self, node: ast.Call, effect: Effect) -> Origins:
        self._store(effect.writes, "passed", node)
        return effect.shares


def _assigned(body: Sequence[ast.stmt]) -> set[str]:
    """Names that a nested function assigns, which are then its own."""
    return {
        node.id
        for one in body
        for node in ast.walk(one)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }

"""What newcomers paste, answered in its line with what to write instead.

Every refusal here was tried with Pyccel 2.2.3, which answers it with another line's error, with an
internal error, with none at all, or compiles it to something else than Python means.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from typing import Final

from kit.source.c_symbols import is_c_symbol
from kit.source.expressions import (
    NO_EXPRESSION,
    check_attribute,
    check_backward,
    check_call,
    check_compare,
    check_integer,
    check_modulo,
    check_placed,
    check_print,
    check_subscript,
)
from kit.source.header import every_argument, header_text
from kit.source.imports import check_import, check_import_from, imported_names
from kit.source.loops import check_loops
from kit.source.names import explain_builtin, explain_unknown, is_unusable_builtin
from kit.source.outline import Outline
from kit.source.place import Placed, Source
from kit.source.returns import check_returns
from kit.source.scopes import array_parameters, bound_names
from kit.source.self_reads import check_self_read
from kit.source.statements import (
    NO_STATEMENT,
    check_assignment,
    check_augmented,
    check_decorator,
    check_loop,
    check_module_value,
    check_with,
)
from kit.source.unannotated import check_parameters
from kit.source.vocabulary import BUILTINS, DECORATORS, RESERVED
from kit.terms import Language

__all__ = ["advise"]

# What is looked at by itself, and then inside.
_CHECKED: Final[Mapping[type[ast.AST], Callable[..., None]]] = {
    ast.For: check_loop,
    ast.While: check_loop,
    ast.Compare: check_compare,
    ast.BinOp: check_modulo,
}


def advise(
    tree: ast.Module,
    source: Source,
    outline: Outline,
    *,
    known: Collection[str] = frozenset(),
    namespace: Mapping[str, object] | None = None,
    language: Language = "fortran",
) -> frozenset[str]:
    """Check a whole cell; the names that it takes from other cells.

    Raises
    ------
    CellError
        At the first thing that would not compile, or would compile to something else.
    """
    advice = _Advice(source, outline, frozenset(known), namespace or {}, language)
    for node in outline.again:
        other = (
            header_text(node, name=f"{node.name}_2")
            if isinstance(node, ast.FunctionDef)
            else f"class {node.name}_2:"
        )
        raise source.error(f"{node.name!r} is defined twice in this cell", node, other)
    advice.module(tree)
    return frozenset(advice.taken)


class _Advice:
    """One walk over a cell, function by function."""

    def __init__(
        self,
        source: Source,
        outline: Outline,
        known: frozenset[str],
        namespace: Mapping[str, object],
        language: Language,
    ) -> None:
        self.taken: set[str] = set()
        self._source = source
        self._outline = outline
        self._defined = outline.names | DECORATORS | {"types", "__name__", "property", "object"}
        self._known = known
        self._namespace = namespace
        self._fortran = language == "fortran"
        self._ascii = language != "fortran" or source.text.isascii()
        self._imports: dict[str, str] = dict(outline.imports)
        self._locals: set[str] = set()
        self._arrays: set[str] = set()
        self._fine: set[int] = set()
        self._function: ast.FunctionDef | None = None
        self._handlers: dict[type[ast.AST], Callable[..., None]] = {
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.FunctionDef: self._nested,
            ast.ClassDef: self._nested_class,
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.With: self._with,
            ast.Call: self._call,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.ListComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.Lambda: self._lambda,
            ast.Constant: self._constant,
        }
        for kind, (message, fix) in (*NO_STATEMENT.items(), *NO_EXPRESSION.items()):
            self._handlers[kind] = self._refuser(message, fix)
        for kind, check in _CHECKED.items():
            self._handlers[kind] = self._checker(check)

    def _checker(self, check: Callable[..., None]) -> Callable[[ast.AST], None]:
        def visit(node: ast.AST) -> None:
            check(node, self._source)
            self._inside(node)

        return visit

    def _refuser(self, message: str, fix: str) -> Callable[[ast.stmt], None]:
        def refuse(node: ast.stmt) -> None:
            raise self._source.error(message, node, fix)

        return refuse

    def _constant(self, node: ast.Constant) -> None:
        check_integer(node, self._source)

    # ---- the walk -----------------------------------------------------------------------

    def module(self, tree: ast.Module) -> None:
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self._define(node)
            elif isinstance(node, ast.ClassDef):
                self._class(node)
            else:
                if isinstance(node, ast.Assert):
                    raise self._source.error(
                        "an assert at the top level ends the notebook process when it fails",
                        node,
                        f"{ast.unparse(node)}  # in another cell",
                    )
                if isinstance(node, ast.Assign | ast.AnnAssign):
                    check_module_value(node, self._source, aliases=self._outline.aliases)
                self._visit(node)

    def _visit(self, node: ast.AST) -> None:
        handler = self._handlers.get(type(node))
        if handler is not None:
            handler(node)
        else:
            self._inside(node)

    def _inside(self, node: ast.AST) -> None:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                for one in value:  # pyright: ignore[reportUnknownVariableType]
                    if isinstance(one, ast.AST):
                        self._visit(one)
            elif isinstance(value, ast.AST):
                self._visit(value)

    def _all(self, nodes: list[ast.expr] | list[ast.stmt]) -> None:
        for node in nodes:
            self._visit(node)

    # ---- definitions --------------------------------------------------------------------

    def _define(self, node: ast.FunctionDef, method_of: str | None = None) -> None:
        self._header(node, method_of)
        outer = self._locals, self._arrays, self._function, dict(self._imports)
        self._locals, anew = bound_names(node)
        self._arrays = array_parameters(node) - anew
        self._function = node
        check_loops(node, self._source, fortran=self._fortran)
        check_returns(node, self._source)
        self._all(node.body)
        self._locals, self._arrays, self._function, self._imports = outer

    def _header(self, node: ast.FunctionDef, method_of: str | None = None) -> None:
        self._check_ascii(node.name, node)
        for decorator in node.decorator_list:
            check_decorator(
                decorator,
                node,
                self._source,
                imports=self._imports,
                is_method=method_of is not None,
            )
        if node.name in {one.arg for one in every_argument(node.args)}:
            raise self._source.error(
                f"{node.name!r} is both the function and its parameter", node, f"{node.name}_: int"
            )
        check_parameters(node, self._source, method_of=method_of)
        if isinstance(node.returns, ast.Constant) and node.returns.value == "None":
            raise self._source.error(
                "'None' in quotes is no type for Pyccel",
                node.returns,
                header_text(node).replace("-> 'None'", "-> None"),
            )
        for one in every_argument(node.args):
            self._check_ascii(one.arg, one)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self._visit(default)

    def _nested(self, node: ast.FunctionDef) -> None:
        if self._function is None or node not in self._function.body:
            raise self._source.error(
                "a function inside if, for or while is not compiled",
                node,
                f"{header_text(node)}  # at the top level of the cell",
            )
        if not _is_inline_and_private(node):
            self._header(node)
        self._all(node.body)

    def _nested_class(self, node: ast.ClassDef) -> None:
        raise self._source.error(
            "a class inside a function is not compiled",
            node,
            f"class {node.name}:  # at the top level of the cell",
        )

    def _class(self, node: ast.ClassDef) -> None:
        for one in node.body:
            if isinstance(one, ast.FunctionDef):
                self._define(one, method_of=node.name)
            elif isinstance(one, ast.Assign):
                raise self._source.error(
                    "a class attribute outside the methods is not compiled",
                    one,
                    f"def __init__(self):\n    self.{ast.unparse(one)}",
                )
        for base in node.bases:
            self._visit(base)

    def _import(self, node: ast.Import) -> None:
        self._check_place(node)
        check_import(node, self._source)
        self._imports.update(imported_names(node))

    def _import_from(self, node: ast.ImportFrom) -> None:
        self._check_place(node)
        check_import_from(node, self._source)
        self._imports.update(imported_names(node))

    def _check_place(self, node: ast.Import | ast.ImportFrom) -> None:
        if self._function is not None and node not in self._function.body:
            raise self._source.error(
                "an import inside if, for or while is not compiled",
                node,
                f"{ast.unparse(node)}  # at the top of this cell",
            )

    # ---- statements ---------------------------------------------------------------------

    def _assign(self, node: ast.Assign) -> None:
        check_assignment(node, self._source, arrays=self._arrays)
        check_self_read(node, self._source, fortran=self._fortran)
        value = node.value
        if isinstance(value, ast.ListComp | ast.Lambda):
            self._fine.add(id(value))
        elif isinstance(value, ast.Call):
            self._fine.update(id(one) for one in value.args if isinstance(one, ast.ListComp))
        self._visit(node.targets[0])
        self._visit(value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id in self._outline.aliases:
            return
        # The annotation belongs to Pyccel's grammar, not to the names of the cell.
        self._visit(node.target)
        if node.value is not None:
            self._visit(node.value)

    def _augmented(self, node: ast.AugAssign) -> None:
        check_augmented(node, self._source, arrays=self._arrays)
        check_self_read(node, self._source, fortran=self._fortran)
        self._visit(node.target)
        self._visit(node.value)

    def _with(self, node: ast.With) -> None:
        check_with(node, self._source, defined=self._locals | self._defined)
        self._inside(node)

    # ---- expressions --------------------------------------------------------------------

    def _name(self, node: ast.Name) -> None:
        name = node.id
        if not self._ascii:
            self._check_ascii(name, node)
        if self._fortran and self._function is None and isinstance(node.ctx, ast.Store):
            self._check_symbol(node)
        if name in self._imports and name not in self._locals:
            self._check_infinity(self._imports[name], node)
        if name in self._locals or name in self._defined or name in self._imports:
            return
        if name in self._known:
            self.taken.add(name)
        elif is_unusable_builtin(name) and name not in self._namespace:
            raise explain_builtin(name, node, self._source)
        elif name not in BUILTINS:
            raise explain_unknown(
                name,
                node,
                self._source,
                namespace=self._namespace,
                defined=self._locals | self._defined - DECORATORS,
            )

    def _check_symbol(self, node: ast.Name) -> None:
        """Fortran's module variables are global symbols, in lower case (2.2.3, gfortran)."""
        symbol = node.id.lower()
        if symbol not in RESERVED["fortran"] and is_c_symbol(symbol):
            # GAMMA does not compile against math.h; STEP writes into glibc and kills the process.
            raise self._source.error(
                f"fortran would share {node.id!r} with the C library, which has a {symbol!r} too",
                node,
                f"{node.id}_0 = 1.0  # under another name",
            )

    def _check_ascii(self, name: str, at: Placed) -> None:
        if not self._ascii and not name.isascii():
            raise self._source.error(
                f"fortran has no letter for {name!r}", at, "%%pyccel_kernel --language c"
            )

    def _attribute(self, node: ast.Attribute) -> None:
        visible = {name: one for name, one in self._imports.items() if name not in self._locals}
        check_attribute(node, self._source, imports=visible, arrays=self._arrays)
        if isinstance(node.value, ast.Name) and node.value.id in visible:
            self._check_infinity(f"{visible[node.value.id]}.{node.attr}", node)
        self._visit(node.value)

    def _check_infinity(self, origin: str, node: ast.expr) -> None:
        """Fortran gets `huge(x)` for math.inf (2.2.3): 1.8e308, which is less."""
        if self._fortran and origin in {"math.inf", "cmath.inf"}:
            raise self._source.error(
                f"{origin} is not infinite in Fortran: it becomes 1.7976931348623157e+308",
                node,
                "inf = 1e308\ninf = inf * 10.0  # overflows to infinity; or --language c",
            )

    def _subscript(self, node: ast.Subscript) -> None:
        check_subscript(node, self._source)
        if not self._fortran:
            check_backward(node, self._source)
        self._inside(node)

    def _call(self, node: ast.Call) -> None:
        check_call(node, self._source, imports=self._imports)
        if not self._fortran and isinstance(node.func, ast.Name) and node.func.id == "print":
            check_print(node, self._source)
        if isinstance(node.func, ast.Name) and node.func.id in {"sum", "min", "max"}:
            self._fine.update(id(one) for one in node.args if isinstance(one, ast.GeneratorExp))
        self._inside(node)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        check_placed(node, self._source, is_fine=id(node) in self._fine)
        self._inside(node)

    def _lambda(self, node: ast.Lambda) -> None:
        check_placed(node, self._source, is_fine=id(node) in self._fine)
        # Its parameters have no annotations, and need none.
        outer = self._locals
        self._locals = outer | {one.arg for one in every_argument(node.args)}
        self._visit(node.body)
        self._locals = outer


def _is_inline_and_private(node: ast.FunctionDef) -> bool:
    names = {ast.unparse(one) for one in node.decorator_list}
    return {"inline", "private"} <= names

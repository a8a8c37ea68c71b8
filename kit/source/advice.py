"""What newcomers paste, answered in its line with what to write instead.

Every refusal here was tried with Pyccel 2.2.3, which answers it with another line's error, with an
internal error, with none at all, or compiles it to something else than Python means.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from typing import Final

from kit.source.c_symbols import is_c_symbol
from kit.source.header import header_text
from kit.source.imports import check_import, check_import_from, check_member, imported_names
from kit.source.names import explain_builtin, explain_unknown, is_unusable_builtin
from kit.source.outline import Outline
from kit.source.place import Placed, Source
from kit.source.unannotated import check_parameters
from kit.source.vocabulary import (
    ARRAY_ATTRIBUTES,
    BUILTINS,
    DECORATORS,
    INSTEAD_OF_METHOD,
    RESERVED,
)
from kit.terms import Language

__all__ = ["advise"]

_NUMBA: Final = frozenset({"njit", "jit", "vectorize", "guvectorize", "stencil"})
_NO_STATEMENT: Final[Mapping[type[ast.stmt], tuple[str, str]]] = {
    ast.Try: (
        "try is not compiled",
        "if condition:  # test before, instead of catching after\n    pass",
    ),
    ast.TryStar: ("try is not compiled", "if condition:\n    pass"),
    ast.Raise: ("raise is not compiled", "return  # or set a flag in an output array"),
    ast.AsyncFunctionDef: ("an async function is not compiled", "# write def instead of async def"),
    ast.AsyncFor: ("async for is not compiled", "# write for instead of async for"),
    ast.AsyncWith: ("async with is not compiled", "# open it in another cell"),
    ast.Match: ("match is not compiled", "if n == 1:\n    pass\nelif n == 2:\n    pass"),
    ast.Global: ("global is not compiled", "# pass a one-element array and write its element 0"),
    ast.Nonlocal: (
        "nonlocal is not compiled",
        "# pass a one-element array and write its element 0",
    ),
}
_NO_EXPRESSION: Final[Mapping[type[ast.expr], tuple[str, str]]] = {
    ast.JoinedStr: ("an f-string is not compiled", 'print("n =", n)'),
    ast.Yield: ("yield is not compiled", "# write into an output array"),
    ast.YieldFrom: ("yield is not compiled", "# write into an output array"),
    ast.Await: ("await is not compiled", "# do it in another cell"),
    ast.NamedExpr: (":= is not compiled", "# assign in a line of its own, before"),
    ast.DictComp: ("a dict comprehension is not compiled", "# fill an array in a loop"),
    ast.SetComp: ("a set comprehension is not compiled", "# fill an array in a loop"),
}
_NO_AUGMENTED: Final[Mapping[type[ast.operator], str]] = {
    ast.Pow: "**",
    ast.BitXor: "^",
    ast.MatMult: "@",
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
            ast.For: self._for,
            ast.While: self._while,
            ast.With: self._with,
            ast.Call: self._call,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Compare: self._compare,
            ast.BinOp: self._binary,
            ast.ListComp: self._list,
            ast.GeneratorExp: self._generator,
            ast.Lambda: self._lambda,
            ast.Constant: self._constant,
        }
        for kind, (message, fix) in (*_NO_STATEMENT.items(), *_NO_EXPRESSION.items()):
            self._handlers[kind] = self._refuser(message, fix)

    def _refuser(self, message: str, fix: str) -> Callable[[ast.stmt], None]:
        def refuse(node: ast.stmt) -> None:
            raise self._source.error(message, node, fix)

        return refuse

    def _constant(self, node: ast.Constant) -> None:
        pass

    # ---- the walk -----------------------------------------------------------------------

    def module(self, tree: ast.Module) -> None:
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self._define(node)
            elif isinstance(node, ast.ClassDef):
                self._class(node)
            else:
                if isinstance(node, ast.Assign | ast.AnnAssign):
                    self._module_value(node)
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
        self._locals, anew = _own_names(node)
        self._arrays = {one.arg for one in _every_argument(node.args) if _is_array(one.annotation)}
        self._arrays -= anew
        self._function = node
        self._all(node.body)
        self._locals, self._arrays, self._function, self._imports = outer

    def _header(self, node: ast.FunctionDef, method_of: str | None = None) -> None:
        self._check_ascii(node.name, node)
        for decorator in node.decorator_list:
            self._decorator(decorator, node, method_of)
        if node.name in {one.arg for one in _every_argument(node.args)}:
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
        for one in _every_argument(node.args):
            self._check_ascii(one.arg, one)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self._visit(default)

    def _decorator(self, node: ast.expr, on: ast.FunctionDef, method_of: str | None) -> None:
        target = node.func if isinstance(node, ast.Call) else node
        text = ast.unparse(target)
        last = text.rpartition(".")[2]
        if last == "types":
            return  # check_parameters makes its arguments into annotations
        if isinstance(target, ast.Name):
            origin = self._imports.get(text, text).rpartition(".")[2]
            if origin == "elemental" and len(_every_argument(on.args)) > 1:
                raise self._source.error(
                    "@elemental is for functions of one parameter",
                    node,
                    f"# remove the line @{text}",
                )
            if origin in DECORATORS or (method_of and text == "property"):
                return
        if last in _NUMBA or "cuda" in text:
            raise self._source.error(
                f"@{text} is Numba's; %%pyccel_kernel compiles the function already",
                node,
                f"# remove the line @{text}",
            )
        if isinstance(target, ast.Attribute) and last in DECORATORS:
            raise self._source.error(
                "Pyccel does not read a decorator with a dot",
                node,
                f"from pyccel.decorators import {last}\n@{last}\n{header_text(on)}",
            )
        raise self._source.error(
            f"Pyccel does not know the decorator @{text}", node, f"# remove the line @{text}"
        )

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

    def _module_value(self, node: ast.Assign | ast.AnnAssign) -> None:
        value = node.value
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if not isinstance(target, ast.Name):
            return
        if isinstance(node, ast.AnnAssign) and target.id in self._outline.aliases:
            return
        name = target.id
        if isinstance(value, ast.Tuple | ast.List):
            elements = ", ".join(map(ast.unparse, value.elts))
            raise self._source.error(
                f"{name!r}: a tuple or list at the top level of a cell is not compiled",
                node,
                f"import numpy as np\n{name} = np.array([{elements}])",
            )
        if isinstance(value, ast.Dict | ast.Set) or (
            isinstance(value, ast.Constant) and isinstance(value.value, str | bytes | None)
        ):
            raise self._source.error(
                f"{name!r}: only numbers and arrays can be constants of a cell",
                node,
                f"{name}_: 'float64[:]'  # as a parameter",
            )
        if isinstance(value, ast.Lambda):
            raise self._source.error(
                "a lambda at the top level of a cell is not compiled",
                node,
                f"def {name}({_typed(value.args)}):\n    return {ast.unparse(value.body)}",
            )

    def _assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            value = ast.unparse(node.value)
            lines = "\n".join(f"{ast.unparse(one)} = {value}" for one in node.targets)
            raise self._source.error("Pyccel reads one '=' a line", node, lines)
        self._check_target(node.targets[0])
        value = node.value
        if isinstance(value, ast.ListComp | ast.Lambda):
            self._fine.add(id(value))
        elif isinstance(value, ast.Call):
            self._fine.update(id(one) for one in value.args if isinstance(one, ast.ListComp))
        self._visit(node.targets[0])
        self._visit(value)

    def _check_target(self, target: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for one in target.elts:
                if isinstance(one, ast.Starred):
                    raise self._source.error(
                        "'*' in an assignment is not compiled", one, "# take a slice instead"
                    )
                self._check_target(one)
        if (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id in self._arrays
            and target.attr not in {"real", "imag"}
        ):
            raise self._source.error(
                f"assigning to {ast.unparse(target)} is not compiled",
                target,
                "# make a second array with np.zeros and fill it in a loop",
            )
        base = target.value if isinstance(target, ast.Subscript) else target
        if (
            isinstance(base, ast.Attribute)
            and base.attr in {"real", "imag"}
            and isinstance(base.value, ast.Name)
            and base.value.id in self._arrays
        ):
            # 2.2.3 writes into a temporary and loses it.
            name = base.value.id
            raise self._source.error(
                f"assigning to {name}.{base.attr} writes nothing when compiled",
                target,
                f"{name}[i] = complex(re, im)",
            )

    def _annotated(self, node: ast.AnnAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id in self._outline.aliases:
            return
        # The annotation belongs to Pyccel's grammar, not to the names of the cell.
        self._visit(node.target)
        if node.value is not None:
            self._visit(node.value)

    def _augmented(self, node: ast.AugAssign) -> None:
        symbol = _NO_AUGMENTED.get(type(node.op))
        if symbol is not None:
            target, value = ast.unparse(node.target), ast.unparse(node.value)
            raise self._source.error(
                f"'{symbol}=' is not compiled", node, f"{target} = {target} {symbol} ({value})"
            )
        self._check_target(node.target)
        self._visit(node.target)
        self._visit(node.value)

    def _for(self, node: ast.For) -> None:
        self._check_else(node.orelse, "for")
        if isinstance(node.target, ast.Tuple) and any(
            isinstance(one, ast.Tuple) for one in node.target.elts
        ):
            raise self._source.error(
                "nested tuples in 'for' are not compiled", node.target, "for i in range(n): pass"
            )
        self._visit(node.target)
        self._visit(node.iter)
        self._all(node.body)

    def _while(self, node: ast.While) -> None:
        self._check_else(node.orelse, "while")
        self._visit(node.test)
        self._all(node.body)

    def _check_else(self, body: list[ast.stmt], loop: str) -> None:
        if body:
            # 2.2.3 drops it without a word.
            raise self._source.error(
                f"the 'else' of a '{loop}' loop is ignored when compiled",
                body[0],
                "# set a bool in the loop and test it after the loop",
            )

    def _with(self, node: ast.With) -> None:
        for one in node.items:
            context = one.context_expr
            called = context.func if isinstance(context, ast.Call) else context
            if not (isinstance(called, ast.Name) and called.id in self._locals | self._defined):
                raise self._source.error(
                    "with is not compiled", node, "# open it in another cell and pass an array"
                )
        self._inside(node)

    # ---- expressions --------------------------------------------------------------------

    def _name(self, node: ast.Name) -> None:
        name = node.id
        if not self._ascii:
            self._check_ascii(name, node)
        if self._fortran and self._function is None and isinstance(node.ctx, ast.Store):
            self._check_symbol(node)
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
        base = node.value
        if isinstance(base, ast.Name) and isinstance(node.ctx, ast.Load):
            if base.id in self._imports and base.id not in self._locals:
                check_member(f"{self._imports[base.id]}.{node.attr}", node, self._source)
            elif base.id in self._arrays and node.attr not in ARRAY_ATTRIBUTES:
                self._refuse_method(node, base.id)
        elif isinstance(base, ast.BinOp | ast.UnaryOp):
            raise self._source.error(
                "an attribute of an expression is not compiled; give the expression a name",
                node,
                f"value = {ast.unparse(base)}\nvalue.{node.attr}",
            )
        elif isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
            module = self._imports.get(base.value.id)
            if module is not None and base.value.id not in self._locals:
                check_member(f"{module}.{base.attr}.{node.attr}", node, self._source)
        self._visit(base)

    def _refuse_method(self, node: ast.Attribute, name: str) -> None:
        instead = INSTEAD_OF_METHOD.get(node.attr, "a loop over {x}").format(x=name)
        raise self._source.error(f"{name}.{node.attr} is not compiled", node, f"# write {instead}")

    def _call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute):
            if function.attr == "format" and isinstance(function.value, ast.Constant):
                raise self._source.error("str.format is not compiled", node, 'print("n =", n)')
            if len(node.args) == 2 and self._origin(function) == "math.log":
                value, base = map(ast.unparse, node.args)
                raise self._source.error(
                    "math.log takes one argument when compiled",
                    node,
                    f"{ast.unparse(function)}({value}) / {ast.unparse(function)}({base})",
                )
        elif isinstance(function, ast.Name):
            if self._imports.get(function.id) == "sys.exit":
                check_member("sys.exit", node, self._source)
            if function.id in {"sum", "min", "max"}:
                self._fine.update(id(one) for one in node.args if isinstance(one, ast.GeneratorExp))
        self._inside(node)

    def _origin(self, node: ast.Attribute) -> str | None:
        if not isinstance(node.value, ast.Name):
            return None
        module = self._imports.get(node.value.id)
        return None if module is None else f"{module}.{node.attr}"

    def _subscript(self, node: ast.Subscript) -> None:
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for one in items:
            if isinstance(one, ast.Constant) and one.value is None:
                raise self._source.error(
                    "None as an index is not compiled", one, "# write a loop over the axis"
                )
            if isinstance(one, ast.Compare):
                raise self._source.error(
                    "a mask as an index is not compiled",
                    one,
                    f"for i in range({ast.unparse(node.value)}.shape[0]):\n"
                    f"    if {ast.unparse(one)}:  # with [i] behind each array\n        pass",
                )
        self._inside(node)

    def _compare(self, node: ast.Compare) -> None:
        for operator, right in zip(node.ops, node.comparators, strict=True):
            left = ast.unparse(node.left)
            if isinstance(operator, ast.NotIn):
                raise self._source.error(
                    "'not in' is not compiled",
                    node,
                    f"not ({left} in {ast.unparse(right)})"
                    if not isinstance(right, ast.Tuple)
                    else " and ".join(f"{left} != {ast.unparse(one)}" for one in right.elts),
                )
            if isinstance(operator, ast.In) and isinstance(right, ast.Tuple):
                raise self._source.error(
                    "'in' with a tuple is not compiled",
                    node,
                    " or ".join(f"{left} == {ast.unparse(one)}" for one in right.elts),
                )
        self._inside(node)

    def _binary(self, node: ast.BinOp) -> None:
        if (
            isinstance(node.op, ast.Mod)
            and isinstance(node.left, ast.Constant)
            and isinstance(node.left.value, str)
        ):
            raise self._source.error("'%' on text is not compiled", node, 'print("n =", n)')
        self._visit(node.left)
        self._visit(node.right)

    def _list(self, node: ast.ListComp) -> None:
        if id(node) not in self._fine:
            raise self._source.error(
                "a list comprehension is compiled only behind '='",
                node,
                f"values = {ast.unparse(node)}",
            )
        self._inside(node)

    def _generator(self, node: ast.GeneratorExp) -> None:
        if id(node) not in self._fine:
            raise self._source.error(
                "a generator is compiled only in sum(), min() and max()",
                node,
                "# write a loop",
            )
        self._inside(node)

    def _lambda(self, node: ast.Lambda) -> None:
        if id(node) not in self._fine:
            raise self._source.error(
                "a lambda is compiled only behind '='",
                node,
                f"def _step({_typed(node.args)}):\n    return {ast.unparse(node.body)}",
            )
        # Its parameters have no annotations, and need none.
        outer = self._locals
        self._locals = outer | {one.arg for one in _every_argument(node.args)}
        self._visit(node.body)
        self._locals = outer


def _every_argument(node: ast.arguments) -> list[ast.arg]:
    every = [*node.posonlyargs, *node.args, *node.kwonlyargs]
    return every + [one for one in (node.vararg, node.kwarg) if one is not None]


def _own_names(node: ast.FunctionDef) -> tuple[set[str], set[str]]:
    """Names that a function, or one nested in it, binds; and those that it binds anew."""
    bound: set[str] = set()
    anew: set[str] = set()
    own = {id(one) for one in _every_argument(node.args)}
    pending: list[ast.AST] = [node]
    while pending:  # half of the time of ast.walk
        one = pending.pop()
        if isinstance(one, ast.Name):
            if not isinstance(one.ctx, ast.Load):
                anew.add(one.id)
            continue
        if isinstance(one, ast.arg):
            (bound if id(one) in own else anew).add(one.arg)
        elif isinstance(one, ast.FunctionDef) and one is not node:
            bound.add(one.name)
        elif isinstance(one, ast.Import | ast.ImportFrom):
            bound.update(imported_names(one))
        # Not __dict__: nodes such as Load() are shared by all trees, and `executing` (IPython's
        # tracebacks) hangs a `parent` on them, which leads from here around in its own trees.
        for value in (getattr(one, name, None) for name in one._fields):
            if isinstance(value, ast.AST):
                pending.append(value)
            elif isinstance(value, list):
                pending.extend(part for part in value if isinstance(part, ast.AST))  # pyright: ignore[reportUnknownVariableType]
    return bound | anew, anew


def _is_array(annotation: ast.expr | None) -> bool:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return "[:" in annotation.value.replace(" ", "") and "tuple" not in annotation.value
    return False


def _is_inline_and_private(node: ast.FunctionDef) -> bool:
    names = {ast.unparse(one) for one in node.decorator_list}
    return {"inline", "private"} <= names


def _typed(node: ast.arguments) -> str:
    return ", ".join(f"{one.arg}: float" for one in _every_argument(node))

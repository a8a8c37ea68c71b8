"""What a cell defines at its top level."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from kit.source.constants import NotConstant, evaluate_constant
from kit.source.imports import imported_names

__all__ = ["Outline", "outline_cell"]


@dataclass(slots=True)
class Outline:
    """Definitions of a cell's top level, in the order of the text.

    Parameters
    ----------
    functions, classes : dict
        By name; a second definition of a name is in `again`.
    imports : dict of str to str
        Local names and where they come from.
    assigned : dict of str to ast.expr or None
        Other names, and the value that each was last given.
    constants : dict of str to object
        Those whose value is known without running the cell.
    typevars : dict of str to tuple of str
        Constraints, as source text.
    aliases : dict of str to str
        What each `TypeAlias` stands for, as source text.
    again : list of ast.stmt
        Functions and classes whose name is taken already.
    """

    functions: dict[str, ast.FunctionDef] = field(default_factory=dict[str, ast.FunctionDef])
    classes: dict[str, ast.ClassDef] = field(default_factory=dict[str, ast.ClassDef])
    imports: dict[str, str] = field(default_factory=dict[str, str])
    assigned: dict[str, ast.expr | None] = field(default_factory=dict[str, "ast.expr | None"])
    constants: dict[str, object] = field(default_factory=dict[str, object])
    typevars: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    aliases: dict[str, str] = field(default_factory=dict[str, str])
    again: list[ast.FunctionDef | ast.ClassDef] = field(
        default_factory=list["ast.FunctionDef | ast.ClassDef"]
    )

    @property
    def names(self) -> frozenset[str]:
        """Every name that the top level defines."""
        return frozenset(
            {*self.functions, *self.classes, *self.imports, *self.assigned}
            | {*self.typevars, *self.aliases}
        )


def outline_cell(tree: ast.Module) -> Outline:
    """Collect the definitions of a parsed cell."""
    outline = Outline()
    for node in tree.body:
        _add(outline, node)
    return outline


def _add(outline: Outline, node: ast.stmt) -> None:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        if node.name in outline.functions or node.name in outline.classes:
            outline.again.append(node)
        elif isinstance(node, ast.FunctionDef):
            outline.functions[node.name] = node
        else:
            outline.classes[node.name] = node
    elif isinstance(node, ast.Import | ast.ImportFrom):
        outline.imports.update(imported_names(node))
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        _add_value(outline, node.targets[0], node.value)
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        annotation = ast.unparse(node.annotation)
        if annotation.rpartition(".")[2] == "TypeAlias" and node.value is not None:
            outline.aliases[node.target.id] = ast.unparse(node.value)
        else:
            _add_value(outline, node.target, node.value)
    else:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                outline.assigned[inner.id] = None


def _add_value(outline: Outline, target: ast.expr, value: ast.expr | None) -> None:
    if not isinstance(target, ast.Name):
        for inner in ast.walk(target):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                outline.assigned[inner.id] = None
        return
    constraints = _typevar(value, outline.imports)
    if constraints is not None:
        outline.typevars[target.id] = constraints
        return
    outline.assigned[target.id] = value
    outline.constants.pop(target.id, None)
    if value is not None:
        with contextlib.suppress(NotConstant):
            outline.constants[target.id] = evaluate_constant(
                value, outline.constants, outline.imports
            )


def _typevar(value: ast.expr | None, imports: Mapping[str, str]) -> tuple[str, ...] | None:
    if not isinstance(value, ast.Call):
        return None
    function = value.func
    if isinstance(function, ast.Name):
        origin = imports.get(function.id, function.id)
    elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        origin = f"{imports.get(function.value.id, '')}.{function.attr}"
    else:
        return None
    if origin not in {"typing.TypeVar", "TypeVar"}:
        return None
    return tuple(ast.unparse(one) for one in value.args[1:])

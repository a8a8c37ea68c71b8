"""Nodes of the CUDA grammar: names, scopes, templates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kit.cuda.text.found import TemplateParameter
from kit.cuda.text.reading import ReadText

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = [
    "GLOBAL",
    "declared_name",
    "inner_declarator",
    "template_parameters",
    "walk_scopes",
]

GLOBAL = r"\b__global__\b"

_NAMES = ("identifier", "field_identifier", "type_identifier", "qualified_identifier")
_HOLDERS = (
    "namespace_definition",
    "linkage_specification",
    "declaration_list",
    "template_declaration",
    "ERROR",
)


def walk_scopes(read: ReadText, root: Node) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """Everything at namespace scope, with its namespaces ("" for one without a name)."""
    stack = [root]
    while stack:
        node = stack.pop()
        scope = read.scopes.at(node.start_byte)
        if scope is None:
            continue
        if node is not root and node.type not in _HOLDERS:
            yield node, scope
            # After an error the grammar may have put definitions into the one before.
            if not node.has_error:
                continue
        stack.extend(reversed(node.children))


def inner_declarator(node: Node, kind: str) -> Node | None:
    """The declarator of a kind on the way from a declaration to its name."""
    found: Node | None = node
    while found is not None and found.type != kind:
        following = found.child_by_field_name("declarator")
        if following is None and found.type in ("parenthesized_declarator", "reference_declarator"):
            following = next(iter(found.named_children[-1:]), None)
        found = following
    return found


def declared_name(node: Node) -> Node | None:
    """The name that a declaration or declarator introduces; None where it has none."""
    found: Node | None = node
    while found is not None and found.type not in _NAMES:
        following = found.child_by_field_name("declarator")
        if following is None and found.type.endswith("_declarator"):
            inside = [one for one in found.named_children if _may_name(one)]
            following = inside[-1] if inside else None
        found = following
    return found


def _may_name(node: Node) -> bool:
    return node.type in _NAMES or node.type.endswith("_declarator")


def template_parameters(read: ReadText, node: Node) -> tuple[TemplateParameter, ...]:
    """Parameters of a template declaration."""
    listed = node.child_by_field_name("parameters")
    if listed is None:
        return ()
    return tuple(_template_parameter(read, one) for one in listed.named_children)


def _template_parameter(read: ReadText, node: Node) -> TemplateParameter:
    default = _default(node)
    end = node.end_byte
    if default is not None:
        end = read.shown.rindex("=", node.start_byte, default.start_byte)
    if node.type == "template_template_parameter_declaration":
        kind = "template"
    else:
        kind = "type" if "type_parameter" in node.type else "value"
    named: Node | None
    if kind == "value":
        named = declared_name(node)
    else:
        names = [one for one in _names_of_type(node, kind) if one.end_byte <= end]
        named = names[-1] if names else None
    return TemplateParameter(
        name="" if named is None else read.shown[named.start_byte : named.end_byte],
        kind=kind,
        text=read.written(node.start_byte, end),
        default="" if default is None else read.written(default.start_byte, default.end_byte),
        is_pack="variadic" in node.type,
    )


def _default(node: Node) -> Node | None:
    if node.type == "template_template_parameter_declaration":
        node = node.named_children[-1]
    return node.child_by_field_name("default_type") or node.child_by_field_name("default_value")


def _names_of_type(node: Node, kind: str) -> list[Node]:
    inside = node.named_children
    if kind == "template":  # template<class> class C: the name is one level further in
        declared = [one for one in inside if one.type.endswith("declaration")]
        inside = [each for one in declared for each in one.named_children]
    return [one for one in inside if one.type == "type_identifier"]

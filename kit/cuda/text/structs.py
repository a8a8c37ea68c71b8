"""Structs of a cell whose fields can be seen from outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kit.cuda.text.found import FoundStruct, TemplateParameter, qualified
from kit.cuda.text.nodes import declared_name, inner_declarator, template_parameters, walk_scopes
from kit.cuda.text.reading import ReadText

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["read_structs"]

_KINDS = ("struct_specifier", "class_specifier")


def read_structs(read: ReadText, root: Node) -> tuple[FoundStruct, ...]:
    """Structs at namespace scope and the public ones inside them, inner ones first.

    A struct without a name is spelt by what is declared with it. Specialisations, unions and what
    has base classes are left out: the compiler lays them out, and nobody names their fields here.
    """
    found: list[FoundStruct] = []
    for node, scope in walk_scopes(read, root):
        parent = node.parent
        template: tuple[TemplateParameter, ...] = ()
        if parent is not None and parent.type == "template_declaration":
            template = template_parameters(read, parent)
        for one in _specifiers(node):
            spelling = _spelling(read, one, node, scope)
            if spelling:
                found.extend(_struct(read, one, spelling, template))
    return tuple(found)


def _specifiers(node: Node) -> list[Node]:
    if node.type in _KINDS:
        return [node]
    typed = node.child_by_field_name("type")
    return [typed] if typed is not None and typed.type in _KINDS else []


def _spelling(read: ReadText, struct: Node, holder: Node, scope: tuple[str, ...]) -> str:
    named = struct.child_by_field_name("name")
    if named is not None:
        plain = named.type == "type_identifier"
        return "::" + qualified(scope, _text(read, named)) if plain else ""
    declarators = holder.children_by_field_name("declarator")
    if holder.type == "type_definition" and declarators:
        first = declarators[0]
        plain = first.type == "type_identifier"
        return "::" + qualified(scope, _text(read, first)) if plain else ""
    named = declared_name(declarators[0]) if declarators else None
    if named is None or holder.type != "declaration":
        return ""
    return f"@bare<decltype(::{qualified(scope, _text(read, named))})>"


def _struct(
    read: ReadText, node: Node, spelling: str, template: Sequence[TemplateParameter]
) -> Iterator[FoundStruct]:
    body = node.child_by_field_name("body")
    if body is None or any(one.type == "base_class_clause" for one in node.children):
        return
    if template:
        spelling += "<" + ", ".join(one.name for one in template) + ">"
    names: list[str] = []
    public = node.type == "struct_specifier"
    for member in body.named_children:
        if member.type == "access_specifier":
            public = _text(read, member).strip(" :") == "public"
        if member.type != "field_declaration":
            continue
        fields = _fields(read, member)
        names.extend(fields)
        if public and not template:
            yield from _inner(read, member, spelling, fields)
    if names:
        # Branches of an #if may declare one name each; the compiler says which is there, and where.
        different = tuple(dict.fromkeys(names))
        conditions = read.conditions_at(body.start_byte)
        yield FoundStruct(spelling, tuple(template), different, conditions)


def _inner(
    read: ReadText, member: Node, outer: str, fields: Sequence[str]
) -> Iterator[FoundStruct]:
    """Structs that are defined by a member of another one."""
    for one in _specifiers(member):
        named = one.child_by_field_name("name")
        if named is None and fields:
            yield from _struct(read, one, f"@bare<decltype({outer}::{fields[0]})>", ())
        elif named is not None and not outer.startswith("@bare"):
            yield from _struct(read, one, f"{outer}::{_text(read, named)}", ())


def _fields(read: ReadText, member: Node) -> list[str]:
    """Names that a member declares; those of functions and static members are not among them."""
    words = [_text(read, one) for one in member.children if one.type == "storage_class_specifier"]
    if "static" in words:
        return []
    names: list[str] = []
    for declarator in member.children_by_field_name("declarator"):
        function = inner_declarator(declarator, "function_declarator")
        pointed = function is not None and inner_declarator(function, "pointer_declarator")
        if function is not None and not pointed:
            continue
        named = declared_name(declarator)
        if named is not None:
            names.append(_text(read, named))
    if not names and any(one.type == "union_specifier" for one in member.children):
        names.append("")  # its fields share memory: no name reaches it, nothing describes it
    return names


def _text(read: ReadText, node: Node) -> str:
    return read.shown[node.start_byte : node.end_byte]

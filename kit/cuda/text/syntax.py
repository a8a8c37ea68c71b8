"""What stands in a CUDA cell, as its syntax tree says: kernels, variables, structs.

tree-sitter reads what no type tells: names, places, comments, ``__restrict__``. Types are the
compiler's (`kit.cuda.probe`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kit.cuda.text.comments import comment_above
from kit.cuda.text.found import Found, FoundKernel, FoundParameter, FoundSymbol
from kit.cuda.text.nodes import (
    GLOBAL,
    declared_name,
    inner_declarator,
    template_parameters,
    walk_scopes,
)
from kit.cuda.text.reading import ReadText, read_text
from kit.cuda.text.structs import read_structs

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["read_cell"]

_VARIABLE = re.compile(r"\b__(constant|device|managed)__\b")
_RESTRICT = re.compile(r"\b__restrict(?:__)?\b")


def read_cell(text: str, defines: tuple[str, ...] = ()) -> Found:
    """Everything that a cell defines; never fails, whatever the text is.

    Parameters
    ----------
    text : str
        The cell.
    defines : tuple of str
        Options ``-D``.
    """
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    read = read_text(text, defines)
    root = Parser(Language(tree_sitter_cuda.language())).parse(read.parsed()).root_node
    return _Reader(read, root).found()


class _Reader:
    """Walks one tree."""

    def __init__(self, read: ReadText, root: Node) -> None:
        self._read = read
        self._root = root
        self._kernels: list[FoundKernel] = []
        self._symbols: list[FoundSymbol] = []
        self._mains: list[int] = []
        self._declared: list[tuple[str, int]] = []
        self._covered: list[tuple[int, int]] = []

    def found(self) -> Found:
        """Everything, in the order of the cell."""
        for node, scope in walk_scopes(self._read, self._root):
            if node.type == "function_definition":
                self._function(node, scope)
            elif node.type == "declaration":
                self._declaration(node, scope)
            elif node.type == "template_instantiation":
                self._covered.append((node.start_byte, node.end_byte))
        return Found(
            kernels=tuple(self._kernels),
            symbols=tuple(self._symbols),
            structs=read_structs(self._read, self._root),
            launches=tuple(self._plainly("<<<")),
            mains=tuple(self._mains),
            unread=tuple(self._unread()),
            declared=tuple(self._declared),
        )

    # ---- functions ------------------------------------------------------------------------

    def _function(self, node: Node, scope: tuple[str, ...]) -> None:
        declarator = inner_declarator(node, "function_declarator")
        named = declarator.child_by_field_name("declarator") if declarator else None
        if declarator is None or named is None:
            return
        head = self._read.shown[node.start_byte : named.start_byte]
        name = self._read.shown[named.start_byte : named.end_byte]
        if not re.search(GLOBAL, head):
            if name == "main" and not scope and not self._conditions(named):
                self._mains.append(self._read.origin(named.start_byte))
            return
        self._covered.append((node.start_byte, named.start_byte))
        if named.type == "template_function":
            return  # a specialisation: its template is the kernel
        outer = tuple(part.strip() for part in name.split("::"))
        self._kernels.append(self._kernel(node, declarator, named, (*scope, *outer[:-1])))

    def _kernel(
        self, node: Node, declarator: Node, named: Node, scope: tuple[str, ...]
    ) -> FoundKernel:
        read = self._read
        listed = declarator.child_by_field_name("parameters")
        template = node.parent if node.parent and node.parent.type.startswith("template_") else None
        start = self._start(template or node)
        end = read.origin_end(node.end_byte)
        name = read.shown[named.start_byte : named.end_byte].rpartition("::")[2].strip()
        body = node.child_by_field_name("body")
        return FoundKernel(
            name=name,
            scope=scope,
            template=None if template is None else template_parameters(read, template),
            parameters=tuple(self._parameters(listed)),
            readable=listed is not None
            and not listed.has_error
            and not read.is_guessed(node.start_byte, listed.end_byte),
            bounds=self._bounds(node, body),
            source=read.original[start:end],
            doc=comment_above(read.original, start, read.tokens),
            offset=start,
            name_offset=read.origin(named.start_byte),
            conditions=self._conditions(named),
        )

    def _start(self, node: Node) -> int:
        """Where a definition begins, with its ``extern "C"``."""
        parent = node.parent
        if parent is not None and parent.type == "linkage_specification":
            body = parent.child_by_field_name("body")
            if body is not None and body.type != "declaration_list":
                node = parent
        return self._read.origin(node.start_byte)

    def _parameters(self, listed: Node | None) -> Iterator[FoundParameter]:
        nodes = [] if listed is None else listed.named_children
        kinds = ("parameter_declaration", "optional_parameter_declaration")
        declared = [one for one in nodes if one.type in kinds or "variadic" in one.type]
        if len(declared) == 1 and self._shown(declared[0]) == "void":
            return
        for one in declared:
            yield self._parameter(one)

    def _parameter(self, node: Node) -> FoundParameter:
        read = self._read
        default = node.child_by_field_name("default_value")
        end = node.end_byte if default is None else default.start_byte
        if default is not None:
            end = read.shown.rindex("=", node.start_byte, end)
        named = declared_name(node)
        name = "" if named is None else self._shown(named)
        if named is None or not name.isidentifier():  # a member pointer, say
            named, name = None, ""
        without = (0, 0) if named is None else (named.start_byte, named.end_byte)
        return FoundParameter(
            name=name,
            text=read.written(node.start_byte, end, without),
            restrict=bool(_RESTRICT.search(read.shown, node.start_byte, end)),
            offset=read.origin(node.start_byte),
            name_offset=read.origin(node.start_byte if named is None else named.start_byte),
        )

    def _bounds(self, node: Node, body: Node | None) -> tuple[str, ...]:
        stack = [one for one in node.children if one != body]
        while stack:
            one = stack.pop()
            if one.type == "launch_bounds":
                return tuple(self._shown(each) for each in one.named_children)
            stack.extend(one.children)
        return ()

    # ---- variables ------------------------------------------------------------------------

    def _declaration(self, node: Node, scope: tuple[str, ...]) -> None:
        declarators = node.children_by_field_name("declarator")
        if not declarators:
            return
        head = self._read.shown[node.start_byte : declarators[0].start_byte]
        if re.search(GLOBAL, head):
            self._covered.append((node.start_byte, declarators[0].start_byte))
            named = declared_name(node)
            if named is not None and not self._conditions(named):
                self._declared.append((self._shown(named), self._read.origin(named.start_byte)))
            return
        spaces = {match[1] for match in _VARIABLE.finditer(head)}
        in_template = node.parent is not None and node.parent.type == "template_declaration"
        if not spaces or "managed" in spaces or in_template or self._is_extern(node, declarators):
            return
        for declarator in declarators:
            named = declared_name(declarator)
            if named is None or inner_declarator(declarator, "function_declarator") is not None:
                continue
            self._symbols.append(
                FoundSymbol(
                    name=self._shown(named),
                    scope=scope,
                    space="constant" if "constant" in spaces else "device",
                    offset=self._read.origin(named.start_byte),
                    conditions=self._conditions(named),
                )
            )

    def _is_extern(self, node: Node, declarators: list[Node]) -> bool:
        """Whether a variable is defined elsewhere."""
        words = [self._shown(one) for one in node.children if one.type == "storage_class_specifier"]
        return "extern" in words and all(one.type != "init_declarator" for one in declarators)

    # ---- places ---------------------------------------------------------------------------

    def _shown(self, node: Node) -> str:
        return self._read.shown[node.start_byte : node.end_byte]

    def _conditions(self, node: Node) -> tuple[tuple[str, ...], ...]:
        return self._read.conditions_at(node.start_byte)

    def _plainly(self, pattern: str) -> Iterator[int]:
        """Where something is written outside of ``#if``."""
        for match in re.finditer(pattern, self._read.code):
            if not self._read.conditions_at(match.start()):
                yield self._read.origin(match.start())

    def _unread(self) -> Iterator[int]:
        covered = {self._read.origin(offset) for span in self._covered for offset in span[:1]}
        spans = [(self._read.origin(low), self._read.origin(high)) for low, high in self._covered]
        for offset in self._plainly(GLOBAL):
            if offset not in covered and not any(low <= offset <= high for low, high in spans):
                yield offset

"""What a cell asks for and the CPU does not have: refused before compiling, with line and advice.

The syntax tree says what is meant: a comment, a string, a parameter called `barrier`, or code that
``#ifndef KIT_EMULATION`` leaves out is none of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kit.backends.emulator.dead_code import leave_dead_code_out
from kit.backends.emulator.device_macros import emulated_macros
from kit.backends.emulator.refused_constructs import (
    ASM,
    GRID_SYNC,
    LARGE_TILE,
    LAUNCH,
    Construct,
    refused_include,
    refused_name,
)
from kit.cuda.options import CudaOptions
from kit.cuda.text.cell_places import CellPlaces
from kit.cuda.text.reading import read_text

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["refuse_what_cannot_run"]

_NAMES: Final = ("identifier", "type_identifier", "namespace_identifier")
_WAITING: Final = ("sync", "barrier_arrive", "barrier_wait")
_NAMING: Final = ("qualified_identifier", "template_type", "template_function")
_DEFINING: Final = ("struct_specifier", "class_specifier", "alias_declaration")
_GRID_TYPE: Final = re.compile(r"\bgrid_group\b|\bthis_grid\s*\(")


def refuse_what_cannot_run(text: str, options: CudaOptions) -> None:
    """Raise for the first construct of a cell that the emulator cannot run.

    Parameters
    ----------
    text : str
        The cell.
    options : CudaOptions
        Its macros, and the architectures that it is compiled for.

    Raises
    ------
    CellError
        With line, column, and what to write instead.
    """
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    given = (one.partition("=") for one in options.defines)
    macros = {name: value if equals else "1" for name, equals, value in given}
    code = leave_dead_code_out(text, {**emulated_macros(options.architectures), **macros})
    read = read_text(code.text, options.defines)
    root = Parser(Language(tree_sitter_cuda.language())).parse(_parsable(read.shown)).root_node
    found = [(read.origin(at), what) for at, what in _Walk(read.shown, root).refused()]
    for include in code.includes:
        refusal = refused_include(include.name)
        if refusal is not None:
            found.append((include.offset, refusal))
    if not found:
        return
    offset, construct = min(found, key=lambda one: one[0])
    raise CellPlaces(text).error(f"{construct.what} cannot run on the CPU", offset, construct.fix)


def _parsable(text: str) -> bytes:
    """One byte for each character, so that the parser's offsets are those of the text.

    (`ReadText.parsed` leaves bodies out, which are what matters here.)
    """
    plain = "".join(one if ord(one) < 128 else "x" for one in text)
    # What the grammar does not know (tree-sitter-cuda 0.21).
    return re.sub(r"\b__align__(?=\s*\()", "alignas  ", plain).encode("ascii")


class _Walk:
    """Looks through one tree."""

    def __init__(self, text: str, root: Node) -> None:
        self._text = text
        self._nodes = list(_all_nodes(root))
        self._own = {self._shown(name) for name in self._defined_names()}
        self._grids = {self._shown(name) for name in self._grid_names()}

    def refused(self) -> Iterator[tuple[int, Construct]]:
        """Where in the text, and what."""
        for node in self._nodes:
            construct = self._refused(node)
            if construct is not None:
                yield node.start_byte, construct

    def _refused(self, node: Node) -> Construct | None:
        if node.type == "gnu_asm_expression":
            return ASM
        if node.type == "kernel_call_syntax":
            return LAUNCH
        if node.type == "call_expression":
            return self._refused_call(node)
        return self._refused_name(node) if node.type in _NAMES else None

    # ---- calls ------------------------------------------------------------------------------

    def _refused_call(self, node: Node) -> Construct | None:
        called = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if called is None or arguments is None:
            return None
        if called.type == "field_expression":
            of, name = called.child_by_field_name("argument"), called.child_by_field_name("field")
            waits = name is not None and self._shown(name) in _WAITING
            return GRID_SYNC if waits and of is not None and self._is_grid(of) else None
        text = self._shown(called)
        if text.rpartition("::")[2] == "sync":
            given = arguments.named_children
            return GRID_SYNC if given and self._is_grid(given[0]) else None
        tile = re.fullmatch(r"(?:\w+::)*tiled_partition\s*<\s*(\d+)\s*>", text)
        return LARGE_TILE if tile and int(tile[1]) > 32 else None

    def _is_grid(self, node: Node) -> bool:
        text = self._shown(node)
        return text in self._grids or re.search(r"\bthis_grid\s*\(\s*\)$", text) is not None

    def _grid_names(self) -> Iterator[Node]:
        """Variables and parameters that are the whole grid."""
        for node in self._nodes:
            if node.type in ("declaration", "parameter_declaration") and _GRID_TYPE.search(
                self._shown(node)
            ):
                yield from (one for one in _declared(node) if one is not None)

    # ---- names ------------------------------------------------------------------------------

    def _refused_name(self, node: Node) -> Construct | None:
        name, qualified = self._shown(node), self._qualified(node)
        # What the cell calls so itself is not CUDA's.
        if qualified == name and name in self._own:
            return None
        return refused_name(name, qualified)

    def _defined_names(self) -> Iterator[Node]:
        """Functions, variables, parameters and types of the cell's own."""
        for node in self._nodes:
            field = "name" if node.type in _DEFINING else "declarator"
            for name in node.children_by_field_name(field):
                if name.type in _NAMES:
                    yield name

    def _qualified(self, node: Node) -> str:
        """A name with the namespaces before it, without template arguments."""
        parts = [self._shown(node)]
        inner, outer = node, node.parent
        while outer is not None and outer.type in _NAMING:
            scope = outer.child_by_field_name("scope")
            if outer.type == "qualified_identifier" and scope is not None and scope.id != inner.id:
                parts.append(self._shown(scope))
            inner, outer = outer, outer.parent
        return "::".join(reversed(parts))

    def _shown(self, node: Node) -> str:
        return self._text[node.start_byte : node.end_byte]


def _all_nodes(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def _declared(node: Node) -> Iterator[Node | None]:
    """The names that a declaration introduces."""
    for one in node.children_by_field_name("declarator"):
        inner: Node | None = one
        while inner is not None and inner.type != "identifier":
            inner = inner.child_by_field_name("declarator") or next(
                (child for child in inner.named_children if child.type == "identifier"), None
            )
        yield inner

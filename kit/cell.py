"""A cell of typed Python: its functions with their signatures, and what it takes from elsewhere."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from kit.errors import CellError
from kit.signature import Parameter, Signature, parse_signature
from kit.source.advice import advise
from kit.source.comments import check_pragmas, explain_syntax_error
from kit.source.extents.functions import FunctionRules, find_rules
from kit.source.header import check_keyword_order, header_text
from kit.source.intent import Write, find_writes
from kit.source.keeping import find_kept
from kit.source.list_writes import explain_lost_write, plain_lists
from kit.source.outline import Outline, outline_cell
from kit.source.outputs import declare_outputs
from kit.source.place import Source
from kit.terms import Language

__all__ = ["Cell", "FunctionFacts", "parse_cell"]


class FunctionFacts(NamedTuple):
    """One top-level function of a cell.

    Parameters
    ----------
    name : str
        As written.
    line : int
        Of its `def`, from 1.
    public : bool
        Whether Python can call it: no leading underscore, not `@private`.
    signature : Signature
        Its parameters, with intents.
    doc : str or None
        Its docstring, cleaned.
    source : str
        Its text, decorators included.
    node : ast.FunctionDef
        For the cells that use it.
    """

    name: str
    line: int
    public: bool
    signature: Signature
    doc: str | None
    source: str
    node: ast.FunctionDef


class Cell(NamedTuple):
    """What one cell says.

    Parameters
    ----------
    source : str
        As given.
    functions : mapping of str to FunctionFacts
        Every top-level function, in the order of the text.
    free_names : frozenset of str
        Names that the cell uses and other cells supply.
    imports : mapping of str to str
        Local names that imports make, and where they come from.
    classes : frozenset of str
        Classes that the cell defines.
    constants : mapping of str to object
        Top-level names whose value is known without running the cell.
    """

    source: str
    functions: Mapping[str, FunctionFacts]
    free_names: frozenset[str]
    imports: Mapping[str, str]
    classes: frozenset[str]
    constants: Mapping[str, object]

    @property
    def public(self) -> tuple[FunctionFacts, ...]:
        """The functions that become kernels."""
        return tuple(one for one in self.functions.values() if one.public)


def parse_cell(
    source: str,
    *,
    outputs: Mapping[str | None, Sequence[str]] | None = None,
    overwrites: Mapping[str | None, Sequence[str]] | None = None,
    known: frozenset[str] = frozenset(),
    functions: Mapping[str, ast.FunctionDef] | None = None,
    namespace: Mapping[str, object] | None = None,
    openmp: bool = False,
    language: Language = "fortran",
    used: Mapping[str, Signature] | None = None,
    line_offset: int = 0,
) -> Cell:
    """Read a cell without running it.

    Parameters
    ----------
    source : str
        The text; its first line is line 1 in errors, so a magic leaves an empty line for itself.
    outputs : mapping of (str or None) to sequence of str, optional
        Declared outputs by function; None stands for every public function that has the names.
    overwrites : mapping, optional
        In the same way, outputs that the kernel overwrites entirely.
    known : frozenset of str
        Names that other cells supply.
    functions : mapping of str to ast.FunctionDef, optional
        Bodies of the functions among them; what is passed to one without a body counts as written.
    namespace : mapping of str to object, optional
        The notebook's names, only to say more about one that the cell lacks.
    openmp : bool
        Whether pragmas will be compiled.
    language : {"fortran", "c"}
        Which limits apply.
    used : mapping of str to Signature, optional
        Signatures of the names that other cells supply, for what they need of extents.
    line_offset : int
        What to add to the line numbers in rules.

    Raises
    ------
    CellError
        At the first thing that Pyccel would not compile, or would compile to something else.

    Examples
    --------
    >>> cell = parse_cell("def scale(x: 'float[:]', by: float):\\n    x[:] = by * x[:]")
    >>> cell.functions["scale"].signature.outputs
    ('x',)
    """
    text = Source(source)
    tree = _parse(text)
    check_pragmas(text, openmp=openmp)
    outline = outline_cell(tree)
    taken = advise(tree, text, outline, known=known, namespace=namespace or {}, language=language)
    signatures = {
        name: _signature(node, outline, text, language) for name, node in outline.functions.items()
    }
    public = [name for name, node in outline.functions.items() if _is_public(node)]
    if not public:
        raise _no_kernel(outline, text)
    for name in public:
        check_keyword_order(outline.functions[name], text)
    bodies = {**(functions or {}), **outline.functions}
    ranks = {name: _ranks(one) for name, one in signatures.items()}
    imports, classes = outline.imports, outline.classes
    lists = {name: plain_lists(one) for name, one in signatures.items()}
    writes = find_writes(bodies, ranks=ranks, imports=imports, classes=classes, lists=lists)
    for name, signature in signatures.items():
        loses = language == "fortran" and name in public
        _check_writes(signature, writes[name], outline.functions[name], text, loses=loses)
    kept: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    if classes or functions:  # otherwise there are no objects
        kept = find_kept(bodies, ranks=ranks, imports=imports, classes=classes)
    intended = {
        name: _with_intents(signature, writes[name], kept.get(name, {}))
        for name, signature in signatures.items()
    }
    declared = declare_outputs(
        {name: one for name, one in intended.items() if name in public},
        writes,
        outputs=outputs or {},
        overwrites=overwrites or {},
        source=text,
        lines={name: outline.functions[name] for name in public},
    )
    rules = find_rules(
        outline.functions,
        {**(used or {}), **signatures},
        imports=outline.imports,
        integers=_integers(outline),
        source=text,
        is_c=language == "c",
        line_offset=line_offset,
    )
    return Cell(
        source=source,
        functions=MappingProxyType(
            {
                name: _facts(node, declared.get(name, intended[name]), rules.get(name), text)
                for name, node in outline.functions.items()
            }
        ),
        free_names=taken,
        imports=MappingProxyType(outline.imports),
        classes=frozenset(outline.classes),
        constants=MappingProxyType(outline.constants),
    )


def _parse(source: Source) -> ast.Module:
    try:
        with warnings.catch_warnings():
            # Python warns of odd escapes and of `is` with a literal; Pyccel answers those.
            warnings.simplefilter("ignore")
            return ast.parse(source.text)
    except SyntaxError as error:
        raise explain_syntax_error(source, error) from None
    except (ValueError, RecursionError, MemoryError) as error:
        # Null bytes, surrogates, thousands of nested brackets.
        raise CellError(f"Python cannot read this cell: {error}", line=1) from None


def _signature(
    node: ast.FunctionDef, outline: Outline, source: Source, language: Language
) -> Signature:
    return parse_signature(
        node,
        typevars=outline.typevars,
        classes=frozenset(outline.classes),
        aliases=outline.aliases,
        imports=outline.imports,
        constants=outline.constants,
        source=source,
        language=language,
        public=_is_public(node),
    )


def _is_public(node: ast.FunctionDef) -> bool:
    marks = {one.id for one in node.decorator_list if isinstance(one, ast.Name)}
    return not node.name.startswith("_") and "private" not in marks


def _no_kernel(outline: Outline, source: Source) -> CellError:
    for name, node in outline.functions.items():
        if name.startswith("_"):
            return source.error(
                f"no function to call: {name!r} has a leading underscore and stays in the cell",
                node,
                header_text(node, name=name.lstrip("_") or "f"),
            )
        return source.error(
            f"no function to call: {name!r} is @private and stays in the cell",
            node,
            "# remove the line @private",
        )
    for node in outline.classes.values():
        return source.error(
            "no function to call: the cell defines classes only",
            node,
            "def f(x: 'float64[:]'):\n    return x[0]",
        )
    return source.error_at(
        "no function to compile in this cell", 1, None, "def f(x: 'float64[:]'):\n    return x[0]"
    )


def _ranks(signature: Signature) -> Mapping[str, int | None]:
    """Axes of each parameter, a list's included; None for objects, dicts and functions."""
    return {
        one.name: None
        if any(kind.container and not kind.rank for kind in one.types)
        else max(kind.rank for kind in one.types)
        for one in signature.parameters
    }


def _check_writes(
    signature: Signature,
    writes: Mapping[str, Write],
    node: ast.FunctionDef,
    source: Source,
    *,
    loses: bool,
) -> None:
    """Refuse writes that would go wrong; `loses` where lists of Python are not written back."""
    for one in signature.parameters:
        write = writes.get(one.name)
        if one.final and write is None:
            # A scalar is never written for the caller; Final forbids even its own name.
            write = _first_store(node, one.name)
        if write is None or write.how == "returned":
            continue
        if one.final:
            # fortran refuses it in another line, c writes the caller's array.
            raise source.error(
                f"{one.name!r} is Final, and is written here",
                write.node,
                f"{one.name}: {_without_final(one)}",
            )
        if write.how == "rebound" and one.is_array:
            raise source.error(
                f"{one.name!r} is the caller's array: Pyccel would write into it here, and Python "
                "would not",
                write.node,
                f"{one.name}[:] = {one.name}[:] + 1.0  # to write it\n"
                f"{one.name}_new = {one.name} + 1.0  # to leave it as it is",
            )
        lost = explain_lost_write(one, write, source) if loses else None
        if lost is not None:
            raise lost


def _first_store(node: ast.FunctionDef, name: str) -> Write | None:
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store):
            return Write(how="assigned", node=one)
    return None


def _without_final(one: Parameter) -> str:
    return repr(" | ".join(dict.fromkeys(kind.text for kind in one.types)))


def _with_intents(
    signature: Signature, writes: Mapping[str, Write], kept: Mapping[str, tuple[str, ...]]
) -> Signature:
    return replace(
        signature,
        parameters=tuple(
            replace(
                one,
                intent="inout" if one.name in writes and not one.final else "in",
                kept_by=kept.get(one.name, ()),
            )
            for one in signature.parameters
        ),
    )


def _integers(outline: Outline) -> dict[str, int]:
    """The integers that the cell's top level assigns once and for all."""
    return {
        name: value
        for name, value in outline.constants.items()
        if type(value) is int and outline.assigned.get(name) is not None
    }


def _facts(
    node: ast.FunctionDef, signature: Signature, rules: FunctionRules | None, source: Source
) -> FunctionFacts:
    if rules is not None:
        signature = replace(signature, rules=rules.rules, unseen=rules.unseen)
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    last = node.end_lineno or node.lineno
    return FunctionFacts(
        name=node.name,
        line=node.lineno,
        public=_is_public(node),
        signature=signature,
        doc=ast.get_docstring(node),
        source="\n".join(source.lines[first - 1 : last]) + "\n",
        node=node,
    )

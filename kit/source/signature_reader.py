"""A function's parameters, read from its annotations and defaults."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from itertools import product
from typing import Final

from kit.errors import CellError
from kit.source.annotation_refusals import Names
from kit.source.annotations import AnnotationReader, Reading
from kit.source.constants import NotConstant, evaluate_constant
from kit.source.header import header_text
from kit.source.parameters import NO_DEFAULT, ArgumentType, Parameter, Signature
from kit.source.place import Source
from kit.source.vocabulary import MAX_RANK, RESERVED
from kit.terms import Language

__all__ = ["MAX_VARIANTS", "parse_signature"]

MAX_VARIANTS: Final = 64
"""Combinations of types that one function may have; each is compiled separately."""

_ANY: Final = ArgumentType(dtype="object", rank=0, order=None, container="any", text="any")


def parse_signature(
    node: ast.FunctionDef,
    *,
    typevars: Mapping[str, tuple[str, ...]],
    classes: frozenset[str],
    aliases: Mapping[str, str] | None = None,
    imports: Mapping[str, str] | None = None,
    constants: Mapping[str, object] | None = None,
    source: Source | None = None,
    language: Language = "fortran",
    public: bool = True,
) -> Signature:
    """Read a function's parameters from its annotations; every intent is "in" at first.

    Parameters
    ----------
    node : ast.FunctionDef
        The function.
    typevars : mapping of str to tuple of str
        Each TypeVar's constraints, as Python source text (`"'float64[:]'"`, `"np.int32"`).
    classes : frozenset of str
        Classes of the same cell.
    aliases : mapping of str to str, optional
        What each `TypeAlias` stands for, as source text.
    imports : mapping of str to str, optional
        Local names and where they come from.
    constants : mapping of str to object, optional
        Values of the cell's constants, for defaults.
    source : Source, optional
        The text of the cell, so that errors can quote it.
    language : {"fortran", "c"}
        Which limits apply.
    public : bool
        Whether Python calls it; a function that only the cell calls may take functions and dicts.

    Raises
    ------
    CellError
        For an annotation or default that Pyccel does not understand or answers wrongly.
    """
    reader = _SignatureReader(
        node,
        Names(
            typevars=typevars,
            aliases=aliases or {},
            classes=classes,
            imports=imports or {},
        ),
        constants or {},
        source or Source(""),
        language,
        public,
    )
    return reader.read()


class _SignatureReader:
    """Reads the parameters of one function."""

    def __init__(
        self,
        node: ast.FunctionDef,
        names: Names,
        constants: Mapping[str, object],
        source: Source,
        language: Language,
        public: bool,
    ) -> None:
        self._node = node
        self._names = names
        self._constants = constants
        self._source = source
        self._language: Language = language
        self._public = public
        self._annotations = AnnotationReader(names, source)

    def read(self) -> Signature:
        arguments = [*self._node.args.posonlyargs, *self._node.args.args]
        arguments += self._node.args.kwonlyargs
        combinations = self._combinations(arguments)
        types: list[dict[ArgumentType, None]] = [{} for _ in arguments]
        finals = [True] * len(arguments)
        variants: dict[tuple[ArgumentType, ...], None] = {}
        for combination in combinations:
            for index, readings in enumerate(combination):
                types[index].update((one.type, None) for one in readings)
                finals[index] = finals[index] and all(one.final for one in readings)
            for choice in product(*combination):
                variants[tuple(one.type for one in choice)] = None
                if len(variants) > MAX_VARIANTS:
                    raise self._variants_error(arguments)
        parameters = tuple(
            self._parameter(index, argument, tuple(types[index]), finals[index])
            for index, argument in enumerate(arguments)
        )
        returns = self._node.returns
        return Signature(
            name=self._node.name,
            parameters=parameters,
            returns=None if returns is None else _as_written(returns),
            variants=tuple(variants),
        )

    def _combinations(self, arguments: list[ast.arg]) -> list[list[tuple[Reading, ...]]]:
        """The alternatives of every parameter, once for each choice of the TypeVars."""
        reader = self._annotations
        used: dict[str, ast.expr] = {}
        for one in arguments:
            if one.annotation is not None:
                for name in reader.used_typevars(one.annotation):
                    used.setdefault(name, one.annotation)
        choices = [reader.constraints(name, at) for name, at in used.items()]
        if math.prod(len(one) for one in choices) > MAX_VARIANTS:
            raise self._variants_error(arguments)
        return [
            [self._read(one, dict(zip(used, choice, strict=True))) for one in arguments]
            for choice in product(*choices)
        ]

    def _read(
        self, argument: ast.arg, bound: Mapping[str, tuple[Reading, ...]]
    ) -> tuple[Reading, ...]:
        if argument.annotation is not None:
            return self._annotations.read(argument.annotation, bound, name=argument.arg)
        if not self._public and "inline" in {ast.unparse(one) for one in self._node.decorator_list}:
            # Pyccel takes the types of each call.
            return (Reading(type=_ANY),)
        raise self._source.error(
            f"{argument.arg!r} has no annotation, so its type is unknown",
            argument,
            f"{argument.arg}: 'float64[:]'",
        )

    def _parameter(
        self, index: int, argument: ast.arg, types: tuple[ArgumentType, ...], final: bool
    ) -> Parameter:
        keyword_only = index >= len(self._node.args.posonlyargs) + len(self._node.args.args)
        for one in types:
            self._check_type(argument, one)
        if keyword_only and self._public:
            self._check_keyword(argument)
        return Parameter(
            name=argument.arg,
            types=types,
            final=final,
            default=self._default(index, argument, types),
            keyword_only=keyword_only,
            positional_only=index < len(self._node.args.posonlyargs),
            annotation=_as_written(argument.annotation),
            line=argument.lineno,
            column=self._source.column(argument),
        )

    # ---- defaults -----------------------------------------------------------------------

    def _default(self, index: int, argument: ast.arg, types: tuple[ArgumentType, ...]) -> object:
        node = self._default_node(index)
        if node is None:
            return NO_DEFAULT
        try:
            value = evaluate_constant(node, self._constants, self._names.imports)
        except NotConstant:
            raise self._default_error(argument, node, "is not a constant", "0") from None
        if value is None:
            return None
        if isinstance(value, str | tuple) or any(one.container or one.rank for one in types):
            # 2.2.3: a tuple is a segmentation fault, a string is empty (fortran) or no C.
            raise self._source.error(
                f"the default of {argument.arg!r} does not arrive; only numbers and None do",
                node,
                f"{argument.arg}: {_as_written(argument.annotation)}",
            )
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        if self._public and self._language == "fortran" and names & set(self._constants):
            raise self._default_error(
                argument, node, "is a name of the cell, which fortran does not see here", value
            )
        return value

    def _default_node(self, index: int) -> ast.expr | None:
        arguments = self._node.args
        positional = len(arguments.posonlyargs) + len(arguments.args)
        if index >= positional:
            return arguments.kw_defaults[index - positional]
        first = positional - len(arguments.defaults)
        return arguments.defaults[index - first] if index >= first else None

    def _default_error(
        self, argument: ast.arg, node: ast.expr, why: str, value: object
    ) -> CellError:
        annotation = _as_written(argument.annotation)
        return self._source.error(
            f"the default of {argument.arg!r} {why}",
            node,
            f"{argument.arg}: {annotation} = {value}",
        )

    # ---- limits -------------------------------------------------------------------------

    def _check_type(self, argument: ast.arg, one: ArgumentType) -> None:
        most = MAX_RANK[self._language]
        if one.is_array and one.rank > most:
            other = "\nor --language fortran" if one.rank <= MAX_RANK["fortran"] else ""
            raise self._source.error(
                f"{argument.arg!r} has {one.rank} axes, {self._language} has at most {most}",
                argument,
                f"{argument.arg}: '{one.dtype}[{','.join(':' * most)}]'{other}",
            )
        if not self._public:
            return
        if one.container == "function":
            # Compiles, and each call from Python is then a NotImplementedError.
            raise self._source.error(
                f"{argument.arg!r} takes a function, which Python cannot pass to compiled code",
                self._node,
                header_text(self._node, name=f"_{self._node.name}")
                + "  # only for functions of this cell",
            )
        if one.container == "tuple" and "..." not in one.text:
            raise self._source.error(
                f"{argument.arg!r}: a tuple of fixed length cannot be passed to compiled code",
                argument,
                f"{argument.arg}: {f'tuple[{one.dtype}, ...]'!r}"
                if one.dtype != "object"
                else f"{argument.arg}_0: float, {argument.arg}_1: float",
            )
        nested = one.container in {"list", "tuple", "set"} and one.rank > 1
        if one.container == "dict" or nested:
            raise self._source.error(
                f"{argument.arg!r} is a {one.text}, which cannot be passed to compiled code",
                argument,
                f"{argument.arg}: 'float64[:]'",
            )

    def _check_keyword(self, argument: ast.arg) -> None:
        """Pyccel renames some names, and then only the new one works as a keyword."""
        name = argument.arg
        renamed = name in RESERVED[self._language]
        if self._language == "fortran":
            every = [*self._node.args.posonlyargs, *self._node.args.args]
            every += self._node.args.kwonlyargs
            alike = [one.arg for one in every if one.arg.lower() == name.lower()]
            renamed = name.lower() in RESERVED["fortran"] or len(alike) > 1
        if renamed:
            raise self._source.error(
                f"{name!r} cannot be keyword-only: {self._language} has another meaning for it",
                argument,
                f"{name}_: {_as_written(argument.annotation)}",
            )

    def _variants_error(self, arguments: list[ast.arg]) -> CellError:
        first = arguments[0]
        return self._source.error(
            f"the unions of {self._node.name} make more than {MAX_VARIANTS} combinations of types; "
            "each is compiled",
            first,
            "T = TypeVar('T', 'float64[:]', 'float32[:]')\n"
            "and annotate with T what always has the same type",
        )


def _as_written(annotation: ast.expr | None) -> str:
    return "" if annotation is None else ast.unparse(annotation)

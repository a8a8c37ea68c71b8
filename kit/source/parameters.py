"""What a kernel takes: its parameters, the types that each may have, and how a call binds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from kit.source.extent_rules import ExtentRule
from kit.terms import Intent, Order

if TYPE_CHECKING:
    import inspect

__all__ = [
    "IN_MODULE",
    "IN_RESULT",
    "NO_DEFAULT",
    "ArgumentType",
    "Parameter",
    "Signature",
    "definition_pieces",
]


class _NoDefault:
    """The type of `NO_DEFAULT`; one object, also after pickling."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NO_DEFAULT"

    def __reduce__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT: Final = _NoDefault()
"""Stands in `Parameter.default` where the parameter has none (None is a possible default)."""


# Keywords of Python, which no parameter can be called.
IN_RESULT: Final = "return"
"""Stands in `Parameter.kept_by` for an object that the kernel returns."""

IN_MODULE: Final = "global"
"""Stands in `Parameter.kept_by` for an object whose end kit cannot see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentType:
    """One concrete type that a parameter may take.

    Parameters
    ----------
    dtype : str
        NumPy's name (`"float64"`, `"int64"`, `"bool"`, ...), `"str"`, or a class of the cell. Of a
        list or tuple, the dtype of its elements where they are alike, otherwise `"object"`.
    rank : int
        Number of axes; 0 is a scalar.
    order : {"C", "F"} or None
        Which axis is fastest; None for rank 0, "C" for rank 1.
    python_scalar : bool
        Rank 0 and annotated `int`, `float`, `bool` or `complex` (not `np.int64`).
    container : str or None
        None for scalars, strings and arrays; `"list"`, `"tuple"`, `"set"`, `"dict"` or `"class"`.
    elements : ArgumentType or None
        What every element of a list, set or tuple is; None where that is not one type.
    text : str
        The annotation in one canonical spelling, `"float64[:,:](order=F)"`.
    """

    dtype: str
    rank: int
    order: Order | None
    python_scalar: bool = False
    container: str | None = None
    elements: ArgumentType | None = None
    text: str

    @property
    def is_array(self) -> bool:
        """Whether a NumPy array is expected."""
        return self.rank > 0 and self.container is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a kernel.

    Parameters
    ----------
    name : str
        As written in the cell.
    types : tuple of ArgumentType
        The alternatives of a union or TypeVar; usually one.
    intent : {"in", "inout", "out"}
        What the kernel does with it. "out" is declared by the user, never inferred.
    final : bool
        Whether the annotation says `Final`.
    default : object
        The default's value, or `NO_DEFAULT`.
    keyword_only, positional_only : bool
        How a call may name it.
    kept_by : tuple of str
        Where the kernel may leave it, to be used after the call: in the objects passed for these
        parameters, in one that is returned (`IN_RESULT`), in one that may live for ever
        (`IN_MODULE`, which comes last).
    annotation : str
        As written in the cell.
    line, column : int
        Where it stands; both start at 1.
    """

    name: str
    types: tuple[ArgumentType, ...]
    intent: Intent = "in"
    final: bool = False
    default: object = NO_DEFAULT
    keyword_only: bool = False
    positional_only: bool = False
    kept_by: tuple[str, ...] = ()
    annotation: str
    line: int
    column: int

    @property
    def is_array(self) -> bool:
        """Whether any of its types is an array."""
        return any(one.is_array for one in self.types)

    @property
    def optional(self) -> bool:
        """Whether None may be passed: Pyccel's rule is that the default says so."""
        return self.default is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The parameters of one function, read from its source.

    Parameters
    ----------
    name : str
        The function's name.
    parameters : tuple of Parameter
        In the order of the definition, which is the order in which the compiled function is called.
    returns : str or None
        The return annotation as written; None where there is none.
    variants : tuple of tuple of ArgumentType
        Every combination that is compiled, one type per parameter; usually one combination.
    rules : tuple of ExtentRule
        What must hold between extents and integers of a call, in the order of the source.
    unseen : tuple of str
        Places with an index or an extent that no rule covers, each with its line.
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: str | None = None
    variants: tuple[tuple[ArgumentType, ...], ...]
    rules: tuple[ExtentRule, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the parameters that the kernel writes."""
        return tuple(one.name for one in self.parameters if one.intent != "in")

    @property
    def keeps(self) -> bool:
        """Whether the kernel may leave an argument in an object."""
        return any(one.kept_by for one in self.parameters)

    def bind(self, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[object, ...]:
        """Values in parameter order, defaults filled in.

        Raises
        ------
        TypeError
            In Python's own words, where the arguments do not fit the parameters.
        """
        if not kwargs and len(args) == len(self.parameters) and not self._has_keyword_only():
            return tuple(args)
        return _bind(self, args, kwargs)

    def _has_keyword_only(self) -> bool:
        # Keyword-only parameters come last.
        return bool(self.parameters) and self.parameters[-1].keyword_only

    def to_inspect(self) -> inspect.Signature:
        """The same as an `inspect.Signature` with annotations, for `__signature__`."""
        import inspect

        return inspect.Signature(
            [
                inspect.Parameter(
                    one.name,
                    inspect.Parameter.KEYWORD_ONLY
                    if one.keyword_only
                    else inspect.Parameter.POSITIONAL_ONLY
                    if one.positional_only
                    else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=inspect.Parameter.empty if one.default is NO_DEFAULT else one.default,
                    annotation=" | ".join(dict.fromkeys(kind.text for kind in one.types)),
                )
                for one in self.parameters
            ],
            return_annotation=inspect.Signature.empty if self.returns is None else self.returns,
        )


def definition_pieces(parameters: Sequence[Parameter], texts: Sequence[str]) -> list[str]:
    """What stands between the brackets of a definition: `texts`, with ``/`` and ``*`` in place.

    Parameters
    ----------
    parameters : sequence of Parameter
        In the order of the definition.
    texts : sequence of str
        How each is written.
    """
    pieces: list[str] = []
    for index, (one, text) in enumerate(zip(parameters, texts, strict=True)):
        if one.keyword_only and "*" not in pieces:
            pieces.append("*")
        pieces.append(text)
        following = parameters[index + 1 : index + 2]
        if one.positional_only and not any(other.positional_only for other in following):
            pieces.append("/")
    return pieces


_OMITTED: Final = object()


def _bind(
    signature: Signature, args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[object, ...]:
    names = [one.name for one in signature.parameters]
    texts = [
        one.name if one.default is NO_DEFAULT else f"{one.name}=omitted"
        for one in signature.parameters
    ]
    pieces = definition_pieces(signature.parameters, texts)
    binder = _binder(signature.name, ", ".join(pieces), "".join(f"{name}, " for name in names))
    bound = binder(*args, **kwargs)
    # Not `in`, which would compare: arrays compare by element.
    if not any(value is _OMITTED for value in bound):
        return bound
    return tuple(
        one.default if value is _OMITTED else value
        for one, value in zip(signature.parameters, bound, strict=True)
    )


@lru_cache(maxsize=256)
def _binder(name: str, parameters: str, result: str) -> Callable[..., tuple[object, ...]]:
    """A function of these parameters that returns them: Python itself then finds every fault."""
    namespace: dict[str, object] = {"omitted": _OMITTED}
    # Every piece is an identifier that ast.parse has accepted.
    exec(f"def {name}({parameters}): return ({result})", namespace)
    return cast("Callable[..., tuple[object, ...]]", namespace[name])

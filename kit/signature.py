"""What a typed function takes: its parameters, the types that each may have, and how a call binds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kit.terms import Intent, Order

if TYPE_CHECKING:
    import inspect

__all__ = ["NO_DEFAULT", "ArgumentType", "Parameter", "Signature"]


class _NoDefault:
    """The type of `NO_DEFAULT`; one object, also after pickling."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NO_DEFAULT"

    def __reduce__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT: Final = _NoDefault()
"""Stands in `Parameter.default` where the parameter has none (None is a possible default)."""


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
    text : str
        The annotation in one canonical spelling, `"float64[:,:](order=F)"`.
    """

    dtype: str
    rank: int
    order: Order | None
    python_scalar: bool = False
    container: str | None = None
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
    annotation: str
    line: int
    column: int

    @property
    def is_array(self) -> bool:
        """Whether any of its types is an array."""
        return any(one.is_array for one in self.types)


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
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: str | None = None
    variants: tuple[tuple[ArgumentType, ...], ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the parameters that the kernel writes."""
        return tuple(one.name for one in self.parameters if one.intent != "in")

    def bind(self, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[object, ...]:
        """Values in parameter order, defaults filled in.

        Raises
        ------
        TypeError
            In Python's own words, where the arguments do not fit the parameters.
        """
        raise NotImplementedError

    def to_inspect(self) -> inspect.Signature:
        """The same as an `inspect.Signature` with annotations, for `__signature__`."""
        raise NotImplementedError

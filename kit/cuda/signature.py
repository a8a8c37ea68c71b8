"""What a CUDA kernel takes, as its compiler laid it out: types, sizes, places of parameters.

Everything here is a named tuple of plain values: it goes into the store as JSON, and is read back
by every process that finds the cell there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from kit.terms import Intent

if TYPE_CHECKING:
    import inspect

__all__ = [
    "CudaParameter",
    "CudaSignature",
    "CudaSymbol",
    "Element",
    "ParameterKind",
    "StructField",
]

ParameterKind = Literal["pointer", "view", "cview", "scalar", "vector", "struct"]
"""How an argument reaches the kernel: the address of a C-contiguous array, an ``ArrayND<T>`` of any
strides, a C-contiguous ``CArrayND<T>``, or by value: one number, a vector type, a struct."""


class StructField(NamedTuple):
    """One field of a struct, where the compiler put it.

    Parameters
    ----------
    name : str
        As in the cell.
    element : Element
        Its type; of an array, of its elements.
    shape : tuple of int
        Extents of an array field, () for a single value.
    offset : int
        From the start of the struct [bytes].
    """

    name: str
    element: Element
    shape: tuple[int, ...]
    offset: int


class Element(NamedTuple):
    """The type of one element: of what a pointer or a view points at, or of a value.

    Parameters
    ----------
    dtype : str
        NumPy's name of the components: "float64", "complex128", "bool", "float16", or "bfloat16"
        (of ml_dtypes); "" for a struct.
    width : int
        Number of components: 4 for ``float4``, 1 for what is no vector type.
    size, alignment : int
        Of the whole element, as the compiler says [bytes].
    text : str
        The C++ type, to be read: ``float4``, ``Particle``.
    fields : tuple of StructField or None
        Of a struct whose definition the cell shows; None for every other type.
    """

    dtype: str
    width: int
    size: int
    alignment: int
    text: str
    fields: tuple[StructField, ...] | None = None


class CudaParameter(NamedTuple):
    """One parameter of a ``__global__`` function.

    Parameters
    ----------
    name : str
        As in the cell; ``arg0``, ``arg1``, ... where it has none.
    kind : ParameterKind
        How an argument reaches the kernel.
    element : Element
        What the pointer or view points at; the value's own type where it is passed by value.
    ndim : int or None
        Number of axes of a view; None for every other kind.
    intent : {"in", "inout", "out"}
        "in" for values and for what is `const`.
    restrict : bool
        Whether it is declared ``__restrict__``.
    size, alignment, offset : int
        Of the parameter itself in the packed arguments, as the compiler lays them out [bytes].
    text : str
        The declared type as written in the cell, ``const double* __restrict__``.
    line, column : int
        Where it stands in the cell; both start at 1, and the magic line is line 1.
    """

    name: str
    kind: ParameterKind
    element: Element
    ndim: int | None
    intent: Intent
    restrict: bool
    size: int
    alignment: int
    offset: int
    text: str
    line: int
    column: int

    @property
    def is_array(self) -> bool:
        """Whether an array is expected."""
        return self.kind in ("pointer", "view", "cview")

    @property
    def written(self) -> bool:
        """Whether the kernel may write it."""
        return self.intent != "in"


class CudaSignature(NamedTuple):
    """The parameters of one kernel.

    Parameters
    ----------
    name : str
        Under which the kernel is bound: without namespaces and template arguments.
    expression : str
        What C++ calls it: ``physics::push<double, 3>``.
    lowered : str
        Its name in the cubin.
    parameters : tuple of CudaParameter
        In the order of the definition.
    packed_size : int
        Of all arguments [bytes].
    max_threads : int or None
        What ``__launch_bounds__`` promises at most for a block.
    min_blocks : int or None
        Blocks for each multiprocessor, of ``__launch_bounds__``.
    source : str
        Text of the function.
    line : int
        Its first line in the cell.
    doc : str
        The comment right above it, without comment marks.
    axes : int
        Of a launch that it looks at: 2 where it reads ``blockIdx.y`` or ``threadIdx.y``, itself or
        by what it calls, 3 for ``z``.
    """

    name: str
    expression: str
    lowered: str
    parameters: tuple[CudaParameter, ...]
    packed_size: int
    max_threads: int | None
    min_blocks: int | None
    source: str
    line: int
    doc: str
    axes: int = 1

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the parameters that the kernel may write."""
        return tuple(one.name for one in self.parameters if one.intent != "in")

    def bind(self, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[object, ...]:
        """Values in the order of the parameters.

        Raises
        ------
        TypeError
            In Python's own words, where the arguments do not fit the parameters.
        """
        if not kwargs and len(args) == len(self.parameters):
            return tuple(args)
        try:
            bound = self.to_inspect().bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}(): {error}") from None
        return bound.args

    def to_inspect(self) -> inspect.Signature:
        """The same as an `inspect.Signature` with annotations, for `__signature__`."""
        import inspect

        return inspect.Signature(
            [
                inspect.Parameter(
                    one.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=one.text
                )
                for one in self.parameters
            ]
        )


class CudaSymbol(NamedTuple):
    """A ``__constant__`` or ``__device__`` variable of a cell.

    Parameters
    ----------
    name : str
        As in the cell, with its namespaces: ``physics::table``.
    lowered : str
        Its name in the cubin.
    element : Element
        Type of its elements.
    shape : tuple of int
        Extents; () for a single value.
    space : {"constant", "device"}
        Which memory it is in.
    line : int
        Where it stands in the cell.
    const : bool
        Whether the cell says that nobody writes it: compilers take its value for known.
    """

    name: str
    lowered: str
    element: Element
    shape: tuple[int, ...]
    space: Literal["constant", "device"]
    line: int
    const: bool = False

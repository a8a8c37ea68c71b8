"""What the compiler answered to the probe: numbers out of mangled names, read as types."""

from __future__ import annotations

import re
from typing import NamedTuple

from kit.cuda.codes import ARRAY, CLASS, NAME_CHARACTERS, POINTER, SCALAR, SCALARS, VOID

__all__ = [
    "ClassType",
    "FieldType",
    "KernelAnswer",
    "OtherType",
    "ParameterType",
    "PointerType",
    "ScalarType",
    "Type",
    "ViewArguments",
    "VoidType",
    "read_kernel",
    "read_symbol",
]

_NUMBER = re.compile(r"Lx(n?)(\d+)E")
_CONST = 1


class ScalarType(NamedTuple):
    """A number or a vector type.

    Parameters
    ----------
    size, alignment : int
        [bytes].
    spelling : str
        The component's C++ type.
    dtype : str
        The component's, NumPy's name.
    width : int
        Number of components; 0 for what is no vector type (``float1`` is one).
    """

    size: int
    alignment: int
    spelling: str
    dtype: str
    width: int


class PointerType(NamedTuple):
    """A pointer.

    Parameters
    ----------
    size, alignment : int
        [bytes].
    const : bool
        Whether what it points at is.
    target : Type or None
        What it points at; None where it is not a parameter itself.
    """

    size: int
    alignment: int
    const: bool
    target: Type | None


class VoidType(NamedTuple):
    """``void``, behind a pointer."""


class OtherType(NamedTuple):
    """An array, or a reference, function, member pointer, ..."""

    is_array: bool


class ViewArguments(NamedTuple):
    """Arguments of ``Class<T, N>``, or of ``Class<T>`` with `number` None."""

    element: Type
    number: int | None
    const: bool


class FieldType(NamedTuple):
    """A field that can be reached from outside.

    Parameters
    ----------
    offset : int
        From the start of the struct [bytes].
    shape : tuple of int
        Extents of an array.
    type : Type
        Of it, or of its elements.
    """

    offset: int
    shape: tuple[int, ...]
    type: Type


class ClassType(NamedTuple):
    """A struct, union or class.

    Parameters
    ----------
    size, alignment : int
        0 where it is only declared [bytes].
    name : str
        As the compiler spells it, with its template arguments.
    arguments : ViewArguments or None
        Of a template with one type, and perhaps one int.
    struct : int or None
        Which struct of the cell it is.
    fields : tuple of (FieldType or None)
        In the order of the definition; None for one that cannot be reached.
    """

    size: int
    alignment: int
    name: str
    arguments: ViewArguments | None
    struct: int | None
    fields: tuple[FieldType | None, ...]


Type = ScalarType | PointerType | VoidType | OtherType | ClassType


class ParameterType(NamedTuple):
    """A parameter as the compiler lays it out; sizes in bytes."""

    size: int
    alignment: int
    type: Type


class KernelAnswer(NamedTuple):
    """What the compiler knows of a kernel.

    Parameters
    ----------
    bounds : tuple of int
        Arguments of ``__launch_bounds__``.
    parameters : tuple of ParameterType
        In their order.
    overloaded : bool
        Whether ``#if`` leaves in several of its name, so that nothing else is known.
    """

    bounds: tuple[int, ...]
    parameters: tuple[ParameterType, ...]
    overloaded: bool = False


def read_kernel(lowered: str) -> KernelAnswer | None:
    """What the facts of a kernel say; None where ``#if`` leaves it out.

    Parameters
    ----------
    lowered : str
        The mangled name that the compiler gave.

    Examples
    --------
    >>> read_kernel("_Z4factIJLx1ELx0ELx1ELx4ELx4ELx1ELx4ELx4ELx6ELx0EEE").parameters[0].size
    4
    """
    numbers = _Numbers(lowered)
    state = numbers.take()
    if state != 1:
        return KernelAnswer((), (), overloaded=True) if state else None
    bounds = tuple(numbers.take() for _ in range(numbers.take()))
    return KernelAnswer(bounds, tuple(numbers.parameter() for _ in range(numbers.take())))


def read_symbol(lowered: str) -> tuple[bool, FieldType] | None:
    """Whether a variable is ``const``, and its type; None where ``#if`` leaves it out.

    The parameter is that of `read_kernel`.
    """
    numbers = _Numbers(lowered)
    if not numbers.take():
        return None
    return bool(numbers.take() & _CONST), numbers.field(0)


class _Numbers:
    """The numbers of one mangled name, taken one after another."""

    def __init__(self, lowered: str) -> None:
        self._values = [
            -int(digits) if sign else int(digits) for sign, digits in _NUMBER.findall(lowered)
        ]
        self._at = 0

    def take(self) -> int:
        self._at += 1
        return self._values[self._at - 1]

    def parameter(self) -> ParameterType:
        size, alignment = self.take(), self.take()
        if self._values[self._at] != POINTER:
            return ParameterType(size, alignment, self.type())
        self.take()
        const = bool(self.take() & _CONST)
        return ParameterType(size, alignment, PointerType(size, alignment, const, self.type()))

    def field(self, offset: int) -> FieldType:
        shape = tuple(self.take() for _ in range(self.take()))
        return FieldType(offset, shape, self.type())

    def type(self) -> Type:
        sort = self.take()
        if sort == SCALAR:
            size, alignment, code, width = (self.take() for _ in range(4))
            scalar = SCALARS[code]
            return ScalarType(size, alignment, scalar.spelling, scalar.dtype, width)
        if sort == POINTER:
            return PointerType(self.take(), self.take(), False, None)
        if sort == CLASS:
            return self._class()
        return VoidType() if sort == VOID else OtherType(sort == ARRAY)

    def _class(self) -> ClassType:
        size, alignment = self.take(), self.take()
        words = [self.take() for _ in range(self.take())]
        letters = b"".join(one.to_bytes(NAME_CHARACTERS, "big") for one in words)
        name = letters.rstrip(b"\0").decode(errors="replace")
        arguments = self._arguments()
        numbers = self.take()
        end = self._at + numbers
        struct = self.take() if numbers else None
        fields: list[FieldType | None] = []
        while self._at < end:
            fields.append(self.field(self.take()) if self.take() else None)
        return ClassType(size, alignment, name, arguments, struct, tuple(fields))

    def _arguments(self) -> ViewArguments | None:
        count = self.take()
        if count == 0:
            return None
        number, const = (self.take(), bool(self.take() & _CONST)) if count == 2 else (None, False)
        return ViewArguments(self.type(), number, const)

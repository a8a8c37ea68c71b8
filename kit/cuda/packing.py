"""Arguments of a CUDA kernel, packed as its compiler lays them out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from kit.arrays import cupy_type
from kit.cuda.packer_table import largest_alignment, packer_rows
from kit.cuda.signature import CudaSignature
from kit.errors import CellError, argument_refused
from kit.native import find_native
from kit.views.base import View

# What decides and explains is imported where a call needs it: most processes never do.
if TYPE_CHECKING:
    from kit.cuda.arguments import CudaCallPlan
    from kit.cuda.judged import Judged
    from kit.terms import Target

__all__ = ["MOST_BYTES", "ArgumentPacker", "PackedArguments"]

MOST_BYTES: Final = 4_096
"""What CUDA passes to every kernel; newer drivers pass more, on newer devices [bytes]."""

_native = find_native("packer")


class PackedArguments(Protocol):
    """The packed arguments of one call, and what keeps their memory alive."""

    @property
    def addresses(self) -> int:
        """Address of one ``void*`` for each parameter, each the address of a packed argument."""
        ...

    @property
    def data(self) -> bytes:
        """A copy of the packed bytes: each argument at its parameter's `offset`."""
        ...

    @property
    def values(self) -> tuple[object, ...]:
        """The arguments, which live as long as this does."""
        ...

    @property
    def streams(self) -> tuple[int, ...]:
        """Streams that device arrays are still being written on, which the launch must wait for.

        As ``__cuda_array_interface__`` gives them: 1 is the legacy default stream, 2 the default
        stream of the thread, anything else the address of a stream.
        """
        ...


class ArgumentPacker:
    """Checks and packs the arguments of one kernel.

    Parameters
    ----------
    signature : CudaSignature
        What the kernel takes.

    Raises
    ------
    CellError
        The parameters take more than the 4,096 bytes that CUDA promises.

    Notes
    -----
    What passes as it is, is recognised and packed by kit/packer.c; `kit.cuda.arguments` decides
    and explains everything else. Each call packs into a buffer of its own: calls from several
    threads need no lock.
    """

    def __init__(self, signature: CudaSignature) -> None:
        if signature.packed_size > MOST_BYTES:
            raise _too_large(signature)
        self._signature = signature
        self._alignment = largest_alignment(signature)
        rows = packer_rows(signature) if _native is not None else None
        self._pack: Callable[[tuple[object, ...], object], Any] = _decline
        if rows is not None:
            packer: Any = cast(Any, _native).Packer
            size = signature.packed_size
            self._pack = packer(rows, size, self._alignment, self._convert, View).pack

    def pack(self, values: tuple[object, ...], target: Target) -> PackedArguments:
        """The packed arguments of a call.

        Parameters
        ----------
        values : tuple of object
            One for each parameter, as `CudaSignature.bind` gives them.
        target : {"device", "emulator"}
            Where the kernel is to run.

        Raises
        ------
        ArgumentRefused
            Also a TypeError or a ValueError: an argument cannot be passed as it is.

        Notes
        -----
        Copies no array and writes none.
        """
        # object is the type of no array: without CuPy nothing of a device is recognised.
        packed = self._pack(values, None if target == "emulator" else cupy_type() or object)
        if packed is not NotImplemented:
            return packed
        from kit.cuda.arguments import judge_arguments

        judged = judge_arguments(self._signature, values, target)
        for parameter, one in zip(self._signature.parameters, judged, strict=True):
            refusal = one.verdict.refusal
            if refusal is not None:
                raise argument_refused(
                    TypeError if refusal.error == "type" else ValueError,
                    self._signature.name,
                    parameter.name,
                    found=refusal.found,
                    need=refusal.need,
                    fix=refusal.fix,
                )
        return _Packed(self._signature, values, judged, self._alignment)

    def plan(self, values: Sequence[object], target: Target) -> CudaCallPlan:
        """What `pack` would do with each argument; raises nothing."""
        from kit.cuda.arguments import plan_arguments

        return plan_arguments(self._signature, values, target)

    def _convert(self, index: int, value: object) -> bytes | None:
        """The bytes of a number, a vector or a struct that packer.c does not know."""
        from kit.cuda.value_arguments import judge_value

        judged = judge_value(self._signature.parameters[index], value)
        return judged.data if judged.verdict.refusal is None else None


def _decline(values: tuple[object, ...], device_type: object) -> Any:
    return NotImplemented


def _too_large(signature: CudaSignature) -> CellError:
    largest = max(signature.parameters, key=lambda one: one.size)
    return CellError(
        f"{signature.name} takes {signature.packed_size:,} bytes of parameters, "
        f"and CUDA passes {MOST_BYTES:,}",
        line=largest.line,
        column=largest.column,
        source_line=largest.text,
        fix=f"# pass {largest.name} in an array: const {largest.element.text}* {largest.name}",
    )


class _Packed:
    """What packer.c makes, made in Python."""

    __slots__ = ("_arguments", "_memory", "_size", "streams", "values")

    def __init__(
        self,
        signature: CudaSignature,
        values: tuple[object, ...],
        judged: Sequence[Judged],
        alignment: int,
    ) -> None:
        self.values = values
        self.streams = tuple({one.stream: None for one in judged if one.stream is not None})
        table = 8 * len(judged)
        self._size = signature.packed_size
        self._memory = (ctypes.c_char * (table + self._size + alignment))()
        start = ctypes.addressof(self._memory)
        first = start + table
        self._arguments = table + -first % alignment
        for index, (parameter, one) in enumerate(zip(signature.parameters, judged, strict=True)):
            place = self._arguments + parameter.offset
            self._memory[place : place + len(one.data)] = one.data
            self._memory[8 * index : 8 * index + 8] = (start + place).to_bytes(8, "little")

    @property
    def addresses(self) -> int:
        return ctypes.addressof(self._memory)

    @property
    def data(self) -> bytes:
        return bytes(self._memory[self._arguments : self._arguments + self._size])

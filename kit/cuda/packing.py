"""Arguments of a CUDA kernel, packed as its compiler lays them out."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Protocol

from kit.cuda.arguments import CudaCallPlan, judge_arguments, plan_arguments
from kit.cuda.judged import Judged
from kit.cuda.signature import CudaSignature
from kit.errors import argument_refused
from kit.terms import Target

__all__ = ["ArgumentPacker", "PackedArguments"]


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

    Notes
    -----
    Each call packs into a buffer of its own: calls from several threads need no lock.
    """

    def __init__(self, signature: CudaSignature) -> None:
        self._signature = signature

    def pack(self, values: Sequence[object], target: Target) -> PackedArguments:
        """The packed arguments of a call.

        Parameters
        ----------
        values : sequence of object
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
        return _Packed(self._signature, tuple(values), judged)

    def plan(self, values: Sequence[object], target: Target) -> CudaCallPlan:
        """What `pack` would do with each argument; raises nothing."""
        return plan_arguments(self._signature, values, target)


class _Packed:
    __slots__ = ("_buffer", "_table", "streams", "values")

    def __init__(
        self, signature: CudaSignature, values: tuple[object, ...], judged: Sequence[Judged]
    ) -> None:
        self.values = values
        self.streams = tuple({one.stream for one in judged if one.stream is not None})
        # A view of one packed array of bytes: doubles, for an address that suits every type.
        size = max(signature.packed_size, 1)
        self._buffer = (ctypes.c_char * size)()
        start = ctypes.addressof(self._buffer)
        for parameter, one in zip(signature.parameters, judged, strict=True):
            end = parameter.offset + len(one.data)
            self._buffer[parameter.offset : end] = one.data
        offsets = [start + one.offset for one in signature.parameters]
        self._table = (ctypes.c_void_p * max(len(offsets), 1))(*offsets)

    @property
    def addresses(self) -> int:
        return ctypes.addressof(self._table)

    @property
    def data(self) -> bytes:
        return bytes(self._buffer)

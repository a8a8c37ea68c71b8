"""`ForeignMemory`: what an array of another library says about its memory."""

from __future__ import annotations

from dataclasses import dataclass

from kit.terms import Place

__all__ = ["ForeignMemory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMemory:
    """What an array of another library says about its memory, before any of it is judged.

    Parameters
    ----------
    shape : tuple of int
        Extents [elements].
    strides_bytes : tuple of int or None
        Step along each axis [bytes]; None says C-contiguous.
    itemsize, alignment : int
        Size of one element, and the divisor that its addresses should have [bytes].
    place : {"host", "device"}
        Memory that holds the elements.
    dtype : str
        NumPy's name of the dtype, or DLPack's where NumPy has none (``"bfloat16"``).
    pointer : int
        Address of the element of index 0.
    native : bool
        Whether the bytes of an element have this machine's order.
    writeable : bool
        Whether the exporter allows writing.
    masked : bool
        Whether the exporter attaches a mask.
    """

    shape: tuple[int, ...]
    strides_bytes: tuple[int, ...] | None
    itemsize: int
    alignment: int
    place: Place
    dtype: str
    pointer: int
    native: bool
    writeable: bool
    masked: bool

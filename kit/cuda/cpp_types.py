"""NumPy's names of types, and what to write in a cell for them; without importing NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

__all__ = ["CPP_TYPES", "cpp_type"]

# Types of the language itself: the fixed-width names need a header.
CPP_TYPES: Final[Mapping[str, str]] = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float16": "__half",
    "bfloat16": "__nv_bfloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "cuda::std::complex<float>",
    "complex128": "cuda::std::complex<double>",
}


def cpp_type(dtype: np.dtype[Any] | None) -> str | None:
    """What to write in a cell for elements of `dtype`, or None where nothing serves."""
    return None if dtype is None or not dtype.isnative else CPP_TYPES.get(dtype.name)

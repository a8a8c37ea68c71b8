"""What stands for a template parameter, in C++: ``float64`` is `double`, 3 is `3`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["template_argument"]

# Types of the language itself: the fixed-width names need a header.
_TYPES: Final[Mapping[str, str]] = {
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


def template_argument(value: object) -> str:
    """The C++ text of a template argument.

    Parameters
    ----------
    value : str, int, bool or anything that NumPy takes for a dtype
        A str that is no dtype's name is taken as C++: ``"Particle"``, ``"3"``.

    Raises
    ------
    TypeError
        Where it is neither a type nor an integer.

    Examples
    --------
    >>> template_argument("float64"), template_argument(3), template_argument(True)
    ('double', '3', 'true')
    >>> template_argument("float4")
    'float4'
    """
    if isinstance(value, str):
        return _TYPES.get(value.strip(), value.strip())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    import numpy as np

    name = np.dtype(value).name  # pyright: ignore[reportArgumentType, reportCallIssue]
    if name not in _TYPES:
        raise TypeError(f"a template argument is a type or an integer, not {value!r}")
    return _TYPES[name]

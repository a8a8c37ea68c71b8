"""Numbers by which the probe tells types, and what they mean on both sides."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "ARRAY",
    "CLASS",
    "NAME_CHARACTERS",
    "NAME_LONGEST",
    "OTHER",
    "POINTER",
    "SCALAR",
    "SCALARS",
    "VECTORS",
    "VOID",
    "Scalar",
]

SCALAR, POINTER, CLASS, VOID, ARRAY, OTHER = 1, 2, 3, 4, 5, 6
"""First number of a type: one number or vector type; pointer; struct, union or class; ``void``;
array; anything
else (references, functions, members)."""


NAME_CHARACTERS, NAME_LONGEST = 7, 154
"""Characters of a class's name in one integer; and of the name that are told at all."""


class Scalar(NamedTuple):
    """One arithmetic type.

    Parameters
    ----------
    spelling : str
        What C++ calls it.
    dtype : str
        NumPy's name, or ml_dtypes'.
    """

    spelling: str
    dtype: str


SCALARS = (
    Scalar("bool", "bool"),
    Scalar("char", "int8"),
    Scalar("signed char", "int8"),
    Scalar("unsigned char", "uint8"),
    Scalar("short", "int16"),
    Scalar("unsigned short", "uint16"),
    Scalar("int", "int32"),
    Scalar("unsigned int", "uint32"),
    Scalar("long", "int64"),
    Scalar("unsigned long", "uint64"),
    Scalar("long long", "int64"),
    Scalar("unsigned long long", "uint64"),
    Scalar("float", "float32"),
    Scalar("double", "float64"),
    Scalar("__half", "float16"),
    Scalar("__nv_bfloat16", "bfloat16"),
)
"""By code, from 0; sizes are the compiler's (kit runs where ``long`` has 8 bytes)."""

VECTORS = {
    **{
        f"{stem}{width}": (stem_of, width)
        for stem, stem_of in {
            "char": "signed char",
            "uchar": "unsigned char",
            "short": "short",
            "ushort": "unsigned short",
            "int": "int",
            "uint": "unsigned int",
            "long": "long",
            "ulong": "unsigned long",
            "longlong": "long long",
            "ulonglong": "unsigned long long",
            "float": "float",
            "double": "double",
        }.items()
        for width in (1, 2, 3, 4)
    },
    "__half2": ("__half", 2),
    "__nv_bfloat162": ("__nv_bfloat16", 2),
}
"""Vector type -> its components' type and their number (CUDA C++ Programming Guide, 10.3)."""

"""Signatures of CUDA kernels as a compiler lays them out, made by hand."""

from __future__ import annotations

from typing import Any, Final

from kit.cuda.cpp_types import CPP_TYPES
from kit.cuda.signature import CudaParameter, CudaSignature, Element, ParameterKind, StructField

__all__ = ["ELEMENTS", "PARTICLE", "array", "kernel", "record", "scalar", "struct", "vector"]

# cuda::std::complex is aligned to its size, which NumPy's complex numbers are not.
_SIZES: Final = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 8, "uint64": 8, "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8,
    "complex64": 8, "complex128": 16,
}  # fmt: skip

ELEMENTS: Final = {
    name: Element(name, 1, size, size, CPP_TYPES[name]) for name, size in _SIZES.items()
}
"""NumPy's name -> the element as the compiler sees it."""


def vector(dtype: str, width: int) -> Element:
    """``float4`` and its like; those of three are aligned as one."""
    size = _SIZES[dtype]
    alignment = size if width in (1, 3) else min(size * width, 16)
    stem = {"int8": "char", "uint8": "uchar", "int32": "int", "float32": "float"}.get(dtype)
    return Element(dtype, width, size * width, alignment, f"{stem or CPP_TYPES[dtype]}{width}")


def struct(text: str, *members: tuple[str, Element] | tuple[str, Element, tuple[int, ...]]) -> Any:
    """A struct of these members, laid out by the rules of C."""
    end, largest, fields = 0, 1, []
    for name, element, *rest in members:
        shape = rest[0] if rest else ()
        end += -end % element.alignment
        fields.append(StructField(name, element, shape, end))
        count = 1
        for extent in shape:
            count *= extent
        end += element.size * count
        largest = max(largest, element.alignment)
    return Element("", 1, end + -end % largest, largest, text, tuple(fields))


PARTICLE: Final = struct(
    "Particle",
    ("alive", ELEMENTS["bool"]),
    ("position", ELEMENTS["float64"], (3,)),
    ("charge", ELEMENTS["int16"]),
)
"""bool alive; double position[3]; short charge; with 7 and 6 bytes of padding."""


def array(
    name: str,
    element: Element | str,
    ndim: int | None = None,
    *,
    kind: ParameterKind = "pointer",
    written: bool = False,
    restrict: bool = False,
) -> CudaParameter:
    """A pointer; an ``ArrayND<T>`` or, with kind="cview", a ``CArrayND<T>`` where it has axes."""
    one = ELEMENTS[element] if isinstance(element, str) else element
    kind = "view" if ndim is not None and kind == "pointer" else kind
    const = "" if written else "const "
    text = f"{const}{one.text}*{' __restrict__' if restrict else ''}"
    if ndim is not None:
        text = f"{'C' if kind == 'cview' else ''}Array{ndim}D<{const}{one.text}>"
    size = 8 + {"view": 24, "cview": 8}.get(kind, 0) * (ndim or 0)
    intent = "inout" if written else "in"
    return CudaParameter(name, kind, one, ndim, intent, restrict, size, 8, 0, text, 3, 1)


def scalar(name: str, dtype: str) -> CudaParameter:
    """A number by value."""
    return _value(name, "scalar", ELEMENTS[dtype])


def record(name: str, element: Element) -> CudaParameter:
    """A struct or a vector type by value."""
    return _value(name, "struct" if element.dtype == "" else "vector", element)


def _value(name: str, kind: ParameterKind, element: Element) -> CudaParameter:
    size, alignment = element.size, element.alignment
    return CudaParameter(
        name, kind, element, None, "in", False, size, alignment, 0, element.text, 2, 1
    )


def kernel(*parameters: CudaParameter, name: str = "f") -> CudaSignature:
    """A kernel of these parameters, each at the next place that suits it."""
    end, placed = 0, []
    for one in parameters:
        end += -end % one.alignment
        placed.append(one._replace(offset=end))
        end += one.size
    return CudaSignature(name, name, name, tuple(placed), end, None, None, "", 2, "")

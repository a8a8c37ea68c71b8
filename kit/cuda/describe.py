"""A CUDA kernel in words: its repr, and its declaration for type checkers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kit.cuda.configuration import LaunchOptions
from kit.cuda.signature import CudaParameter, CudaSignature
from kit.exact import family_of_dtype
from kit.show.kernel_text import kernel_text, stub_text

if TYPE_CHECKING:
    import inspect

__all__ = ["describe_cuda_kernel", "describe_cuda_stub", "with_launch_options"]

_EXTENTS: Final = "int | tuple[int, ...] | None = None"
_OPTIONS: Final = {
    "grid": _EXTENTS,
    "block": _EXTENTS,
    "n_threads": _EXTENTS,
    "shared_bytes": "int = 0",
    "stream": "Any = None",
}


def describe_cuda_kernel(
    signature: CudaSignature, facts: Mapping[str, str], *, kind: str = "CudaKernel"
) -> str:
    """The repr of a kernel: parameters as the cell declares them, with intents, then facts."""
    pieces = [
        f"{one.name}: {one.text}" + (f" [{one.intent}]" if one.written else "")
        for one in signature.parameters
    ]
    return kernel_text(signature.name, pieces, None, facts, kind=kind)


def with_launch_options(signature: inspect.Signature) -> inspect.Signature:
    """The signature with a launch's options, but for names that parameters have taken."""
    import inspect

    taken = signature.parameters
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in LaunchOptions._field_defaults.items()
        if name not in taken
    ]
    return signature.replace(parameters=[*taken.values(), *options])


def describe_cuda_stub(signature: CudaSignature) -> str:
    """Text of a ``.pyi`` file that declares the kernel."""
    pieces = [f"{one.name}: {_stub_type(one)}" for one in signature.parameters]
    taken = {one.name for one in signature.parameters}
    options = [f"{name}: {text}" for name, text in _OPTIONS.items() if name not in taken]
    return stub_text(
        signature.name, [*pieces, "*", *options] if options else pieces, "None", signature.doc
    )


def _stub_type(one: CudaParameter) -> str:
    element = one.element
    known = element.dtype not in ("", "bfloat16")
    if one.is_array:
        # A device array is no NDArray, and its library is not imported for a stub.
        name = "bool_" if element.dtype == "bool" else element.dtype
        return f"NDArray[np.{name}] | Any" if known else "Any"
    return family_of_dtype(element.dtype) if one.kind == "scalar" and known else "Any"

"""A kernel's signature in words: its repr, and its declaration for type checkers."""

from __future__ import annotations

from collections.abc import Mapping

from kit.show.kernel_text import kernel_text, stub_text
from kit.signature import NO_DEFAULT, ArgumentType, Signature

__all__ = ["describe_kernel", "describe_stub"]


def describe_kernel(signature: Signature, facts: Mapping[str, str]) -> str:
    """The repr of a kernel: parameters as written, with the intent of those that are written."""
    texts: list[str] = []
    for index, one in enumerate(signature.parameters):
        if one.keyword_only and "*" not in texts:
            texts.append("*")
        default = "" if one.default is NO_DEFAULT else f" = {one.default!r}"
        intent = "" if one.intent == "in" else f" [{one.intent}]"
        texts.append(f"{one.name}: {one.annotation}{default}{intent}")
        following = signature.parameters[index + 1 : index + 2]
        if one.positional_only and not any(other.positional_only for other in following):
            texts.append("/")
    return kernel_text(signature.name, texts, signature.returns, facts)


def describe_stub(signature: Signature, doc: str | None) -> str:
    """Text of a ``.pyi`` file that declares the kernel."""
    parameters = [
        {
            "name": one.name,
            "type": " | ".join(dict.fromkeys(_stub_type(kind) for kind in one.types))
            + (" | None" if one.default is None else ""),
            "default": "" if one.default is NO_DEFAULT else "...",
            "kind": "*" if one.keyword_only else "/" if one.positional_only else "",
        }
        for one in signature.parameters
    ]
    return stub_text(signature.name, parameters, "Any", doc)


def _stub_type(one: ArgumentType) -> str:
    if one.container is not None:
        return one.dtype if one.container == "class" else one.container
    if one.is_array:
        return f"NDArray[np.{one.dtype if one.dtype != 'bool' else 'bool_'}]"
    if one.dtype == "str":
        return "str"
    python: dict[str, str] = {"int64": "int", "float64": "float", "complex128": "complex"}
    if one.dtype == "bool":
        return "bool"
    return python.get(one.dtype, "float") if one.python_scalar else f"np.{one.dtype}"

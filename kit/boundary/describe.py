"""A kernel's signature in words: its repr, and its declaration for type checkers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kit.show.kernel_text import kernel_text, stub_text
from kit.signature import NO_DEFAULT, ArgumentType, Signature, definition_pieces

__all__ = ["describe_kernel", "describe_stub"]

# Lines of a repr that tell what a kernel needs of extents.
_SHOWN = 4


def describe_kernel(signature: Signature, facts: Mapping[str, str]) -> str:
    """The repr of a kernel: parameters as written, with the intent of those that are written."""
    texts: list[str] = []
    for one in signature.parameters:
        default = "" if one.default is NO_DEFAULT else f" = {one.default!r}"
        intent = "" if one.intent == "in" else f" [{one.intent}]"
        texts.append(f"{one.name}: {one.annotation}{default}{intent}")
    pieces = definition_pieces(signature.parameters, texts)
    needs = dict.fromkeys(f"{one.condition} (line {one.line})" for one in signature.rules)
    facts = {
        **facts,
        "needs": _some(list(needs), "signature.rules"),
        "unseen": _some(signature.unseen, "signature.unseen"),
    }
    return kernel_text(signature.name, pieces, signature.returns, facts)


def _some(texts: Sequence[str], where: str) -> str:
    """The first of some texts, each in a line, and where the others are."""
    more = len(texts) - _SHOWN
    rest = [f"... and {more} more in .{where}"] if more > 0 else []
    return "\n".join([*texts[:_SHOWN], *rest])


def describe_stub(signature: Signature, doc: str | None) -> str:
    """Text of a ``.pyi`` file that declares the kernel."""
    texts: list[str] = []
    for one in signature.parameters:
        kinds = dict.fromkeys(_stub_type(kind) for kind in one.types)
        if one.default is None:
            kinds["None"] = None
        default = "" if one.default is NO_DEFAULT else " = ..."
        texts.append(f"{one.name}: {' | '.join(kinds)}{default}")
    pieces = definition_pieces(signature.parameters, texts)
    return stub_text(signature.name, pieces, "Any", doc)


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

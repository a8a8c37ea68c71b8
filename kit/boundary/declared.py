"""What a compiled function takes, as its wrapper says it: a signature, or the text of one."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from kit.signature import Parameter, Signature
from kit.terms import Intent, Language

__all__ = ["declare_signature", "language_of"]


def declare_signature(
    function: Callable[..., object],
    signature: Signature | str | None,
    outputs: Sequence[str] | None,
    overwrites: Sequence[str],
) -> Signature:
    """The signature with the declared outputs.

    Parameters
    ----------
    function : callable
        The compiled function, for messages and its name.
    signature : Signature or str or None
        A str is the source of one definition.
    outputs : sequence of str or None
        Parameters that are written; None keeps what the signature says.
    overwrites : sequence of str
        Outputs that are overwritten entirely.

    Raises
    ------
    TypeError
        If there is no signature.
    ValueError
        If `outputs` or `overwrites` name no parameter, or one that cannot be written.
    """
    name = getattr(function, "__name__", type(function).__name__)
    if not callable(function):
        raise TypeError(f"PyccelKernel needs a compiled function, not {type(function).__name__}")
    if signature is None:
        raise TypeError(
            f"PyccelKernel({name}) needs signature=, because compiled functions do not say what "
            f"they take\n  fix: PyccelKernel({name}, "
            f"signature=\"def {name}(x: 'float64[:]'): ...\")"
        )
    if isinstance(signature, str):
        signature = _parse(signature, outputs)
    if outputs is None and not overwrites:
        return signature
    written = tuple(signature.outputs if outputs is None else outputs)
    _check_names(signature, written, "outputs")
    _check_names(signature, tuple(overwrites), "overwrites")
    if outputs is not None and not set(overwrites) <= set(written):
        raise ValueError(f"overwrites {tuple(overwrites)} must be among outputs {written}")
    parameters = tuple(
        replace(one, intent=_intent(one, (*written, *overwrites), overwrites))
        for one in signature.parameters
    )
    return replace(signature, parameters=parameters)


def _intent(parameter: Parameter, written: Sequence[str], overwrites: Sequence[str]) -> Intent:
    if parameter.name in overwrites:
        return "out"
    return "inout" if parameter.name in written else "in"


def _check_names(signature: Signature, names: Sequence[str], what: str) -> None:
    arrays = {one.name: one for one in signature.parameters}
    for name in names:
        if name not in arrays:
            raise ValueError(f"{what}: {signature.name} has no parameter {name!r}")
        if not arrays[name].is_array:
            raise ValueError(f"{what}: {name} of {signature.name} is no array")
        if arrays[name].final:
            raise ValueError(f"{what}: {name} of {signature.name} is Final and cannot be written")


def _parse(source: str, outputs: Sequence[str] | None) -> Signature:
    """The signature of a text with one definition; a body of ``...`` says nothing of intents."""
    from kit.cell import parse_cell  # only wrapped functions need it, and it reads a whole cell

    functions = [one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef)]
    if len(functions) != 1:
        raise ValueError(f"signature= must hold one function definition, not {len(functions)}")
    name = functions[0].name
    signature = parse_cell(source).functions[name].signature
    if outputs is not None or not _is_stub(functions[0]):
        return signature
    parameters = tuple(
        replace(one, intent="inout") if _may_be_written(one) else one
        for one in signature.parameters
    )
    return replace(signature, parameters=parameters)


def _may_be_written(parameter: Parameter) -> bool:
    is_list = any(one.container in ("list", "set") for one in parameter.types)
    return (parameter.is_array or is_list) and not parameter.final


def _is_stub(node: ast.FunctionDef) -> bool:
    return all(
        isinstance(one, ast.Pass)
        or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for one in node.body
    )


def language_of(function: Callable[..., object]) -> Language:
    """What a compiled function was translated to, by the names in its extension module.

    Pyccel's wrappers of Fortran call functions whose names begin with ``bind_c_``. Where the file
    cannot be read the answer is C, whose rules are the stricter ones.
    """
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    owner = getattr(function, "__self__", None)
    for one in (owner, module):
        file = getattr(one, "__file__", None)
        if file is None:
            continue
        try:
            return "fortran" if b"bind_c_" in Path(file).read_bytes() else "c"
        except OSError:
            continue
    return "c"

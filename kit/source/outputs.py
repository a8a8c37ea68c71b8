"""Declared outputs against what the source does: a contradiction either way is an error."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kit.errors import CellError
from kit.source.intent import Write
from kit.source.nearest import nearest
from kit.source.parameters import Parameter, Signature
from kit.source.place import Source

__all__ = ["declare_outputs"]

_Declared = Mapping[str | None, Sequence[str]]


def declare_outputs(
    signatures: Mapping[str, Signature],
    writes: Mapping[str, Mapping[str, Write]],
    *,
    outputs: _Declared,
    overwrites: _Declared,
    source: Source,
    lines: Mapping[str, ast.FunctionDef],
) -> Mapping[str, Signature]:
    """The signatures with the declared intents.

    Raises
    ------
    CellError
        For an unknown function or parameter, an output that is a scalar or Final, one that is
        never written, one that is written and not declared, an overwritten one that is not
        written.
    """
    checks = _Checks(signatures, writes, source, lines)
    chosen = checks.by_function(outputs, "outputs")
    replaced = checks.by_function(overwrites, "overwrites")
    return {
        name: checks.declare(name, chosen.get(name), replaced.get(name, ())) for name in signatures
    }


class _Checks:
    """The checks of one cell."""

    def __init__(
        self,
        signatures: Mapping[str, Signature],
        writes: Mapping[str, Mapping[str, Write]],
        source: Source,
        lines: Mapping[str, ast.FunctionDef],
    ) -> None:
        self._signatures = signatures
        self._writes = writes
        self._source = source
        self._lines = lines

    def by_function(self, declared: _Declared, option: str) -> dict[str, tuple[str, ...]]:
        """What each function declares; names without a function go to all that have them."""
        chosen: dict[str, tuple[str, ...]] = {}
        for name, parameters in declared.items():
            if name is None:
                chosen.update(self._spread(tuple(parameters), option))
            elif name not in self._signatures:
                near = nearest(name, self._signatures, at_least=0.5)
                raise self._error(
                    next(iter(self._signatures)),
                    f"{option} names the function {name!r}, which this cell does not define",
                    f"%%pyccel_kernel --{option} "
                    f"{near or next(iter(self._signatures))}:{','.join(parameters)}",
                )
        for name, parameters in declared.items():
            if name is not None:
                chosen[name] = tuple(parameters)
        return chosen

    def _spread(self, parameters: tuple[str, ...], option: str) -> dict[str, tuple[str, ...]]:
        if len(self._signatures) == 1:
            return dict.fromkeys(self._signatures, parameters)
        for one in parameters:
            if not any(self._find(name, one) for name in self._signatures):
                self._refuse_unknown(next(iter(self._signatures)), one, option)
        return {
            name: tuple(one for one in parameters if self._find(name, one))
            for name in self._signatures
        }

    def declare(
        self, name: str, outputs: tuple[str, ...] | None, overwrites: tuple[str, ...]
    ) -> Signature:
        """One function's signature with its declared intents."""
        signature = self._signatures[name]
        for one in outputs or ():
            self._check_output(name, one)
        for one in overwrites:
            self._check_overwritten(name, one, outputs)
        if outputs is not None:
            self._check_undeclared(name, outputs)
        return replace(
            signature,
            parameters=tuple(
                self._with_intent(one, outputs, overwrites) for one in signature.parameters
            ),
        )

    def _with_intent(
        self, one: Parameter, outputs: tuple[str, ...] | None, overwrites: tuple[str, ...]
    ) -> Parameter:
        if one.name in overwrites:
            return replace(one, intent="out")
        if outputs is None:
            return one
        return replace(one, intent="inout" if one.name in outputs else "in")

    def _find(self, name: str, parameter: str) -> Parameter | None:
        parameters = self._signatures[name].parameters
        return next((one for one in parameters if one.name == parameter), None)

    def _check_output(self, name: str, parameter: str) -> None:
        one = self._find(name, parameter) or self._refuse_unknown(name, parameter, "outputs")
        if not any(kind.rank or kind.container for kind in one.types):
            raise self._error(
                name,
                f"{parameter!r} is a scalar, and the caller's scalar cannot be written",
                f"return {parameter}",
            )
        if one.final or parameter not in self._writes[name]:
            raise self._error(
                name,
                f"{parameter!r} is declared an output, and {name} never writes it",
                self._option("outputs", name, self._written(name)),
            )

    def _check_overwritten(
        self, name: str, parameter: str, outputs: tuple[str, ...] | None
    ) -> None:
        one = self._find(name, parameter) or self._refuse_unknown(name, parameter, "overwrites")
        written = parameter in self._writes[name] and not one.final
        if not written or not any(kind.rank or kind.container for kind in one.types):
            raise self._error(
                name,
                f"{parameter!r} is declared overwritten, and {name} never writes it",
                self._option("overwrites", name, self._written(name)),
            )
        if outputs is not None and parameter not in outputs:
            raise self._error(
                name,
                f"{parameter!r} is declared overwritten, and is not among the outputs",
                self._option("outputs", name, (*outputs, parameter)),
            )

    def _check_undeclared(self, name: str, outputs: tuple[str, ...]) -> None:
        for one in self._signatures[name].parameters:
            write = self._writes[name].get(one.name)
            # Returned and nothing else: only what the caller does with it can write.
            if write is None or write.how == "returned" or one.name in outputs or one.final:
                continue
            raise self._source.error(
                f"{one.name!r} is written here, and is not among the declared outputs",
                write.node,
                self._option("outputs", name, (*outputs, one.name)),
            )

    def _written(self, name: str) -> tuple[str, ...]:
        writes = self._writes[name]
        return tuple(one.name for one in self._signatures[name].parameters if one.name in writes)

    def _option(self, option: str, name: str, parameters: tuple[str, ...]) -> str:
        """The magic line that would be right."""
        if not parameters:
            return "%%pyccel_kernel"
        prefix = "" if len(self._signatures) == 1 else f"{name}:"
        return f"%%pyccel_kernel --{option} {prefix}{','.join(dict.fromkeys(parameters))}"

    def _refuse_unknown(self, name: str, parameter: str, option: str) -> Parameter:
        names = [one.name for one in self._signatures[name].parameters]
        near = nearest(parameter, names, at_least=0.5)
        hint = f"; did you mean {near!r}?" if near else ""
        written = self._written(name)
        raise self._error(
            name,
            f"{name} has no parameter {parameter!r}{hint}",
            self._option(option, name, (near,) if near else written),
        )

    def _error(self, name: str, message: str, fix: str) -> CellError:
        return self._source.error(message, self._lines[name], fix)

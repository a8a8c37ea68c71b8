"""Signatures and variables as JSON, for the store: lists in the order of the fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar, cast

from kit.cuda.signature import CudaParameter, CudaSignature, CudaSymbol, Element, StructField

__all__ = [
    "STORED_FIELDS",
    "signature_from_json",
    "signature_to_json",
    "symbol_from_json",
    "symbol_to_json",
]

_STORED: Final = (CudaSignature, CudaSymbol, CudaParameter, Element, StructField)
STORED_FIELDS: Final = "; ".join(f"{one.__name__} {' '.join(one._fields)}" for one in _STORED)
"""What the places of the lists mean. It belongs into the key: another kit's lists are not found."""

_Stored = TypeVar("_Stored", CudaSignature, CudaSymbol, CudaParameter, Element, StructField)


def signature_to_json(signature: CudaSignature) -> list[Any]:
    """Plain lists, which `signature_from_json` reads."""
    return list(signature)


def signature_from_json(value: Any) -> CudaSignature:
    """What `signature_to_json` wrote, after a way through JSON.

    Raises
    ------
    TypeError, ValueError
        It did not write that.
    """
    plain = _filled(CudaSignature, value)
    parameters = tuple(_parameter(one) for one in cast("Sequence[Any]", plain.parameters))
    return plain._replace(parameters=parameters)


def symbol_to_json(symbol: CudaSymbol) -> list[Any]:
    """Plain lists, which `symbol_from_json` reads."""
    return list(symbol)


def symbol_from_json(value: Any) -> CudaSymbol:
    """What `symbol_to_json` wrote, after a way through JSON; raises as `signature_from_json`."""
    plain = _filled(CudaSymbol, value)
    return plain._replace(element=_element(plain.element), shape=tuple(plain.shape))


def _filled(kind: type[_Stored], value: Any) -> _Stored:
    # Fields with defaults have to be there, too: a short list is another kit's. What has just been
    # built still consists of tuples.
    values = cast("Sequence[Any]", value)
    if not isinstance(value, (list, tuple)) or len(values) != len(kind._fields):
        raise ValueError(f"this is no {kind.__name__}")
    return kind(*values)


def _parameter(value: Any) -> CudaParameter:
    plain = _filled(CudaParameter, value)
    return plain._replace(element=_element(plain.element))


def _element(value: Any) -> Element:
    plain = _filled(Element, value)
    if plain.fields is None:
        return plain
    return plain._replace(fields=tuple(_field(one) for one in plain.fields))


def _field(value: Any) -> StructField:
    plain = _filled(StructField, value)
    return plain._replace(element=_element(plain.element), shape=tuple(plain.shape))

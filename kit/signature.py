"""What a typed function takes, read from its source: parameters, their types, how a call binds."""

from __future__ import annotations

from kit.source.parameters import (
    IN_MODULE,
    IN_RESULT,
    NO_DEFAULT,
    ArgumentType,
    Parameter,
    Signature,
    definition_pieces,
)
from kit.source.signature_reader import MAX_VARIANTS, parse_signature

__all__ = [
    "IN_MODULE",
    "IN_RESULT",
    "MAX_VARIANTS",
    "NO_DEFAULT",
    "ArgumentType",
    "Parameter",
    "Signature",
    "definition_pieces",
    "parse_signature",
]

"""Signatures from one line of source, with given outputs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from kit.signature import Signature, parse_signature


def read(source: str, outputs: Sequence[str] = ()) -> Signature:
    """The signature of a definition; `outputs` are written."""
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    signature = parse_signature(node, typevars={}, classes=frozenset())
    return replace(
        signature,
        parameters=tuple(
            replace(one, intent="inout") if one.name in outputs else one
            for one in signature.parameters
        ),
    )

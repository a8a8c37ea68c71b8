"""Rules of random functions against Python arrays that refuse what compiled code does wrong."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from kit.errors import CellError
from kit.signature import parse_signature
from kit.source.extents.functions import find_rules
from kit.source.linear import Quantity
from kit.source.place import Source
from tests.unit.extent_programs import (
    HEADER,
    HELPERS,
    random_arguments,
    random_body,
    run_checked,
)


def _rules(source: str) -> Any:
    nodes = {one.name: one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef)}
    signatures = {
        name: parse_signature(node, typevars={}, classes=frozenset())
        for name, node in nodes.items()
    }
    return find_rules(
        nodes, signatures, imports={"np": "numpy"}, integers={}, source=Source(source)
    )["f"]


def _holds(rules: Any, arguments: tuple[Any, ...]) -> bool:
    named: dict[str, Any] = dict(zip("xyanm", arguments, strict=True))

    def value(one: Quantity) -> int:
        return named[one.parameter] if one.axis is None else named[one.parameter].shape[one.axis]

    return all(one.holds(value) for one in rules)


@pytest.mark.parametrize("seed", range(300))
def test_rules_of_a_random_function_refuse_exactly_what_goes_wrong(seed: int) -> None:
    source = HELPERS + HEADER + random_body(seed)
    try:
        found = _rules(source)
    except CellError as error:
        _check_error(source, error, seed)
        return
    for call in range(25):
        wrong, _ = run_checked(source, random_arguments(1000 * seed + call))
        arguments = random_arguments(1000 * seed + call)
        holds = _holds(found.rules, arguments)
        shapes = [np.shape(one) or one for one in arguments]
        shown = f"{source}\n{shapes}\n{wrong}\n{[str(one) for one in found.rules]}"
        if not wrong:
            assert holds, shown
        elif not found.unseen and "negative dimensions" not in wrong:
            assert not holds, shown


def _check_error(source: str, error: CellError, seed: int) -> None:
    """What is refused when the cell is built goes wrong in every call that reaches it."""
    for call in range(25):
        wrong, lines = run_checked(source, random_arguments(1000 * seed + call))
        *arrays, n, _ = random_arguments(1000 * seed + call)
        # Slices of short arrays are empty, as are generators over n: nothing is wrong then.
        is_long = n > 0 and min(extent for one in arrays for extent in one.shape) > 3
        assert wrong or not is_long or error.line not in lines, f"{source}\n{error}"

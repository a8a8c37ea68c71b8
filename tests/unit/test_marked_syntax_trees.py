"""Syntax trees share nodes such as ``Load()`` with trees that other libraries write on."""

from __future__ import annotations

import ast

import pytest

from kit.cell import parse_cell

CELL = """
def scale(x: "float64[:]", factor: float):
    for i in range(x.shape[0]):
        x[i] = -factor * x[i]
"""


@pytest.mark.timeout(3)  # looping fills a gigabyte a second
def test_marks_of_other_libraries_on_shared_nodes_lead_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What `executing` does to the tree of a frame that IPython shows in a traceback.
    shown = ast.parse("y = -a[0] * b.c")
    for node in ast.walk(shown):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr_context | ast.operator | ast.unaryop):
                monkeypatch.setattr(child, "parent", node, raising=False)
            else:
                child.parent = node  # type: ignore[attr-defined]
    assert list(parse_cell(CELL).functions) == ["scale"]

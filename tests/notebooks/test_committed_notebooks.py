"""The tutorials as they lie in git: executed, with no widget state and nothing of a machine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "tutorials").glob("[0-9][0-9]_*.ipynb"))  # others are somebody's own

MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:home|root|tmp|work|Users|usr|opt|var|private)/[\w.]")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(params=TUTORIALS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> dict[str, Any]:
    return json.loads(request.param.read_text(encoding="utf-8"))


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_there_are_tutorials_and_their_names_sort_them() -> None:
    names = [path.stem for path in TUTORIALS]
    assert names
    assert [name for name in names if not re.fullmatch(r"\d\d_[a-z]+(_[a-z]+)+", name)] == []


def test_every_cell_was_run_once_in_order(notebook: dict[str, Any]) -> None:
    counts = [cell["execution_count"] for cell in code_cells(notebook) if "".join(cell["source"])]
    assert counts == list(range(1, len(counts) + 1))


def test_no_widget_state_and_no_timing_is_kept(notebook: dict[str, Any]) -> None:
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert [
        cell["metadata"] for cell in code_cells(notebook) if set(cell["metadata"]) - {"tags"}
    ] == []


def test_no_output_names_a_place_on_somebodys_machine(notebook: dict[str, Any]) -> None:
    outputs = [output for cell in code_cells(notebook) for output in cell["outputs"]]
    text = ANSI.sub("", "\n".join(strings_in(outputs)))
    assert MACHINE_PATH.findall(text) == []


def test_errors_are_only_where_the_tutorial_announces_them(notebook: dict[str, Any]) -> None:
    for cell in code_cells(notebook):
        failed = any(output["output_type"] == "error" for output in cell["outputs"])
        assert failed == ("raises-exception" in cell["metadata"].get("tags", ()))


def strings_in(value: object) -> list[str]:
    """All text in an output, pictures left out."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return (
            ["".join(value)]
            if all(isinstance(one, str) for one in value)
            else [text for one in value for text in strings_in(one)]
        )
    if isinstance(value, dict):
        return [
            text
            for key, one in value.items()
            if not str(key).startswith("image/")
            for text in strings_in(one)
        ]
    return []

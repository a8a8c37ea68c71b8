"""Notebooks of Pyccel and CUDA cells run unchanged where KIT_TARGET=emulator, and say the same."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

TUTORIALS = Path(__file__).parents[2] / "tutorials"

pytestmark = [pytest.mark.slow]


@pytest.mark.parametrize("name", ["04_one_buffer_two_languages", "05_cuda_without_a_gpu"])
def test_a_tutorial_says_the_same_in_the_emulator(name: str) -> None:
    notebook = nbformat.read(TUTORIALS / f"{name}.ipynb", as_version=4)
    before = [said(cell) for cell in notebook.cells]
    client = NotebookClient(
        notebook,
        timeout=200,
        # Without it, ipykernel 7.4 warns that the connection is not encrypted.
        config=Config(KernelManager={"transport_encryption": "auto"}),
        resources={"metadata": {"path": str(TUTORIALS)}},
    )
    environment = {**os.environ, "KIT_TARGET": "emulator", "KIT_STABLE_OUTPUT": "1"}
    client.execute(env=environment)
    assert [said(cell) for cell in notebook.cells] == before


def said(cell: Any) -> str:
    """What a cell printed and raised, without pictures and tracebacks."""
    parts: list[str] = []
    for output in cell.get("outputs", ()):
        parts.append(output.get("text", "") or output.get("evalue", ""))
        parts.append(output.get("data", {}).get("text/plain", ""))
    return "".join(parts)

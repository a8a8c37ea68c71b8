"""The cells that the benchmarks build: the tutorial's own text, so that both always agree."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["SMALL", "tutorial_cell"]

TUTORIALS = Path(__file__).resolve().parent.parent / "tutorials"

SMALL = """
def axpy(a: float, x: "float64[:]", y: "float64[:]"):
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]
"""


def tutorial_cell(function: str, notebook: str = "01_first_kernel.ipynb") -> str:
    """Text below the magic line of the tutorial cell that defines `function`."""
    cells = json.loads((TUTORIALS / notebook).read_text())["cells"]
    for cell in cells:
        text = "".join(cell["source"])
        if text.startswith("%%pyccel_kernel") and f"def {function}(" in text:
            return text.partition("\n")[2]
    raise LookupError(f"no kernel cell defines {function}")

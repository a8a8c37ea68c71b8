"""Python blocks in README and docs run as the cells of a notebook, and print what the page says.

A ``text`` block right after a ``python`` block is its output (what it prints, its last value, or
its error). A block after ``<!-- not run: reason -->`` is left out.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"(?P<skip><!-- not run: .+? -->\s*)?"
    r"^```python\n(?P<code>.*?)^```$"
    r"(?:\s*^```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
PAGES = [
    path
    for path in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    if path.exists() and BLOCK.search(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_run_and_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    blocks = [one for one in BLOCK.finditer(page.read_text(encoding="utf-8")) if not one["skip"]]
    cells = [nbformat.v4.new_code_cell(one["code"]) for one in blocks]
    client = NotebookClient(
        nbformat.v4.new_notebook(cells=cells),
        timeout=120,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    for block, cell in zip(blocks, cells, strict=True):
        failed = any(output.output_type == "error" for output in cell.outputs)
        if block["output"] is not None:
            assert output_text(cell.outputs).strip() == block["output"].strip(), block["code"]
        else:
            assert not failed, f"{block['code']}\n{output_text(cell.outputs)}"


def output_text(outputs: list[nbformat.NotebookNode]) -> str:
    """What a reader sees of a cell's outputs, as text."""
    parts: list[str] = []
    for output in outputs:
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}\n")
        else:
            parts.append(output.data.get("text/plain", "") + "\n")
    return "".join(parts)

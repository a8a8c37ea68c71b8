"""Run a notebook from a script, cell by cell, in this Python and in the notebook's own folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

__all__ = ["ROOT", "CellExecutionError", "execute", "first_line"]

ROOT = Path(__file__).resolve().parents[1]

OnCell = Callable[[int, Any, float], None]
"""Called after each code cell: its index among all cells, the cell, the seconds it took."""


def execute(
    path: Path, *, on_cell: OnCell | None = None, before_exit: str | None = None, timeout: int = 300
) -> tuple[Any, str]:
    """Run all cells of the notebook at `path`; writes nothing.

    Parameters
    ----------
    path : Path
        The notebook.
    on_cell : callable, optional
        Called after each code cell.
    before_exit : str, optional
        Code that runs in the notebook process after the last cell; it stays out of the notebook.
    timeout : int
        Limit for one cell [s].

    Returns
    -------
    notebook, text
        The executed notebook, and what `before_exit` printed.

    Raises
    ------
    CellExecutionError
        A cell failed that is not tagged ``raises-exception``.
    """
    # This environment's own kernel specification, not one in the user's home.
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        # Without it, ipykernel 7.4 warns on the terminal that the connection is not encrypted.
        config=Config(KernelManager={"transport_encryption": "auto"}),
        resources={"metadata": {"path": str(path.parent)}},
    )
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            start = time.perf_counter()
            client.execute_cell(cell, index)
            if cell.cell_type == "code" and on_cell is not None:
                on_cell(index, cell, time.perf_counter() - start)
        text = ""
        if before_exit is not None:
            extra = nbformat.v4.new_code_cell(before_exit)
            notebook.cells.append(extra)
            try:
                client.execute_cell(extra, len(notebook.cells) - 1)
            finally:
                notebook.cells.remove(extra)
            text = "".join(one["text"] for one in extra.outputs if one.output_type == "stream")
    return notebook, text


def first_line(source: str) -> str:
    """First line of a cell's source that says something.

    >>> first_line("# a comment\\nx = 1")
    'x = 1'
    """
    lines = [line for line in source.splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith("#")), lines[0] if lines else "")

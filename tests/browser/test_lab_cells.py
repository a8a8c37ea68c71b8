"""Cells in a real JupyterLab: progress that vanishes, errors with a caret, Tab, ``?``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.browser.conftest import Lab, Notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]

LOAD = """%load_ext kit
import time
import kit.magics.pyccel as magic
real = magic.build_cell
def slow(source, *, on_progress, **options):  # so that progress is there to be seen
    on_progress("pyccel", 0.0)
    time.sleep(1.5)
    return real(source, on_progress=on_progress, **options)
magic.build_cell = slow"""

GOOD = """%%pyccel_kernel
def twice(x: float) -> float:
    return 2.0 * x"""

BROKEN = """%%pyccel_kernel
def twice(x: float) -> float:
    return 2.0 * * x"""


def test_a_cell_compiles_and_its_progress_vanishes(lab: Lab, notebook: Notebook) -> None:
    quiet = GOOD.replace("kernel", "kernel -q", 1)
    cells = [LOAD, GOOD, quiet, "twice(21.0)"]
    notebook.open(lab, lab.write_notebook("progress.ipynb", cells))
    notebook.run_cell(0)
    for index in (1, 2):
        notebook.start_cell(index)
        notebook.page.locator(".kit-progress").wait_for()
        first = notebook.output_text(index)
        assert "kit: building twice (fortran): pyccel" in first
        notebook.page.wait_for_function(
            "before => document.querySelector('.kit-progress')?.innerText !== before", arg=first
        )
        notebook.wait_for_cell()
        assert notebook.page.locator(".kit-progress").count() == 0
    summary = "twice(x): fortran, returns float"
    assert notebook.output_text(1).strip() == summary
    assert notebook.output_areas(1) == 1
    assert notebook.outputs(1) == [
        {"output_type": "stream", "name": "stdout", "text": summary + "\n"}
    ]
    assert notebook.outputs(2) == []
    assert notebook.output_areas(2) == 0
    notebook.wait_until_no_output_is_seen(2)
    notebook.run_cell(3)
    assert notebook.output_text(3).strip().endswith("42.0")


def test_errors_completion_and_help_as_a_user_sees_them(lab: Lab, notebook: Notebook) -> None:
    cells = ["%load_ext kit", BROKEN, "%%pyccel_kernel --la\n" + GOOD.split("\n", 1)[1]]
    notebook.open(lab, lab.write_notebook("errors.ipynb", cells))
    notebook.run_cell(0)
    notebook.run_cell(1)
    lines = notebook.output_text(1).rstrip().split("\n")
    assert lines[0].startswith("CellError: cell line 3, column ")
    assert lines[1].strip() == "return 2.0 * * x"
    assert lines[2].strip() == "^"
    assert lines[1][lines[2].index("^")] == "*"
    assert "Traceback" not in notebook.output_text(1)

    notebook.type_tab(2, line=0, column=len("%%pyccel_kernel --la"))
    notebook.page.locator(".jp-Completer-item", has_text="--language").wait_for()
    notebook.page.keyboard.press("Enter")
    notebook.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.content.widgets[2].model.sharedModel.source"
        ".startsWith('%%pyccel_kernel --language\\n')"
    )

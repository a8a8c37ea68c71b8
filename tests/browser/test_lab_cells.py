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


HOSTILE = '''%%pyccel_kernel -l c
def h(x: "float64[:]", größe: float, s: str):
    """<img src=x onerror=pwned()> \u202e <script>pwned()</script>"""
    x[0] = größe
    print("</pre><img src=x onerror=pwned()><script>pwned()</script>")'''

VALUES = """import numpy as np
class X: pass
X.__name__ = X.__qualname__ = "<img src=x onerror=pwned()>\\n\\u202e"
class Y:
    def __repr__(self): return "</td><img src=x onerror=pwned()><b>"
fields = np.zeros(3, dtype=[("<img src=x onerror=pwned()>", "f8"), ("\\u202ey", "i4")])"""


def test_no_markup_of_names_and_values_is_live(lab: Lab, notebook: Notebook) -> None:
    shown = [
        "%kit_source h",
        "%kit_source --all h",
        "%kit_plan h(X(), Y(), '<script>pwned()</script>é')",
        "%kit_plan h(fields, 1.0, '')",
        "h(fields, 1.0, '')",
        "h(X(), 1.0, '')",
        "h(np.zeros(3)[::-1], 1.0, '</pre><img src=x onerror=pwned()>')",
        "h",
        HOSTILE.replace("x[0] = größe", "x[0] = größe<img src='x' onerror=pwned()>"),
        HOSTILE.replace("x[0] = größe", 'x = "<img src=x onerror=pwned()>"'),
        "%kit_log h",
        "h",
        "h(1)",
        "%kit_plan <img src=x onerror=pwned()>",
        "%kit_source <img/src=x/onerror=pwned()>",
    ]
    cells = ["%load_ext kit", HOSTILE, VALUES, *shown]
    notebook.open(lab, lab.write_notebook("hostile.ipynb", cells))
    notebook.page.evaluate("() => { window.pwned = () => { window.wasPwned = true; }; }")
    texts: list[str] = []
    for index in range(len(cells)):
        notebook.run_cell(index)
        texts.append(notebook.output_text(index))  # of cells out of sight there is no text
    areas = notebook.page.locator(".jp-OutputArea-output")
    assert areas.locator("img, script, b:not(.kit-plan b), [onerror]").count() == 0
    assert areas.locator(".kit-source").count() == 2
    assert areas.locator(".kit-plan table").count() == 2
    assert "<img src=x onerror=pwned()>" in texts[5]
    assert "<script>pwned()</script>" in texts[3]
    assert all(texts[3:])
    assert notebook.page.evaluate("() => window.wasPwned") is None
    assert "\u202e" not in "".join(texts)

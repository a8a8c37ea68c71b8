"""A notebook of Pyccel and CUDA cells in a real JupyterLab, with KIT_TARGET=emulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.browser.conftest import Lab, Notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(240)]

LOAD = """import os
os.environ["KIT_TARGET"] = "emulator"
%load_ext kit
import numpy as np"""

PYCCEL = """%%pyccel_kernel
from typing import Final
def axpy(a: float, x: 'Final[float64[:]]', y: 'float64[:]', n: int):
    for i in range(n):
        y[i] = y[i] + a * x[i]"""

CUDA = """%%cuda_kernel --pair --arch sm_90
__global__ void axpy(double a, const double* x, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}"""

CALLS = """x, y, h = np.arange(1000.0), np.zeros(1000), np.zeros(1000)
axpy(2.0, x, y, 1000)
axpy.host(2.0, x, h, 1000)
print(y.sum(), np.array_equal(y, h))"""

FAULT = """%%cuda_kernel --arch sm_90 --check bounds
#include <kit/array_view.cuh>
__global__ void shift(Array1D<double> x) {
    long long i = threadIdx.x;
    x(i) = x(i + 1);
}"""

BROKEN = """%%cuda_kernel --arch sm_90
__global__ void half(double* x) {
    x[0] = 0.5 * y[0];
}"""

SHOWN = ["%kit_plan axpy(2.0, x, y, 1000, grid=4, block=256)", "%kit_source axpy", "axpy"]
UNFINISHED = "%%cuda_kernel --bl\n__global__ void f(double* first) {}"


def test_a_notebook_of_both_languages_runs_from_top_to_bottom(lab: Lab, notebook: Notebook) -> None:
    cells = [LOAD, PYCCEL, CUDA, CALLS, FAULT, "shift(np.zeros(32))", BROKEN, *SHOWN, UNFINISHED]
    notebook.open(lab, lab.write_notebook("cuda.ipynb", cells))
    texts: list[str] = []
    for index in range(len(cells) - 1):
        notebook.run_cell(index)
        texts.append(notebook.output_text(index).strip())
    _, pyccel, cuda, called, _, fault, broken, plan, source, shown = texts
    assert pyccel == "axpy(a, x, y, n): fortran, writes y"
    first, resources, joined = cuda.splitlines()
    assert first.startswith("axpy(a, x, y, n): cuda, writes y, in the emulator (")
    assert resources.lstrip().startswith("sm_90: ")
    assert joined.strip() == "axpy: paired with the Pyccel kernel"
    assert called == "999000.0 True"
    assert "LaunchError: shift, block (0, 0, 0), thread (31, 0, 0): cell line 5: " in fault
    assert "cell line 3, column " in broken
    assert "x[0] = 0.5 * y[0];" in broken
    assert "Traceback" not in broken
    assert ".py" not in fault + broken  # no frame of kit
    assert "axpy: would run in the emulator" in plan
    assert "subroutine axpy" in source
    assert "emulator" in shown
    assert notebook.page.locator(".kit-progress").count() == 0

    notebook.type_tab(len(cells) - 1, line=0, column=len("%%cuda_kernel --bl"))
    notebook.page.locator(".jp-Completer-item", has_text="--block").wait_for()
    notebook.page.keyboard.press("Enter")
    notebook.page.wait_for_function(
        "(index) => window.jupyterapp.shell.currentWidget.content.widgets[index].model.sharedModel"
        ".source.startsWith('%%cuda_kernel --block\\n')",
        arg=len(cells) - 1,
    )

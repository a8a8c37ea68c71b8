"""How long a CUDA cell takes: new, against NVRTC alone; and known, in a fresh process."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from typing import cast

from benchmarks.measure import Row, run_child

__all__ = ["rows"]

_SOURCE = """
__global__ void saxpy(int n, double a, const double* x, double* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += (a + STEP) * x[i];
}
"""

# Every cell is new: a constant differs. The compilers are warm, and take turns. A cell that is to
# run on a GPU needs NVRTC alone; one for the emulator has g++ compile it, too.
_NEW_CELLS = (
    f"SOURCE = {_SOURCE!r}"
    """
import contextlib, io, json, os, statistics, time
os.environ.pop("KIT_PREWARM", None)
from IPython.core.interactiveshell import InteractiveShell
from kit.backends.cuda_packages import find_cuda_packages
from kit.backends.nvrtc_library import Nvrtc

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "kit")
packages = find_cuda_packages()
nvrtc = Nvrtc(packages.library)
options = ["--gpu-architecture=sm_90", "--std=c++17"]
options += [f"--include-path={one}" for one in packages.include_dirs]

def bare(text):
    start = time.perf_counter()
    assert nvrtc.compile(text, "cell", options, ()).ok
    return time.perf_counter() - start

def magic(text, target):
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        shell.run_cell_magic("cuda_kernel", f"--arch sm_90 --target {target}", text)
    assert shell.user_ns["saxpy"].build.reason == "built: new"
    return time.perf_counter() - start

rounds = []
for step in range(ROUNDS + 3):
    text = SOURCE.replace("STEP", f"{step}.5")
    other = SOURCE.replace("STEP", f"{step}.25")
    rounds.append((bare(text), magic(text, "device"), magic(other, "emulator")))
# The first ones load what cells share.
print(json.dumps({"seconds": [statistics.median(one) for one in zip(*rounds[3:])]}))
"""
)

_FRESH = (
    f"SOURCE = {_SOURCE.replace('STEP', '0.5')!r}"
    """
import json, time, numpy as np
start = time.perf_counter()
import kit
saxpy = kit.cuda_kernel(SOURCE, target="emulator")
built = time.perf_counter() - start
x, y = np.arange(4.0), np.ones(4)
saxpy(4, 1.5, x, y)
called = time.perf_counter() - start
assert y.tolist() == [1, 3, 5, 7]
print(json.dumps({"seconds": [built, called]}))
"""
)


def rows(rounds: int = 25) -> Iterator[Row]:
    """The figures of a CUDA cell's way into the notebook."""
    yield from _rows_new(rounds)
    yield _row_known(rounds)


def _rows_new(rounds: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as store:
        code = _NEW_CELLS.replace("ROUNDS", str(rounds))
        bare, device, emulator = _milliseconds(code, store)
    most, note = 1.15 * bare + 15, f"medians of {rounds}, all warm, in turns"
    yield Row(
        figure="a new cell through `%%cuda_kernel`, one architecture, for a GPU",
        value=device, unit="ms", must=f"<= 1.15 x NVRTC + 15 = {most:.1f}", met=device <= most,
        peers={"NVRTC alone": bare}, note=note,
    )  # fmt: skip
    yield Row(
        figure="a new cell through `%%cuda_kernel`, one architecture, for the emulator",
        value=emulator, unit="ms", must="-", met=None,
        peers={"NVRTC alone": bare}, note=f"{note}; most of it is g++",
    )  # fmt: skip


def _row_known(rounds: int) -> Row:
    with tempfile.TemporaryDirectory() as store:
        _milliseconds(_FRESH, store)  # fills it
        found = [_milliseconds(_FRESH, store) for _ in range(rounds)]
    built, called = (statistics.median(times) for times in zip(*found, strict=True))
    return Row(
        figure="identical cell, fresh process, after `import numpy`: emulator, with its first call",
        value=called, unit="ms", must="<= 60", met=called <= 60, peers={},
        note=f"median of {rounds}; without the call {built:.0f} ms",
    )  # fmt: skip


def _milliseconds(code: str, store: str) -> list[float]:
    """What a child reports, which is in seconds."""
    return [1e3 * one for one in cast("list[float]", run_child(code, cache=store)["seconds"])]

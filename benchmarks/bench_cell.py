"""How long a cell takes: known, new, and when eight processes want it at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.cells import SMALL
from benchmarks.measure import Row, child_seconds, median_of

__all__ = ["rows"]

_HEAD = f"import json, time, numpy as np\nSOURCE = {SMALL!r}\n"

_KIT_FRESH = (
    _HEAD
    + """
start = time.perf_counter()
import kit
axpy = kit.pyccel_kernel(SOURCE)
seconds = time.perf_counter() - start
y = np.ones(3); axpy(2.0, np.arange(3.0), y); assert y.tolist() == [1, 3, 5]
print(json.dumps({"seconds": seconds}))
"""
)
_KIT_AGAIN = (
    _HEAD
    + """
import kit
kit.pyccel_kernel(SOURCE)
start = time.perf_counter()
kit.pyccel_kernel(SOURCE)
print(json.dumps({"seconds": time.perf_counter() - start}))
"""
)
# The magic inside a running IPython, as a notebook has it: IPython itself is there already.
_KIT_MAGIC = (
    _HEAD
    + """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
start = time.perf_counter()
shell.run_line_magic("load_ext", "kit")
shell.run_cell_magic("pyccel_kernel", "-q", SOURCE)
seconds = time.perf_counter() - start
assert "axpy" in shell.user_ns
print(json.dumps({"seconds": seconds}))
"""
)
_KIT_WARM = (
    _HEAD
    + """
import os
os.environ.pop("KIT_PREWARM")
import kit
from kit.backends.pyccel import prewarm
prewarm()      # what %load_ext kit does
time.sleep(3)  # somebody writes the cell
start = time.perf_counter()
kit.pyccel_kernel(SOURCE)
print(json.dumps({"seconds": time.perf_counter() - start}))
"""
)
_EPYCCEL_FRESH = (
    _HEAD
    + """
start = time.perf_counter()
from pyccel import epyccel
module = epyccel(SOURCE, language="fortran")
seconds = time.perf_counter() - start
y = np.ones(3); module.axpy(2.0, np.arange(3.0), y); assert y.tolist() == [1, 3, 5]
print(json.dumps({"seconds": seconds}))
"""
)
_EPYCCEL_AGAIN = (
    _HEAD
    + """
from pyccel import epyccel
epyccel(SOURCE, language="fortran")
start = time.perf_counter()
epyccel(SOURCE, language="fortran")
print(json.dumps({"seconds": time.perf_counter() - start}))
"""
)
_MAGIC_PEER = (
    _HEAD
    + """
import warnings; warnings.simplefilter("ignore")
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
start = time.perf_counter()
shell.run_line_magic("load_ext", {extension!r})
shell.run_cell_magic({magic!r}, "", {cell!r})
seconds = time.perf_counter() - start
assert "axpy" in shell.user_ns
print(json.dumps({{"seconds": seconds}}))
"""
)
_CYTHON_CELL = """
def axpy(double a, double[::1] x, double[::1] y):
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]
"""
_FORTRAN_CELL = """
subroutine axpy(a, x, y, n)
    integer, intent(in) :: n
    real(8), intent(in) :: a, x(n)
    real(8), intent(inout) :: y(n)
    y = a * x + y
end subroutine axpy
"""
_IMPORT = """
import json, time, numpy
start = time.perf_counter()
import kit
print(json.dumps({"seconds": time.perf_counter() - start}))
"""
_IMPORT_ALL = _IMPORT.replace(
    "import kit", "import kit\nfor name in kit.__all__: getattr(kit, name)"
)


def rows(rounds: int = 5) -> Iterator[Row]:
    """The figures of a cell's way into the notebook."""
    yield _row_import()
    yield from _rows_known(rounds)
    yield from _rows_cold(rounds)
    yield _row_processes()


def _row_import() -> Row:
    codes = {"kit": _IMPORT, "all": _IMPORT_ALL}
    medians = median_of(child_seconds(codes, rounds=15, fresh_store=False))
    value, every = medians["kit"] * 1e3, medians["all"] * 1e3
    return Row(
        figure="`import kit` over `import numpy`",
        value=value, unit="ms", must="<= 15", met=value <= 15, peers={},
        note=f"median of 15; names load when first used, all of them together {every:.0f} ms",
    )  # fmt: skip


def _rows_known(rounds: int) -> Iterator[Row]:
    again = median_of(
        child_seconds(
            {"kit": _KIT_AGAIN, "epyccel": _EPYCCEL_AGAIN}, rounds=rounds, fresh_store=False
        )
    )
    yield Row(
        figure="identical cell again, same process",
        value=again["kit"] * 1e3, unit="ms", must="<= 5", met=again["kit"] <= 5e-3,
        peers={"epyccel": again["epyccel"] * 1e3}, note=f"median of {rounds}",
    )  # fmt: skip
    fresh = median_of(
        child_seconds(
            {"kit": _KIT_FRESH, "magic": _KIT_MAGIC, "epyccel": _EPYCCEL_FRESH},
            rounds=rounds,
            fresh_store=False,
        )
    )
    for name, what in (("kit", "`kit.pyccel_kernel`"), ("magic", "`%load_ext kit` and the cell")):
        yield Row(
            figure=f"identical cell, fresh process, after `import numpy`: {what}",
            value=fresh[name] * 1e3, unit="ms", must="<= 50", met=fresh[name] <= 50e-3,
            peers={"epyccel": fresh["epyccel"] * 1e3}, note=f"median of {rounds}",
        )  # fmt: skip


def _rows_cold(rounds: int) -> Iterator[Row]:
    codes = {
        "kit": _KIT_FRESH,
        "warm": _KIT_WARM,
        "epyccel": _EPYCCEL_FRESH,
        "%%cython": _MAGIC_PEER.format(extension="cython", magic="cython", cell=_CYTHON_CELL),
        "%%fortran": _MAGIC_PEER.format(
            extension="fortranmagic", magic="fortran", cell=_FORTRAN_CELL
        ),
    }
    with tempfile.TemporaryDirectory() as home:
        # Without this the peers would find what an earlier round left in the user's cache.
        env = {"IPYTHONDIR": home, "XDG_CACHE_HOME": home, "KIT_BENCH_HOME": home}
        cold = median_of(_cold_children(codes, rounds, env))
    peers = {name: cold[name] for name in ("epyccel", "%%cython", "%%fortran")}
    yield Row(
        figure="first cold cell in a fresh process",
        value=cold["kit"], unit="s", must="<= epyccel incl. its import",
        met=cold["kit"] <= cold["epyccel"], peers=peers, note=f"median of {rounds}",
    )  # fmt: skip
    yield Row(
        figure="first cold cell with a warmed worker",
        value=cold["warm"], unit="s", must="<= 0.6", met=cold["warm"] <= 0.6, peers=peers,
        note=f"median of {rounds}",
    )  # fmt: skip


def _cold_children(
    codes: dict[str, str], rounds: int, env: dict[str, str]
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=env["KIT_BENCH_HOME"]) as fresh:
            own = {**env, "IPYTHONDIR": fresh, "XDG_CACHE_HOME": fresh}
            for name, seconds in child_seconds(codes, rounds=1, fresh_store=True, env=own).items():
                times[name] += seconds
    return times


_ONE_OF_EIGHT = (
    _HEAD
    + """
import sys
from kit.build import build_cell
sys.stdin.readline()
built = build_cell(SOURCE)
y = np.ones(3); built.kernels["axpy"](2.0, np.arange(3.0), y)
print(json.dumps({"right": y.tolist() == [1, 3, 5], "built": not built.record.hit}))
"""
)


def _row_processes(count: int = 8) -> Row:
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "KIT_CACHE_DIR": cache, "KIT_PREWARM": "0"}
        children = [
            subprocess.Popen(
                [sys.executable, "-c", _ONE_OF_EIGHT],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd=cache,
            )
            for _ in range(count)
        ]  # fmt: skip
        for child in children:  # all have imported kit; now all start at once
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        replies = [json.loads(child.communicate()[0].splitlines()[-1]) for child in children]
    right = sum(reply["right"] for reply in replies)
    builds = sum(reply["built"] for reply in replies)
    return Row(
        figure=f"{count} cold processes, same cell: right results (builds in the note)",
        value=right, unit="of 8", must="8, exactly 1 build", met=right == count and builds == 1,
        peers={}, note=f"{builds} build(s)",
    )  # fmt: skip

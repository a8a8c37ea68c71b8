"""Emulated CUDA kernels against the same work in OpenMP, and against CuNumpy's emulation."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cuda_sources import KERNELS, OPENMP
from benchmarks.measure import Row, paired_medians
from kit.backends.emulator.commands import find_toolchain
from tests.unit.cuda_calls import Cell

__all__ = ["rows"]

_N = 10_000_000
_SIDE, _MATRIX = 4096, 512
_DECLARED = (
    "nothing(int)",
    "saxpy(double, const double*, double*, int)",
    "stencil(const double*, double*, int, int)",
    "matmul(const double*, const double*, double*, int)",
    "reduce(const double*, double*, int)",
    "histogram(const int*, int*, int)",
    "histogram_shared(const int*, int*, int)",
    "barriers(int*, int)",
)
_FLAGS = ("-O3", "-march=native", "-ffast-math", "-fopenmp", "-fPIC", "-shared")


@dataclass(frozen=True, kw_only=True)
class _Case:
    """One kernel: how it is launched, and what runs the same with OpenMP."""

    figure: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: Sequence[Any]
    openmp: str
    must: float | None = None
    peer: bool = True  # whether CuNumpy's emulation takes it in a sensible time


def rows(rounds: int = 15) -> Iterator[Row]:
    """Times of whole launches, in turn with the same work by OpenMP."""
    started = time.perf_counter()
    cell = Cell("".join(KERNELS.values()), *_DECLARED)
    compiled = time.perf_counter() - started
    yield from _launches(cell, compiled)
    with tempfile.TemporaryDirectory() as folder:
        openmp = _compile_openmp(Path(folder))
        for case in _cases():
            yield _measure(case, cell, openmp, rounds)


def _launches(cell: Cell, compiled: float) -> Iterator[Row]:
    nothing = cell.prepare("nothing", 1, 32, 0)
    seconds = paired_medians({"kit": nothing}, rounds=200, inner=100)["kit"]
    yield Row(
        figure="prepared launch of one block", value=seconds * 1e6, unit="us", must="<= 4",
        met=seconds <= 4e-6, peers={}, note=f"a cell of eight kernels came in {compiled:.2f} s",
    )  # fmt: skip
    barriers = cell.prepare("barriers", 1, 256, np.zeros(256, np.int32), 4000)
    seconds = paired_medians({"kit": barriers}, rounds=30)["kit"] / 4000 / 256
    yield Row(figure="barrier, for each thread", value=seconds * 1e9, unit="ns", peers={})


def _compile_openmp(folder: Path) -> ctypes.CDLL:
    # OpenMP's threads would go on spinning for a while, on the CPUs of whoever is measured next.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    (folder / "openmp.cpp").write_text(OPENMP)
    command = [find_toolchain().compiler, *_FLAGS, "openmp.cpp", "-o", "openmp.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "openmp.so"))


def _cases() -> Iterator[_Case]:
    rng = np.random.default_rng(1)
    x, y = rng.random(_N), rng.random(_N)
    blocks = -(-_N // 256)
    yield _Case(
        figure="saxpy, 10 M doubles", kernel="saxpy", grid=(blocks,), block=(256,),
        args=(1e-9, x, y, _N), openmp="saxpy", must=1.3,
    )  # fmt: skip
    u, v = rng.random((_SIDE, _SIDE)), np.zeros((_SIDE, _SIDE))
    yield _Case(
        figure="5-point stencil, 4096 x 4096", kernel="stencil", grid=(_SIDE // 32, _SIDE // 8),
        block=(32, 8), args=(u, v, _SIDE, _SIDE), openmp="stencil",
    )  # fmt: skip
    a, b, c = rng.random((3, _MATRIX, _MATRIX))
    yield _Case(
        figure="tiled matmul, 512 x 512", kernel="matmul", grid=(_MATRIX // 16,) * 2,
        block=(16, 16), args=(a, b, c, _MATRIX), openmp="matmul", peer=False,
    )  # fmt: skip
    total = np.zeros(1)
    for figure, grid in (("grid-stride", 1024), ("one element a thread", blocks)):
        yield _Case(
            figure=f"reduction of 10 M, {figure}", kernel="reduce", grid=(grid,), block=(256,),
            args=(x, total, _N), openmp="reduce", peer=False,
        )  # fmt: skip
    values, counts = rng.integers(0, 256, _N).astype(np.int32), np.zeros(256, np.int32)
    for kernel, grid in (("histogram", blocks), ("histogram_shared", 1024)):
        yield _Case(
            figure=f"{kernel} of 10 M".replace("_", ", "), kernel=kernel, grid=(grid,),
            block=(256,), args=(values, counts, _N), openmp="histogram",
        )  # fmt: skip


def _measure(case: _Case, cell: Cell, openmp: ctypes.CDLL, rounds: int) -> Row:
    candidates: dict[str, Callable[[], object]] = {
        "kit": cell.prepare(case.kernel, case.grid, case.block, *case.args),
        "OpenMP": _openmp_call(getattr(openmp, case.openmp), case.args),
    }
    found = paired_medians(candidates, rounds=rounds)
    peers = {"OpenMP": found["OpenMP"] * 1e3}
    if case.peer:
        peer = {"CuNumpy": _cunumpy_call(case)}
        peers |= {name: one * 1e3 for name, one in paired_medians(peer, rounds=3).items()}
    ratio = found["kit"] / found["OpenMP"]
    return Row(
        figure=case.figure,
        value=found["kit"] * 1e3,
        unit="ms",
        must="" if case.must is None else f"<= {case.must} x OpenMP",
        met=None if case.must is None else ratio <= case.must,
        peers=peers,
        note=f"{ratio:.2f} x OpenMP with {' '.join(_FLAGS[:3])}",
    )


def _openmp_call(function: Any, args: Sequence[Any]) -> Callable[[], object]:
    given = [_c_value(one) for one in args]
    return lambda: function(*given)


def _c_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int(value)


def _cunumpy_call(case: _Case) -> Callable[[], object]:
    from cunumpy.kernel_testing import compile_for_emulation, emulate_cuda_kernel
    from cunumpy.kernels import CudaKernel

    kernel = CudaKernel(KERNELS[case.kernel], case.kernel)
    compile_for_emulation(kernel)
    return lambda: emulate_cuda_kernel(kernel, *case.args, grid=case.grid, block=case.block)

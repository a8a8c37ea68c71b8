"""The tutorial's kernels against Numba and C, the same arithmetic on the same arrays."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import kit
from benchmarks.cells import tutorial_cell
from benchmarks.measure import Row, paired_medians

__all__ = ["rows"]

_C_SOURCE = r"""
#include <math.h>
void hillshade(const double *z, double *shade, double *slope, long n, long m,
               double dx, double dy, double lx, double ly, double lz) {
#define Z(i, j) z[(i) * m + (j)]
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < m - 1; j++) {
            double gx = ((Z(i-1, j+1) + 2.0 * Z(i, j+1) + Z(i+1, j+1))
                       - (Z(i-1, j-1) + 2.0 * Z(i, j-1) + Z(i+1, j-1))) / (8.0 * dx);
            double gy = ((Z(i+1, j-1) + 2.0 * Z(i+1, j) + Z(i+1, j+1))
                       - (Z(i-1, j-1) + 2.0 * Z(i-1, j) + Z(i-1, j+1))) / (8.0 * dy);
            double g2 = gx * gx + gy * gy;
            slope[i * m + j] = sqrt(g2);
            shade[i * m + j] = (lz - lx * gx - ly * gy) / sqrt(1.0 + g2);
        }
}
void slope_f(const double *z, double *slope, long n, long m, double dx, double dy) {
#define F(i, j) z[(j) * n + (i)]
    for (long j = 1; j < m - 1; j++)
        for (long i = 1; i < n - 1; i++) {
            double gx = (F(i, j+1) - F(i, j-1)) / (2.0 * dx);
            double gy = (F(i+1, j) - F(i-1, j)) / (2.0 * dy);
            slope[j * n + i] = sqrt(gx * gx + gy * gy);
        }
}
"""

Call = Callable[..., object]


def rows(rounds: int = 200) -> Iterator[Row]:
    """Seconds a call, on the tutorial's grid and on one that no cache holds."""
    import numba

    with tempfile.TemporaryDirectory() as folder:
        library = _c_library(folder)
        for shape in ((344, 403), (3000, 3000)):
            count = rounds if shape[0] < 1000 else 7
            yield from _rows_for(library, numba.njit, shape, count)


def _rows_for(
    library: ctypes.CDLL, njit: Callable[[Call], Call], shape: tuple[int, int], rounds: int
) -> Iterator[Row]:
    z = np.random.default_rng(1).random(shape) * 500
    sun = (92.4, 74.6, -0.5, 0.5, 0.7071)
    for name, arrays, numbers in (
        ("hillshade", (z, np.zeros_like(z), np.zeros_like(z)), sun),
        ("slope_f", (np.asfortranarray(z), np.zeros(shape, order="F")), sun[:2]),
    ):
        text = tutorial_cell(name)
        candidates = {
            "kit fortran": kit.pyccel_kernel(text),
            "kit c": kit.pyccel_kernel(text, language="c"),
            "Numba": njit(_python_function(text, name)),
            "C -O3 -march=native": _c_function(library, name),
        }
        _check_same_results(candidates, arrays, numbers)
        medians = paired_medians(
            {key: _bind(call, arrays, numbers) for key, call in candidates.items()}, rounds=rounds
        )
        best = min(medians["Numba"], medians["C -O3 -march=native"])
        for key in ("kit fortran", "kit c"):
            ratio = medians[key] / best
            yield Row(
                figure=f"`{name}`, {shape[0]} x {shape[1]}, {key}: time over the better peer's",
                value=ratio, unit="x", must="<= 1.7", met=ratio <= 1.7,
                peers={peer: medians[peer] / best for peer in ("Numba", "C -O3 -march=native")},
                note=f"{medians[key] * 1e3:.3f} ms, median of {rounds}",
            )  # fmt: skip


def _bind(call: Call, arrays: tuple[object, ...], numbers: tuple[object, ...]) -> Call:
    return lambda: call(*arrays, *numbers)


def _python_function(text: str, name: str) -> Call:
    namespace: dict[str, Call] = {}
    exec(text, namespace)
    return namespace[name]


def _check_same_results(
    candidates: dict[str, Call], arrays: tuple[np.ndarray, ...], numbers: tuple[float, ...]
) -> None:
    results: list[np.ndarray] = []
    for call in candidates.values():
        arrays[1].fill(0)
        call(*arrays, *numbers)
        results.append(arrays[1].copy())
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=1e-12, atol=1e-12)


def _c_library(folder: str) -> ctypes.CDLL:
    source, target = Path(folder, "peer.c"), Path(folder, "peer.so")
    source.write_text(_C_SOURCE)
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", source, "-o", target, "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


def _c_function(library: ctypes.CDLL, name: str) -> Call:
    function = getattr(library, name)

    def call(*arguments: object) -> None:
        arrays = [one for one in arguments if isinstance(one, np.ndarray)]
        pointers = [ctypes.c_void_p(one.ctypes.data) for one in arrays]
        extents = [ctypes.c_long(extent) for extent in arrays[0].shape]
        numbers = [ctypes.c_double(one) for one in arguments if isinstance(one, float)]
        function(*pointers, *extents, *numbers)

    return call

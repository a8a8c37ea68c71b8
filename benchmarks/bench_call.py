"""What a checked call costs over the bare compiled function."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import kit
from benchmarks.measure import Row, paired_medians

__all__ = ["rows"]

_SOURCE = """
def combine(x: "float64[:]", y: "float64[:]", out: "float64[:]", a: float, n: int):
    for i in range(n):
        out[i] = a * x[i] + y[i]
"""


def rows(rounds: int = 300, inner: int = 500) -> Iterator[Row]:
    """Overhead of a call with three small arrays and two scalars."""
    kernel = kit.pyccel_kernel(_SOURCE)
    bare = kernel.compiled
    x, y, out = np.ones(8), np.ones(8), np.zeros(8)
    medians = paired_medians(
        {
            "bare": lambda: bare(x, y, out, 2.0, 8),
            "kit": lambda: kernel(x, y, out, 2.0, 8),
        },
        rounds=rounds,
        inner=inner,
    )
    overhead = (medians["kit"] - medians["bare"]) * 1e6
    yield Row(
        figure="overhead of a checked call, 3 small arrays + 2 scalars (Python guard)",
        value=overhead, unit="us", peers={},
        note=f"bare call {medians['bare'] * 1e6:.2f} us; a compiled guard comes later",
    )  # fmt: skip

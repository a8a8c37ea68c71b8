"""What a CUDA kernel's call costs by itself: checks, packing, and the emulator's launch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cunumpy
import numpy as np
from cunumpy.kernel_testing import emulated_launches

import kit
from benchmarks.measure import Overhead, Row, paired_overheads, timed_loop
from kit.build_cuda import build_cuda_cell
from kit.cuda import packing
from kit.cuda.options import CudaOptions
from kit.cuda.packing import ArgumentPacker
from kit.cuda.signature import CudaSignature

__all__ = ["rows"]

# Four arrays and two numbers; one thread does what there is to do.
_POINTERS = """
extern "C" __global__ void blend(double a, int n, const double* x, const double* y,
                                 const double* z, double* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i] * z[i];
}
"""
_VIEWS = """
#include <kit/array_view.cuh>
__global__ void blend(double a, int n, Array2D<const double> x, Array2D<const double> y,
                      Array2D<const double> z, Array2D<double> out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out(i, 0) = a * x(i, 0) + y(i, 0) * z(i, 0);
}
"""


def rows(rounds: int = 2000) -> Iterator[Row]:
    """Time over a call that does nothing, in turn with CuNumpy's emulated launch."""
    arrays = [np.ones(8) for _ in range(4)]
    kernel = _built(_POINTERS)
    peer = cunumpy.kernels.CudaKernel(_POINTERS, "blend")
    options = {"grid": 1, "block": 1}
    with emulated_launches():
        found = paired_overheads(
            timed_loop(_nothing, (2.0, 8, *arrays), options),
            {
                "kit": timed_loop(kernel, (2.0, 8, *arrays), options),
                "CuNumpy, emulated": timed_loop(peer, (2.0, 8, *arrays), options),
            },
            rounds=rounds,
        )
    yield _row("checked and prepared launch, 4 arrays + 2 scalars", found, must=10.0)
    grids = [np.ones((8, 8))[::-1, ::2] for _ in range(4)]
    ghosts = [kit.ArrayView(array=np.ones((8, 8)), nghost=1) for _ in range(4)]
    views = _built(_VIEWS).cuda_signature
    pointers = kernel.cuda_signature
    for name, signature, values in (
        ("arrays into pointers", pointers, arrays),
        ("strided arrays into Array2D", views, grids),
        ("views with ghosts into Array2D", views, ghosts),
    ):
        yield _row(f"checks and packing, {name}", _packing(signature, (2.0, 8, *values), rounds))


def _built(text: str) -> Any:
    options = CudaOptions(target="emulator", architectures=("sm_90",))
    return build_cuda_cell("\n" + text, options=options).kernels["blend"]


def _packing(signature: CudaSignature, values: tuple[Any, ...], rounds: int) -> dict[str, Overhead]:
    """The compiled packer, and its twin in Python."""
    compiled = ArgumentPacker(signature)
    native, packing._native = packing._native, None
    twin = ArgumentPacker(signature)
    packing._native = native
    return paired_overheads(
        timed_loop(_nothing, (values, "emulator")),
        {
            "kit": timed_loop(compiled.pack, (values, "emulator")),
            "kit's twin in Python": timed_loop(twin.pack, (values, "emulator")),
        },
        rounds=rounds // 10,
    )


def _nothing(*args: object, **options: object) -> None:
    """What a call costs by itself."""


def _row(figure: str, found: dict[str, Overhead], must: float | None = None) -> Row:
    ours = found["kit"]
    value = ours.median * 1e6
    return Row(
        figure=figure,
        value=value,
        unit="us",
        must="" if must is None else f"<= {must:g} us",
        met=None if must is None else value <= must,
        peers={name: one.median * 1e6 for name, one in found.items() if name != "kit"},
        note=f"quartiles {ours.low * 1e6:.3f} to {ours.high * 1e6:.3f} us, over an empty call",
    )

"""How fast arguments in another order are copied in, and back, beside NumPy.

Bandwidth counts the bytes of the array once; both sides of a pair make a new array or fill a given
one, in turn.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import kit
from benchmarks.measure import Row, paired_medians
from kit.copying.pool import BufferPool
from kit.copying.threads import choose_thread_count
from kit.signature import ArgumentType
from kit.transfer import copy_in, write_back

__all__ = ["rows"]

NdArray = np.ndarray[Any, Any]

_READS_ONE = """
def corner(x: "float64[:,:](order=F)") -> float:
    return x[0, 0]
"""
_MIB = 2**20
_BYTES = 64 * _MIB
_TIMES = 1.5  # what issue 3 asks for, over NumPy
# As users have them, and the same with extents that are powers of 2, the worst for caches.
_SHAPES: dict[str, tuple[tuple[int, ...], str]] = {
    "2-D square": ((2896, 2896), "float64"),
    "2-D square, powers of 2": ((4096, 2048), "float64"),
    "2-D tall": ((2**20 + 5, 8), "float64"),
    "2-D wide": ((8, 2**20 + 5), "float64"),
    "3-D": ((203, 203, 203), "float64"),
    "2-D square, float32": ((4096, 4096), "float32"),
    "2-D square, complex128": ((2048, 2048), "complex128"),
    "2-D square, int8": ((8192, 8192), "int8"),
}


def rows(rounds: int = 11) -> Iterator[Row]:
    """C arrays of 64 MiB to an F parameter: in, the first time, and back."""
    for name, (shape, dtype) in _SHAPES.items():
        source = np.ones(shape, dtype)
        yield _in(name, source, rounds)
        if name in ("2-D square", "3-D"):
            yield _first(name, source, rounds)
            yield _back(name, source, rounds)
    yield _call(rounds)
    yield _small(rounds)


def _in(name: str, source: NdArray, rounds: int) -> Row:
    pool, expected = BufferPool(), _declared(source)
    pair = _pair(
        lambda: copy_in(source, expected, pool=pool), lambda: np.asfortranarray(source), rounds
    )
    return _row(f"C array to an F parameter, {name}, in", source, pair, "np.asfortranarray", True)


def _first(name: str, source: NdArray, rounds: int) -> Row:
    expected = _declared(source)
    pair = _pair(lambda: copy_in(source, expected), lambda: np.asfortranarray(source), rounds)
    figure = f"C array to an F parameter, {name}, in, first call (fresh memory)"
    return _row(figure, source, pair, "np.asfortranarray", None)


def _back(name: str, original: NdArray, rounds: int) -> Row:
    buffer = np.asfortranarray(original)
    pair = _pair(lambda: write_back(original, buffer), lambda: np.copyto(original, buffer), rounds)
    return _row(f"F buffer back to a C array, {name}", original, pair, "np.copyto", None)


def _call(rounds: int) -> Row:
    """All of a call, as a user has it: decided, copied, run."""
    source = np.ones((2896, 2896))
    kernel = kit.pyccel_kernel(_READS_ONE, policy="copy")
    bare = kernel.compiled
    pair = _pair(lambda: kernel(source), lambda: bare(np.asfortranarray(source)), rounds)
    figure = (
        "C array to an F parameter, 2-D square, a whole call of a kernel that reads one element"
    )
    return _row(figure, source, pair, "np.asfortranarray, bare kernel", True)


def _small(rounds: int) -> Row:
    """One call of NumPy with what decides that: what the decision costs."""
    source, pool = np.ones((64, 64)), BufferPool()
    expected = _declared(source)
    medians = paired_medians(
        {
            "kit": lambda: copy_in(source, expected, pool=pool),
            "np.asfortranarray": lambda: np.asfortranarray(source),
        },
        rounds=30 * rounds,
        inner=100,
    )
    return Row(
        figure="C array to an F parameter, 32 KiB, in",
        value=medians["kit"] * 1e6, unit="us",
        peers={"np.asfortranarray": medians["np.asfortranarray"] * 1e6},
    )  # fmt: skip


def _declared(array: NdArray) -> ArgumentType:
    dtype = array.dtype.name
    text = f"{dtype}[{','.join(':' * array.ndim)}](order=F)"
    return ArgumentType(dtype=dtype, rank=array.ndim, order="F", text=text)


def _pair(own: Callable[[], object], peer: Callable[[], object], rounds: int) -> dict[str, float]:
    gc.collect()
    return paired_medians({"kit": own, "peer": peer}, rounds=rounds)


def _row(
    figure: str, array: NdArray, seconds: dict[str, float], peer: str, asked: bool | None
) -> Row:
    speed = {name: array.nbytes / value / 1e9 for name, value in seconds.items()}
    times = speed["kit"] / speed["peer"]
    return Row(
        figure=figure, value=speed["kit"], unit="GB/s",
        must=f">= {_TIMES} x peer" if asked else "", met=times >= _TIMES if asked else None,
        peers={peer: speed["peer"]},
        note=f"{times:.2f} x; {array.nbytes / _MIB:.0f} MiB, "
        f"{choose_thread_count(array.nbytes)} threads",
    )  # fmt: skip

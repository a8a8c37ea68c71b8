"""What a checked call costs over the bare compiled function, by kinds of call."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import cunumpy
import numpy as np

import kit
from benchmarks.measure import Overhead, Row, paired_overheads, run_child, timed_loop

__all__ = ["child_overhead", "rows"]

_FEW = """
def combine(x: "float64[:]", y: "float64[:]", out: "float64[:]", a: float, n: int):
    for i in range(n):
        out[i] = a * x[i] + y[i]
"""

# Extents that follow from the source are compared at each call.
_RULES = """
def scale(x: "float64[:]", y: "float64[:]", out: "float64[:]", a: float, n: int):
    out[:] = a * x[:] + y[:]
"""

_DEFAULTS = """
def combine(x: "float64[:]", y: "float64[:]", out: "float64[:]", a: float = 2.0, n: int = 8):
    for i in range(n):
        out[i] = a * x[i] + y[i]
"""

_PLANES = """
def combine(x: "float64[:,:]", y: "float64[:,:]", out: "float64[:,:]", a: float, n: int):
    for i in range(n):
        out[i, 0] = a * x[i, 0] + y[i, 0]
"""


@dataclass(frozen=True, kw_only=True)
class _Call:
    """A kind of call: the kernel, how kit is called, and the bare function where that differs."""

    figure: str
    source: str
    args: Sequence[object]
    kwargs: Mapping[str, object] = field(default_factory=dict[str, object])
    bare_args: Sequence[object] | None = None
    must: float | None = None
    note: str = ""


def rows(rounds: int = 2000) -> Iterator[Row]:
    """Overhead of each kind of call, as the median of differences of calls in turn."""
    for call in _calls():
        kernel, bare_args = kit.pyccel_kernel(call.source, policy="copy"), call.bare_args
        found = paired_overheads(
            timed_loop(kernel.compiled, call.args if bare_args is None else bare_args),
            {"kit": timed_loop(kernel, call.args, call.kwargs), **_peers(kernel, call)},
            rounds=rounds,
        )
        yield _row(call, found)
    with tempfile.TemporaryDirectory() as store:
        yield from _python_guard(store)


def _row(call: _Call, found: Mapping[str, Overhead]) -> Row:
    ours = found["kit"]
    value = ours.median * 1e6
    spread = f"quartiles {ours.low * 1e6:.3f} to {ours.high * 1e6:.3f} us"
    bare = f"bare call {ours.base * 1e6:.2f} us"
    return Row(
        figure=f"overhead of a checked call, {call.figure}",
        value=value,
        unit="us",
        must="" if call.must is None else f"<= {call.must} us",
        met=None if call.must is None else value <= call.must,
        peers={name: one.median * 1e6 for name, one in found.items() if name != "kit"},
        note="; ".join(filter(None, (bare, spread, call.note))),
    )


def _peers(kernel: kit.PyccelKernel, call: _Call) -> dict[str, Callable[[int], float]]:
    """CuNumpy's wrapper of the same compiled function, which checks nothing, where it is right."""
    if call.must is None:
        return {}
    outputs = [
        index for index, one in enumerate(kernel.signature.parameters) if one.name in kernel.outputs
    ]
    peers: dict[str, Callable[[int], float]] = {}
    for name, use_cupy in (("CuNumpy PyccelKernel", None), ("CuNumpy, use_cupy=False", False)):
        theirs = cunumpy.kernels.PyccelKernel(kernel.compiled, use_cupy, outputs=outputs)
        peers[name] = timed_loop(theirs, call.args)
    return peers


def _calls() -> Iterator[_Call]:
    x, y, out = np.ones(8), np.ones(8), np.zeros(8)
    few = "3 small arrays + 2 scalars"
    usual = (x, y, out, 2.0, 8)
    yield _Call(figure=few, source=_FEW, args=usual, must=0.1)
    source, many = _many()
    yield _Call(figure="20 arrays of rank 1 to 3 in both orders + 10 scalars", source=source,
                args=many, must=0.6)  # fmt: skip
    base = np.zeros((3, 16))
    yield _Call(figure=f"{few}: interleaved views, all with gaps", source=_FEW,
                args=(base[0, ::2], base[1, ::2], base[1, 1::2], 2.0, 8))  # fmt: skip
    plane = np.zeros((8, 24))
    yield _Call(figure=f"{few}: crops of columns, side by side", source=_PLANES,
                args=(plane[:, :8], plane[:, 8:16], plane[:, 16:], 2.0, 8))  # fmt: skip
    named = {"x": x, "y": y, "out": out, "a": 2.0, "n": 8}
    yield _Call(figure=f"{few}: by keyword", source=_FEW, args=(), kwargs=named, bare_args=usual,
                note="the bare call by position")  # fmt: skip
    yield _Call(figure=f"{few}: scalars left at their defaults", source=_DEFAULTS,
                args=(x, y, out))  # fmt: skip
    yield _Call(figure=f"{few}: extents that must agree", source=_RULES, args=usual)
    yield _Call(figure=f"{few}: an int to be converted", source=_FEW,
                args=(x, y, out, 2, 8), bare_args=usual, note="slow path")  # fmt: skip
    yield _Call(figure=f"{few}: a reversed input to be copied", source=_RULES,
                args=(np.ones((8, 2))[::-1, 0], y, out, 2.0, 8), bare_args=usual,
                note="slow path")  # fmt: skip
    yield _Call(figure=f"{few}: the output is an input, too", source=_FEW,
                args=(out, y, out, 2.0, 8), note="slow path: a snapshot")  # fmt: skip


def _many() -> tuple[str, tuple[object, ...]]:
    """A kernel with the arguments of a particle pusher: fields, coefficients, sizes."""
    parameters: list[str] = []
    values: list[object] = []
    lines: list[str] = []
    for index in range(20):
        rank, order = 1 + index % 3, "F" if index % 2 else "C"
        suffix = "(order=F)" if rank > 1 and order == "F" else ""
        parameters.append(f'u{index}: "float64[{",".join(":" * rank)}]{suffix}"')
        values.append(np.ones((4,) * rank, order=order))
        at = ", ".join("0" * rank)
        # The last three are written.
        lines.append(f"u{index}[{at}] = total" if index > 16 else f"total += u{index}[{at}]")
    for index in range(10):
        parameters.append(f"k{index}: {'int' if index % 2 else 'float'}")
        values.append(index if index % 2 else float(index))
        lines.insert(0, f"total += k{index}")
    body = "\n    ".join(["total = 0.0", *lines])
    return f"def push({', '.join(parameters)}):\n    {body}\n", tuple(values)


# ---- the Python guard, in a process of its own ------------------------------------------------


def _python_guard(store: str) -> Iterator[Row]:
    for index, call in zip(range(2), _calls(), strict=False):
        code = f"from benchmarks.bench_call import child_overhead\nchild_overhead({index})"
        root = str(Path(__file__).resolve().parent.parent)
        told = run_child(code, cache=store, env={"KIT_GUARD": "python", "PYTHONPATH": root})
        ours = Overhead(**{name: float(str(value)) for name, value in told.items()})
        plain = _Call(figure=f"{call.figure}: the Python guard", source="", args=())
        yield _row(plain, {"kit": ours})


def child_overhead(index: int) -> None:
    """Print the overhead of one kind of call as JSON; what a child runs."""
    call = list(_calls())[index]
    kernel: Any = kit.pyccel_kernel(call.source)
    bare, ours = timed_loop(kernel.compiled, call.args), timed_loop(kernel, call.args)
    found = paired_overheads(bare, {"kit": ours}, rounds=2000)["kit"]
    print(json.dumps(asdict(found)))

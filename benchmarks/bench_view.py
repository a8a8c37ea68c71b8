"""What it costs to wrap an array in a view, beside pybind11's ways to hold one."""

from __future__ import annotations

import importlib.util
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pybind11

import kit
from benchmarks.measure import Overhead, Row, paired_overheads, timed_loop
from kit.views.base import IS_COMPILED

__all__ = ["rows"]

# What a binding of C++ code does with its argument: checks the element type, keeps shape, strides
# and address, and holds the memory.
_PEER = r"""
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <stdexcept>

namespace py = pybind11;

struct BufferView {
    py::buffer_info info;
    explicit BufferView(const py::buffer &array) : info(array.request(true)) {
        if (info.format != py::format_descriptor<double>::format()) {
            throw py::type_error("not float64");
        }
    }
};

struct ArrayView {
    py::array_t<double> array;
    explicit ArrayView(const py::array_t<double> &given) : array(given) {}
};

PYBIND11_MODULE(kit_bench_peer, module) {
    py::class_<BufferView>(module, "BufferView")
        .def(py::init<const py::buffer &>(), py::arg("array"));
    py::class_<ArrayView>(module, "ArrayView")
        .def(py::init<const py::array_t<double> &>(), py::arg("array").noconvert());
}
"""

_KERNEL = """
def scale(x: "float64[:]", out: "float64[:]", n: int):
    for i in range(n):
        out[i] = 2.0 * x[i]
"""


def rows(rounds: int = 2000) -> Iterator[Row]:
    """Time of one wrap: the difference to a call that does nothing, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        peer = _build(Path(folder))
    grid = np.zeros((64, 64))
    sources = {"contiguous": grid, "sliced and stepped": grid[1:-1, ::2], "reversed": grid[::-1]}
    for name, array in sources.items():
        found = paired_overheads(
            timed_loop(_nothing, (), {"array": array}),
            {
                "kit": timed_loop(kit.ArrayView, (), {"array": array, "dtype": "float64"}),
                "pybind11 py::buffer": timed_loop(peer.BufferView, (), {"array": array}),
                "pybind11 py::array_t": timed_loop(peer.ArrayView, (), {"array": array}),
            },
            rounds=rounds,
        )
        note = "" if IS_COMPILED else "the twin in Python"
        yield _row(f"wrap of a {name} float64 array", found, must=1.0, note=note)
    yield _call(rounds)
    view = kit.ArrayView(array=grid)
    reads: dict[str, Callable[..., Any]] = {"kit": type(view).__getitem__, "NumPy": grid.item}
    found = paired_overheads(
        timed_loop(_nothing, ()),
        {
            "kit": timed_loop(reads["kit"], (view, (3, 4))),
            "NumPy .item(3, 4)": timed_loop(reads["NumPy"], (3, 4)),
        },
        rounds=rounds,
    )
    yield _row("read of one element", found)


def _call(rounds: int) -> Row:
    """A kernel's call with two views over the same with their arrays."""
    kernel = kit.pyccel_kernel(_KERNEL, policy="strict")
    arrays = np.ones(8), np.ones(8)
    views = [kit.ArrayView(array=one) for one in arrays]
    found = paired_overheads(
        timed_loop(kernel, (*arrays, 8)), {"kit": timed_loop(kernel, (*views, 8))}, rounds=rounds
    )
    row = _row("a kernel's call with two views", found)
    return replace(row, note=row.note.replace("an empty call", "the call with their arrays"))


def _nothing(array: object = None) -> None:
    """What a call costs by itself."""


def _row(figure: str, found: dict[str, Overhead], must: float | None = None, note: str = "") -> Row:
    ours = found["kit"]
    value = ours.median * 1e6
    spread = f"quartiles {ours.low * 1e6:.3f} to {ours.high * 1e6:.3f} us, over an empty call"
    return Row(
        figure=figure,
        value=value,
        unit="us",
        must="" if must is None else f"<= {must:g} us",
        met=None if must is None else value <= must,
        peers={name: one.median * 1e6 for name, one in found.items() if name != "kit"},
        note="; ".join(filter(None, (spread, note))),
    )


def _build(folder: Path) -> Any:
    """The peer as a module; its library stays loaded when the folder is gone."""
    source, library = folder / "peer.cpp", folder / "kit_bench_peer.so"
    source.write_text(_PEER)
    includes = (pybind11.get_include(), sysconfig.get_paths()["include"])
    command = ["g++", "-O2", "-std=c++17", "-fPIC", "-shared", "-fvisibility=hidden"]
    command += [f"-I{one}" for one in includes]
    subprocess.run([*command, str(source), "-o", str(library)], check=True)
    spec = importlib.util.spec_from_file_location("kit_bench_peer", library)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

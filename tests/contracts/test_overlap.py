"""Overlap has one meaning: inputs are read as they were when the call began.

Each kernel is called with arguments that lie in one memory, in both languages and uncompiled. The
oracle is the cell's own Python with NumPy, given a copy of every input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

import kit
from kit.decorate import KernelNamespace
from kit.errors import ArgumentRefused
from kit.kernel import PyccelKernel
from kit.terms import Language

# From 64 elements on, gfortran's vector loops differ from element by element.
SIZES = (3, 4, 7, 16, 63, 64, 65, 100, 256, 1000)

SOURCE = """
def shift(x: "float64[:]", y: "float64[:]"):
    for i in range(1, x.shape[0] - 1):
        y[i] = x[i - 1] + x[i + 1]

def whole(x: "float64[:]", y: "float64[:]"):
    y[:] = x[:] * 2.0 + 1.0

def prefix(x: "float64[:]", y: "float64[:]"):
    y[0] = x[0]
    for i in range(1, x.shape[0]):
        y[i] = y[i - 1] + x[i]

def count(e: "float64[:]", x: "float64[:]", y: "float64[:]"):
    for i in range(1, x.shape[0] - 1):
        y[i] = x[i - 1] + x[i + 1] + e.shape[0]

def mirror(x: "float64[:,:]", y: "float64[:,:]"):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] = x[j, i] + 1.0

def mirror_f(x: "float64[:,:](order=F)", y: "float64[:,:](order=F)"):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] = x[j, i] + 1.0

def axpy(a: float, x: "float64[:]", y: "float64[:]", z: "float64[:]"):
    for i in range(x.shape[0]):
        z[i] = a * x[i] + y[i]

def split(x: "float64[:]", y: "float64[:]", z: "float64[:]"):
    for i in range(x.shape[0]):
        y[i] = x[i] + 1.0
        z[i] = x[i] * 2.0

def windows(x: "float64[:,:]", y: "float64[:]"):
    for i in range(y.shape[0]):
        y[i] = x[i, 0] + x[i, 1] + x[i, 2]

def turn(x: "complex128[:]", y: "float64[:]"):
    for i in range(y.shape[0]):
        y[i] = x[i].imag
"""

Arrays = tuple[Any, ...]
Place = Callable[[Any, int], Arrays]


@pytest.fixture(scope="module", params=["fortran", "c"])
def kernels(request: pytest.FixtureRequest) -> KernelNamespace:
    language: Language = request.param
    return kit.pyccel_kernel(SOURCE, language=language, policy="copy")


@pytest.fixture(scope="module")
def python() -> Mapping[str, Any]:
    scope: dict[str, Any] = {}
    exec(SOURCE.replace(": float,", ","), scope)
    return scope


def check(
    kernel: PyccelKernel, oracle: Callable[..., None], place: Callable[[Any], Arrays], memory: Any
) -> None:
    """Compiled and uncompiled leave the whole memory as the oracle does with copies of inputs."""
    expected = memory.copy()
    given = zip(kernel.signature.parameters, place(expected), strict=True)
    oracle(*(one if each.intent != "in" else np.array(one) for each, one in given))
    for run in (kernel, kernel.host, kernel.python):
        found = memory.copy()
        run(*place(found))
        assert np.array_equal(found, expected), run


def random_memory(size: int) -> Any:
    # Integers, so that sums are exact in whatever order a compiler adds.
    return np.random.default_rng(size).integers(-9, 9, size).astype("f8")


# ---- one input, one output -------------------------------------------------------------------


def pairs(n: int) -> dict[str, Callable[[Any], Arrays]]:
    """Places of an input and an output of n elements in a memory of 3 n + 8."""
    places: dict[str, Callable[[Any], Arrays]] = {}
    for k in range(-3, 4):
        places[f"shifted by {k}"] = lambda m, k=k: (m[4 + k : 4 + k + n], m[4 : 4 + n])
        places[f"reversed, shifted by {k}"] = lambda m, k=k: (
            m[4 + k : 4 + k + n][::-1],
            m[4 : 4 + n],
        )
    places |= {
        "the same object": lambda m: (m[:n],) * 2,
        "output reversed": lambda m: (m[:n], m[:n][::-1]),
        "both reversed": lambda m: (m[:n][::-1], m[1 : n + 1][::-1]),
        "input strided": lambda m: (m[: 2 * n : 2], m[:n]),
        "output strided": lambda m: (m[:n], m[: 2 * n : 2]),
        "both strided": lambda m: (m[: 2 * n : 2], m[2 : 2 * n + 2 : 2]),
        "different strides": lambda m: (m[: 3 * n : 3], m[: 2 * n : 2]),
        "interleaved": lambda m: (m[: 2 * n : 2], m[1 : 2 * n : 2]),
        "side by side": lambda m: (m[:n], m[n : 2 * n]),
        "input read-only": lambda m: (_read_only(m[1 : n + 1]), m[:n]),
        "output big-endian": lambda m: (m[:n], m[1 : n + 1].view(">f8")),
    }
    return places


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", ["shift", "whole", "prefix"])
def test_an_input_on_the_output_is_read_as_it_was(
    name: str, n: int, kernels: KernelNamespace, python: Mapping[str, Any]
) -> None:
    for place in pairs(n).values():
        check(kernels[name], python[name], place, random_memory(3 * n + 8))


@pytest.mark.parametrize("n", [3, 8, 32])
@pytest.mark.parametrize("name", ["mirror", "mirror_f"])
def test_a_matrix_may_be_its_own_transpose(
    name: str, n: int, kernels: KernelNamespace, python: Mapping[str, Any]
) -> None:
    def square(memory: Any, first: int = 0) -> Any:
        return memory[first : first + n * n].reshape(n, n)

    for place in (
        lambda m: (square(m),) * 2,
        lambda m: (square(m).T, square(m)),
        lambda m: (square(m), square(m).T),
        lambda m: (square(m, 1), square(m)),
        lambda m: (square(m)[::-1], square(m, n)),
        lambda m: (square(m)[:, ::-1].T, square(m)),
        lambda m: (square(m)[:2, :2], square(m)[1:3, 1:3]),
        lambda m: (square(m)[:, 0:1].repeat(1, axis=1)[:1], square(m)[:1, :1]),
        lambda m: (square(m)[:2, :2].T, square(m)[:2, 1:3].T),
    ):
        check(kernels[name], python[name], place, random_memory(n * n + n + 2))


# ---- three arrays ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_two_inputs_on_one_output_are_both_read_as_they_were(
    n: int, kernels: KernelNamespace, python: Mapping[str, Any]
) -> None:
    views = {
        "whole": lambda m: m[1 : n + 1],
        "before": lambda m: m[:n],
        "after": lambda m: m[3 : n + 3],
        "reversed": lambda m: m[:n][::-1],
        "strided": lambda m: m[: 2 * n : 2],
        "apart": lambda m: m[2 * n + 4 : 3 * n + 4],
    }
    for x, y, z in product(views.values(), repeat=3):
        check(
            kernels["axpy"],
            python["axpy"],
            lambda m, x=x, y=y, z=z: (3.0, x(m), y(m), z(m)),
            random_memory(3 * n + 8),
        )


@pytest.mark.parametrize("n", SIZES)
def test_one_input_on_two_outputs_is_read_as_it_was(
    n: int, kernels: KernelNamespace, python: Mapping[str, Any]
) -> None:
    for place in (
        lambda m: (m[n // 2 : n // 2 + n], m[:n], m[n : 2 * n]),
        lambda m: (m[:n], m[: 2 * n : 2], m[1 : 2 * n : 2]),
        lambda m: (m[:n], m[: 2 * n : 2][::-1], m[1 : 2 * n : 2][::-1]),
        lambda m: (m[:n], m[:n][::-1], m[n : 2 * n].view(">f8")),
    ):
        check(kernels["split"], python["split"], place, random_memory(3 * n + 8))


def test_two_outputs_that_interleave_are_both_written_back(
    kernels: KernelNamespace, python: Mapping[str, Any]
) -> None:
    """Both are copied, and what is written back for one leaves the other's elements alone."""
    memory = random_memory(40)

    def place(memory: Any) -> Arrays:
        return memory[30:40], memory[:20:2][::-1].view(">f8"), memory[1:20:2][::-1].view(">f8")

    planned = kernels["split"].plan(*place(memory)).arguments
    assert [one.action for one in planned] == ["PASS", "COPY", "COPY"]
    check(kernels["split"], python["split"], place, memory)


@pytest.mark.parametrize("n", [3, 64, 1000])
def test_an_input_that_overlaps_itself_and_the_output_is_read_as_it_was(
    n: int, kernels: KernelNamespace, python: Mapping[str, Any]
) -> None:
    def place(memory: Any) -> Arrays:
        return np.lib.stride_tricks.sliding_window_view(memory, 3)[:n], memory[1 : n + 1]

    check(kernels["windows"], python["windows"], place, random_memory(n + 2))


@pytest.mark.parametrize("n", [3, 64, 1000])
def test_parts_of_a_complex_input_are_outputs(
    n: int, kernels: KernelNamespace, python: Mapping[str, Any]
) -> None:
    memory = random_memory(2 * n + 2).view("c16")
    for place in (
        lambda m: (m[:n], m.real[:n]),
        lambda m: (m[:n], m.imag[1 : n + 1]),
        lambda m: (m[:n], m.view("f8")[:n]),
    ):
        check(kernels["turn"], python["turn"], place, memory)


def test_nothing_of_the_output_is_no_overlap(
    kernels: KernelNamespace, python: Mapping[str, Any]
) -> None:
    check(kernels["whole"], python["whole"], lambda m: (m[2:2], m[2:2]), random_memory(5))


@pytest.mark.parametrize("n", [3, 64, 1000])
def test_beside_an_empty_array_an_input_on_the_output_is_read_as_it_was(
    n: int, kernels: KernelNamespace, python: Mapping[str, Any]
) -> None:
    """In C such a call runs uncompiled, and there the output is written in place."""
    for place in (
        lambda m: (m[5:5], m[:n], m[1 : n + 1]),
        lambda m: (m[5:5], m[:n], m[1 : n + 1].view(">f8")),
    ):
        check(kernels["count"], python["count"], place, random_memory(n + 6))


def test_an_output_that_is_overwritten_entirely_may_lie_on_the_input(
    kernels: KernelNamespace, python: Mapping[str, Any]
) -> None:
    """Its elements are not copied in, and are still the input's."""
    whole = PyccelKernel(
        kernels["whole"].compiled,
        signature=kernels["whole"].signature,
        overwrites=["y"],
        policy="copy",
    )
    assert whole.signature.parameters[1].intent == "out"
    for place in pairs(70).values():
        expected, found = random_memory(218), random_memory(218)
        x, y = place(expected)
        python["whole"](np.array(x), y)
        whole(*place(found))
        assert np.array_equal(found, expected)


# ---- two outputs on one memory ---------------------------------------------------------------


def test_two_outputs_on_one_memory_are_refused_and_nothing_is_written(
    kernels: KernelNamespace,
) -> None:
    memory, x = random_memory(10), np.ones(8)
    before = memory.copy()
    for y, z in (
        (memory[:8], memory[:8]),
        (memory[:8], memory[2:]),
        (memory[:8], memory[7::-1]),
        (memory[:8][::-1], memory[2:][::-1]),
    ):
        for call in (kernels["split"], kernels["split"].host, kernels["split"].python):
            with pytest.raises(ArgumentRefused) as caught:
                call(x, y, z)
            assert isinstance(caught.value, ValueError)
            assert caught.value.argument == "z"
            assert caught.value.found == "z shares elements with y, and the kernel writes both"
    assert np.array_equal(memory, before)


def test_one_variable_for_two_outputs_is_mended_in_the_callers_words(
    kernels: KernelNamespace,
) -> None:
    split, u, v = kernels["split"], np.ones(3), np.zeros(3)
    with pytest.raises(ArgumentRefused) as caught:
        split(u, v, v)
    assert caught.value.fix == "z_copy = v.copy()\nsplit(u, v, z_copy)"
    scope: dict[str, Any] = {"split": split, "u": u, "v": v}
    exec(caught.value.fix, scope)
    assert list(v) == list(scope["z_copy"]) == [2.0, 2.0, 2.0]


def test_one_variable_for_input_and_output_is_mended_under_strict() -> None:
    strict = kit.pyccel_kernel(SOURCE, policy="strict")["whole"]
    u = np.ones(3)
    with pytest.raises(ArgumentRefused) as caught:
        strict(u, u)
    assert caught.value.fix == "x_copy = u.copy()\nwhole(x_copy, u)"
    exec(caught.value.fix, {"whole": strict, "u": u})
    assert list(u) == [3.0, 3.0, 3.0]


# ---- that these tests can fail ---------------------------------------------------------------


@pytest.mark.parametrize("n", [n for n in SIZES if n >= 64])
def test_the_bare_function_reads_what_it_has_just_written(
    n: int, kernels: KernelNamespace, python: Mapping[str, Any]
) -> None:
    """C goes element by element, as Python does in place; fortran may assume that nothing overlaps,
    and its vector loops (gfortran 12, from 64 elements on) then give a result of their own."""
    shift = kernels["shift"]
    results: dict[str, list[float]] = {}
    for name, run in (
        ("bare", shift.compiled),
        ("kit", shift),
        ("uncompiled", shift.python),
        ("snapshot", lambda x, y: python["shift"](x.copy(), y)),
    ):
        memory = random_memory(n + 1)
        run(memory[:n], memory[1:])
        results[name] = memory.tolist()
    assert results["kit"] == results["uncompiled"] == results["snapshot"] != results["bare"]

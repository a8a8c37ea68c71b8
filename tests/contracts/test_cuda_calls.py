"""What a call of a CUDA kernel promises, on the real compiler and the emulator.

Bad input of every sort is a clear error with a fix, before anything is launched.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from kit.arrayview import ArrayView
from kit.errors import ArgumentRefused, KitError, LaunchError
from kit.kernel_cuda import CudaKernel
from kit.targets import use_target
from tests.contracts.cuda_cells import build
from tests.unit.fake_cuda import FakeArray

PARTICLE = np.dtype([("kind", "i4"), ("energy", "f8")], align=True)


@pytest.fixture(autouse=True)
def on_the_emulator() -> Iterator[None]:
    with use_target("emulator"):
        yield


@pytest.fixture
def kernels() -> dict[str, CudaKernel]:
    return build()


# ---- results ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 255, 256, 257, 10_000])
def test_one_thread_for_each_element_whatever_the_size(
    kernels: dict[str, CudaKernel], n: int
) -> None:
    x, y = np.arange(float(n)), np.ones(n)
    kernels["saxpy"](0.5, x, y, n)
    assert np.array_equal(y, 1 + 0.5 * np.arange(n))


def test_a_view_of_any_layout_is_written_in_place_and_nowhere_else(
    kernels: dict[str, CudaKernel],
) -> None:
    whole = np.arange(600.0).reshape(20, 30)
    expected = whole.copy()
    expected[3:17:2, ::-3] *= -2.0
    view = whole[3:17:2, ::-3]
    kernels["scale2"](view, -2.0, block=(4, 8))
    assert np.array_equal(whole, expected)
    kernels["scale2"](whole.T, 1.5, block=(8, 8))
    assert np.array_equal(whole, 1.5 * expected)


def test_ghosts_of_a_view_are_no_threads(kernels: dict[str, CudaKernel]) -> None:
    storage = np.ones((8, 6))
    kernels["scale2"](ArrayView(array=storage, nghost=((2, 1), (1, 0))), 3.0, block=(8, 8))
    expected = np.ones((8, 6))
    expected[2:7, 1:] = 3.0
    assert np.array_equal(storage, expected)


def test_x_runs_along_the_first_axis_and_y_along_the_second(
    kernels: dict[str, CudaKernel],
) -> None:
    out = np.zeros((12, 8), np.int32)
    kernels["places"](out, grid=(4, 3), block=(2, 4))
    assert out[::4, ::2].tolist() == [[1 + x + 100 * y for x in range(4)] for y in range(3)]


def test_dynamic_shared_memory_is_what_the_call_says(kernels: dict[str, CudaKernel]) -> None:
    x, result = np.arange(100.0), np.zeros(1)
    kernels["total"](x, result, 100, grid=1, block=128, shared_bytes=128 * 8)
    assert result[0] == x.sum()


def test_launch_bounds_make_the_usual_block_smaller(kernels: dict[str, CudaKernel]) -> None:
    y = np.zeros(100, np.float32)
    kernels["narrow"](y, 100)
    assert (y == 64).all()
    with pytest.raises(LaunchError, match=r"__launch_bounds__\(64\)"):
        kernels["narrow"](y, 100, block=65)


def test_structs_and_vector_types_agree_with_numpy(kernels: dict[str, CudaKernel]) -> None:
    particles = np.zeros(5, PARTICLE)
    particles["kind"], particles["energy"] = np.arange(5), 0.5 * np.arange(5)
    points = np.zeros((5, 4), np.float32)
    extra = np.array((7, 0.25), PARTICLE)[()]
    kernels["energies"](particles, extra, points, 5)
    assert points[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert points[:, 1].tolist() == [0, 0.5, 1, 1.5, 2]
    assert points[0, 2:].tolist() == [7, 0.25]


def test_a_kernel_without_parameters_is_launched_by_its_options(
    kernels: dict[str, CudaKernel],
) -> None:
    kernels["nothing"](grid=2)
    with pytest.raises(LaunchError, match="no array to take the number of threads from"):
        kernels["nothing"]()


def test_variables_are_read_and_written_where_the_call_runs(
    kernels: dict[str, CudaKernel],
) -> None:
    kernel = kernels["polynomial"]
    symbols = kernel.symbols
    assert symbols["coef"].tolist() == [1, 2, 3, 4]
    symbols["coef"] = np.array([1, 0, 0, 2], np.float32)
    symbols["counter"] = 0
    x, y = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    kernel(x, y, 10)
    assert np.array_equal(y, 1 + 2 * x**3)
    assert symbols["counter"] == 10
    symbols["coef"][...] = [1, 2, 3, 4]
    kernel(x, y, 10)
    assert np.array_equal(y, 1 + x * (2 + x * (3 + x * 4)))


def test_an_unpickled_kernel_computes_the_same(kernels: dict[str, CudaKernel]) -> None:
    again = pickle.loads(pickle.dumps(kernels["saxpy"]))
    assert again == kernels["saxpy"]
    x, y = np.ones(10), np.zeros(10)
    again(2.0, x, y, 10)
    assert (y == 2).all()


# ---- bad input: refused, with a fix, and nothing launched ---------------------------------------


GOOD = {"a": 2.0, "x": np.ones(10), "y": np.zeros(10), "n": 10}


@pytest.mark.parametrize(
    ("argument", "value", "found"),
    [
        ("x", np.ones(10, np.float32), "float32"),
        ("x", np.ones(10, ">f8"), "byte order"),
        ("x", np.ones(20)[::2], "gaps"),
        ("x", np.ones((10, 10), order="F"), "order"),
        ("x", [1.0] * 10, "list"),
        ("x", None, "None"),
        ("x", 1.0, "1.0"),
        ("y", np.broadcast_to(1.0, (10,)), "not writeable"),
        ("n", 10.5, "10.5"),
        ("n", 2**31, "2147483648"),
        ("n", "10", "str"),
        ("a", 1j, "complex"),
    ],
)
def test_an_argument_that_does_not_fit_is_refused_by_name_with_a_fix(
    kernels: dict[str, CudaKernel], argument: str, value: Any, found: str
) -> None:
    y = GOOD["y"]
    with pytest.raises(ArgumentRefused) as caught:
        kernels["saxpy"](**{**GOOD, argument: value})
    error = caught.value
    assert (error.kernel, error.argument) == ("saxpy", argument)
    assert found.lower() in str(error).lower()
    assert error.need
    compile(error.fix, "<fix>", "exec")
    assert isinstance(error, TypeError | ValueError)
    assert not np.any(y)


def test_device_arrays_are_refused_on_the_host_with_the_way_there(
    kernels: dict[str, CudaKernel],
) -> None:
    with pytest.raises(ArgumentRefused, match="device") as caught:
        kernels["saxpy"](2.0, FakeArray(4096), np.zeros(4), 4)
    assert caught.value.argument == "x"
    assert "get()" in caught.value.fix or "device(" in caught.value.fix


def test_a_written_restrict_argument_shares_no_element_with_another(
    kernels: dict[str, CudaKernel],
) -> None:
    memory = np.arange(20.0)
    with pytest.raises(ArgumentRefused, match="share"):
        kernels["apart"](memory[:10], memory[5:15], 10)
    assert np.array_equal(memory, np.arange(20.0))
    kernels["apart"](memory[:10], memory[10:], 10)
    assert np.array_equal(memory[10:], 2 * memory[:10])


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        ((2.0, np.ones(10), np.zeros(10)), {}),
        ((2.0, np.ones(10), np.zeros(10), 10, 11), {}),
        ((2.0, np.ones(10), np.zeros(10)), {"m": 10}),
        ((2.0, np.ones(10), np.zeros(10), 10), {"a": 2.0}),
    ],
)
def test_the_wrong_number_of_arguments_is_a_type_error_in_pythons_words(
    kernels: dict[str, CudaKernel], args: Any, kwargs: Any
) -> None:
    with pytest.raises(TypeError, match=r"saxpy\(\): "):
        kernels["saxpy"](*args, **kwargs)


@pytest.mark.parametrize(
    "options",
    [
        {"block": 1025},
        {"block": (64, 64)},
        {"block": (1, 1, 65)},
        {"block": 0},
        {"block": -32},
        {"grid": 0},
        {"grid": (1, 0)},
        {"grid": 2**31},
        {"grid": (1, 65536)},
        {"grid": 1, "n_threads": 10},
        {"shared_bytes": 300_000},
        {"shared_bytes": -1},
        {"n_threads": -5},
        {"block": 32.0},
        {"grid": "1"},
        {"grid": (1, 1, 1, 1)},
    ],
)
def test_a_launch_beyond_the_limits_is_refused_with_what_to_write(
    kernels: dict[str, CudaKernel], options: dict[str, Any]
) -> None:
    y = np.zeros(10)
    with pytest.raises(LaunchError) as caught:
        kernels["saxpy"](2.0, np.ones(10), y, 10, **options)
    error = caught.value
    assert (error.kernel, error.kind, error.block, error.thread) == ("saxpy", "limit", None, None)
    assert "found:" in str(error)
    assert "need:" in str(error)
    assert error.fix
    assert not y.any()


def test_the_fix_of_a_launch_works(kernels: dict[str, CudaKernel]) -> None:
    for options in ({"block": 2048}, {"shared_bytes": 300_000}):
        with pytest.raises(LaunchError) as caught:
            kernels["saxpy"](2.0, np.ones(10), np.zeros(10), 10, **options)
        scope: dict[str, Any] = {}
        assert caught.value.fix is not None
        exec(caught.value.fix, scope)
        y = np.zeros(10)
        kernels["saxpy"](2.0, np.ones(10), y, 10, **{one: scope[one] for one in options})
        assert (y == 2).all()


def test_no_threads_launch_nothing(kernels: dict[str, CudaKernel]) -> None:
    kernels["saxpy"](2.0, np.ones(0), np.zeros(0), 0)
    y = np.zeros(10)
    kernels["saxpy"](2.0, np.ones(10), y, 10, n_threads=0)
    assert not y.any()


@pytest.mark.parametrize("target", ["host", "python"])
def test_targets_that_a_cuda_kernel_lacks_are_refused(
    kernels: dict[str, CudaKernel], target: Any
) -> None:
    with use_target(target), pytest.raises(KitError, match="--pair"):
        kernels["saxpy"](2.0, np.ones(10), np.zeros(10), 10)


def test_unknown_names_are_answered_with_those_that_there_are(
    kernels: dict[str, CudaKernel],
) -> None:
    with pytest.raises(KeyError, match="did you mean 'coef'"):
        kernels["saxpy"].symbols["coeff"]


def test_a_plan_says_the_same_as_the_call_and_runs_nothing(
    kernels: dict[str, CudaKernel],
) -> None:
    y = np.zeros(10)
    plan = kernels["saxpy"].plan(2.0, np.ones(10, np.float32), y, 10, block=64)
    assert plan.target == "emulator"
    refusal = plan.refusal()
    assert refusal is not None
    with pytest.raises(ArgumentRefused) as caught:
        kernels["saxpy"](2.0, np.ones(10, np.float32), y, 10)
    assert str(refusal) == str(caught.value)
    assert not y.any()

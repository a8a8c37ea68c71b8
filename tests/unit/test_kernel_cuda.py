"""CudaKernel around targets that record launches."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit import cuda_target
from kit.arrayview import ArrayView
from kit.backends.find_device import DeviceFacts
from kit.cuda.options import CudaOptions
from kit.errors import ArgumentRefused, KitError, LaunchError
from kit.kernel import PyccelKernel
from kit.kernel_cuda import CudaKernel
from kit.launch import Launch
from kit.targets import use_target
from kit.trace import KernelResources
from tests.unit.cuda_cells import (
    DOUBLE,
    FLOAT4,
    INT,
    SAXPY,
    SOURCE,
    RecordingCell,
    make_kernel,
    parameter,
    signature,
)
from tests.unit.fake_cuda import FakeArray

H200 = DeviceFacts(0, "NVIDIA H200", "sm_90")


@pytest.fixture(autouse=True)
def without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_target, "find_device", lambda: None)


@pytest.fixture
def with_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_target, "find_device", lambda: H200)


def arrays(n: int = 1000) -> tuple[Any, Any]:
    return np.ones(n), np.zeros(n)


# ---- calls ----------------------------------------------------------------------------------


def test_a_call_packs_its_arguments_and_launches_one_thread_for_each_element() -> None:
    kernel, emulator = make_kernel()
    x, y = arrays()
    assert kernel(2.0, x, y, 1000) is None
    (seen,) = emulator.launches
    assert seen.launch == Launch((4, 1, 1), (256, 1, 1))
    assert seen.arguments == (
        np.float64(2.0).tobytes(),
        np.uint64(x.ctypes.data).tobytes(),
        np.uint64(y.ctypes.data).tobytes(),
        np.int32(1000).tobytes(),
    )


def test_keywords_bind_in_the_order_of_the_parameters() -> None:
    kernel, emulator = make_kernel()
    x, y = arrays()
    kernel(2.0, n=1000, y=y, x=x)
    kernel(2.0, x, y, 1000)
    assert emulator.launches[0].arguments == emulator.launches[1].arguments


@pytest.mark.parametrize(
    ("options", "launch"),
    [
        ({"n_threads": 512}, Launch((2, 1, 1), (256, 1, 1))),
        ({"grid": 3, "block": 64}, Launch((3, 1, 1), (64, 1, 1))),
        ({"grid": (2, 2), "shared_bytes": 128}, Launch((2, 2, 1), (16, 16, 1), 128)),
        ({"block": (32, 2)}, Launch((32, 1, 1), (32, 2, 1))),
        ({"stream": object()}, Launch((4, 1, 1), (256, 1, 1))),  # of no interest to the emulator
    ],
)
def test_options_of_the_launch_are_no_arguments(options: dict[str, Any], launch: Launch) -> None:
    kernel, emulator = make_kernel()
    for call in (kernel, kernel.emulator):
        call(2.0, *arrays(), 1000, **options)
        assert emulator.launches[-1].launch == launch
    kernel.plan(2.0, *arrays(), 1000, **options)
    assert len(emulator.launches) == 2


def test_the_cells_block_is_the_one_of_calls_that_give_none() -> None:
    kernel, emulator = make_kernel(options=CudaOptions(block=(32, 4)))
    kernel(2.0, *arrays(), 1000)
    kernel(2.0, *arrays(), 1000, block=128)
    assert [one.launch.block for one in emulator.launches] == [(32, 4, 1), (128, 1, 1)]


def test_repeated_calls_follow_shapes_and_options() -> None:
    kernel, emulator = make_kernel()
    grids: list[int] = []
    for n, options in (
        (1000, {}),
        (1000, {}),
        (257, {}),
        (1000, {"block": 128}),
        (1000, {}),
        (1000, {"n_threads": 1}),
        (1000, {"n_threads": 600}),
    ):
        kernel(2.0, *arrays(n), n, **options)
        grids.append(emulator.launches[-1].launch.grid[0])
    assert grids == [4, 4, 2, 8, 4, 1, 3]


def test_what_is_equal_to_an_earlier_option_and_of_the_wrong_type_is_still_refused() -> None:
    kernel, emulator = make_kernel()
    kernel(2.0, *arrays(), 1000, grid=1)
    for grid in (1.0, True):
        with pytest.raises(LaunchError):
            kernel(2.0, *arrays(), 1000, grid=grid)
    assert len(emulator.launches) == 1


def test_a_list_that_changes_between_calls_is_read_anew() -> None:
    kernel, emulator = make_kernel()
    block = [32]
    kernel(2.0, *arrays(), 1000, block=block)
    block[0] = 64
    kernel(2.0, *arrays(), 1000, block=block)
    assert [one.launch.block[0] for one in emulator.launches] == [32, 64]


def test_empty_arrays_launch_nothing() -> None:
    kernel, emulator = make_kernel()
    kernel(2.0, *arrays(0), 0)
    kernel(2.0, *arrays(), 1000, n_threads=0)
    assert not emulator.launches


def test_threads_are_counted_over_elements_of_vector_types_and_bodies_of_views() -> None:
    points = signature("points", [parameter("p", "pointer", FLOAT4, written=True)])
    kernel, emulator = make_kernel(points)
    kernel(np.zeros((600, 4), np.float32), block=(256, 2))
    assert emulator.launches[-1].launch.grid == (3, 1, 1)
    lines = signature("lines", [parameter("u", "view", DOUBLE, written=True, ndim=1)])
    kernel, emulator = make_kernel(lines)
    kernel(ArrayView((512,), dtype="float64", value=0.0, nghost=3))
    assert emulator.launches[-1].launch.grid == (2, 1, 1)


def test_threads_are_counted_by_the_memory_whatever_an_array_says() -> None:
    class Long(np.ndarray[Any, Any]):
        @property
        def shape(self) -> Any:  # type: ignore[override]
            return (10**6,)

    kernel, emulator = make_kernel()
    x, y = arrays(600)
    kernel(2.0, x.view(Long), y, 600)
    assert emulator.launches[0].launch.grid == (3, 1, 1)


def test_a_parameter_that_is_called_like_an_option_is_given_by_position() -> None:
    named = signature("f", [parameter("grid", "scalar", INT), parameter("n", "scalar", INT)])
    kernel, emulator = make_kernel(named)
    kernel(7, 8, grid=2)
    assert emulator.launches[0].arguments[0] == np.int32(7).tobytes()
    assert emulator.launches[0].launch.grid == (2, 1, 1)
    assert "grid" in inspect.signature(kernel).parameters


# ---- refused before anything is launched ----------------------------------------------------


def test_arguments_and_launches_beyond_limits_are_refused_and_nothing_is_launched() -> None:
    kernel, emulator = make_kernel()
    x, y = arrays()
    with pytest.raises(TypeError, match="saxpy"):
        kernel(2.0, x, y)
    with pytest.raises(TypeError, match="saxpy"):
        kernel(2.0, x, y, 1000, m=3)
    with pytest.raises(ArgumentRefused):
        kernel(2.0, x.astype(np.float32), y, 1000)
    for options in (
        {"block": 2048},
        {"grid": 0},
        {"shared_bytes": 10**6},
        {"grid": 1, "n_threads": 1},
    ):
        with pytest.raises(LaunchError) as caught:
            kernel(2.0, x, y, 1000, **options)
        assert (caught.value.kernel, caught.value.kind) == ("saxpy", "limit")
        assert caught.value.fix
    assert not emulator.launches


def test_an_error_shows_the_callers_lines_and_no_frame_of_what_was_asked() -> None:
    kernel, _ = make_kernel()
    x, y = arrays()
    for args, options in (((2.0, None, y, 4), {}), ((2.0, x, y, 4), {"grid": 0})):
        with pytest.raises(KitError) as caught:
            kernel(*args, **options)
        shown = [one for one in caught.traceback if "__tracebackhide__" not in one.locals]
        assert {Path(one.path) for one in shown} == {Path(__file__)}


def test_launch_bounds_make_the_usual_block_smaller() -> None:
    bounded = SAXPY._replace(max_threads=128)
    kernel, emulator = make_kernel(bounded)
    kernel(2.0, *arrays(), 1000)
    assert emulator.launches[0].launch.block == (128, 1, 1)
    with pytest.raises(LaunchError, match=r"__launch_bounds__\(128\)"):
        kernel(2.0, *arrays(), 1000, block=129)


def test_limits_are_those_of_what_the_cell_was_compiled_for(with_a_gpu: None) -> None:
    resources = {
        "sm_75": KernelResources(255, 0, 0, 0, 1024, 256, 0.25),
        "sm_90": KernelResources(40, 0, 0, 0, 1024, 256, 0.75),
    }
    device = RecordingCell("device", "sm_75")
    kernel, emulator = make_kernel(device=device, resources=resources)
    # In the emulator what one of the architectures can do passes.
    kernel.emulator(2.0, *arrays(), 1000, block=1024, shared_bytes=200_000)
    assert emulator.launches
    x, y = FakeArray(4096), FakeArray(8192)
    with pytest.raises(LaunchError, match="255 registers"):
        kernel(2.0, x, y, 4, block=512)
    with pytest.raises(LaunchError, match="sm_75, where a block has 65536 bytes and the kernel"):
        kernel(2.0, x, y, 4, shared_bytes=65_000)
    device.architecture = "sm_90"
    large: dict[str, Any] = {"block": 512, "shared_bytes": 65_000}
    kernel(2.0, x, y, 4, **large)
    device.architecture = "sm_75"  # another device is current now
    with pytest.raises(LaunchError, match="255 registers"):
        kernel(2.0, x, y, 4, **large)
    assert len(device.launches) == 1


# ---- targets --------------------------------------------------------------------------------


def test_the_device_gets_the_stream_what_to_wait_for_and_what_to_keep(with_a_gpu: None) -> None:
    device = RecordingCell("device", "sm_90")
    kernel, emulator = make_kernel(device=device)
    x, y, stream = FakeArray(4096), FakeArray(8192), object()
    x.__cuda_array_interface__["stream"] = 77
    kernel(2.0, x, y, 4, stream=stream)
    (seen,) = device.launches
    assert seen.options["stream"] is stream
    assert seen.options["after"] == (77,)
    assert seen.options["holding"][1:3] == (x, y)
    assert seen.launch == Launch((1, 1, 1), (256, 1, 1))
    assert not emulator.launches


def test_where_nobody_chooses_the_gpu_runs_it_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel, _ = make_kernel(device=RecordingCell("device", "sm_90"))
    assert kernel.chosen == ("emulator", "no GPU here")
    monkeypatch.setattr(cuda_target, "find_device", lambda: H200)
    assert kernel.chosen == ("device", "a GPU is here")
    monkeypatch.delenv("KIT_STABLE_OUTPUT", raising=False)
    assert kernel.chosen == ("device", "NVIDIA H200")


def test_the_call_comes_before_the_block_and_the_block_before_the_cell(with_a_gpu: None) -> None:
    device = RecordingCell("device", "sm_90")
    kernel, emulator = make_kernel(device=device, options=CudaOptions(target="emulator"))
    kernel(2.0, *arrays(), 1000)
    x, y = FakeArray(4096), FakeArray(8192)
    with use_target("device"):
        assert kernel.chosen.target == "device"
        kernel(2.0, x, y, 4)
        kernel.emulator(2.0, *arrays(), 1000)
    kernel.device(2.0, x, y, 4)
    assert (len(emulator.launches), len(device.launches)) == (2, 2)


def test_there_is_no_silent_fallback(with_a_gpu: None) -> None:
    def no_cupy() -> Any:
        raise KitError("the target 'device' needs CuPy")

    kernel, emulator = make_kernel(device=RecordingCell("device", "sm_90"))
    kernel.cell.loaders["device"] = no_cupy  # type: ignore[index]
    with pytest.raises(KitError, match="CuPy"):
        kernel(2.0, FakeArray(4096), FakeArray(8192), 4)
    assert not emulator.launches


def test_a_device_that_is_not_there_is_told_before_arrays_that_it_could_not_have() -> None:
    kernel, _ = make_kernel()
    with pytest.raises(KitError, match="not built for the target 'device'"):
        kernel.device(2.0, *arrays(), 1000)


@pytest.mark.parametrize("target", ["host", "python"])
def test_targets_of_pyccel_kernels_are_refused_with_what_to_do(target: Any) -> None:
    kernel, emulator = make_kernel()
    calls = [kernel, getattr(kernel, target)]
    for call in calls:
        with use_target(target), pytest.raises(KitError, match="--pair"):
            call(2.0, *arrays(), 1000)
    assert not emulator.launches


def test_a_cell_that_was_only_compiled_runs_nowhere() -> None:
    kernel, emulator = make_kernel(options=CudaOptions(target="compile"))
    with pytest.raises(KitError, match="only compiled"):
        kernel(2.0, *arrays(), 1000)
    assert not emulator.launches


def test_a_target_that_the_cell_was_not_built_for_is_refused() -> None:
    kernel, _ = make_kernel()
    with pytest.raises(KitError, match="not built for the target 'device'"):
        kernel.device(2.0, FakeArray(4096), FakeArray(8192), 4)


def test_a_cell_is_loaded_at_its_first_call() -> None:
    loads: list[int] = []
    kernel, emulator = make_kernel()

    def load() -> Any:
        loads.append(1)
        return emulator

    kernel.cell.loaders["emulator"] = load  # type: ignore[index]
    kernel.plan(2.0, *arrays(), 1000)
    repr(kernel)
    assert not loads
    kernel(2.0, *arrays(), 1000)
    assert loads


# ---- what it is -----------------------------------------------------------------------------


def test_a_cuda_kernel_is_a_pyccel_kernel_and_tells_what_those_tell() -> None:
    kernel, _ = make_kernel()
    assert isinstance(kernel, PyccelKernel)
    assert kernel.__name__ == kernel.__qualname__ == "saxpy"
    assert kernel.__doc__ == "Adds a times x to y."
    assert kernel.signature is kernel.cuda_signature is SAXPY  # pyright: ignore[reportUnnecessaryComparison]
    assert kernel.outputs == ("y",)
    assert kernel.targets == ("emulator",)
    assert kernel.source == SAXPY.source
    assert kernel.cell_source == SOURCE
    assert kernel.log == "said nothing"
    assert kernel.build is kernel.cell.record
    assert kernel.cache_info() == (True, "store", "0123456789abcdef")
    assert kernel.language == "cuda"
    assert kernel.previous is None


def test_the_signature_for_tools_has_the_options_of_a_launch() -> None:
    kernel, _ = make_kernel()
    found = inspect.signature(kernel)
    assert list(found.parameters) == [
        *("a", "x", "y", "n"),
        *("grid", "block", "n_threads", "shared_bytes", "stream"),
    ]
    assert found.parameters["x"].annotation == "double*"


def test_the_repr_tells_where_it_runs_and_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KIT_STABLE_OUTPUT", raising=False)
    resources = {"sm_90": KernelResources(40, 0, 0, 0, 0, 256, 0.75)}
    kernel, _ = make_kernel(options=CudaOptions(block=(16, 16)), resources=resources)
    assert repr(kernel) == (
        "<CudaKernel saxpy(a: double, x: double*, y: double* [inout], n: int)\n"
        "  writes    y\n"
        "  targets   emulator\n"
        "  runs      on emulator (no GPU here)\n"
        "  block     16, 16\n"
        "  compiled  sm_90 (40 registers)\n"
        "  build     0123456789ab (store)>"
    )
    monkeypatch.setenv("KIT_STABLE_OUTPUT", "1")
    assert "registers" not in repr(kernel)
    assert "build" not in repr(kernel)


def test_a_stub_declares_it_for_type_checkers() -> None:
    scope: dict[str, Any] = {}
    kernel, _ = make_kernel()
    exec(kernel.stub(), scope)
    found = inspect.signature(scope["saxpy"])
    assert list(found.parameters) == list(inspect.signature(kernel).parameters)


def test_kernels_are_equal_by_cell_and_options_and_pickle_as_text() -> None:
    kernel, _ = make_kernel()
    again = pickle.loads(pickle.dumps(kernel))
    assert isinstance(again, CudaKernel)
    assert again == kernel
    assert again is not kernel
    assert hash(again) == hash(kernel)
    assert copy.copy(kernel) is copy.deepcopy(kernel) is kernel
    for other in (
        make_kernel(key="other")[0],
        make_kernel(options=CudaOptions(block=(64,)))[0],
        make_kernel(SAXPY._replace(name="other"))[0],
    ):
        assert other != kernel


# ---- KIT_TARGET is read when kit is imported ----------------------------------------------------


@pytest.fixture
def chosen_by_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from kit import targets

    monkeypatch.setattr(targets, "_ENVIRONMENT", "emulator")
    targets.CHOICES.append("emulator")
    yield
    targets.CHOICES.remove("emulator")


def test_the_environment_comes_before_the_cell(
    with_a_gpu: None, chosen_by_environment: None
) -> None:
    kernel, emulator = make_kernel(device=RecordingCell("device", "sm_90"))
    kernel(2.0, *arrays(), 1000)
    assert len(emulator.launches) == 1
    assert kernel.chosen.reason == "kit.use_target or KIT_TARGET"

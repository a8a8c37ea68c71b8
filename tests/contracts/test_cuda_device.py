"""CUDA kernels on a real GPU; `make gpu-check` runs these, and no other machine can."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kit
from kit.architectures import ARCHITECTURES, estimate_occupancy
from kit.backends.cupy_device import DeviceCell
from kit.backends.find_device import find_device, find_devices
from kit.errors import ArgumentRefused, KitError, LaunchError
from kit.kernel_cuda import CudaKernel
from kit.targets import use_target
from tests.contracts.cuda_cells import build

pytestmark = pytest.mark.gpu

PARTICLE = np.dtype([("kind", "i4"), ("energy", "f8")], align=True)


@pytest.fixture
def cp() -> Iterator[Any]:
    """CuPy, which these tests import only where there is a GPU."""
    import cupy

    yield cupy
    kit.synchronize()


@pytest.fixture
def architecture() -> str:
    device = find_device()
    assert device is not None
    return device.architecture


@pytest.fixture
def kernels(architecture: str) -> dict[str, CudaKernel]:
    return build((architecture,))


# ---- what the machine is ----------------------------------------------------------------------


def test_the_driver_and_cupy_see_the_same_devices(cp: Any) -> None:
    devices = find_devices()
    assert len(devices) == cp.cuda.runtime.getDeviceCount()
    for one in devices:
        assert one.architecture == "sm_" + cp.cuda.Device(one.number).compute_capability


def test_the_table_of_limits_is_true_of_this_gpu(cp: Any, architecture: str) -> None:
    attributes = cp.cuda.Device().attributes
    one = ARCHITECTURES[architecture]
    assert attributes["MaxThreadsPerMultiProcessor"] == one.threads
    assert attributes["MaxBlocksPerMultiprocessor"] == one.blocks
    assert attributes["MaxSharedMemoryPerMultiprocessor"] == one.shared_bytes
    assert attributes["MaxSharedMemoryPerBlockOptin"] == one.block_shared_bytes
    assert attributes["ReservedSharedMemoryPerBlock"] == one.reserved_bytes
    assert attributes["MaxRegistersPerMultiprocessor"] == 65536
    assert attributes["MaxBlockDimZ"] == 64
    assert attributes["MaxGridDimY"] == 65535


def test_registers_and_occupancy_are_what_the_driver_says(
    cp: Any, architecture: str, kernels: dict[str, CudaKernel]
) -> None:
    driver: Any = importlib.import_module("cupy_backends.cuda.api.driver")
    for name, kernel in kernels.items():
        cell: Any = kernel.load("device")
        assert isinstance(cell, DeviceCell)
        function = cell.here().function(kernel.cuda_signature.lowered)
        assert kernel.build is not None
        resources = kernel.build.resources[name][architecture]
        registers = driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_NUM_REGS, function)
        static = driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function)
        assert (resources.registers, resources.shared_bytes) == (registers, static), name
        for threads in (32, 96, 256):
            if threads > (kernel.cuda_signature.max_threads or 1024):
                continue
            expected = driver.occupancyMaxActiveBlocksPerMultiprocessor(function, threads, 0)
            found = estimate_occupancy(
                ARCHITECTURES[architecture],
                threads=threads,
                registers=registers,
                shared_bytes=static,
            )
            assert found.blocks == expected, (name, threads)


# ---- results ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 257, 100_000])
def test_a_call_without_a_target_runs_on_the_gpu(
    cp: Any, kernels: dict[str, CudaKernel], n: int
) -> None:
    assert kernels["saxpy"].chosen.target == "device"
    x, y = cp.arange(float(n)), cp.ones(n)
    kernels["saxpy"](0.5, x, y, n)
    assert np.array_equal(y.get(), 1 + 0.5 * np.arange(n))


def test_the_gpu_and_the_emulator_agree(cp: Any, kernels: dict[str, CudaKernel]) -> None:
    chance = np.random.default_rng(0)
    x, y = chance.random(1000), chance.random(1000)
    on_host, on_device = y.copy(), cp.asarray(y)
    kernels["saxpy"].emulator(0.1, x, on_host, 1000)
    kernels["saxpy"].device(0.1, cp.asarray(x), on_device, 1000)
    assert np.allclose(on_host, on_device.get(), rtol=1e-15)


def test_views_of_any_layout_are_written_in_place(cp: Any, kernels: dict[str, CudaKernel]) -> None:
    whole = cp.arange(600.0).reshape(20, 30)
    expected = whole.get()
    expected[3:17:2, ::-3] *= -2.0
    kernels["scale2"](whole[3:17:2, ::-3], -2.0, block=(4, 8))
    assert np.array_equal(whole.get(), expected)
    kernels["scale2"](whole.T, 1.5, block=(8, 8))
    assert np.array_equal(whole.get(), 1.5 * expected)


def test_structs_and_vector_types_reach_the_gpu(cp: Any, kernels: dict[str, CudaKernel]) -> None:
    particles = np.zeros(5, PARTICLE)
    particles["kind"], particles["energy"] = np.arange(5), 0.5 * np.arange(5)
    held = cp.asarray(particles.view(np.uint8))

    class Records:  # CuPy has none
        def __init__(self) -> None:
            self.__cuda_array_interface__ = {
                "shape": (5,),
                "typestr": f"|V{PARTICLE.itemsize}",
                "data": (held.data.ptr, False),
                "version": 3,
            }

    points = cp.zeros((5, 4), np.float32)
    kernels["energies"](Records(), np.array((7, 0.25), PARTICLE)[()], points, 5)
    assert points.get()[:, 1].tolist() == [0, 0.5, 1, 1.5, 2]
    assert points.get()[0, 2:].tolist() == [7, 0.25]


def test_dynamic_shared_memory_beyond_48_kib(cp: Any, kernels: dict[str, CudaKernel]) -> None:
    x, result = cp.arange(100.0), cp.zeros(1)
    for shared in (1024, 60_000, 1024):
        kernels["total"](x, result, 100, grid=1, block=128, shared_bytes=shared)
        assert float(result[0]) == 4950.0


def test_variables_are_the_devices_own(cp: Any, kernels: dict[str, CudaKernel]) -> None:
    kernel = kernels["polynomial"]
    emulated = kernel.symbols.on("emulator")["coef"].tolist()
    kernel.symbols["coef"] = np.array([1, 0, 0, 2], np.float32)
    kernel.symbols["counter"] = 0
    x, y = cp.arange(10, dtype=np.float32), cp.zeros(10, np.float32)
    kernel(x, y, 10)
    assert np.allclose(y.get(), 1 + 2 * np.arange(10.0) ** 3)
    assert int(kernel.symbols["counter"]) == 10
    kernel.symbols["coef"][...] = cp.array([1, 2, 3, 4], np.float32)
    kernel(x, y, 10)
    n = np.arange(10.0)
    assert np.allclose(y.get(), 1 + n * (2 + n * (3 + n * 4)))
    assert kernel.symbols.on("emulator")["coef"].tolist() == emulated


# ---- streams, and what lives how long -----------------------------------------------------------


def test_launches_go_to_the_stream_that_is_current_or_given(
    cp: Any, kernels: dict[str, CudaKernel]
) -> None:
    stream, x, y = cp.cuda.Stream(non_blocking=True), cp.ones(1000), cp.zeros(1000)
    cp.cuda.Device().synchronize()
    with stream:
        kernels["saxpy"](1.0, x, y, 1000)
    for given in (stream, stream.ptr):
        kernels["saxpy"](1.0, x, y, 1000, stream=given)
    stream.synchronize()
    assert (y.get() == 3).all()


def test_arrays_live_until_launches_on_another_stream_have_ended(
    cp: Any, kernels: dict[str, CudaKernel]
) -> None:
    n = 2_000_000
    stream, total = cp.cuda.Stream(non_blocking=True), cp.zeros(n)
    cp.cuda.Device().synchronize()
    for number in range(200):
        x = cp.full(n, float(number))
        cp.cuda.Stream.null.synchronize()
        kernels["saxpy"](1.0, x, total, n, stream=stream)
        del x  # CuPy gives its memory to the next one
    kit.synchronize()
    assert (total == sum(range(200))).all()


def test_what_ran_on_another_stream_is_waited_for(cp: Any, kernels: dict[str, CudaKernel]) -> None:
    class OnStream:
        def __init__(self, array: Any, stream: Any) -> None:
            self.array = array
            self.__cuda_array_interface__ = {
                **array.__cuda_array_interface__,
                "stream": stream.ptr,
            }

    n = 20_000_000
    first, second = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    x, y = cp.zeros(n), cp.zeros(n)
    cp.cuda.Device().synchronize()
    for _ in range(20):
        kernels["saxpy"](1.0, y, x, n, stream=first)
    with first:
        x += 1.0
    kernels["saxpy"](1.0, OnStream(x, first), y, n, stream=second)
    kit.synchronize()
    assert (y == 1).all()


# ---- refused ----------------------------------------------------------------------------------


def test_host_arrays_are_refused_and_nothing_is_copied(
    cp: Any, kernels: dict[str, CudaKernel]
) -> None:
    with pytest.raises(ArgumentRefused, match=r"cupy\.asarray") as caught:
        kernels["saxpy"](1.0, np.ones(10), cp.zeros(10), 10)
    assert caught.value.argument == "x"


def test_limits_of_this_gpu_are_refused_before_the_driver_is_asked(
    cp: Any, architecture: str, kernels: dict[str, CudaKernel]
) -> None:
    x, y = cp.ones(10), cp.zeros(10)
    for options in ({"block": 1025}, {"grid": 0}, {"shared_bytes": 10**6}):
        with pytest.raises(LaunchError) as caught:
            kernels["saxpy"](1.0, x, y, 10, **options)
        assert caught.value.kind == "limit"
    kernels["saxpy"](1.0, x, y, 10)
    assert (y.get() == 1).all()


def test_code_of_another_generation_is_refused_with_the_option_to_add(architecture: str) -> None:
    other = "sm_80" if architecture != "sm_80" else "sm_90"
    kernel = build((other,))["nothing"]
    with use_target("device"), pytest.raises(KitError, match=f"--arch {architecture}"):
        kernel(grid=1)


def test_arrays_of_another_gpu_are_refused(cp: Any, kernels: dict[str, CudaKernel]) -> None:
    if len(find_devices()) < 2:
        pytest.skip("one GPU")
    with cp.cuda.Device(1):
        x = cp.ones(10)
    with pytest.raises(ArgumentRefused, match="device 1"):
        kernels["saxpy"](1.0, x, cp.zeros(10), 10)
    with cp.cuda.Device(1):
        y = cp.zeros(10)
        kernels["saxpy"](1.0, x, y, 10)
    assert (y.get() == 1).all()


# ---- faults, in processes of their own ----------------------------------------------------------

FAULT = """
import cupy
from tests.contracts.cuda_cells import build
from kit.backends.find_device import find_device
import kit

kernel = build((find_device().architecture,), debug={debug})["saxpy"]
beyond = cupy.ndarray(
    (10,), "f8", cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(1 << 52, 80, None, 0), 0)
)
try:
    kernel(1.0, beyond, cupy.zeros(10), 10)
    kit.synchronize()
except kit.LaunchError as error:
    print(error.kernel, error.kind, "which:" in str(error), "every array" in str(error))
"""


@pytest.mark.parametrize("debug", [False, True])
def test_an_illegal_address_names_the_kernel_and_what_is_lost(debug: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAULT.format(debug=debug)],
        cwd=Path(kit.__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == f"saxpy bounds {not debug} True", done.stderr

"""The Pyccel and the CUDA version of a kernel as one object."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import kit
from kit import cuda_target
from kit.cuda.options import CudaOptions
from kit.errors import ArgumentRefused, KitError
from kit.kernel import PyccelKernel
from kit.paired_kernel import PairedKernel
from kit.targets import use_target
from tests.unit.cuda_cells import RecordingCell, make_kernel
from tests.unit.fake_cuda import FakeArray
from tests.unit.signatures import read

SOURCE = "def saxpy(a: 'float', x: 'float64[:]', y: 'float64[:]', n: 'int'): ..."
HOST_CALLS: list[int] = []


def on_host(a: float, x: Any, y: Any, n: int) -> None:
    """Stands in for compiled code."""
    HOST_CALLS.append(n)
    y += a * x


@pytest.fixture(autouse=True)
def without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_target, "find_device", lambda: None)
    HOST_CALLS.clear()


def make(**options: Any) -> tuple[PairedKernel, RecordingCell, RecordingCell]:
    device = RecordingCell("device", "sm_90")
    cuda, emulator = make_kernel(device=device, options=CudaOptions(**options))
    pyccel = PyccelKernel(on_host, signature=read(SOURCE, ("y",)))
    return PairedKernel(pyccel, cuda), device, emulator


def test_host_arrays_go_to_the_pyccel_version_and_device_arrays_to_cuda() -> None:
    kernel, device, emulator = make()
    x, y = np.ones(4), np.zeros(4)
    kernel(2.0, x, y, 4)
    assert y.tolist() == [2.0] * 4
    kernel(2.0, FakeArray(4096), FakeArray(8192), 4)
    assert (HOST_CALLS, len(device.launches), len(emulator.launches)) == ([4], 1, 0)


def test_ghosts_are_refused_where_the_two_versions_count_indices_from_other_elements() -> None:
    kernel, _, _ = make()
    x, y = kit.ArrayView(array=np.ones(6), nghost=1), np.zeros(4)
    for call in (kernel, kernel.host, kernel.python):
        with pytest.raises(ArgumentRefused, match="ghost layers") as caught:
            call(2.0, x, y, n=4)
        scope = {"x": x}
        exec(caught.value.fix, scope)
    assert not HOST_CALLS
    kernel(2.0, scope["x"], y, 4)
    kernel(2.0, kit.ArrayView(array=np.ones(4)), y, 4)
    assert y.tolist() == [4.0] * 4
    kernel.pyccel(2.0, x, np.zeros(6), 6)
    assert HOST_CALLS == [4, 4, 6]


def test_options_of_a_launch_mean_nothing_to_the_pyccel_version() -> None:
    kernel, device, _ = make()
    options: dict[str, Any] = {"block": 128, "n_threads": 4}
    for call in (kernel, kernel.host):
        call(2.0, np.ones(4), np.zeros(4), 4, **options)
    kernel(2.0, x=FakeArray(4096), y=FakeArray(8192), n=4, **options)
    assert HOST_CALLS == [4, 4]
    assert device.launches[0].launch.block == (128, 1, 1)


def test_arrays_in_two_places_are_refused_with_the_way_to_one() -> None:
    kernel, device, _ = make()
    with pytest.raises(ArgumentRefused) as caught:
        kernel(2.0, np.ones(4), FakeArray(8192), 4)
    assert caught.value.found == "x on the host, y on the device"
    assert caught.value.fix == "x = cupy.asarray(x)"
    assert not HOST_CALLS
    assert not device.launches


class Homeless:
    """An array that refuses to say where it lies."""

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("not asked")

    def __dlpack_device__(self) -> tuple[int, int]:
        raise RuntimeError("the memory has been donated")


class Detachable(Homeless):
    def detach(self) -> Any: ...


@pytest.mark.parametrize(
    ("value", "fix"),
    [(Homeless(), "x = np.array(x.tolist())"), (Detachable(), "x = x.detach()")],
)
def test_an_array_that_does_not_say_where_it_lies_is_refused_with_what_it_says(
    value: Any, fix: str
) -> None:
    kernel, device, _ = make()
    for call in (kernel, kernel.plan):
        with pytest.raises(ArgumentRefused) as caught:
            call(2.0, value, np.zeros(4), 4)
        assert isinstance(caught.value, TypeError)
        assert caught.value.found.endswith("which says: the memory has been donated")
        assert caught.value.need == (
            "an array that tells where it lies: on the host or on the device"
        )
        assert caught.value.fix == fix
    assert not HOST_CALLS
    assert not device.launches


def test_the_emulator_runs_the_cuda_source_on_host_arrays() -> None:
    kernel, _, emulator = make()
    with use_target("emulator"):
        kernel(2.0, np.ones(4), np.zeros(4), 4)
        assert kernel.chosen.target == "emulator"
    kernel.emulator(2.0, np.ones(4), np.zeros(4), 4)
    assert (len(emulator.launches), HOST_CALLS) == (2, [])


def test_a_target_that_is_chosen_decides_whatever_the_arrays_are() -> None:
    kernel, device, _ = make()
    with use_target("device"), pytest.raises(ArgumentRefused):
        kernel(2.0, np.ones(4), np.zeros(4), 4)
    with use_target("host"):
        kernel(2.0, np.ones(4), np.zeros(4), 4)
    assert HOST_CALLS == [4]
    assert not device.launches
    by_cell, _, emulator = make(target="emulator")
    by_cell(2.0, np.ones(4), np.zeros(4), 4)
    assert len(emulator.launches) == 1


def test_python_is_that_of_the_pyccel_version() -> None:
    kernel, _, _ = make()
    with pytest.raises(KitError, match="no Python source"):
        kernel.python(2.0, np.ones(4), np.zeros(4), 4)


def test_the_plan_is_that_of_the_version_that_would_run() -> None:
    kernel, _, _ = make()
    assert "on the host" in repr(kernel.plan(2.0, np.ones(4), np.zeros(4), 4, block=32))
    device = kernel.plan(2.0, FakeArray(4096), FakeArray(8192), 4)
    assert device.target == "device"


def test_all_targets_are_listed_and_what_runs_where_is_told() -> None:
    kernel, _, _ = make()
    assert kernel.targets == ("host", "device", "emulator")
    assert repr(kernel).startswith("<PairedKernel saxpy(a: double, x: double*, y: double* [inout],")
    facts = [
        "  targets   host (Pyccel version)",
        "            device, emulator (CUDA version)",
        "  runs      host arrays on host, device arrays on device",
    ]
    assert "\n".join(facts) in repr(kernel)
    with use_target("emulator"):
        assert "  runs      on emulator (" in repr(kernel)
        assert ", whatever the arrays\n" in repr(kernel)
    assert repr(kernel.cuda).startswith("<CudaKernel saxpy(")


def test_pairs_are_equal_by_both_versions_and_pickle_as_both() -> None:
    kernel, _, _ = make()
    same = PairedKernel(kernel.pyccel, kernel.cuda)
    assert kernel == same
    assert hash(kernel) == hash(same)
    assert kernel != kernel.cuda
    again = pickle.loads(pickle.dumps(kernel))
    assert isinstance(again, PairedKernel)
    assert again.pyccel == kernel.pyccel
    assert again.cuda == kernel.cuda


def test_a_cell_that_was_only_compiled_runs_nowhere_on_its_own() -> None:
    kernel, _, _ = make(target="compile")
    with pytest.raises(KitError, match="only compiled"):
        kernel(2.0, np.ones(4), np.zeros(4), 4)

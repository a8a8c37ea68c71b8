"""Cells on a GPU, against a driver that records calls and refuses wrong handles."""

from __future__ import annotations

import gc
import importlib
import inspect
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from kit.backends import devices as devices_module
from kit.backends.cupy_device import DeviceCell, DeviceKernel, load
from kit.backends.device_module import choose_cubin
from kit.backends.devices import Devices, synchronize
from kit.cuda.signature import CudaSymbol
from kit.errors import ArgumentRefused, KitError, LaunchError
from kit.launch import Launch
from tests.unit.cuda_cells import DOUBLE, SAXPY
from tests.unit.fake_cuda import FakeArray, FakeCuda

ONE = Launch((4, 2, 1), (32, 8, 1))
CUBINS = {"sm_80": b"cubin of sm_80", "sm_90": b"cubin of sm_90"}


def make(cuda: FakeCuda, *, debug: bool = False) -> tuple[DeviceCell, DeviceKernel]:
    cell = DeviceCell(CUBINS, Devices(cuda.binding()), debug=debug)
    return cell, cell.kernel(SAXPY)


def arguments(x: FakeArray, y: FakeArray) -> tuple[object, ...]:
    return (2.0, x, y, np.int32(4))


@pytest.fixture(autouse=True)
def no_callbacks_left() -> Iterator[None]:
    """Each `Devices` looks for ended launches when garbage is collected; none after a test."""
    before = list(gc.callbacks)
    yield
    gc.callbacks[:] = before


# ---- the stand-in -----------------------------------------------------------------------------


def test_the_stand_in_takes_what_cupys_own_functions_take() -> None:
    """CuPy loads without a GPU; its functions say in their documentation what they take."""
    modules = [
        importlib.import_module(f"cupy_backends.cuda.api.{one}") for one in ("driver", "runtime")
    ]
    names = [name for name in vars(FakeCuda) if name[0].islower() and name not in OWN]
    assert len(names) > 18
    for name in names:
        found = next(getattr(one, name) for one in modules if hasattr(one, name))
        stand_in = getattr(FakeCuda, name)
        if not callable(stand_in):
            assert found == stand_in
            continue
        declared = str(found.__doc__).partition("(")[2].partition(")")[0]
        taken = [one.rpartition(" ")[2].partition("=")[0] for one in declared.split(", ") if one]
        expected = list(inspect.signature(stand_in).parameters)[1:]
        assert len(taken) == len(expected), f"{name}({declared})"


OWN = {
    *("capabilities", "now", "bound", "launches", "calls", "fails", "refuses", "modules"),
    *("functions", "events", "streams", "capturing", "memory", "allowed", "stream"),
    *("binding", "finish", "new_stream", "array"),
}
"""What of it is the tests', not CUDA's."""


# ---- launches -------------------------------------------------------------------------------


def test_a_launch_hands_everything_to_the_driver_as_it_is() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    kernel.launch(
        4096, ONE._replace(shared_bytes=512), holding=arguments(cuda.array(), cuda.array())
    )
    (seen,) = cuda.launches
    assert seen.function == SAXPY.lowered
    assert (seen.grid, seen.block, seen.shared_bytes) == ((4, 2, 1), (32, 8, 1), 512)
    assert (seen.stream, seen.arguments) == (0, 4096)


def test_a_cell_is_loaded_once_for_each_device_and_from_the_right_cubin() -> None:
    cuda = FakeCuda(capabilities=((9, 0), (8, 0)))
    cell, kernel = make(cuda)
    for device in (0, 1, 0, 1):
        cuda.setDevice(device)
        kernel.launch(4096, ONE, holding=arguments(cuda.array(device), cuda.array(device)))
    assert [one.device for one in cuda.launches] == [0, 1, 0, 1]
    assert sorted(cuda.modules.values()) == [(0, b"cubin of sm_90"), (1, b"cubin of sm_80")]
    assert len(cuda.functions) == 2
    assert cell.architecture == "sm_80"
    assert cell.target == "device"


def test_each_thread_gets_the_context_before_it_asks_the_driver() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    kernel.launch(4096, ONE, holding=())
    cuda.bound = False  # as the driver sees a new thread

    def work() -> None:
        kernel.launch(4096, ONE, holding=())
        bound.append(cuda.bound)

    bound: list[bool] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert bound == [True]


def test_dynamic_shared_memory_beyond_the_usual_is_asked_for_once_and_never_taken_back() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    for nbytes in (0, 1024, 48 * 1024, 100_000, 60_000, 100_000, 200_000):
        kernel.launch(4096, ONE._replace(shared_bytes=nbytes), holding=())
    asked = [call[1] for call in cuda.calls if call[0] == "funcSetAttribute"]
    assert asked == [100_000, 200_000]


def test_of_two_threads_neither_takes_back_the_shared_memory_that_the_other_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cuda = FakeCuda()
    cell, kernel = make(cuda)
    kernel.launch(4096, ONE, holding=())
    module, (function,) = cell.here(), cuda.functions
    other = threading.Thread(target=module.allow_shared, args=(function, 100_000))
    real = cuda.funcSetAttribute

    def slow(function: int, attribute: int, value: int) -> None:
        monkeypatch.setattr(cuda, "funcSetAttribute", real)
        other.start()
        other.join(0.1)  # it waits; where it does not, it has ended by now
        real(function, attribute, value)

    monkeypatch.setattr(cuda, "funcSetAttribute", slow)
    module.allow_shared(function, 60_000)
    other.join()
    assert cuda.allowed[function] == 100_000


@pytest.mark.parametrize(
    ("architectures", "device", "chosen"),
    [
        (["sm_75", "sm_80", "sm_90"], "sm_90", "sm_90"),
        (["sm_75", "sm_80", "sm_86", "sm_90"], "sm_89", "sm_86"),
        (["sm_86", "sm_80"], "sm_89", "sm_86"),
        (["sm_86"], "sm_80", None),
        (["sm_90"], "sm_100", None),
        (["sm_90a"], "sm_90", "sm_90a"),
        (["sm_100a"], "sm_103", None),
        (["sm_100f"], "sm_103", "sm_100f"),
        (["sm_120"], "sm_121", "sm_120"),
        ([], "sm_90", None),
    ],
)
def test_a_cubin_serves_its_generation(
    architectures: list[str], device: str, chosen: str | None
) -> None:
    assert choose_cubin(architectures, device) == chosen


def test_a_gpu_that_no_cubin_serves_is_told_which_option_to_add() -> None:
    cuda = FakeCuda(capabilities=((12, 0),))
    _, kernel = make(cuda)
    with pytest.raises(KitError, match="--arch sm_120") as caught:
        kernel.launch(4096, ONE, holding=())
    assert "code for sm_80, sm_90" in str(caught.value)
    assert not cuda.launches


# ---- streams --------------------------------------------------------------------------------


class Exporter:
    def __init__(self, address: int, device_id: int = -1) -> None:
        self.address, self.device_id = address, device_id

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self.address)


class OldCupyStream:
    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


def test_the_stream_is_cupys_current_one_or_the_one_that_is_given() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    cuda.stream = current = cuda.new_stream()
    mine = cuda.new_stream()
    for given in (None, mine, Exporter(mine), OldCupyStream(mine), 0, Exporter(mine, 0)):
        kernel.launch(4096, ONE, stream=given, holding=())
    assert [one.stream for one in cuda.launches] == [current, mine, mine, mine, 0, mine]


@pytest.mark.parametrize("stream", ["0", 1.5, True, -1, object()])
def test_what_is_no_stream_is_refused(stream: object) -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    with pytest.raises(LaunchError, match="stream") as caught:
        kernel.launch(4096, ONE, stream=stream, holding=())
    assert caught.value.fix == "stream=cupy.cuda.Stream()"
    assert not cuda.launches


class Refusing:
    def __cuda_stream__(self) -> tuple[int, int]:
        raise RuntimeError("the stream is closed")


class Empty:
    def __cuda_stream__(self) -> tuple[int, ...]:
        return ()


@pytest.mark.parametrize(
    ("stream", "says"), [(Refusing(), "the stream is closed"), (Empty(), "tuple index")]
)
def test_a_stream_whose_protocol_fails_is_refused_with_what_it_says(
    stream: object, says: str
) -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    with pytest.raises(LaunchError, match=f"stream={type(stream).__name__}.*{says}") as caught:
        kernel.launch(4096, ONE, stream=stream, holding=())
    assert caught.value.fix == "stream=cupy.cuda.Stream()"
    assert not cuda.launches


def test_a_stream_of_another_device_is_refused() -> None:
    cuda = FakeCuda(capabilities=((9, 0), (9, 0)))
    _, kernel = make(cuda)
    with pytest.raises(LaunchError, match="device 1; the current one is 0"):
        kernel.launch(4096, ONE, stream=Exporter(cuda.new_stream(1), 1), holding=())
    assert not cuda.launches


def test_a_launch_waits_for_streams_that_still_write_its_arrays() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    other, mine = cuda.new_stream(), cuda.new_stream()
    kernel.launch(4096, ONE, stream=mine, after=(other, mine, 1), holding=())
    waits = [call for call in cuda.calls if call[0] == "streamWaitEvent"]
    assert waits == [("streamWaitEvent", mine, other), ("streamWaitEvent", mine, 1)]


def test_the_legacy_default_stream_does_not_wait_for_itself() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    kernel.launch(4096, ONE, after=(1,), holding=())
    kernel.launch(4096, ONE, stream=1, after=(0,), holding=())
    assert not [call for call in cuda.calls if call[0] == "streamWaitEvent"]


# ---- arrays of other devices ----------------------------------------------------------------


def test_arrays_of_another_device_are_refused_with_the_way_to_launch_there() -> None:
    cuda = FakeCuda(capabilities=((9, 0), (9, 0)))
    _, kernel = make(cuda)
    with pytest.raises(ArgumentRefused) as caught:
        kernel.launch(4096, ONE, holding=arguments(cuda.array(0), cuda.array(1)))
    assert isinstance(caught.value, ValueError)
    assert caught.value.argument == "y"
    assert caught.value.found == "an array of device 1; the current one is 0"
    assert caught.value.fix == "with cupy.cuda.Device(1): saxpy(...)"
    assert not cuda.launches


def test_managed_and_empty_arrays_are_of_every_device() -> None:
    cuda = FakeCuda(capabilities=((9, 0), (9, 0)))
    _, kernel = make(cuda)
    empty = FakeArray(0)
    kernel.launch(4096, ONE, holding=arguments(cuda.array(1, managed=True), empty))
    assert cuda.launches


# ---- arrays live until their launch has ended -----------------------------------------------


def test_arrays_live_until_their_launch_has_ended() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    x, y = cuda.array(), cuda.array()
    gone = weakref.ref(x)
    kernel.launch(4096, ONE, holding=arguments(x, y))
    del x
    kernel.launch(4096, ONE, holding=arguments(y, y))
    assert gone() is not None
    cuda.finish()
    kernel.launch(4096, ONE, holding=arguments(cuda.array(), y))
    assert gone() is None


def test_a_collection_of_garbage_lets_go_of_what_has_ended() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    x = cuda.array()
    gone = weakref.ref(x)
    kernel.launch(4096, ONE, holding=arguments(x, x))
    del x
    gc.collect()
    assert gone() is not None
    cuda.finish()
    gc.collect()
    assert gone() is None


def test_a_finalizer_of_an_array_that_is_let_go_can_launch_a_kernel() -> None:
    cuda = FakeCuda()
    cell, kernel = make(cuda)
    launched: list[str] = []

    def launch_too(word: str) -> None:
        kernel.launch(4096, ONE, holding=arguments(cuda.array(), cuda.array()))
        launched.append(word)

    def launch_and_forget(word: str) -> None:
        x = cuda.array()
        weakref.finalize(x, launch_too, word)
        kernel.launch(4096, ONE, holding=arguments(x, cuda.array()))

    def let_go_both_ways() -> None:
        launch_and_forget("by the next launch")
        cuda.finish()
        kernel.launch(4096, ONE, holding=arguments(cuda.array(), cuda.array()))
        launch_and_forget("by a collection")
        cuda.finish()
        cell.devices.events(0).drop_ended()

    # Where it waits for itself, this test fails and does not hang.
    thread = threading.Thread(target=let_go_both_ways, daemon=True)
    thread.start()
    thread.join(10)
    assert launched == ["by the next launch", "by a collection"]


def test_nothing_is_asked_about_events_while_a_stream_is_captured_into_a_graph() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    stream, other = cuda.new_stream(), cuda.new_stream()
    kernel.launch(4096, ONE, stream=stream, holding=arguments(cuda.array(), cuda.array()))
    kernel.launch(4096, ONE, stream=other, holding=arguments(cuda.array(), cuda.array()))
    cuda.capturing.add(stream)
    recorded = [call for call in cuda.calls if call[0] == "eventRecord"]
    captured = cuda.array()
    gone = weakref.ref(captured)
    kernel.launch(4096, ONE, stream=stream, holding=arguments(captured, cuda.array()))
    assert [call for call in cuda.calls if call[0] == "eventRecord"] == recorded
    del captured
    assert gone() is None  # the graph's owner keeps its arrays
    kernel.launch(4096, ONE, stream=other, holding=arguments(cuda.array(), cuda.array()))
    gc.collect()
    assert len(cuda.launches) == 4


def test_a_loop_over_the_same_arrays_needs_one_event() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    x, y = cuda.array(), cuda.array()
    for number in range(1000):
        kernel.launch(4096, ONE, holding=(float(number), x, y, np.int32(number)))
    assert len(cuda.events) == 1
    assert len([call for call in cuda.calls if call[0] == "eventRecord"]) == 1000


def test_what_is_held_is_bounded_by_waiting_for_the_oldest() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    first = cuda.array()
    gone = weakref.ref(first)
    kernel.launch(4096, ONE, holding=arguments(first, first))
    del first
    for _ in range(300):
        kernel.launch(4096, ONE, holding=arguments(cuda.array(), cuda.array()))
    assert gone() is None
    assert len(cuda.events) <= 257
    assert len([call for call in cuda.calls if call[0] == "eventSynchronize"]) == 45


def test_events_are_used_again() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    for _ in range(1000):
        kernel.launch(4096, ONE, holding=arguments(cuda.array(), cuda.array()))
        cuda.finish()
    assert len(cuda.events) <= 4


def test_each_stream_holds_its_own() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    slow, fast = cuda.new_stream(), cuda.new_stream()
    kernel.launch(4096, ONE, stream=slow, holding=arguments(cuda.array(), cuda.array()))
    x = cuda.array()
    gone = weakref.ref(x)
    kernel.launch(4096, ONE, stream=fast, holding=arguments(x, x))
    del x
    for event in cuda.events.values():
        event.done = event.recorded == fast
    kernel.launch(4096, ONE, stream=fast, holding=arguments(cuda.array(), cuda.array()))
    assert gone() is None


def test_the_default_stream_of_each_thread_holds_its_own() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    x, y = cuda.array(), cuda.array()

    def work() -> None:
        kernel.launch(4096, ONE, stream=2, holding=arguments(x, y))

    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(cuda.events) == 2


# ---- errors ---------------------------------------------------------------------------------


def test_debug_waits_for_each_launch_and_says_what_is_lost() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda, debug=True)
    kernel.launch(4096, ONE, holding=())
    assert ("streamSynchronize", 0) in cuda.calls
    cuda.fails = 700
    with pytest.raises(LaunchError) as caught:
        kernel.launch(4096, ONE, holding=())
    error = caught.value
    assert (error.kernel, error.kind) == ("saxpy", "bounds")
    assert "illegal address" in str(error)
    assert "every array on the GPU" in str(error)
    assert "which:" not in str(error)
    assert "saxpy.emulator(...)" in str(error.fix)


@pytest.mark.parametrize(
    ("status", "kind"), [(716, "align"), (710, "assert"), (719, "trap"), (715, "signal")]
)
def test_faults_are_told_apart(status: int, kind: str) -> None:
    cuda = FakeCuda(fails=status)
    _, kernel = make(cuda, debug=True)
    with pytest.raises(LaunchError) as caught:
        kernel.launch(4096, ONE, holding=())
    assert caught.value.kind == kind


def test_without_debug_nothing_waits_and_a_later_error_names_who_may_have_done_it() -> None:
    cuda = FakeCuda()
    _, kernel = make(cuda)
    kernel.launch(4096, ONE, holding=arguments(cuda.array(), cuda.array()))
    assert not [call for call in cuda.calls if "Synchronize" in call[0]]
    cuda.refuses = 700
    with pytest.raises(LaunchError, match=r"which: one of .*: saxpy") as caught:
        kernel.launch(4096, ONE, holding=())
    assert "--debug" in str(caught.value)


def test_what_the_driver_does_not_launch_is_a_limit_and_loses_nothing() -> None:
    cuda = FakeCuda(refuses=701)
    _, kernel = make(cuda)
    with pytest.raises(LaunchError, match="CUDA did not launch it: CUDA_ERROR_701") as caught:
        kernel.launch(4096, ONE, holding=())
    assert caught.value.kind == "limit"
    assert "lost" not in str(caught.value)
    cuda.refuses = 0
    kernel.launch(4096, ONE, holding=())


# ---- kit.synchronize --------------------------------------------------------------------------


def test_synchronize_waits_for_every_device_that_was_launched_on() -> None:
    cuda = FakeCuda(capabilities=((9, 0), (9, 0), (9, 0)))
    cell, kernel = make(cuda)
    for device in (0, 2):
        cuda.setDevice(device)
        kernel.launch(4096, ONE, holding=arguments(cuda.array(device), cuda.array(device)))
    cuda.setDevice(1)
    cell.synchronize()
    assert [call for call in cuda.calls if call[0] == "deviceSynchronize"] == [
        ("deviceSynchronize", 0),
        ("deviceSynchronize", 2),
    ]
    assert cuda.now == 1


def test_synchronize_names_the_kernels_that_may_have_failed() -> None:
    cuda = FakeCuda()
    cell, kernel = make(cuda)
    kernel.launch(4096, ONE, holding=arguments(cuda.array(), cuda.array()))
    cuda.fails = 700
    with pytest.raises(LaunchError, match="saxpy: an illegal address"):
        cell.synchronize()


def test_kit_synchronize_touches_no_gpu_where_nothing_was_launched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never() -> Any:
        raise AssertionError("asked for CuPy")

    monkeypatch.setattr(devices_module, "find_binding", never)
    devices_module.find_gpus.cache_clear()
    synchronize()


# ---- without a GPU ----------------------------------------------------------------------------


def test_loading_without_a_gpu_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from kit.backends import cupy_binding

    monkeypatch.setattr(cupy_binding, "find_device", lambda: None)
    cupy_binding.find_binding.cache_clear()
    with pytest.raises(KitError, match="NVIDIA GPU") as caught:
        load(CUBINS)
    assert "emulator" in str(caught.value)


def test_a_driver_that_cupy_cannot_use_is_told_apart_from_no_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class OldDriver(FakeCuda):
        def getDeviceCount(self) -> int:
            raise self.CUDARuntimeError(35)

    monkeypatch.setattr(devices_module, "find_binding", OldDriver().binding)
    devices_module.find_gpus.cache_clear()
    with pytest.raises(KitError, match=r"cannot use the GPU .*cudaError35") as caught:
        load(CUBINS)
    assert "nvidia-smi" in str(caught.value)


# ---- variables --------------------------------------------------------------------------------


def test_a_variable_is_an_array_over_its_own_memory() -> None:
    cuda = FakeCuda()
    cell, _ = make(cuda)
    symbol = CudaSymbol("coef", "coef", DOUBLE, (2, 3), "constant", 2)
    cell.symbol(symbol)[...] = 7.0
    again = cell.symbol(symbol)
    assert again.shape == (2, 3)
    assert (again == 7.0).all()

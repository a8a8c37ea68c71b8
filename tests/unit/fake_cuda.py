"""A CUDA driver and runtime that record calls, and refuse what the real ones would.

Handles are numbers that only this driver gave: any other one is an error, as is what belongs to
another device or to a context that a kernel has destroyed. Signatures are those of CuPy 14.2
(`cupy_backends.cuda.api`), by position.
"""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kit.backends.cupy_binding import Binding

NOT_READY = 600
CAPTURE_IMPLICIT = 906


class CUDADriverError(RuntimeError):
    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"CUDA_ERROR_{status}")


class CUDARuntimeError(RuntimeError):
    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"cudaError{status}")


@dataclass
class Launch:
    device: int
    function: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    stream: int
    arguments: int


@dataclass
class Event:
    device: int
    recorded: int | None = None  # the stream
    done: bool = True


@dataclass
class PointerAttributes:
    device: int
    type: int


@dataclass
class FakeCuda:
    """Both modules in one: `driver` and `runtime` are views of it."""

    capabilities: tuple[tuple[int, int], ...] = ((9, 0),)
    now: int = 0
    bound: bool = False
    launches: list[Launch] = field(default_factory=list)
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    fails: int = 0  # status of the next synchronisation
    refuses: int = 0  # status of the next launch
    modules: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    functions: dict[int, tuple[int, str]] = field(default_factory=dict)
    events: dict[int, Event] = field(default_factory=dict)
    streams: dict[int, int] = field(default_factory=dict)  # stream -> device
    capturing: set[int] = field(default_factory=set)  # streams
    memory: dict[int, PointerAttributes] = field(default_factory=dict)
    allowed: dict[int, int] = field(default_factory=dict)
    stream: int = 0

    CUDADriverError = CUDADriverError
    CUDARuntimeError = CUDARuntimeError
    eventDisableTiming = 2

    def __post_init__(self) -> None:
        self.handles = itertools.count(1 << 20)

    def binding(self) -> Binding:
        return Binding(self, self, lambda: CurrentStream(self.stream), array_over)

    # ---- runtime

    def getDeviceCount(self) -> int:
        return len(self.capabilities)

    def getDevice(self) -> int:
        return self.now

    def setDevice(self, device: int) -> None:
        assert 0 <= device < len(self.capabilities)
        self.now = device

    def free(self, pointer: int) -> None:
        assert pointer == 0
        self.bound = True

    def deviceGetAttribute(self, attribute: int, device: int) -> int:
        return self.capabilities[device][{75: 0, 76: 1}[attribute]]

    def eventCreateWithFlags(self, flags: int) -> int:
        assert flags == 2
        handle = next(self.handles)
        self.events[handle] = Event(self.now)
        return handle

    def eventRecord(self, event: int, stream: int) -> None:
        one = self.events[event]
        assert one.device == self._device_of(stream), "an event of another device"
        one.recorded, one.done = stream, False
        self.calls.append(("eventRecord", event, stream))

    def streamIsCapturing(self, stream: int) -> bool:
        self._device_of(stream)
        if stream in (0, 1) and self.capturing:
            raise CUDARuntimeError(CAPTURE_IMPLICIT)
        return stream in self.capturing

    def eventQuery(self, event: int) -> int:
        assert not self.capturing, "a query that invalidates the graph"
        return 0 if self.events[event].done else NOT_READY

    def eventSynchronize(self, event: int) -> None:
        assert not self.capturing, "a wait that invalidates the graph"
        self.calls.append(("eventSynchronize", event))
        self.events[event].done = True

    def streamWaitEvent(self, stream: int, event: int, flags: int = 0) -> None:
        assert self.events[event].recorded is not None
        self._device_of(stream)
        self.calls.append(("streamWaitEvent", stream, self.events[event].recorded))

    def streamSynchronize(self, stream: int) -> None:
        self._device_of(stream)
        self.calls.append(("streamSynchronize", stream))
        self._fail()

    def deviceSynchronize(self) -> None:
        self.calls.append(("deviceSynchronize", self.now))
        self._fail()
        self.finish()

    def pointerGetAttributes(self, pointer: int) -> PointerAttributes:
        return self.memory[pointer]

    # ---- driver

    def moduleLoadData(self, image: bytes) -> int:
        assert self.bound, "no context"
        assert isinstance(image, bytes)
        if image != b"cubin of sm_%d%d" % self.capabilities[self.now]:
            raise CUDADriverError(209)  # no binary for this GPU
        handle = next(self.handles)
        self.modules[handle] = (self.now, image)
        return handle

    def moduleGetFunction(self, module: int, name: str) -> int:
        device, _ = self.modules[module]
        if not name.startswith("_Z"):
            raise CUDADriverError(500)
        handle = next(self.handles)
        self.functions[handle] = (device, name)
        return handle

    def moduleGetGlobal(self, module: int, name: str) -> int:
        assert module in self.modules
        return ctypes.addressof(VARIABLES.setdefault(name, (ctypes.c_char * 64)()))

    def funcGetAttribute(self, attribute: int, function: int) -> int:
        assert attribute == 8
        assert function in self.functions
        return self.allowed.get(function, 48 * 1024)

    def funcSetAttribute(self, function: int, attribute: int, value: int) -> None:
        assert attribute == 8
        assert function in self.functions
        self.calls.append(("funcSetAttribute", value))
        self.allowed[function] = value

    def launchKernel(
        self,
        f: int,
        grid_dim_x: int,
        grid_dim_y: int,
        grid_dim_z: int,
        block_dim_x: int,
        block_dim_y: int,
        block_dim_z: int,
        shared_mem_bytes: int,
        stream: int,
        kernel_params: int,
        extra: int,
    ) -> None:
        device, name = self.functions[f]
        assert device == self.now, "a function of another device"
        assert self._device_of(stream) == device, "a stream of another device"
        assert extra == 0
        assert shared_mem_bytes <= self.allowed.get(f, 48 * 1024), "shared memory not asked for"
        if self.refuses:
            raise CUDADriverError(self.refuses)
        grid = (grid_dim_x, grid_dim_y, grid_dim_z)
        block = (block_dim_x, block_dim_y, block_dim_z)
        self.launches.append(
            Launch(device, name, grid, block, shared_mem_bytes, stream, kernel_params)
        )

    # ---- what tests ask for

    def finish(self) -> None:
        """All launches end."""
        for event in self.events.values():
            event.done = True

    def new_stream(self, device: int = 0) -> int:
        handle = next(self.handles)
        self.streams[handle] = device
        return handle

    def array(self, device: int = 0, *, managed: bool = False) -> FakeArray:
        address = next(self.handles) * 256
        self.memory[address] = PointerAttributes(device, 3 if managed else 2)
        return FakeArray(address)

    def _device_of(self, stream: int) -> int:
        return self.now if stream in (0, 1, 2) else self.streams[stream]

    def _fail(self) -> None:
        if self.fails:
            raise CUDARuntimeError(self.fails)


VARIABLES: dict[str, Any] = {}


@dataclass
class CurrentStream:
    ptr: int


class FakeArray:
    """An array of a device, as its interface tells it; weak references see it go."""

    def __init__(self, address: int) -> None:
        self.shape = (4,)
        self.__cuda_array_interface__ = {
            "shape": (4,),
            "typestr": "<f8",
            "data": (address, False),
            "version": 3,
        }


def array_over(
    address: int, nbytes: int, shape: Any, dtype: Any, owner: object, device: int
) -> Any:
    memory = (ctypes.c_char * nbytes).from_address(address)
    return np.frombuffer(memoryview(memory), dtype).reshape(shape)

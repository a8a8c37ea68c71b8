"""The GPUs of this process: which is current, what it is, what still runs on it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from kit.backends.cupy_binding import Binding, find_binding
from kit.backends.device_faults import describe_failure
from kit.backends.launch_events import LaunchEvents
from kit.errors import KitError, one_line

__all__ = ["Devices", "find_gpus", "synchronize"]

_MAJOR: Final = 75  # cudaDevAttrComputeCapabilityMajor
_MINOR: Final = 76


@lru_cache(maxsize=1)
def find_gpus() -> Devices:
    """The GPUs, by CuPy.

    Raises
    ------
    KitError
        There is none, no CuPy, or CuPy cannot use what is there.
    """
    binding = find_binding()
    try:
        return Devices(binding)
    except binding.runtime.CUDARuntimeError as error:
        raise KitError(
            f"CuPy cannot use the GPU that is here: {one_line(str(error))}\n"
            "  fix: a newer driver, or a CuPy for this one (nvidia-smi says which CUDA it has); "
            "k.emulator(...) with host arrays needs neither"
        ) from error


def synchronize() -> None:
    """Wait until every launch of a kernel has ended, on every device.

    Raises
    ------
    LaunchError
        One of them failed.

    Notes
    -----
    Where nothing was launched on a GPU there is nothing to wait for: the emulator runs each launch
    to its end.
    """
    if find_gpus.cache_info().currsize:
        find_gpus().synchronize()


class Devices:
    """The devices of this process.

    Parameters
    ----------
    binding : Binding
        CuPy.
    """

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.count: int = binding.runtime.getDeviceCount()
        self._thread = threading.local()
        self._events: dict[int, LaunchEvents] = {}
        self._architectures: dict[int, str] = {}
        gc.callbacks.append(self._collected)

    def current(self) -> int:
        """Number of the current device, whose context this thread then has."""
        runtime = self.binding.runtime
        device: int = runtime.getDevice()
        try:
            bound: set[int] = self._thread.bound
        except AttributeError:
            bound = self._thread.bound = set[int]()
        if device not in bound:
            # The driver's functions work in a context, which the first call of the runtime makes.
            runtime.free(0)
            bound.add(device)
        return device

    def architecture(self, device: int) -> str:
        """What code for a device is compiled for: ``sm_90``."""
        found = self._architectures.get(device)
        if found is None:
            ask = self.binding.runtime.deviceGetAttribute
            found = f"sm_{ask(_MAJOR, device)}{ask(_MINOR, device)}"
            self._architectures[device] = found
        return found

    def events(self, device: int) -> LaunchEvents:
        """The events of a device, which has to be the current one."""
        return self._events.setdefault(device, LaunchEvents(self.binding.runtime))

    def synchronize(self) -> None:
        """Wait for every device that something was launched on."""
        runtime = self.binding.runtime
        before: int = runtime.getDevice()
        try:
            for device, events in list(self._events.items()):
                pending = events.kernels()
                runtime.setDevice(device)
                try:
                    runtime.deviceSynchronize()
                except runtime.CUDARuntimeError as error:
                    names = list(dict.fromkeys(pending))
                    name = names[-1] if names else "kit.synchronize"
                    raise describe_failure(name, error, others=names) from None
                events.drop_ended()
        finally:
            runtime.setDevice(before)

    def _collected(self, phase: str, info: Mapping[str, int]) -> None:
        if phase == "stop" and info["generation"] == 2:
            for events in list(self._events.values()):
                events.drop_ended()

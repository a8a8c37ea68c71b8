"""A cell's cubin on one GPU: which one serves it, its kernels and variables."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from kit.backends.devices import Devices

__all__ = ["DeviceModule", "choose_cubin"]

_DYNAMIC_SHARED: Final = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


def choose_cubin(architectures: Sequence[str], device: str) -> str | None:
    """Which build runs on a device; None where none does.

    A cubin runs on devices of its own generation (the major number) that are not older; one with
    an "a" on its very architecture only.

    Examples
    --------
    >>> choose_cubin(["sm_75", "sm_80", "sm_86"], "sm_89"), choose_cubin(["sm_80"], "sm_75")
    ('sm_86', None)
    """
    wanted = int(device.removeprefix("sm_"))
    best: tuple[int, str] | None = None
    for one in architectures:
        number = one.removeprefix("sm_")
        version = int(number.rstrip("af"))
        if number.endswith("a") and version != wanted:
            continue
        if version // 10 == wanted // 10 and version <= wanted and (best or (0,))[0] <= version:
            best = version, one
    return None if best is None else best[1]


class DeviceModule:
    """A cell on one device.

    Parameters
    ----------
    devices : Devices
        Of this process.
    device : int
        Number of the current device.
    image : bytes
        The cubin.
    """

    def __init__(self, devices: Devices, device: int, image: bytes) -> None:
        self.device = device
        self.architecture = devices.architecture(device)
        self.events = devices.events(device)
        self._driver = devices.binding.driver
        self._handle: int = self._driver.moduleLoadData(image)
        self._functions: dict[str, int] = {}
        self._shared: dict[int, int] = {}
        self._lock = threading.Lock()

    def function(self, lowered: str) -> int:
        """The address of a kernel."""
        found = self._functions.get(lowered)
        if found is None:
            found = self._functions[lowered] = self._driver.moduleGetFunction(self._handle, lowered)
        return found

    def variable(self, lowered: str) -> int:
        """The address of a variable."""
        return self._driver.moduleGetGlobal(self._handle, lowered)

    def allow_shared(self, function: int, nbytes: int) -> None:
        """Let a kernel have so much dynamic shared memory, which beyond 48 KiB has to be asked for.

        Never less again: of two threads that launch the same kernel the other may need it.
        """
        with self._lock:
            allowed = self._shared.get(function)
            if allowed is None:
                allowed = self._driver.funcGetAttribute(_DYNAMIC_SHARED, function)
            if nbytes > allowed:
                self._driver.funcSetAttribute(function, _DYNAMIC_SHARED, nbytes)
                allowed = nbytes
            self._shared[function] = allowed

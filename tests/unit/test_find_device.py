"""Whether there is a GPU, asked of a driver that stands in for NVIDIA's."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.backends import find_device as module
from kit.backends.find_device import DeviceFacts, find_device, find_devices


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    find_devices.cache_clear()
    yield
    find_devices.cache_clear()


class FakeDriver:
    """libcuda as ctypes has it; everything returns 0 unless told otherwise."""

    def __init__(self, devices: list[tuple[bytes, int, int]], *, failing: str = "") -> None:
        self.devices, self.failing = devices, failing
        self.calls: list[str] = []

    def _status(self, name: str) -> int:
        self.calls.append(name)
        return 999 if name == self.failing else 0

    def cuInit(self, flags: int) -> int:
        return self._status("cuInit")

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = len(self.devices)
        return self._status("cuDeviceGetCount")

    def cuDeviceGet(self, device: Any, ordinal: int) -> int:
        device._obj.value = ordinal
        return self._status("cuDeviceGet")

    def cuDeviceGetName(self, name: Any, size: int, device: Any) -> int:
        assert size == len(name)
        name.value = self.devices[device.value][0]
        return self._status("cuDeviceGetName")

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: Any) -> int:
        value._obj.value = self.devices[device.value][{75: 1, 76: 2}[attribute]]
        return self._status("cuDeviceGetAttribute")


def give(monkeypatch: pytest.MonkeyPatch, driver: Any, *, node: bool = True) -> None:
    def load(name: str) -> Any:
        assert name == "libcuda.so.1"
        if isinstance(driver, Exception):
            raise driver
        return driver

    monkeypatch.setattr(module, "_NODES", ("/dev/null" if node else "/dev/no-such-node",))
    monkeypatch.setattr(ctypes, "CDLL", load)


def test_devices_are_described_as_the_driver_does(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, FakeDriver([(b"NVIDIA H200", 9, 0), (b"NVIDIA\nL40\x1b[31m", 8, 9)]))
    assert find_devices() == (
        DeviceFacts(0, "NVIDIA H200", "sm_90"),
        DeviceFacts(1, "NVIDIA L40", "sm_89"),
    )
    assert find_device() == DeviceFacts(0, "NVIDIA H200", "sm_90")


def test_the_driver_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = FakeDriver([(b"NVIDIA H200", 9, 0)])
    give(monkeypatch, driver)
    find_device()
    find_devices()
    assert driver.calls.count("cuInit") == 1


@pytest.mark.parametrize(
    "driver",
    [
        OSError("libcuda.so.1: cannot open shared object file"),
        object(),  # a library without these functions
        FakeDriver([]),
        FakeDriver([(b"NVIDIA H200", 9, 0)], failing="cuInit"),
        FakeDriver([(b"NVIDIA H200", 9, 0)], failing="cuDeviceGetCount"),
        FakeDriver([(b"NVIDIA H200", 9, 0)], failing="cuDeviceGetAttribute"),
    ],
)
def test_no_gpu_is_no_error(monkeypatch: pytest.MonkeyPatch, driver: Any) -> None:
    give(monkeypatch, driver)
    assert find_devices() == ()
    assert find_device() is None


def test_without_a_device_node_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, AssertionError("loaded"), node=False)
    assert find_device() is None


def test_finding_imports_no_cupy() -> None:
    code = (
        "import sys\n"
        "from kit.backends.find_device import find_device\n"
        "find_device()\n"
        "assert not [one for one in sys.modules if one.startswith(('cupy', 'cuda.bindings'))]\n"
    )
    root = Path(module.__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, timeout=60)

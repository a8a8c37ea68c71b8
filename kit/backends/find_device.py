"""Is there a GPU, and which architectures? Asked of the driver alone, without CuPy."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from kit.errors import one_line

__all__ = ["DeviceFacts", "find_device", "find_devices"]

# Made by the driver on Linux and WSL2: where neither exists there is no GPU to ask for, and
# looking for its library (40 us) is spared.
_NODES: Final = ("/dev/nvidiactl", "/dev/dxg")
_LIBRARY: Final = "libcuda.so.1"

# CUdevice_attribute, of cuda.h.
_MAJOR: Final = 75
_MINOR: Final = 76


class DeviceFacts(NamedTuple):
    """One GPU, as the driver describes it.

    Parameters
    ----------
    number : int
        Its number among those that this process may use (CUDA_VISIBLE_DEVICES).
    name : str
        As NVIDIA calls it.
    architecture : str
        What its code is compiled for: ``sm_90``.
    """

    number: int
    name: str
    architecture: str


@lru_cache(maxsize=1)
def find_devices() -> tuple[DeviceFacts, ...]:
    """Every GPU that this process may use; () where there is none, or no driver that answers.

    Notes
    -----
    Takes 10 us where there is no GPU. Where there is one it initialises the driver, once: a
    process that is forked afterwards cannot use the GPU.
    """
    if not sys.platform.startswith("linux") or not any(Path(one).exists() for one in _NODES):
        return ()
    try:
        return _ask_driver(ctypes.CDLL(_LIBRARY))
    except (OSError, AttributeError):  # no driver library, or one without these functions
        return ()


def find_device() -> DeviceFacts | None:
    """The first GPU, which CUDA takes where nobody chooses; None where there is none.

    Examples
    --------
    >>> facts = find_device()
    >>> facts is None or facts.architecture.startswith("sm_")
    True
    """
    devices = find_devices()
    return devices[0] if devices else None


def _ask_driver(driver: Any) -> tuple[DeviceFacts, ...]:
    """What the driver's functions say; every one of them returns 0 where it succeeds."""
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return ()
    devices = [_describe(driver, number) for number in range(count.value)]
    return tuple(one for one in devices if one is not None)


def _describe(driver: Any, number: int) -> DeviceFacts | None:
    device, major, minor = ctypes.c_int(0), ctypes.c_int(0), ctypes.c_int(0)
    name = ctypes.create_string_buffer(256)
    failed = (
        driver.cuDeviceGet(ctypes.byref(device), number)
        or driver.cuDeviceGetName(name, len(name), device)
        or driver.cuDeviceGetAttribute(ctypes.byref(major), _MAJOR, device)
        or driver.cuDeviceGetAttribute(ctypes.byref(minor), _MINOR, device)
    )
    if failed:
        return None
    text = one_line(name.value.decode(errors="replace"))
    return DeviceFacts(number, text, f"sm_{major.value}{minor.value}")

"""CuPy's binding to CUDA: what kit calls of it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from kit.backends.find_device import find_device
from kit.errors import KitError

__all__ = ["Binding", "find_binding"]


class Binding(NamedTuple):
    """What kit calls of CuPy; tests give a strict stand-in.

    Parameters
    ----------
    driver, runtime : module
        ``cupy_backends.cuda.api.driver`` and ``.runtime``.
    current_stream : callable
        CuPy's stream of this thread.
    array_over : callable
        ``array_over(address, nbytes, shape, dtype, owner, device)``: an array over memory that
        `owner` keeps alive.
    """

    driver: Any
    runtime: Any
    current_stream: Callable[[], Any]
    array_over: Callable[..., Any]


@lru_cache(maxsize=1)
def find_binding() -> Binding:
    """CuPy, where there is a GPU for it.

    Raises
    ------
    KitError
        There is no GPU, or CuPy is not installed or does not load.
    """
    if find_device() is None:
        raise KitError(
            "the target 'device' needs an NVIDIA GPU with its driver, and there is none here\n"
            "  fix: k.emulator(...) with host arrays, or KIT_TARGET=emulator"
        )
    try:
        cupy: Any = import_module("cupy")
        driver = import_module("cupy_backends.cuda.api.driver")
        runtime = import_module("cupy_backends.cuda.api.runtime")
    except ImportError as error:
        raise KitError(
            f"the target 'device' needs CuPy, which does not load: {error}\n"
            "  fix: pip install 'pyccel-kit[cuda]'"
        ) from error
    return Binding(driver, runtime, cupy.cuda.get_current_stream, _array_over)


def _array_over(
    address: int, nbytes: int, shape: tuple[int, ...], dtype: Any, owner: object, device: int
) -> Any:
    cupy: Any = import_module("cupy")  # it ships no types
    memory = cupy.cuda.UnownedMemory(address, nbytes, owner, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))

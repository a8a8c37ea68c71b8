"""The address of a stream, whoever made it."""

from __future__ import annotations

from typing import Any, cast

from kit.backends.cupy_binding import Binding
from kit.errors import LaunchError
from kit.launch import launch_refused

__all__ = ["stream_address"]


def stream_address(stream: Any, binding: Binding, *, kernel: str, device: int) -> int:
    """The address of a stream.

    Parameters
    ----------
    stream : object
        None for CuPy's current one, an address, or an object with ``__cuda_stream__`` (CuPy,
        cuda.core, PyTorch, ...) or, of an older CuPy, with ``ptr``.
    binding : Binding
        CuPy.
    kernel : str
        Name for messages.
    device : int
        Number of the current device.

    Raises
    ------
    LaunchError
        It is no stream, or one of another device.
    """
    if stream is None:
        return int(binding.current_stream().ptr)
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream
    try:
        other, address = getattr(stream, "device_id", -1), _exported_address(stream)
    except Exception as error:  # a stranger that has the protocol and refuses to serve it
        raise _no_stream(kernel, stream, f", which says: {error}") from None
    if isinstance(other, int) and other not in (-1, device):
        raise launch_refused(
            kernel,
            f"a stream of device {other}; the current one is {device}",
            f"a stream of device {device}",
            f"with cupy.cuda.Device({other}): ...  # and arrays of that device",
        )
    if address is None:
        raise _no_stream(kernel, stream)
    return address


def _no_stream(kernel: str, stream: object, why: str = "") -> LaunchError:
    return launch_refused(
        kernel,
        f"stream={type(stream).__name__}{why}",
        "a CuPy stream, an address, or an object with __cuda_stream__",
        "stream=cupy.cuda.Stream()",
    )


def _exported_address(stream: Any) -> int | None:
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        # (version, address), of a method; of a property where a library is older than that.
        exported = cast("tuple[int, int]", protocol() if callable(protocol) else protocol)
        return int(exported[1])
    address = getattr(stream, "ptr", None)
    return address if isinstance(address, int) else None

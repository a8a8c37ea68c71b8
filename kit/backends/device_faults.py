"""What CUDA's error codes mean for a launch: what happened, what is lost, how to go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kit.errors import LaunchError, one_line

__all__ = ["describe_failure", "is_fault"]

# cudaError_t and CUresult have the same numbers here (driver_types.h, cuda.h).
_FAULTS: Final = {
    700: ("bounds", "an illegal address was read or written"),
    702: ("signal", "the kernel ran longer than the system allows"),
    710: ("assert", "an assert in the kernel failed"),
    714: ("signal", "the hardware stack was corrupted"),
    715: ("signal", "an illegal instruction was met"),
    716: ("align", "a misaligned address was read or written"),
    717: ("bounds", "an address of the wrong memory space was used"),
    718: ("signal", "the program counter left the kernel"),
    719: ("trap", "the kernel stopped itself or failed"),
}
"""Errors after which the context is gone: code -> kind of `LaunchError`, and words."""


def is_fault(status: int) -> bool:
    """Whether a kernel failed while it ran, and took the CUDA context with it."""
    return status in _FAULTS


def describe_failure(
    kernel: str, error: BaseException, *, others: Sequence[str] = (), certain: bool = False
) -> LaunchError:
    """The error of a launch, from what CuPy raised.

    Parameters
    ----------
    kernel : str
        Which was launched when the error showed.
    error : CUDADriverError or CUDARuntimeError
        What CuPy raised.
    others : sequence of str
        Kernels whose launches had not been waited for.
    certain : bool
        Whether every earlier launch is known to have ended well.
    """
    status = int(getattr(error, "status", 0))
    text = one_line(str(error))
    if status not in _FAULTS:
        return LaunchError(
            f"CUDA did not launch it: {text}",
            kernel=kernel,
            kind="limit",
            fix=f"# less of what it needs; {kernel}.build.resources says what that is",
        )
    kind, words = _FAULTS[status]
    lines = [f"{words} ({text})"]
    if not certain:
        names = ", ".join(dict.fromkeys([*others, kernel]))
        lines.append(f"  which: one of the launches that nobody had waited for: {names}")
        lines.append("         --debug on the cell's magic line waits for each, and names it")
    lines.append("  lost:  this process's CUDA context: every array on the GPU, whoever made it")
    return LaunchError(
        "\n".join(lines),
        kernel=kernel,
        kind=kind,
        fix=f"# restart the notebook process; {kernel}.emulator(...) with the same arguments on "
        "the host names block, thread and line",
    )

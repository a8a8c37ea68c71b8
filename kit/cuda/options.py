"""What the options of a CUDA cell ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["CI_ARCHITECTURES", "CudaOptions", "CudaTarget"]

CudaTarget = Literal["auto", "device", "emulator", "compile"]
"""Where a cell's kernels run when a call does not say: the GPU where there is one and else the CPU,
one of the two, or nowhere."""

CI_ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
"""What a cell is compiled for where no GPU names one; CI compiles everything for them."""


@dataclass(frozen=True, kw_only=True)
class CudaOptions:
    """What the options of a CUDA cell ask for.

    Parameters
    ----------
    outputs : mapping or None
        Parameters that each kernel writes, by kernel; the key None stands for the only one. None
        takes everything that is not `const`.
    block : tuple of int or None
        Threads of a block along x, y and z, as many as were given; None lets kit choose.
    architectures : tuple of str or None
        ``sm_90``, ...; None takes the device's, and `CI_ARCHITECTURES` where there is none.
    std : {"c++17", "c++20"}
        Of C++.
    include_dirs : tuple of str
        Absolute directories, searched behind those of kit and NVIDIA.
    defines : tuple of str
        ``NAME`` or ``NAME=VALUE``.
    flags : tuple of str
        More options for NVRTC.
    target : {"auto", "device", "emulator", "compile"}
        Where the kernels run when a call does not say.
    check : tuple of str
        "bounds": indices of views are checked on a device, too; the emulator always does.
    template : mapping of str to str
        Template parameter -> C++ argument: ``{"T": "double", "N": "3"}``.
    debug : bool
        Line information and bounds checks; every launch on a device waits for its end.
    force : bool
        Build again even where the store has it.
    """

    outputs: Mapping[str | None, tuple[str, ...]] | None = None
    block: tuple[int, ...] | None = None
    architectures: tuple[str, ...] | None = None
    std: Literal["c++17", "c++20"] = "c++17"
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    target: CudaTarget = "auto"
    check: tuple[str, ...] = ()
    template: Mapping[str, str] = field(default_factory=dict[str, str])
    debug: bool = False
    force: bool = False

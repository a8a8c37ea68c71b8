"""`cuda_kernel`: kernels from CUDA C++, as a function."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from kit.build_cuda import build_cuda_cell
from kit.cuda.option_rules import (
    CHECKS,
    LATER_CHECKS,
    check_block,
    is_architecture,
    is_macro,
)
from kit.cuda.options import CudaOptions, CudaTarget
from kit.cuda.template_values import template_argument
from kit.errors import KitError
from kit.source.nearest import nearest

if TYPE_CHECKING:
    from kit.kernel_cuda import CudaKernel

__all__ = ["cuda_kernel"]

_STANDARDS: Final = ("c++17", "c++20")

Folders = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def cuda_kernel(
    source: str,
    name: str | None = None,
    *,
    outputs: Sequence[str] | Mapping[str, Sequence[str]] | str | None = None,
    block: int | Sequence[int] | None = None,
    arch: str | Sequence[str] | None = None,
    std: str = "c++17",
    include_dirs: Folders = (),
    defines: Mapping[str, object] | Sequence[str] | str = (),
    flags: str | Sequence[str] = (),
    target: CudaTarget = "auto",
    check: str | Sequence[str] = (),
    schedule: str | None = None,
    template: Mapping[str, object] | None = None,
    debug: bool = False,
) -> Any:
    """Compile CUDA C++ into kernels; needs no GPU, and runs nothing.

    Writes to the artifact store only. The same source and options again load what is stored.

    Parameters
    ----------
    source : str
        The text of a cell: ``__global__`` functions, with what they use.
    name : str, optional
        Which kernel to give, where there are several.
    outputs : sequence of str, "a,b" or mapping, optional
        Parameters that the kernel writes, by kernel where there are several; must agree with
        `const`, which else decides.
    block : int or sequence of int, optional
        Threads of a block along x, y and z, where a call does not say.
    arch : str or sequence of str, optional
        ``"sm_90"``, or several; by default the GPUs here, or what kit's tests compile for.
    std : {"c++17", "c++20"}
        Of C++.
    include_dirs : path or sequence of path
        Folders with headers; relative ones are below the working directory.
    defines : mapping, sequence of str or str
        Macros: ``{"N": 3}``, ``["N=3"]``, ``"N=3"``.
    flags : str or sequence of str
        More options for NVRTC.
    target : {"auto", "device", "emulator", "compile"}
        Where calls run that do not say; "compile" makes kernels that are not called.
    check : "bounds" or sequence of str
        "bounds": an index outside of a view ends a launch on a device; in the emulator it is
        always a LaunchError.
    schedule : str, optional
        Not in this version.
    template : mapping, optional
        Template parameter -> dtype, integer or C++ text: ``{"T": "float64", "N": 3}``.
    debug : bool
        Line information, bounds checks; a launch on a GPU waits for its end.

    Returns
    -------
    CudaKernel or KernelNamespace
        The kernel; for source with several, and no `name`, a namespace: ``ns.f`` and ``ns["f"]``.

    Raises
    ------
    CellError
        The source cannot become kernels.
    BuildError
        NVRTC refused it, or is not installed.
    CacheError
        The artifact store cannot be used.
    KitError
        There is no kernel `name`, or an option cannot be used.

    Examples
    --------
    >>> import kit, numpy as np
    >>> scale = kit.cuda_kernel('''
    ... __global__ void scale(int n, double a, double* x) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) x[i] *= a;
    ... }
    ... ''', target="emulator", arch="sm_90")
    >>> x = np.arange(4.0)
    >>> scale(4, 2.0, x)
    >>> x
    array([0., 2., 4., 6.])
    """
    if schedule is not None:
        raise KitError("cuda_kernel: schedule= comes with a later version of kit; leave it out")
    options = CudaOptions(
        outputs=None if outputs is None else _by_kernel(outputs),
        block=None if block is None else _block(block),
        architectures=None if arch is None else _architectures(arch),
        std=cast(Any, _one_of("std", std, _STANDARDS)),
        include_dirs=_folders(include_dirs),
        defines=_defines(defines),
        flags=tuple(shlex.split(flags)) if isinstance(flags, str) else tuple(flags),
        target=cast(CudaTarget, _one_of("target", target, get_args(CudaTarget))),
        check=_checks(check),
        template={key: template_argument(value) for key, value in (template or {}).items()},
        debug=debug,
    )
    return _chosen(build_cuda_cell(source, options=options).kernels, name)


def _chosen(kernels: Mapping[str, CudaKernel], name: str | None) -> Any:
    if name is not None:
        if name in kernels:
            return kernels[name]
        meant = nearest(name, kernels, at_least=0.6)
        raise KitError(
            f"cuda_kernel: the source has no kernel {name!r}; it has {', '.join(kernels)}"
            + (f"\n  fix: name={meant!r}" if meant else "")
        )
    if len(kernels) == 1:
        return next(iter(kernels.values()))
    from kit.decorate import KernelNamespace

    return KernelNamespace(kernels, {})


def _words(names: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(names.replace(",", " ").split()) if isinstance(names, str) else tuple(names)


def _by_kernel(
    names: Sequence[str] | Mapping[str, Sequence[str]] | str,
) -> dict[str | None, tuple[str, ...]]:
    if isinstance(names, Mapping):
        return {kernel: _words(some) for kernel, some in names.items()}
    return {None: _words(names)}


def _one_of(option: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise ValueError(f"{option} must be one of {', '.join(choices)}, not {value!r}")
    return value


def _block(block: int | Sequence[int]) -> tuple[int, ...]:
    sizes = (block,) if isinstance(block, int) else tuple(block)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"block has one to three extents, not {len(sizes)}")
    check_block("block", sizes)
    return sizes


def _architectures(arch: str | Sequence[str]) -> tuple[str, ...]:
    names = _words(arch)
    for one in names:
        if not is_architecture(one):
            raise ValueError(f"arch is like 'sm_90', not {one!r}")
    if not names:
        raise ValueError("arch names no architecture: leave it out, or say 'sm_90'")
    return tuple(dict.fromkeys(names))


def _folders(folders: Folders) -> tuple[str, ...]:
    several = [folders] if isinstance(folders, (str, os.PathLike)) else list(folders)
    found = [Path(one).expanduser().absolute() for one in several]
    for given, one in zip(several, found, strict=True):
        if not one.is_dir():
            raise KitError(f"cuda_kernel: include_dirs: there is no directory {str(given)!r}")
    return tuple(map(str, found))


def _defines(defines: Mapping[str, object] | Sequence[str] | str) -> tuple[str, ...]:
    if isinstance(defines, str):
        defines = [defines]
    if isinstance(defines, Mapping):
        # As in C++: bool("0") would be another thing.
        values = {True: "1", False: "0"}
        texts = [
            f"{key}={values[value] if isinstance(value, bool) else value}"
            for key, value in defines.items()
        ]
    else:
        texts = list(defines)
    for one in texts:
        if not is_macro(one.partition("=")[0]):
            raise ValueError(f"a macro is NAME or NAME=VALUE, not {one!r}")
    return tuple(texts)


def _checks(check: str | Sequence[str]) -> tuple[str, ...]:
    names = _words(check)
    for one in names:
        if one in LATER_CHECKS:
            raise KitError(f"cuda_kernel: check={one!r} comes with a later version of kit")
        _one_of("check", one, CHECKS)
    return tuple(dict.fromkeys(names))

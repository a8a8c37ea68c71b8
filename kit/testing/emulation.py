"""Run a CUDA kernel on the CPU, wherever its calls run otherwise."""

from __future__ import annotations

from typing import Any

from kit.build_cuda import build_cuda_cell
from kit.errors import KitError
from kit.kernel import PyccelKernel
from kit.kernel_cuda import CudaKernel

__all__ = ["emulate"]


def emulate(kernel: PyccelKernel | str, /, *args: Any, **kwargs: Any) -> None:
    """Run a kernel on the emulator, whatever target is chosen.

    Parameters
    ----------
    kernel : PyccelKernel or str
        A kernel of a CUDA cell; or CUDA C++ with one ``__global__`` function, which is compiled, or
        taken from the store.
    *args, **kwargs
        Its arguments, with host arrays, which are written in place; and the options of a launch
        (``grid``, ``block``, ``n_threads``, ``shared_bytes``).

    Raises
    ------
    KitError
        There is no CUDA source, or it has several kernels.
    CellError, BuildError
        The source cannot be compiled, or asks for what the CPU does not have.
    ArgumentRefused, LaunchError
        As of a call.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(3.0)
    >>> emulate('''
    ... __global__ void twice(double* x, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) x[i] *= 2;
    ... }
    ... ''', x, 3)
    >>> x
    array([0., 2., 4.])
    """
    __tracebackhide__ = True
    found = _only_kernel(kernel) if isinstance(kernel, str) else kernel
    if not isinstance(found, CudaKernel):
        raise KitError(
            f"emulate: {found.__name__} has no CUDA source, which the emulator runs\n"
            f"  fix: {found.__name__}.host(...)"
        )
    found.emulator(*args, **kwargs)


def _only_kernel(source: str) -> PyccelKernel:
    kernels = build_cuda_cell(source).kernels
    if len(kernels) != 1:
        names = ", ".join(kernels) or "none"
        raise KitError(
            f"emulate: the source has {len(kernels)} kernels ({names}), and it must be clear which "
            "one runs\n"
            "  fix: build the source once, as a cell or with kit.cuda_kernel, and pass its kernel"
        )
    return next(iter(kernels.values()))

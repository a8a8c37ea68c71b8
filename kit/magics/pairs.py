"""``--pair``: the Pyccel and the CUDA kernel of a name as one object, whichever was built last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kit.cuda.pairing import check_pair
from kit.errors import CellError, one_line
from kit.kernel import PyccelKernel
from kit.kernel_cuda import CudaKernel
from kit.magics.cuda_request import CUDA_KERNEL
from kit.magics.request import PYCCEL_KERNEL
from kit.paired_kernel import PairedKernel
from kit.source.returns import returns_value
from kit.stale import StaleKernel

__all__ = ["JoinedKernels", "join_again", "join_kernels"]


class JoinedKernels(NamedTuple):
    """What a Pyccel cell binds whose names were pairs before it ran again.

    Parameters
    ----------
    objects : mapping of str to object
        What is bound, by name.
    joined : tuple of str
        Names of those that are pairs now.
    parted : mapping of str to str
        Names of those that were pairs and are no longer -> why.
    """

    objects: Mapping[str, PyccelKernel]
    joined: tuple[str, ...]
    parted: Mapping[str, str]


def join_kernels(
    kernels: Mapping[str, CudaKernel], namespace: Mapping[str, object]
) -> Mapping[str, CudaKernel]:
    """Join the kernels of a CUDA cell with the Pyccel kernels of their names.

    Kernels without a Pyccel kernel of their name stay as they are; one of them must have one.

    Raises
    ------
    CellError
        There is none, its own cell failed, or two that belong together do not agree.
    """
    hosts = {name: _pyccel_version(name, namespace.get(name)) for name in kernels}
    if all(one is None for one in hosts.values()):
        names = " or ".join(kernels)
        raise CellError(
            f"--pair: there is no Pyccel kernel that is called {names}",
            line=1,
            fix="run the %%pyccel_kernel cell of the same name first, or leave out --pair",
        )
    return {
        name: kernel if (host := hosts[name]) is None else _pair(host, kernel)
        for name, kernel in kernels.items()
    }


def join_again(
    kernels: Mapping[str, PyccelKernel], namespace: Mapping[str, object]
) -> JoinedKernels:
    """Join new builds of Pyccel kernels with the CUDA kernels that their names were paired with."""
    objects = dict(kernels)
    joined: list[str] = []
    parted: dict[str, str] = {}
    for name, kernel in kernels.items():
        held = namespace.get(name)
        before = held.previous if isinstance(held, StaleKernel) else held
        if not isinstance(before, PairedKernel):
            continue
        if isinstance(held, StaleKernel) and CUDA_KERNEL.prefix in held.failed:
            parted[name] = "its CUDA cell failed"
            continue
        try:
            objects[name] = _pair(kernel, before.cuda)
        except CellError as error:
            parted[name] = one_line(error.message)
        else:
            joined.append(name)
    return JoinedKernels(objects, tuple(joined), parted)


def _pyccel_version(name: str, held: object) -> PyccelKernel | None:
    """The Pyccel kernel behind a name, also where it is half of a pair."""
    if isinstance(held, StaleKernel):
        if PYCCEL_KERNEL.prefix in held.failed:
            raise CellError(
                f"--pair: the last build of the Pyccel version of {name} failed",
                line=1,
                fix=f"repair the %%pyccel_kernel cell of {name} and run it first",
            )
        held = held.previous
    if isinstance(held, PairedKernel):
        return held.pyccel
    if isinstance(held, CudaKernel) or not isinstance(held, PyccelKernel):
        return None
    return held


def _pair(host: PyccelKernel, kernel: CudaKernel) -> PairedKernel:
    returns = host.signature.returns not in (None, "None") or returns_value(host.source)
    cell = kernel.cell_source
    check_pair(host.signature, kernel.cuda_signature, returns=returns, cell=cell)
    return PairedKernel(host, kernel)

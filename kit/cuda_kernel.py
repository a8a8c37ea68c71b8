"""Story 2 for CUDA: target -> bind -> pack -> configuration -> checks -> launch."""

from __future__ import annotations

from typing import Any

from kit.cuda.cell_build import CudaCellBuild
from kit.cuda.signature import CudaSignature
from kit.kernel import PyccelKernel

__all__ = ["CudaKernel"]


class CudaKernel(PyccelKernel):
    """One ``__global__`` function of a CUDA cell.

    Parameters
    ----------
    signature : CudaSignature
        What it takes.
    cell : CudaCellBuild
        The built cell.
    """

    def __init__(self, signature: CudaSignature, *, cell: CudaCellBuild) -> None:
        self._cuda = signature
        self._cell = cell
        self.previous: PyccelKernel | None = None
        self.__name__ = self.__qualname__ = signature.name
        self.__doc__ = signature.doc or None

    def __call__(
        self,
        *args: Any,
        grid: object = None,
        block: object = None,
        n_threads: object = None,
        shared_bytes: int = 0,
        stream: object = None,
        **kwargs: Any,
    ) -> Any:
        """Launch the kernel."""
        raise NotImplementedError

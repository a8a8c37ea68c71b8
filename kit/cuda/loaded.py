"""What every target gives for a built cell: its kernels, to be launched, and its variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from kit.cuda.signature import CudaSignature, CudaSymbol
from kit.launch import Launch
from kit.terms import Target

__all__ = ["LoadedCell", "LoadedKernel"]


class LoadedKernel(Protocol):
    """One kernel of a loaded cell."""

    def launch(
        self,
        addresses: int,
        launch: Launch,
        *,
        stream: object = None,
        after: Sequence[int] = (),
        holding: Sequence[object] = (),
    ) -> None:
        """Launch with packed arguments; on a device it returns before the kernel has ended.

        Parameters
        ----------
        addresses : int
            Address of as many ``void*`` as there are parameters, each the address of one packed
            argument. They are read before `launch` returns.
        launch : Launch
            Grid, block and shared memory, which have been checked.
        stream : object
            Of the target's own library; None for its current one. The emulator has none.
        after : sequence of int
            Streams whose work so far the kernel must wait for, as ``__cuda_array_interface__``
            numbers them. The emulator is given none.
        holding : sequence of object
            The arguments, whose arrays must live until the kernel has ended. A target that returns
            only then need not hold them, and is given none.

        Raises
        ------
        LaunchError
            The kernel faulted (emulator), or could not be launched (device).
        """
        ...


class LoadedCell(Protocol):
    """A cell as one target runs it."""

    @property
    def target(self) -> Target:
        """Which one it is: "device" or "emulator"."""
        ...

    @property
    def architecture(self) -> str | None:
        """Whose limits hold: that of the current device; None for the emulator, which has none."""
        ...

    def kernel(self, signature: CudaSignature) -> LoadedKernel:
        """The kernel of that signature."""
        ...

    def symbol(self, symbol: CudaSymbol) -> Any:
        """An array of the target's side over the memory of a variable; writes go through."""
        ...

    def synchronize(self) -> None:
        """Wait until every launch has ended."""
        ...

"""Story 2 for CUDA: target -> bind -> pack -> configuration -> checks -> launch.

`CudaKernel` launches one ``__global__`` function where the call, the block, the process or the
cell says: on the GPU, or on the CPU by the emulator. Neither copies anything; read `_run_on`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kit.cuda.cell_build import CudaCellBuild
from kit.cuda.configuration import LaunchOptions, LaunchPlanner, take_out_options
from kit.cuda.loaded import LoadedKernel
from kit.cuda.packing import ArgumentPacker
from kit.cuda.signature import CudaSignature
from kit.cuda_facts import CudaKernelFacts
from kit.cuda_target import choose_target
from kit.errors import KitError
from kit.launch import LaunchLimits

if TYPE_CHECKING:
    from kit.cuda.arguments import CudaCallPlan
    from kit.terms import Target

__all__ = ["CudaKernel"]


class _Ready(NamedTuple):
    """The kernel on one target, or on the GPUs of one architecture."""

    kernel: LoadedKernel
    limits: LaunchLimits


class CudaKernel(CudaKernelFacts):
    """One ``__global__`` function of a CUDA cell.

    Parameters
    ----------
    signature : CudaSignature
        What it takes.
    cell : CudaCellBuild
        The built cell.

    Notes
    -----
    Arrays are passed as they lie or refused, never copied: device arrays (CuPy's and others') to
    the GPU, host arrays (NumPy's, `kit.ArrayView`) to the emulator. On the GPU a call returns
    before the kernel has ended: `kit.synchronize`; its arguments live until then. Kernels can be
    called from several threads.
    """

    def __init__(self, signature: CudaSignature, *, cell: CudaCellBuild) -> None:
        super().__init__(signature, cell=cell)
        self._packer = ArgumentPacker(signature)
        self._planner = LaunchPlanner(signature.name, cell.options.block, signature.axes)
        self._ready: dict[tuple[Target, str | None], _Ready] = {}

    # ---- a call -----------------------------------------------------------------------------

    def __call__(
        self,
        *args: Any,
        grid: object = None,
        block: object = None,
        n_threads: object = None,
        shared_bytes: object = 0,
        stream: object = None,
        **kwargs: Any,
    ) -> None:
        """Launch the kernel; `kit.use_target`, KIT_TARGET and the cell choose where.

        Parameters
        ----------
        *args, **kwargs
            The kernel's arguments. A parameter that is called like an option below is given by
            position.
        grid : int or up to three
            Blocks along x, y and z.
        block : int or up to three
            Threads of a block; by default the cell's ``--block``, or 256, (16, 16) or (8, 8, 4),
            or less where the kernel allows less.
        n_threads : int or up to three
            Instead of `grid`: as many blocks as so many threads take. By default one thread for
            each element along the first array's leading axes, x along axis 0, y along axis 1, z
            along axis 2: as many axes as the block has, and no fewer than the kernel reads of
            ``blockIdx`` and ``threadIdx``. An array behind a bare pointer has one axis for a kernel
            that reads x alone.
        shared_bytes : int
            Dynamic shared memory of a block [bytes].
        stream : CuPy stream, address, or object with ``__cuda_stream__``
            By default CuPy's current one. The emulator, which runs each launch to its end, takes
            no notice of it.

        Raises
        ------
        ArgumentRefused
            An argument cannot be passed as it is.
        LaunchError
            The launch is beyond a limit; the kernel faulted (emulator); the device could not
            launch it.
        """
        __tracebackhide__ = True  # IPython then shows the user's frames only
        options = LaunchOptions(grid, block, n_threads, shared_bytes, stream)
        self._launch(None, args, kwargs, options)

    def device(self, *args: Any, **kwargs: Any) -> None:
        """Launch on the GPU, whatever target is chosen; arguments and options as of a call."""
        __tracebackhide__ = True
        self._launch("device", args, kwargs, take_out_options(kwargs))

    def emulator(self, *args: Any, **kwargs: Any) -> None:
        """Run on the CPU, whatever target is chosen; arguments and options as of a call."""
        __tracebackhide__ = True
        self._launch("emulator", args, kwargs, take_out_options(kwargs))

    def host(self, *args: Any, **kwargs: Any) -> Any:
        """Raise KitError: there is no Pyccel version, unless the cell was built with --pair."""
        raise self._no_target("host")

    def python(self, *args: Any, **kwargs: Any) -> Any:
        """Raise KitError: there is no Pyccel version, unless the cell was built with --pair."""
        raise self._no_target("python")

    def plan(self, *args: Any, **kwargs: Any) -> CudaCallPlan:  # pyright: ignore[reportIncompatibleMethodOverride] -- another plan
        """What a call with these arguments would do; nothing is run.

        Options of the launch are taken, so that any call can be asked about, and not looked at.
        """
        take_out_options(kwargs)
        return self._packer.plan(self._cuda.bind(args, kwargs), self._target_of(args, kwargs))

    def _launch(
        self,
        target: Target | None,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        options: LaunchOptions,
    ) -> None:
        __tracebackhide__ = True
        try:
            self._run_on(target or self._target_of(args, kwargs), args, kwargs, options)
        except KitError as error:
            # It says all that there is to say: no frame of kit's tells more.
            raise error.with_traceback(None) from error.__cause__

    def _run_on(
        self,
        target: Target,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        options: LaunchOptions,
    ) -> None:
        values = self._cuda.bind(args, kwargs)
        # Where there is no GPU, no other array helps; and g++ is not started for what is refused.
        ready = self._prepare(target) if target == "device" else None
        packed = self._packer.pack(values, target)
        kernel, limits = ready or self._prepare(target)
        launch = self._planner.plan(options, self.shape_of_threads(values), limits)
        if launch is None:
            return
        if target == "emulator":
            kernel.launch(packed.addresses, launch)
        else:
            kernel.launch(
                packed.addresses,
                launch,
                stream=options.stream,
                after=packed.streams,
                holding=packed.values,
            )

    # ---- target -----------------------------------------------------------------------------

    def _target_of(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Target:
        """Where a call with these arguments runs."""
        target = choose_target(self._cell.options.target)
        if target == "emulator" or target == "device":
            return target
        raise self._no_target(target)

    def _no_target(self, target: str) -> KitError:
        name = self.__name__
        if target == "compile":
            fix = "build its cell again, without --target"
            return KitError(f"{name} was only compiled (--target compile)\n  fix: {fix}")
        return KitError(
            f"{name} has no Pyccel version, which the target {target!r} needs\n"
            f"  fix: {name}.emulator(...) for host arrays; or write a %%pyccel_kernel {name}, and "
            "build this cell with --pair"
        )

    def _prepare(self, target: Target) -> _Ready:
        """The loaded kernel, and what limits its launches."""
        loaded = self.load(target)
        architecture = None if target == "emulator" else loaded.architecture
        ready = self._ready.get((target, architecture))
        if ready is None:
            names = self.architectures if architecture is None else (architecture,)
            ready = _Ready(loaded.kernel(self._cuda), self.limits_on(names))
            self._ready[target, architecture] = ready
        return ready

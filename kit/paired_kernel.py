"""One object for the Pyccel and the CUDA version of a kernel: ``%%cuda_kernel --pair``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kit.arrays import array_kind
from kit.boundary.refusals import describe_value
from kit.cuda.array_fixes import fresh_fix
from kit.cuda.configuration import LaunchOptions, take_out_options
from kit.cuda_target import TargetChoice, choose_target
from kit.errors import argument_refused
from kit.kernel import PyccelKernel
from kit.kernel_cuda import CudaKernel
from kit.targets import CHOICES, chosen_target
from kit.views.base import View

if TYPE_CHECKING:
    from kit.cuda.arguments import CudaCallPlan
    from kit.plan import CallPlan
    from kit.terms import Place, Target

__all__ = ["PairedKernel"]

_DLPACK_DEVICES = frozenset({2, 13})  # kDLCUDA, kDLCUDAManaged


class PairedKernel(CudaKernel):
    """Both versions of a kernel; a call goes to the one that its arrays are for.

    Parameters
    ----------
    pyccel : PyccelKernel
        For host arrays.
    cuda : CudaKernel
        For device arrays, and for the emulator. Whether the two take the same is decided by
        `kit.cuda.pairing`, before.

    Notes
    -----
    Where nobody chooses a target, host arrays go to the Pyccel version and device arrays to the
    CUDA version; a call that has both is refused. Options of a launch (``grid``, ``block``, ...)
    are taken by every call, and mean nothing to the Pyccel version. Views with ghosts are for the
    CUDA version, which counts indices from the body; the Pyccel version is refused them.
    """

    def __init__(self, pyccel: PyccelKernel, cuda: CudaKernel) -> None:
        super().__init__(cuda.cuda_signature, cell=cuda.cell)
        self.pyccel = pyccel
        self.cuda = cuda

    # ---- a call -----------------------------------------------------------------------------

    def host(self, *args: Any, **kwargs: Any) -> Any:
        """Run the Pyccel version, whatever target is chosen."""
        __tracebackhide__ = True
        take_out_options(kwargs)
        self._refuse_ghosts(args, kwargs)
        return self.pyccel.host(*args, **kwargs)

    def python(self, *args: Any, **kwargs: Any) -> Any:
        """Run the Pyccel version uncompiled, whatever target is chosen."""
        __tracebackhide__ = True
        take_out_options(kwargs)
        self._refuse_ghosts(args, kwargs)
        return self.pyccel.python(*args, **kwargs)

    def plan(self, *args: Any, **kwargs: Any) -> CudaCallPlan | CallPlan:  # pyright: ignore[reportIncompatibleMethodOverride] -- one of two plans
        """What a call with these arguments would do; nothing is run."""
        take_out_options(kwargs)
        if self._target_of(args, kwargs) in ("host", "python"):
            return self.pyccel.plan(*args, **kwargs)
        return super().plan(*args, **kwargs)

    def _run_on(
        self,
        target: Target,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        options: LaunchOptions,
    ) -> None:
        __tracebackhide__ = True
        if target == "host":
            self.host(*args, **kwargs)
        elif target == "python":
            self.python(*args, **kwargs)
        else:
            super()._run_on(target, args, kwargs, options)

    def _refuse_ghosts(self, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        """Pyccel counts indices from the first ghost, CUDA from the body: other elements."""
        for name, value in self._named(args, kwargs).items():
            if not isinstance(value, View) or not any(map(any, cast(Any, value).nghost)):
                continue
            raise argument_refused(
                ValueError,
                self.__name__,
                name,
                found=f"an ArrayView with ghost layers {cast(Any, value).nghost}",
                need="an array without: indices count from its first element in both versions",
                fix=f"{name} = {name}.body\n"
                f"# or one version: {self.__name__}.pyccel(...), {self.__name__}.cuda(...)",
            )

    def _named(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Mapping[str, object]:
        names = [one.name for one in self._cuda.parameters]
        return {**dict(zip(names, args, strict=False)), **kwargs}

    # ---- target -----------------------------------------------------------------------------

    @property
    def targets(self) -> tuple[Target, ...]:
        """Where it can run."""
        return (*self.pyccel.targets, *self.cuda.targets)

    @property
    def chosen(self) -> TargetChoice:
        """Where a call would run now, and why there; with host arrays where they decide."""
        if self._is_free():
            return TargetChoice("host", "host arrays; device arrays: device")
        return super().chosen

    def _facts(self) -> dict[str, str]:
        facts = super()._facts()
        facts["targets"] = (
            f"{', '.join(self.pyccel.targets)} (Pyccel version)\n"
            f"{', '.join(self.cuda.targets)} (CUDA version)"
        )
        if self._is_free():
            facts["runs"] = "host arrays on host, device arrays on device"
        else:
            facts["runs"] += ", whatever the arrays"
        return facts

    def _is_free(self) -> bool:
        """Whether nobody has chosen a target, so that the arrays do."""
        own = self._cell.options.target
        return own == "auto" and (not CHOICES or chosen_target() is None)

    def _target_of(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Target:
        if not self._is_free():
            target = choose_target(self._cell.options.target)
            if target in ("python", "host", "device", "emulator"):
                return target
            raise self._no_target(target)
        named = self._named(args, kwargs)
        places = {name: self._place_of(name, value) for name, value in named.items()}
        device = [name for name, place in places.items() if place == "device"]
        host = [name for name, place in places.items() if place == "host"]
        if device and host:
            raise argument_refused(
                ValueError,
                self.__name__,
                host[0],
                found=f"{', '.join(host)} on the host, {', '.join(device)} on the device",
                need="all arrays in one place: host for the Pyccel version, device for CUDA",
                fix="\n".join(f"{name} = cupy.asarray({name})" for name in host),
            )
        return "device" if device else "host"

    def _place_of(self, name: str, value: object) -> Place | None:
        """Where an array lies; None for what is none."""
        try:
            return _place_of(value)
        except Exception as error:  # a stranger that has the protocol and refuses to serve it
            raise argument_refused(
                TypeError,
                self.__name__,
                name,
                found=f"{describe_value(value)}, which says: {error}",
                need="an array that tells where it lies: on the host or on the device",
                fix=fresh_fix(name, value, "np"),
            ) from None

    # ---- equality and pickling --------------------------------------------------------------

    def _identity(self) -> tuple[object, ...]:
        return (self.pyccel, self.cuda)

    def __reduce__(self) -> tuple[object, ...]:
        return PairedKernel, (self.pyccel, self.cuda)


def _place_of(value: object) -> Place | None:
    """Where an array lies; None for what is none."""
    if type(value) is np.ndarray:
        return "host"
    kind = array_kind(value)
    if kind == "dlpack":
        exporter: Any = value
        return "device" if exporter.__dlpack_device__()[0] in _DLPACK_DEVICES else "host"
    return None if kind is None else "device" if kind == "cuda" else "host"

"""Cells on the GPU: cubins loaded and launched by CuPy's binding to the driver.

A cell is loaded on each device that it is launched on: modules, functions and variables belong to
one device. Nothing is unloaded again, because launches may be in flight; a cubin is small.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

from kit.backends.device_faults import describe_failure
from kit.backends.device_module import DeviceModule, choose_cubin
from kit.backends.devices import Devices, find_gpus
from kit.backends.streams import stream_address
from kit.cuda.signature import CudaSignature, CudaSymbol
from kit.cuda.symbols import symbol_dtype
from kit.errors import KitError, argument_refused
from kit.launch import Launch
from kit.terms import Target

__all__ = ["DeviceCell", "DeviceKernel", "load"]

_MANAGED: Final = 3  # cudaMemoryTypeManaged, which every device reaches


def load(cubins: Mapping[str, bytes], *, debug: bool = False) -> DeviceCell:
    """A cell on the GPU.

    Parameters
    ----------
    cubins : mapping of str to bytes
        Architecture -> what NVRTC gave for it.
    debug : bool
        Whether each launch waits for its end, so that an error names its kernel.

    Raises
    ------
    KitError
        There is no GPU, no CuPy, or no cubin for the current device.
    """
    cell = DeviceCell(cubins, find_gpus(), debug=debug)
    cell.here()
    return cell


class DeviceCell:
    """A cell's cubins, on whichever device is current.

    Parameters
    ----------
    cubins : mapping of str to bytes
        Architecture -> cubin.
    devices : Devices
        Of this process.
    debug : bool
        Whether each launch waits for its end.
    """

    def __init__(self, cubins: Mapping[str, bytes], devices: Devices, *, debug: bool) -> None:
        self._cubins = dict(cubins)
        self._modules: dict[int, DeviceModule] = {}
        self._lock = threading.Lock()
        self.devices = devices
        self.debug = debug

    @property
    def target(self) -> Target:
        """Always "device"."""
        return "device"

    @property
    def architecture(self) -> str:
        """Of the current device."""
        return self.devices.architecture(self.devices.current())

    def here(self) -> DeviceModule:
        """The cell on the current device."""
        device = self.devices.current()
        module = self._modules.get(device)
        if module is None:
            with self._lock:
                module = self._modules.get(device) or self._load_on(device)
                self._modules[device] = module
        return module

    def kernel(self, signature: CudaSignature) -> DeviceKernel:
        """The kernel of that signature, on any device."""
        return DeviceKernel(self, signature)

    def symbol(self, symbol: CudaSymbol) -> Any:
        """A CuPy array over a variable of the current device; of records, over their bytes."""
        module, dtype = self.here(), symbol_dtype(symbol.element)
        inner = (symbol.element.width,) if symbol.element.width > 1 else ()
        if dtype.kind == "V":  # CuPy has no records
            inner, dtype = (dtype.itemsize,), "uint8"
        return self.devices.binding.array_over(
            module.variable(symbol.lowered),
            symbol.element.size * prod(symbol.shape),
            (*symbol.shape, *inner),
            dtype,
            self,
            module.device,
        )

    def synchronize(self) -> None:
        """Wait until every launch has ended, on every device."""
        self.devices.synchronize()

    def _load_on(self, device: int) -> DeviceModule:
        wanted = self.devices.architecture(device)
        name = choose_cubin(list(self._cubins), wanted)
        if name is None:
            raise KitError(
                f"the cell has no code for this GPU\n"
                f"  found: code for {', '.join(self._cubins) or 'nothing'}\n"
                f"  need:  {wanted}; code runs on GPUs of its own generation (the number before "
                f"the last digit) that are not older\n"
                f"  fix:   %%cuda_kernel --arch {wanted}"
            )
        return DeviceModule(self.devices, device, self._cubins[name])


class DeviceKernel:
    """One kernel of a cell on the GPU.

    Parameters
    ----------
    cell : DeviceCell
        The cell.
    signature : CudaSignature
        Of the kernel.
    """

    def __init__(self, cell: DeviceCell, signature: CudaSignature) -> None:
        self._cell = cell
        self._name = signature.name
        self._lowered = signature.lowered
        self._arrays = [(k, one.name) for k, one in enumerate(signature.parameters) if one.is_array]

    def launch(
        self,
        addresses: int,
        launch: Launch,
        *,
        stream: object = None,
        after: Sequence[int] = (),
        holding: Sequence[object] = (),
    ) -> None:
        """Launch on the current device and return; see `kit.cuda.loaded.LoadedKernel`."""
        module, devices = self._cell.here(), self._cell.devices
        driver, runtime = devices.binding.driver, devices.binding.runtime
        address = stream_address(stream, devices.binding, kernel=self._name, device=module.device)
        if devices.count > 1:
            self._refuse_other_devices(holding, module.device)
        try:
            function = module.function(self._lowered)
            if launch.shared_bytes:
                module.allow_shared(function, launch.shared_bytes)
            for other in after:
                if (other or 1) != (address or 1):  # 0 and 1 are both the legacy default stream
                    module.events.wait_for(other, address)
            driver.launchKernel(
                function, *launch.grid, *launch.block, launch.shared_bytes, address, addresses, 0
            )
            module.events.hold(address, self._name, holding)
            if self._cell.debug:
                runtime.streamSynchronize(address)
        except (driver.CUDADriverError, runtime.CUDARuntimeError) as error:
            others = [] if self._cell.debug else module.events.kernels()
            raise describe_failure(
                self._name, error, others=others, certain=self._cell.debug
            ) from None

    def _refuse_other_devices(self, values: Sequence[object], device: int) -> None:
        """Refuse arrays that lie on a device other than the one that the kernel runs on."""
        runtime = self._cell.devices.binding.runtime
        for index, name in self._arrays:
            value: Any = values[index]
            address: int = value.__cuda_array_interface__["data"][0]
            if not address:  # an array without elements
                continue
            found = runtime.pointerGetAttributes(address)
            if found.device != device and found.type != _MANAGED:
                raise argument_refused(
                    ValueError,
                    self._name,
                    name,
                    found=f"an array of device {found.device}; the current one is {device}",
                    need=f"memory of device {device}, where the kernel is to run",
                    fix=f"with cupy.cuda.Device({found.device}): {self._name}(...)",
                )

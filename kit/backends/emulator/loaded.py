"""A CUDA cell as the CPU runs it: kernels to launch, variables as NumPy arrays."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Final, NamedTuple

from kit.backends.emulator.faults import INTERRUPTED, FaultReport, launch_error
from kit.backends.emulator.layouts import DIFFERENT, RUN_ON_DEVICE
from kit.backends.emulator.runtime_library import Runtime
from kit.cuda.signature import CudaSignature, CudaSymbol
from kit.errors import BuildError, LaunchError
from kit.launch import Launch
from kit.terms import Target

__all__ = ["EmulatedCell", "EmulatedKernel"]

_PRINTED: Final = 256  # a flag in what a launch returns (runtime/launch.cpp)
_MOST_THREADS: Final = 1024  # max_threads of worker.h
_MOST_SHARED_BYTES: Final = 227 * 1024  # of building.py


class _Kernel(ctypes.Structure):
    """What a cell says of one kernel (worker.h)."""

    _fields_ = (
        ("functions", ctypes.c_void_p * 5),
        ("sizes", ctypes.POINTER(ctypes.c_uint)),
        ("n_parameters", ctypes.c_uint),
        ("block_ns", ctypes.c_void_p),
    )


class _Symbol(ctypes.Structure):
    """What a cell says of one variable (entry.h)."""

    _fields_ = (
        ("address", ctypes.c_void_p),
        ("n_bytes", ctypes.c_size_t),
        ("is_const", ctypes.c_bool),
    )


class _Prepared(NamedTuple):
    """A launch configuration as the runtime library takes it."""

    launch: Launch
    address: int
    shared_bytes: int
    extents: object  # keeps the memory at `address`


class EmulatedCell:
    """A loaded cell; see `kit.cuda.loaded.LoadedCell`."""

    target: Target = "emulator"
    architecture: str | None = None

    def __init__(
        self,
        library: ctypes.CDLL,
        path: Path,
        runtime: Runtime,
        source: str,
        kernels: Sequence[CudaSignature],
        symbols: Sequence[CudaSymbol],
    ) -> None:
        self._library = library
        self.path = path
        self.runtime = runtime
        self.source = source
        table = (_Kernel * len(kernels)).in_dll(library, "kit_emulator_kernels")
        self._kernels = {
            one.expression: EmulatedKernel(self, one, entry)
            for one, entry in zip(kernels, table, strict=True)
        }
        self._symbols: Mapping[str, Any] = self._arrays(symbols) if symbols else {}

    def kernel(self, signature: CudaSignature) -> EmulatedKernel:
        """The kernel of that signature."""
        return self._kernels[signature.expression]

    def symbol(self, symbol: CudaSymbol) -> Any:
        """A NumPy array over the memory of a variable; read-only where the cell says `const`."""
        return self._symbols[symbol.name]

    def synchronize(self) -> None:
        """Does nothing: a launch returns when it has ended."""

    def base(self) -> int:
        """Where this process has loaded the library."""

        class Info(ctypes.Structure):
            _fields_ = (("name", ctypes.c_char_p), ("base", ctypes.c_void_p),
                        ("symbol", ctypes.c_char_p), ("address", ctypes.c_void_p))  # fmt: skip

        info = Info()
        inside = ctypes.byref(ctypes.c_char.in_dll(self._library, "kit_emulator_kernels"))
        ctypes.CDLL(None).dladdr(inside, ctypes.byref(info))
        return info.base or 0

    def _arrays(self, symbols: Sequence[CudaSymbol]) -> Mapping[str, Any]:
        import numpy as np

        from kit.cuda.symbols import symbol_dtype

        table = (_Symbol * len(symbols)).in_dll(self._library, "kit_emulator_symbols")
        arrays: dict[str, Any] = {}
        for symbol, entry in zip(symbols, table, strict=True):
            n_bytes = symbol.element.size * prod(symbol.shape)
            if entry.n_bytes != n_bytes:
                raise _disagreement(f"the variable {symbol.name}", n_bytes, entry.n_bytes)
            memory: Any = (ctypes.c_char * entry.n_bytes).from_address(entry.address)
            # Writing to the memory of what is const would end the process.
            memory = memoryview(memory).toreadonly() if entry.is_const else memory
            width = symbol.element.width
            shape = symbol.shape if width == 1 else (*symbol.shape, width)
            arrays[symbol.name] = np.ndarray(shape, symbol_dtype(symbol.element), buffer=memory)
        return arrays


class EmulatedKernel:
    """One kernel of a loaded cell; see `kit.cuda.loaded.LoadedKernel`."""

    __slots__ = ("_cell", "_kernel", "_prepared", "_run", "_signature")

    def __init__(self, cell: EmulatedCell, signature: CudaSignature, kernel: _Kernel) -> None:
        sizes = kernel.sizes[: kernel.n_parameters]
        expected = [one.size for one in signature.parameters]
        if sizes != expected:
            raise _disagreement(f"the parameters of {signature.name}", expected, sizes)
        self._cell = cell
        self._signature = signature
        self._kernel = ctypes.addressof(kernel)
        self._run = cell.runtime.launch
        self._prepared: _Prepared | None = None

    def launch(
        self,
        addresses: int,
        launch: Launch,
        *,
        stream: object = None,
        after: Sequence[int] = (),
        holding: Sequence[object] = (),
    ) -> None:
        """Run every block, and return when the last one has ended.

        Parameters
        ----------
        addresses : int
            Address of an array of addresses, one for each parameter.
        launch : Launch
            Grid, block and shared memory.
        stream, after, holding
            Of a device; not used.

        Raises
        ------
        LaunchError
            The kernel faulted: what it had written until then stays written.
        KeyboardInterrupt
            Ctrl-C, in the main thread.

        Notes
        -----
        The GIL is released; several threads may launch at once. Shared memory is not cleared: a
        block finds there what another one has left, as on a GPU.
        """
        prepared = self._prepared
        if prepared is None or (prepared.launch is not launch and prepared.launch != launch):
            # Kept in one assignment: other threads launch with other configurations.
            prepared = self._prepared = self._prepare(launch)
        status = self._run(self._kernel, addresses, prepared.address, prepared.shared_bytes)
        if status:
            self._finish(status)

    def _prepare(self, launch: Launch) -> _Prepared:
        grid, block, shared_bytes = launch
        threads = prod(block)
        if not (0 < threads <= _MOST_THREADS and min(block) > 0):
            raise self._refusal(f"a block of {block} threads", f"1 to {_MOST_THREADS} threads")
        if min(grid) < 1 or grid[0] >= 2**31 or max(grid[1:]) >= 2**16:
            raise self._refusal(f"a grid of {grid} blocks", "1 to 2147483647, 65535 and 65535")
        if not 0 <= shared_bytes <= _MOST_SHARED_BYTES:
            found = f"{shared_bytes} bytes of dynamic shared memory"
            raise self._refusal(found, f"at most {_MOST_SHARED_BYTES} bytes")
        extents = (ctypes.c_uint * 6)(*grid, *block)
        return _Prepared(launch, ctypes.addressof(extents), shared_bytes, extents)

    def _refusal(self, found: str, need: str) -> LaunchError:
        message = f"nothing was launched: {found}, where there can be {need}"
        return LaunchError(message, kernel=self._signature.name, kind="limit")

    def _finish(self, status: int) -> None:
        """What is left when a launch has printed, faulted or been interrupted."""
        runtime = self._cell.runtime
        fault = status & ~_PRINTED
        report = FaultReport()
        if fault:
            runtime.fault(ctypes.byref(report))
        try:
            if status & _PRINTED:
                _write_output(runtime)
        finally:  # whatever sys.stdout raises: a fault is what the caller has to know
            self._raise_fault(fault, report)

    def _raise_fault(self, fault: int, report: FaultReport) -> None:
        if fault == INTERRUPTED:
            # Python's own handler first: it may have something else in mind than to raise.
            ctypes.pythonapi.PyErr_CheckSignals()
            raise KeyboardInterrupt
        if fault:
            raise launch_error(
                report,
                kernel=self._signature.name,
                source=self._cell.source,
                library=self._cell.path,
                base=self._cell.base(),
            )


def _write_output(runtime: Runtime) -> None:
    n_bytes, n_lost = ctypes.c_size_t(), ctypes.c_size_t()
    address = runtime.output(ctypes.byref(n_bytes), ctypes.byref(n_lost))
    try:
        text = ctypes.string_at(address, n_bytes.value).decode(errors="replace") if address else ""
    finally:
        runtime.free(address)
    if n_lost.value:
        text += f"\n[kit: {n_lost.value} bytes more were printed and are lost]\n"
    if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] -- pythonw, daemons
        sys.stdout.write(text)


def _disagreement(what: str, expected: object, found: object) -> BuildError:
    return BuildError(
        f"{DIFFERENT} {what} differently: {expected} and {found} bytes",
        fix=RUN_ON_DEVICE,
    )

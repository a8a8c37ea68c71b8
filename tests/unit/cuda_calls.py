"""Call the kernels of a loaded cell with arrays and numbers, without kit's own boundary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kit.backends.emulator import obtain
from kit.cuda.loaded import LoadedCell
from kit.cuda.options import CudaOptions
from kit.cuda.signature import CudaParameter, CudaSignature, CudaSymbol, Element
from kit.launch import Launch

ELEMENTS = {
    "double": Element("float64", 1, 8, 8, "double"),
    "float": Element("float32", 1, 4, 4, "float"),
    "int": Element("int32", 1, 4, 4, "int"),
    "long long": Element("int64", 1, 8, 8, "long long"),
    "unsigned": Element("uint32", 1, 4, 4, "unsigned"),
}


def signature(declared: str, *, expression: str | None = None, line: int = 2) -> CudaSignature:
    """Of ``"name(double, const int*)"``."""
    name, _, rest = declared.rstrip(")").partition("(")
    parameters: list[CudaParameter] = []
    offset = 0
    for number, text in enumerate(part.strip() for part in rest.split(",") if part.strip()):
        is_pointer = text.endswith("*")
        element = ELEMENTS[text.removeprefix("const ").rstrip("*")]
        size = 8 if is_pointer else element.size
        offset = -(-offset // size) * size
        kind = "pointer" if is_pointer else "scalar"
        intent = "inout" if is_pointer and not text.startswith("const ") else "in"
        parameters.append(
            CudaParameter(
                f"a{number}", kind, element, None, intent, False, size, size, offset, text, line, 1
            )
        )
        offset += size
    return CudaSignature(
        name, expression or name, name, tuple(parameters), offset, None, None, "", line, ""
    )


class Cell:
    """A cell of the emulator: ``cell("kernel", grid, block, x, 3)`` launches."""

    def __init__(
        self,
        source: str,
        *signatures: CudaSignature | str,
        symbols: Sequence[CudaSymbol] = (),
        **options: Any,
    ) -> None:
        kernels = [signature(one) if isinstance(one, str) else one for one in signatures]
        self.signatures = {one.name: one for one in kernels}
        self.loaded: LoadedCell = obtain("\n" + source, kernels, symbols, CudaOptions(**options))

    def prepare(
        self, name: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], *args: object,
        shared_bytes: int = 0,
    ) -> Callable[[], None]:  # fmt: skip
        """A launch with arguments that are packed already; it keeps them alive."""
        signature = self.signatures[name]
        packed = [pack(value, one) for value, one in zip(args, signature.parameters, strict=True)]
        addresses = np.array([one.ctypes.data for one in packed] or [0], np.uint64)
        kept = (args, packed, addresses)
        launch = Launch(three(grid), three(block), shared_bytes)
        run, address = self.loaded.kernel(signature).launch, int(addresses.ctypes.data)

        def go(kept: object = kept) -> None:
            run(address, launch)

        return go

    def __call__(
        self, name: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], *args: object,
        shared_bytes: int = 0,
    ) -> None:  # fmt: skip
        self.prepare(name, grid, block, *args, shared_bytes=shared_bytes)()


def pack(value: object, parameter: CudaParameter) -> np.ndarray[Any, Any]:
    if parameter.is_array:
        assert isinstance(value, np.ndarray)
        assert value.dtype == parameter.element.dtype
        return np.array([value.ctypes.data], np.uint64)
    return np.array([value], parameter.element.dtype)


def three(extents: int | tuple[int, ...]) -> tuple[int, int, int]:
    given = (extents,) if isinstance(extents, int) else extents
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z

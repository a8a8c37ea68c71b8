"""CUDA kernels whose cell nobody compiled: a target that records launches stands in."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kit.cuda.cell_build import CudaCellBuild
from kit.cuda.options import CudaOptions
from kit.cuda.signature import CudaParameter, CudaSignature, CudaSymbol, Element
from kit.cuda.symbols import symbol_dtype
from kit.kernel_cuda import CudaKernel
from kit.launch import Launch
from kit.terms import Target
from kit.trace import BuildRecord, KernelResources

DOUBLE = Element("float64", 1, 8, 8, "double")
FLOAT = Element("float32", 1, 4, 4, "float")
INT = Element("int32", 1, 4, 4, "int")
FLOAT4 = Element("float32", 4, 16, 16, "float4")

SOURCE = "\n__global__ void saxpy(double a, const double* x, double* y, int n) {}\n"


def parameter(
    name: str, kind: Any, element: Element, *, written: bool = False, ndim: int | None = None
) -> CudaParameter:
    size = {"scalar": element.size, "vector": element.size, "pointer": 8}.get(kind, 0)
    if kind == "view":
        size = 8 + 24 * (ndim or 0)
    text = {"scalar": element.text, "vector": element.text, "pointer": f"{element.text}*"}
    return CudaParameter(
        name=name,
        kind=kind,
        element=element,
        ndim=ndim,
        intent="inout" if written else "in",
        restrict=False,
        size=size,
        alignment=min(size, 8),
        offset=0,
        text=text.get(kind, f"Array{ndim}D<{element.text}>"),
        line=2,
        column=1,
    )


def signature(
    name: str, parameters: Sequence[CudaParameter], *, max_threads: int | None = None
) -> CudaSignature:
    """A signature whose parameters lie one after another, as compilers do it."""
    laid_out: list[CudaParameter] = []
    end = 0
    for one in parameters:
        end += -end % one.alignment
        laid_out.append(one._replace(offset=end))
        end += one.size
    return CudaSignature(
        name=name,
        expression=name,
        lowered=f"_Z{len(name)}{name}",
        parameters=tuple(laid_out),
        packed_size=end,
        max_threads=max_threads,
        min_blocks=None,
        source=f"__global__ void {name}() {{}}",
        line=2,
        doc="Adds a times x to y.",
    )


SAXPY = signature(
    "saxpy",
    [
        parameter("a", "scalar", DOUBLE),
        parameter("x", "pointer", DOUBLE),
        parameter("y", "pointer", DOUBLE, written=True),
        parameter("n", "scalar", INT),
    ],
)


@dataclass
class Launched:
    """One launch that a target was asked for."""

    kernel: str
    launch: Launch
    arguments: tuple[bytes, ...]
    options: Mapping[str, Any]


@dataclass
class RecordingCell:
    """A target that records launches, and has the cell's variables in NumPy arrays."""

    target: Target = "emulator"
    architecture: str | None = None
    launches: list[Launched] = field(default_factory=list)
    variables: dict[str, Any] = field(default_factory=dict)

    def kernel(self, signature: CudaSignature) -> RecordingKernel:
        return RecordingKernel(self, signature)

    def symbol(self, symbol: CudaSymbol) -> Any:
        shape = symbol.shape if symbol.element.width == 1 else (*symbol.shape, symbol.element.width)
        fresh = np.zeros(shape, symbol_dtype(symbol.element))
        return self.variables.setdefault(symbol.name, fresh)

    def synchronize(self) -> None:
        pass


@dataclass
class RecordingKernel:
    cell: RecordingCell
    signature: CudaSignature

    def launch(
        self,
        addresses: int,
        launch: Launch,
        *,
        stream: object = None,
        after: Sequence[int] = (),
        holding: Sequence[object] = (),
    ) -> None:
        table = (ctypes.c_void_p * len(self.signature.parameters)).from_address(addresses)
        packed = tuple(
            ctypes.string_at(place, one.size)
            for place, one in zip(table, self.signature.parameters, strict=True)
        )
        options = {"stream": stream, "after": tuple(after), "holding": holding}
        self.cell.launches.append(Launched(self.signature.name, launch, packed, options))


def rebuild(source: str, name: str, options: Mapping[str, Any]) -> CudaKernel:
    """What a build injects; at module level, so that it pickles."""
    return make_kernel(SAXPY, source=source, options=CudaOptions(**options))[0]


def make_kernel(
    what: CudaSignature = SAXPY,
    *,
    options: CudaOptions | None = None,
    source: str = SOURCE,
    symbols: Sequence[CudaSymbol] = (),
    key: str = "0123456789abcdef",
    device: RecordingCell | None = None,
    resources: Mapping[str, KernelResources] | None = None,
) -> tuple[CudaKernel, RecordingCell]:
    """A kernel, and the emulator that records its launches."""
    emulator = RecordingCell()
    record = BuildRecord(
        kernels=(what.name,),
        language="cuda",
        key=key,
        hit=True,
        reason="store",
        log="said nothing",
        architectures=tuple(resources or ()),
        resources={what.name: resources or {}},
    )
    loaders: dict[Target, Any] = {"emulator": lambda: emulator}
    if device is not None:
        loaders = {"device": lambda: device, **loaders}
    cell = CudaCellBuild(
        source=source,
        options=options or CudaOptions(),
        record=record,
        symbols=tuple(symbols),
        loaders=loaders,
        rebuild=rebuild,
    )
    return CudaKernel(what, cell=cell), emulator

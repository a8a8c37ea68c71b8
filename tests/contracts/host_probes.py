"""Kernels that show whether an argument arrived as it should, and their compilation.

Every probe weighs each element by its place, so that a value read from, or written to, the wrong
place changes the result. The oracle is the same function as Python, on a snapshot of the arguments.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from kit.backends.protocol import CompileRequest
from kit.backends.pyccel import compile_unit
from kit.kernel import PyccelKernel
from kit.provenance import KernelBuild
from kit.signature import Signature, parse_signature
from kit.terms import Language, Policy
from kit.toolchain import DEFAULT_FLAGS
from kit.trace import BuildRecord

MODULE = "kit_probes"


def _annotation(dtype: str, rank: int, order: str) -> str:
    suffix = f"(order={order})" if rank > 1 else ""
    return f"'{dtype}[{','.join(':' * rank)}]{suffix}'"


def _loops(rank: int, array: str, body: str) -> str:
    lines = [
        "    " * (axis + 1) + f"for i{axis} in range({array}.shape[{axis}]):"
        for axis in range(rank)
    ]
    lines += ["    " * (rank + 1) + line for line in body.split("\n")]
    return "\n".join(lines)


def _array_probes(dtype: str, rank: int, order: str) -> str:
    kind = _annotation(dtype, rank, order)
    name = f"{dtype}_{rank}{order}"
    at = ", ".join(f"i{axis}" for axis in range(rank))
    element = f"x[{at}]"
    if dtype == "bool":
        value, write = f"(1.0 if {element} else 0.5)", f"{element} = not {element}"
    elif dtype.startswith("complex"):
        value, write = (
            f"(float({element}.real) - 2.0 * float({element}.imag))",
            f"{element} = {element} * 2 + k",
        )
    else:
        value, write = f"float({element})", f"{element} = {element} * 2 + k"
    return f"""
def fold_{name}(x: {kind}) -> 'float':
    total = 0.0
    k = 0
{_loops(rank, "x", f"k += 1{chr(10)}total += {value} * k")}
    return total

def bump_{name}(x: {kind}):
    k = 0
{_loops(rank, "x", f"k += 1{chr(10)}{write}")}
"""


def _map_probe(rank: int, order: str) -> str:
    kind = _annotation("float64", rank, order)
    at = ", ".join(f"i{axis}" for axis in range(rank))
    return f"""
def into_{rank}{order}(x: {kind}, y: {kind}):
    k = 0
{_loops(rank, "x", f"k += 1{chr(10)}y[{at}] = 2.0 * x[{at}] + k")}
"""


SCALARS = """
def scalars(b: 'bool', i: 'int', f: 'float', z: 'complex') -> 'complex':
    r = z + f + i
    if b:
        r += 1000.0
    return r

def typed_scalars(i8: 'int8', i16: 'int16', i32: 'int32', i64: 'int64', f32: 'float32',
                  f64: 'float64', c64: 'complex64', c128: 'complex128') -> 'complex128':
    return c128 + c64 + f64 + f32 + i64 + i32 + i16 + i8

def echo_int(i: 'int') -> 'int':
    return i

def echo_float(f: 'float') -> 'float':
    return f

def echo_int8(i: 'int8') -> 'int8':
    return i

def echo_int32(i: 'int32') -> 'int32':
    return i

def echo_int64(i: 'int64') -> 'int64':
    return i

def echo_float32(f: 'float32') -> 'float32':
    return f

def echo_float64(f: 'float64') -> 'float64':
    return f

def echo_complex64(z: 'complex64') -> 'complex64':
    return z

def echo_complex(z: 'complex') -> 'complex':
    return z

def echo_bool(b: 'bool') -> 'bool':
    return b

def text_length(s: 'str') -> 'int':
    return len(s)

def renamed(end: 'float64[:]', A: 'int', a: 'int', *, T: 'int' = 3, t: 'int' = 4) -> 'int':
    return int(end[0]) + 10 * A + 100 * a + 1000 * T + 10000 * t

def required(end: 'float64[:]', *, do: 'int', T: 'int', t: 'int') -> 'int':
    return int(end[0]) + 10 * do + 100 * T + 1000 * t

def only_one(*, end: 'int' = 7) -> 'int':
    return end

def optional(n: 'int', x: 'float64[:]' = None) -> 'float':
    r = 1.0 * n
    if x is not None:
        r += x[0]
    return r

def defaults(x: 'float64[:]', f: 'float' = 2, n: 'int32' = 3) -> 'float':
    return x[0] * f + n

def either(x: 'float64[:] | float32[:]', n: 'int'):
    for i in range(x.shape[0]):
        x[i] = x[i] * n

def number(x: 'int | float') -> 'float':
    return x * 2.0

def shift(x: 'float64[:]', y: 'float64[:]'):
    for i in range(1, x.shape[0]):
        y[i] = x[i - 1] + 1.0

def add_rows(x: 'float64[:,:]', y: 'float64[:,:]', n: 'int', s: 'float',
             w: 'float64[:]') -> 'float':
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] = x[i, j] * s + n + w[j]
    return s

def both(x: 'float64[:]', y: 'float64[:]'):
    for i in range(x.shape[0]):
        x[i] = x[i] + 1.0
        y[i] = x[i] * 2.0

def returned(x: 'float64[:,:](order=F)'):
    return x * 2.0

def returned_c(x: 'float64[:,:]'):
    return x * 2.0

def fails_late(x: 'float64[:]', n: 'int') -> 'int':
    x[0] = 5.0
    return n

class Accumulator:
    def __init__(self: 'Accumulator', n: 'int'):
        self.n = n

def total_of(a: 'Accumulator') -> 'int':
    return a.n
"""

DTYPES = ("int8", "int16", "int32", "int64", "float32", "complex64", "complex128", "bool")


def probe_source(language: Language) -> str:
    """The text of all probes; rank and order vary for float64, the dtype for ranks 1 and 2."""
    parts = [SCALARS]
    shapes = [(rank, order) for order in "CF" for rank in range(1, 5) if (rank, order) != (1, "F")]
    parts += [_array_probes("float64", *one) + _map_probe(*one) for one in shapes]
    parts += [_array_probes(dtype, 2, order) for dtype in DTYPES for order in "CF"]
    parts += [_array_probes(dtype, 1, "C") for dtype in DTYPES]
    if language == "c":
        # Lists need gFTL in Fortran, which is not there on every machine.
        parts.append("\ndef first_of(a: 'list[int]') -> 'int':\n    return a[0]\n")
    return "".join(parts)


def compile_probes(folder: Path, language: Language) -> Path:
    """Compile the probes below `folder`; gives the extension module's path.

    By kit's own worker: Pyccel's command needs pkg-config for the lists of a C unit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    source = probe_source(language)
    (folder / f"{MODULE}.py").write_text(source)
    reply = compile_unit(
        CompileRequest(
            source=source,
            module_name=MODULE,
            language=language,
            scratch=str(folder),
            # Random bytes as numbers round differently where a product and a sum are fused.
            flags=(*DEFAULT_FLAGS, "-ffp-contract=off"),
        )
    )
    if reply.artifact is None:
        raise RuntimeError(f"the probes do not compile:\n{reply.diagnostics}\n{reply.log}")
    return folder / reply.artifact


def load_extension(path: Path) -> ModuleType:
    """The compiled probes."""
    spec = importlib.util.spec_from_file_location(MODULE, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module
    spec.loader.exec_module(module)
    return module


def read_signature(node: ast.FunctionDef, outputs: Sequence[str]) -> Signature:
    """A signature with the given outputs."""
    classes = frozenset({"Accumulator"})
    # Cells may not use a language's own words for keyword-only parameters; the boundary can.
    names = [one.arg for one in node.args.kwonlyargs]
    for number, one in enumerate(node.args.kwonlyargs):
        one.arg = f"keyword{number}"
    signature = parse_signature(node, typevars={}, classes=classes)
    return replace(
        signature,
        parameters=tuple(
            replace(
                one,
                name=names[int(one.name[-1])] if one.keyword_only else one.name,
                intent="inout" if one.name in outputs else "in",
            )
            for one in signature.parameters
        ),
    )


_WRITES: Mapping[str, tuple[str, ...]] = {
    "bump": ("x",),
    "into": ("y",),
    "either": ("x",),
    "shift": ("y",),
    "add": ("y",),
    "both": ("x", "y"),
    "fails": ("x",),
}


class Probes:
    """The probes of one language as kernels, with their oracles.

    Parameters
    ----------
    path : Path
        The extension module.
    language : {"fortran", "c"}
        What it was translated to.
    """

    def __init__(self, path: Path, language: Language) -> None:
        self.language: Language = language
        self.path = path
        self.module = load_extension(path)
        source = probe_source(language)
        self.python: dict[str, Any] = {}
        exec(compile(source, "<probes>", "exec"), self.python)
        nodes = (one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef))
        self.signatures = {
            node.name: read_signature(node, _WRITES.get(node.name.partition("_")[0], ()))
            for node in nodes
        }
        wrapper = path.parent / "__pyccel__" / f"{MODULE}_wrapper.c"
        self.generated = {wrapper.name: wrapper.read_text()}

    def kernel(
        self, name: str, *, policy: Policy = "copy", uncompiled: bool = True, overwrites: Any = ()
    ) -> PyccelKernel:
        """A new kernel of one probe."""
        load: Callable[[], Any] | None = (lambda: self.python[name]) if uncompiled else None
        record = BuildRecord(
            kernels=(name,),
            language=self.language,
            generated=self.generated,
            key="0123456789abcdef",
        )
        build = KernelBuild(
            record=record,
            cell_source="",
            unit="",
            function_source=f"def {name}",
            language=self.language,
            load_python=load,
            identity=(name, self.language),
        )
        return PyccelKernel(
            getattr(self.module, name),
            signature=self.signatures[name],
            overwrites=overwrites,
            policy=policy,
            build=build,
        )

"""What a cell lacks when NVRTC does not know a name or a header, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kit.backends.cuda_packages import KIT_HEADERS
from kit.source.nearest import nearest

__all__ = ["advise_on_header", "advise_on_name", "advise_on_std"]

_HEADERS_OF_NAMES: Final = (
    (r"C?Array\d+D", "<kit/array_view.cuh>"),
    (r"(__)?half2?(_raw)?|__h[a-z]+2?|__\w*2?half2?(_\w+)?|__half\w+", "<cuda_fp16.h>"),
    (r"(__)?nv_bfloat162?|__\w*bfloat16\w*", "<cuda_bf16.h>"),
    (r"u?int(_fast|_least)?(8|16|32|64)_t|u?intptr_t|u?intmax_t", "<cuda/std/cstdint>"),
    (r"(FLT|DBL)_\w+", "<cuda/std/cfloat>"),
    (r"U?(CHAR|SHRT|INT|LONG|LLONG)_(MAX|MIN)", "<cuda/std/climits>"),
    (r"INFINITY|NAN", "<cuda/std/cmath>"),
    (r"CUDART_\w+", "<math_constants.h>"),
    (r"cooperative_groups", "<cooperative_groups.h>"),
    (r"thrust", "<thrust/complex.h>"),
)
_NOT_NEEDED: Final = {
    "assert.h": "assert",
    "cassert": "assert",
    "cmath": "the mathematics of C",
    "cstdio": "printf",
    "cstdlib": "abs",
    "cuda.h": "device code",
    "math.h": "the mathematics of C",
    "stdio.h": "printf",
    "stdlib.h": "abs",
}
_REPLACED: Final = {
    "float.h": "cfloat",
    "limits.h": "climits",
    "stddef.h": "cstddef",
    "stdint.h": "cstdint",
    "string.h": "cstring",
    "time.h": "ctime",
}
_LATER: Final = ("kit/scan.cuh", "kit/random.cuh")
_CONTAINERS: Final = ("vector", "string", "map", "list", "set", "deque", "memory", "unordered_map")

# Functions of C that device code has without a header, under their plain names.
_PLAIN: Final = re.compile(
    r"a(bs|cosh?|sinh?|tan[2h]?)|cbrt|ceil|copysign|cosh?|erfc?|exp[2]?|expm1|f(abs|loor|ma|max|min|mod)"
    r"|hypot|is(finite|inf|nan)|l(dexp|gamma|og|og10|og1p|og2|round)|max|min|nearbyint|pow|printf"
    r"|remainder|rint|round|sin|sincos|sinh|sqrt|tanh?|tgamma|trunc|mem(cpy|set)"
)
_STD_HEADERS: Final = {
    "array": "array",
    "bit_cast": "bit",
    "clamp": "algorithm",
    "complex": "complex",
    "dextents": "mdspan",
    "extents": "mdspan",
    "forward": "utility",
    "is_same_v": "type_traits",
    "layout_left": "mdspan",
    "layout_right": "mdspan",
    "layout_stride": "mdspan",
    "mdspan": "mdspan",
    "move": "utility",
    "numbers": "numbers",
    "numeric_limits": "limits",
    "optional": "optional",
    "pair": "utility",
    "size_t": "cstddef",
    "sort": "algorithm",
    "span": "span",
    "swap": "utility",
    "tuple": "tuple",
    "variant": "variant",
}

_BUILTINS: Final = (
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "__syncthreads",
    "__syncwarp",
    "__threadfence",
    "__shfl_sync",
    "__shfl_up_sync",
    "__shfl_down_sync",
    "__shfl_xor_sync",
    "__ballot_sync",
    "__any_sync",
    "__all_sync",
    "__activemask",
    "__popc",
    "__ffs",
    "__clz",
    "__ldg",
    "atomicAdd",
    "atomicSub",
    "atomicMin",
    "atomicMax",
    "atomicExch",
    "atomicCAS",
    "atomicAnd",
    "atomicOr",
    "atomicXor",
    "make_float2",
    "make_float3",
    "make_float4",
    "make_double2",
    "make_int2",
    "make_int3",
    "make_int4",
    "clock64",
    "rsqrt",
)
_HOST_API: Final = re.compile(
    r"cuda(Malloc\w*|Free\w*|Mem\w+|Device\w+|Launch\w*|Stream\w+|Event\w+|GetLastError|Error_t|"
    r"Success)|CUDA_CHECK|checkCudaErrors"
)
_ARRAYS: Final = "# leave it out: Python makes the arrays, x = numpy.zeros(n) or cupy.zeros(n)"


def advise_on_name(name: str, line: str, text: str) -> tuple[str | None, str | None]:
    """What to say about an unknown name instead of NVRTC's message, and the fix; None where unsure.

    Parameters
    ----------
    name : str
        Which is undefined.
    line : str
        Of the cell, where it stands.
    text : str
        The cell.

    Examples
    --------
    >>> advise_on_name("__half", "__half* x", "")
    (None, '#include <cuda_fp16.h>  // at the top of the cell')
    >>> advise_on_name("blockidx", "  int i = blockidx.x;", "")
    (None, 'int i = blockIdx.x;')
    """
    if _HOST_API.fullmatch(name):
        return f"{name} is host code, and a cell has only code of the device", _ARRAYS
    if name == "cg":
        fix = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;"
        return None, fix
    if name == "M_PI":
        return None, "#define M_PI 3.14159265358979323846  // above the kernel"
    if name == "std":
        return advise_on_std(_after(name, line), line)
    if name in ("cuda", "kit"):
        return None, _header_fix(_kit_header(line) if name == "kit" else _std_header(line))
    for pattern, header in _HEADERS_OF_NAMES:
        if re.fullmatch(pattern, name):
            return None, _header_fix(header)
    meant = _meant(name, text)
    return None, None if meant is None else _replaced(line, name, meant)


def advise_on_std(member: str, line: str) -> tuple[str | None, str | None]:
    """What to write for ``std::member``: there is no C++ library but ``cuda::std``.

    Examples
    --------
    >>> advise_on_std("sqrt", "y[i] = std::sqrt(x[i]);")[1]
    'y[i] = sqrt(x[i]);'
    >>> print(advise_on_std("complex", "std::complex<float> z;")[1])
    #include <cuda/std/complex>  // at the top of the cell
    cuda::std::complex<float> z;
    """
    message = f"device code has no std::{member}"
    if member in _CONTAINERS:
        return message, "# take arrays as parameters: double* x, or Array1D<double> x"
    if member in ("cout", "cerr", "endl"):
        return message, 'printf("%g\\n", x);'
    if _PLAIN.fullmatch(member):
        return message, _replaced(line, f"std::{member}", member)
    header = _STD_HEADERS.get(member)
    if header is None and re.fullmatch(_HEADERS_OF_NAMES[3][0], member):
        header = "cstdint"
    changed = _replaced(line, f"std::{member}", f"cuda::std::{member}")
    if header is None:
        return message, changed
    return message, f"{_header_fix(f'<cuda/std/{header}>')}\n{changed}"


def advise_on_header(name: str, folders: Sequence[str]) -> str:
    """The fix where a header was not found.

    Parameters
    ----------
    name : str
        As in ``#include <name>``.
    folders : sequence of str
        Where it was looked for.

    Examples
    --------
    >>> advise_on_header("stdio.h", ())
    '# leave the line out: printf needs no header here'
    """
    if name in _NOT_NEEDED:
        return f"# leave the line out: {_NOT_NEEDED[name]} needs no header here"
    replaced = _REPLACED.get(name, name)
    if any(Path(one, "cuda", "std", replaced).is_file() for one in folders):
        return f"#include <cuda/std/{replaced}>  // and cuda::std:: in the place of std::"
    if name in ("iostream", "ostream", "iomanip"):
        return 'printf("%g\\n", x);  // needs no header'
    if name in _CONTAINERS:
        return "# leave the line out: device code takes arrays as parameters, double* x"
    if name in _LATER or name.startswith(("curand", "cub/")):
        return f"# leave the line out: <{name}> comes with a later version of kit"
    if name.startswith("kit/"):
        there = ", ".join(f"<kit/{one.name}>" for one in sorted(KIT_HEADERS.glob("kit/*.cuh")))
        return f"# kit has {there}"
    try:
        is_here = Path(name).is_file()
    except OSError:
        is_here = False
    return "%%cuda_kernel -I ." if is_here else f"%%cuda_kernel -I FOLDER  # that has {name}"


def _header_fix(header: str | None) -> str | None:
    return None if header is None else f"#include {header}  // at the top of the cell"


def _after(name: str, line: str) -> str:
    """The member in ``name::member``."""
    found = re.search(rf"\b{name}\s*::\s*(\w+)", line)
    return "" if found is None else found[1]


def _std_header(line: str) -> str | None:
    found = re.search(r"\bcuda\s*::\s*std\s*::\s*(\w+)", line)
    member = "" if found is None else found[1]
    header = _STD_HEADERS.get(member, "cmath" if _PLAIN.fullmatch(member) else None)
    return None if header is None else f"<cuda/std/{header}>"


def _kit_header(line: str) -> str | None:
    """Which of kit's headers has the member of ``kit::`` that the line names."""
    member = _after("kit", line)
    for path in sorted(KIT_HEADERS.glob("kit/*.cuh")):
        if member and re.search(rf"\b{member}\b", path.read_text(encoding="utf-8")):
            return f"<kit/{path.name}>"
    return None


def _meant(name: str, text: str) -> str | None:
    """A name of the cell or of CUDA that is spelt nearly like this one."""
    words = set(re.findall(r"[A-Za-z_]\w*", text)) - {name}
    for known in (*_BUILTINS, *sorted(words)):
        if known.lower() == name.lower():
            return known
    likely = (one for one in words if len(one) > 2)
    return nearest(name, (*_BUILTINS, *likely), at_least=0.75)


def _replaced(line: str, old: str, new: str) -> str:
    return re.sub(rf"(?<![\w:]){re.escape(old)}\b", new, line).strip()

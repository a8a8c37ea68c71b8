"""What the line of ``%%cuda_kernel`` may say, and what it asks the build for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, cast

from kit.architectures import ARCHITECTURES
from kit.cuda.options import CudaOptions, CudaTarget
from kit.magics.cuda_values import (
    parse_architectures,
    parse_block,
    parse_checks,
    parse_defines,
    parse_include_dirs,
    parse_template,
)
from kit.magics.options import parse_line
from kit.magics.request_values import (
    FORCE,
    ISOLATE,
    ON_ERROR,
    QUIET,
    VERBOSE,
    CellRequest,
    parse_flags,
    parse_name_lists,
    refuse_quiet_and_verbose,
)
from kit.magics.specs import MagicSpec, Option

__all__ = ["CUDA_KERNEL", "CudaRequest", "parse_cuda_request"]

_OPTIONS = (
    Option(
        name="outputs",
        short="o",
        metavar="A,B",
        repeatable=True,
        completes="cuda parameters",
        help="what the kernel writes, or f:A,B; must agree with const, which else decides",
    ),
    Option(
        name="block",
        metavar="N[,N[,N]]",
        suggestions=("128", "256", "512", "16,16", "32,8", "8,8,4"),
        help="threads of a block along x, y and z, where a call does not say",
    ),
    Option(
        name="arch",
        metavar="sm_XX[,sm_XX]",
        repeatable=True,
        suggestions=tuple(ARCHITECTURES),
        is_list=True,
        help="what to compile for; by default the GPU here, or what kit's own tests compile for",
    ),
    Option(
        name="std",
        metavar="STD",
        choices=("c++17", "c++20"),
        default="c++17",
        help="of C++",
    ),
    Option(
        name="include",
        short="I",
        metavar="DIR",
        repeatable=True,
        help="a directory with headers, behind those of kit and NVIDIA",
    ),
    Option(
        name="define", short="D", metavar="NAME[=VALUE]", repeatable=True, help="define a macro"
    ),
    Option(name="flags", metavar='"..."', help="more options for NVRTC"),
    Option(
        name="template",
        metavar="T=float64,N=3",
        repeatable=True,
        help="arguments of the kernels' templates: dtypes, integers, or C++",
    ),
    Option(
        name="target",
        metavar="TARGET",
        choices=("auto", "device", "emulator", "compile"),
        default="auto",
        help="where calls run: the GPU or else the CPU, one of them, or nowhere",
    ),
    Option(
        name="check",
        metavar="CHECKS",
        repeatable=True,
        suggestions=("bounds",),
        is_list=True,
        help="bounds: an index outside of a view traps on a GPU, too (the emulator always tells)",
    ),
    Option(
        name="schedule",
        metavar="ORDER",
        help="in which order the emulator runs threads",
        later="leave it out; the emulator runs them in ascending order",
    ),
    Option(
        name="pair",
        help="one object with the Pyccel kernel of the same name: host and device arrays",
    ),
    Option(
        name="debug",
        help="lines for debuggers, bounds checks; a launch on the GPU waits for its end",
    ),
    ISOLATE,
    ON_ERROR,
    FORCE,
    QUIET,
    VERBOSE,
    Option(
        name="annotate",
        short="a",
        help="the cell beside its translation",
        later="leave it out; %kit_source f shows PTX",
    ),
)

CUDA_KERNEL = MagicSpec(
    name="cuda_kernel",
    is_cell=True,
    summary=(
        "Compile the cell's __global__ functions, with or without a GPU.\n\n"
        "Each is bound under its name and is launched by a call: f(x, y, grid=.., block=..), or\n"
        "n_threads=..; by default one thread for each element of the first array. It runs on the\n"
        "GPU where there is one and on the CPU, emulated, where there is none. NVRTC compiles it\n"
        "in both. A cell that cannot be compiled raises, and its names then raise\n"
        "StaleKernelError until it is repaired."
    ),
    options=_OPTIONS,
    notes=(
        "Arrays: const double* x takes a C-contiguous array, Array2D<double> x of\n"
        "<kit/array_view.cuh> one of any strides, with x.shape[0] and x(i, j). Nothing is copied.\n"
        "--pair: kit calls the Pyccel version for host arrays and the CUDA version for device\n"
        "arrays. When the Pyccel cell runs again, the two are joined again.\n"
        "The magic line is line 1 in every message. %kit_log shows everything that NVRTC printed,\n"
        "%kit_source PTX, %kit_plan what a call would do with its arguments."
    ),
    example=(
        "%%cuda_kernel --block 256\n"
        "__global__ void saxpy(int n, double a, const double* x, double* y) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) y[i] += a * x[i];\n"
        "}"
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaRequest(CellRequest):
    """What the magic line asks for.

    Parameters
    ----------
    options : CudaOptions
        Of the build.
    pairs : bool
        Whether the kernels are to be joined with the Pyccel kernels of their names.
    """

    options: CudaOptions = field(default_factory=CudaOptions)
    pairs: bool = False


def parse_cuda_request(line: str) -> CudaRequest:
    """What the magic line asks for; CellError with a column where it is wrong."""
    spec = CUDA_KERNEL
    parsed = parse_line(spec, line)
    refuse_quiet_and_verbose(spec, line, parsed)
    options = CudaOptions(
        outputs=parse_name_lists(spec, line, parsed, "outputs"),
        block=parse_block(spec, line, parsed),
        architectures=parse_architectures(spec, line, parsed),
        std=cast(Literal["c++17", "c++20"], parsed.text("std") or "c++17"),
        include_dirs=parse_include_dirs(spec, line, parsed),
        defines=parse_defines(spec, line, parsed),
        flags=parse_flags(spec, line, parsed, '"--use_fast_math --maxrregcount=64"') or (),
        target=cast(CudaTarget, parsed.text("target") or "auto"),
        check=parse_checks(spec, line, parsed),
        template=parse_template(spec, line, parsed),
        debug=parsed.has("debug"),
        force=parsed.has("force"),
    )
    return CudaRequest(
        options=options,
        pairs=parsed.has("pair"),
        keeps=parsed.text("on-error") == "keep",
        is_quiet=parsed.has("quiet"),
        is_verbose=parsed.has("verbose"),
    )

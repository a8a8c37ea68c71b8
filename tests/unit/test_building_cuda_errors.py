"""What NVRTC refuses, in the cell's own lines, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.backends.nvrtc_protocol import NvrtcProgram
from kit.build_cuda import build_cuda_cell
from kit.building_cuda.diagnose import tool_failure, warnings_of
from kit.building_cuda.missing import advise_on_header, advise_on_name, advise_on_std
from kit.cuda.options import CudaOptions
from kit.errors import BuildError, CellError

# The first line is that of the magic.
KERNEL = "\n__global__ void k(double* y) {{\n    {body}\n}}\n"


def refused(text: str, *, include: Path | None = None, arch: str = "sm_75") -> BuildError:
    folders = () if include is None else (str(include),)
    with pytest.raises(BuildError) as caught:
        build_cuda_cell(text, options=CudaOptions(architectures=(arch,), include_dirs=folders))
    return caught.value


def notes(error: BaseException) -> list[str]:
    return list(getattr(error, "__notes__", []))


def test_an_error_shows_kernel_line_column_and_how_many_more_there_are() -> None:
    error = refused(KERNEL.format(body="y[0] = nowhere; y[1] = neither;"))
    assert (error.line, error.column) == (3, 12)
    assert error.source_line == "    y[0] = nowhere; y[1] = neither;"
    assert str(error).startswith('cell line 3, column 12: k: identifier "nowhere" is undefined\n')
    assert error.others == ('cell line 3: k: identifier "neither" is undefined',)
    assert "(1 more in %kit_log)" in str(error)
    assert "cell(3): error" in error.log


@pytest.mark.parametrize("before", ["/* äöü€ */ ", "\t\t", "/* 😀 */\t"])
def test_the_caret_stands_below_its_character_also_behind_others_than_ascii(before: str) -> None:
    error = refused(KERNEL.format(body=f"{before}y[0] = nowhere;"))
    assert error.source_line is not None
    assert error.column is not None
    assert error.source_line[error.column - 1 :].startswith("nowhere")


def test_a_function_that_is_no_kernel_is_not_named() -> None:
    error = refused(
        "\n__device__ double f(double x) { return nowhere; }\n"
        "__global__ void k(double* y) { y[0] = f(y[0]); }\n"
    )
    assert error.message == 'identifier "nowhere" is undefined'


def test_what_led_into_a_template_is_told() -> None:
    error = refused(
        "\ntemplate<class T> __device__ T half(T x) { return x.half; }\n"
        "__global__ void k(double* y) { y[0] = half(y[0]); }\n"
    )
    assert error.line == 2
    assert notes(error) == ['instantiation of "T half(T) [with T=double]" at line 3']


def test_candidates_of_a_call_are_told_and_only_some_of_many() -> None:
    error = refused(KERNEL.format(body="y[0] = __shfl_sync(0xffffffff, y);"))
    assert "argument types are: (unsigned int, double *)" in error.message
    assert len(notes(error)) == 7
    assert notes(error)[-1].startswith("... and ")


# ---- included files -----------------------------------------------------------------------------


def test_an_error_in_an_included_file_names_the_include_that_led_there(tmp_path: Path) -> None:
    (tmp_path / "outer.cuh").write_text('#include "inner.cuh"\n')
    (tmp_path / "inner.cuh").write_text("\n__device__ int f(int* p) { return p.x; }\n")
    text = '\n// a comment\n#include "outer.cuh"\n__global__ void k(double* y) { }\n'
    error = refused(text, include=tmp_path)
    assert (error.line, error.source_line) == (3, '#include "outer.cuh"')
    assert error.message.startswith("inner.cuh line 2: expression must have class type")
    assert str(tmp_path) not in str(error) + "".join(notes(error))
    (note,) = notes(error)
    assert note.splitlines() == [
        "inner.cuh line 2:",
        "  __device__ int f(int* p) { return p.x; }",
        "                                    ^",
    ]


def test_an_error_in_an_included_template_names_the_line_that_uses_it(tmp_path: Path) -> None:
    (tmp_path / "t.cuh").write_text("template<class T> __device__ T f(T x) { return x.y; }\n")
    text = '\n#include "t.cuh"\n__global__ void k(double* y) {\n    y[0] = f(y[0]);\n}\n'
    error = refused(text, include=tmp_path)
    assert (error.line, error.source_line) == (4, "    y[0] = f(y[0]);")
    assert error.message.startswith("k: t.cuh line 1: ")
    assert notes(error)[-1] == 'instantiation of "T f(T) [with T=double]" at line 4 of the cell'


def test_inline_namespaces_of_libcudacxx_are_left_out() -> None:
    text = (
        "\n#include <cuda/std/mdspan>\n"
        "using View = cuda::std::mdspan<double, cuda::std::dextents<int, 2>>;\n"
        "__global__ void k(double* y) {\n    View v(y, 2, 2);\n    v(0, 0, 0) = 1;\n}\n"
    )
    error = refused(text)
    assert error.line == 6
    assert "::__" not in error.message
    assert "1844674" not in error.message
    assert error.message.startswith("k: cuda/std/__mdspan/")


# ---- what newcomers write -----------------------------------------------------------------------

BODIES = {
    "int i = blockidx.x; y[i] = 0;": "int i = blockIdx.x; y[i] = 0;",
    "int i = blockId.x; y[i] = 0;": "int i = blockIdx.x; y[i] = 0;",
    "int i = threadIdx.X; y[i] = 0;": "int i = threadIdx.x; y[i] = 0;",
    "__syncthread(); y[0] = 1;": "__syncthreads(); y[0] = 1;",
    "atomicadd(y, 1.0);": "atomicAdd(y, 1.0);",
    "double total = 0; y[0] = totl;": "double total = 0; y[0] = total;",
    "int i = threadIdx.x": "int i = threadIdx.x;",
    "y[0] = std::sqrt(y[1]);": "y[0] = sqrt(y[1]);",
    "y[0] = std::clamp(y[1], 0.0, 1.0);": "cuda::std::clamp(y[1], 0.0, 1.0);",
    "std::complex<double> z;": "#include <cuda/std/complex>",
    "std::vector<double> v;": "arrays as parameters",
    "std::cout << y[0];": 'printf("%g\\n", x);',
    "cuda::std::complex<double> z;": "#include <cuda/std/complex>",
    "__half h;": "#include <cuda_fp16.h>",
    "__nv_bfloat16 h;": "#include <cuda_bf16.h>",
    "int32_t i = 0; y[i] = 1;": "#include <cuda/std/cstdint>",
    "y[0] = INFINITY;": "#include <cuda/std/cmath>",
    "y[0] = DBL_MAX;": "#include <cuda/std/cfloat>",
    "y[0] = INT_MAX;": "#include <cuda/std/climits>",
    "y[0] = M_PI;": "#define M_PI 3.14159",
    "auto block = cg::this_thread_block();": "namespace cg = cooperative_groups;",
    "for (auto i : kit::grid_stride(3)) y[i] = 1;": "#include <kit/index.cuh>",
    "kit::atomic_add(y, 1.0);": "#include <kit/atomic.cuh>",
    "double* z; cudaMalloc(&z, 8);": "numpy.zeros(n) or cupy.zeros(n)",
    "cudaDeviceSynchronize();": "numpy.zeros(n) or cupy.zeros(n)",
    "const double a = 1; a = 2; y[0] = a;": "declare a without const",
}


@pytest.mark.parametrize(("body", "fix"), BODIES.items(), ids=BODIES)
def test_what_newcomers_write_in_a_kernel_has_a_fix(body: str, fix: str) -> None:
    error = refused(KERNEL.format(body=body))
    assert error.line == 3
    assert error.fix is not None
    assert fix in error.fix


CELLS = {
    "__global__ void k(Array1D<double> y) { y(0) = 1; }": "#include <kit/array_view.cuh>",
    "__global__ void k(CArray2D<double> y) { y(0, 0) = 1; }": "#include <kit/array_view.cuh>",
    "__global__ void k(__half* y) { }": "#include <cuda_fp16.h>",
    "__global__ int k(double* y) { return 0; }": "__global__ void k(double* y) { return 0; }",
    "double f() { return 1; }\n__global__ void k(double* y) { }": "__device__ double f()",
    "double c = 1;\n__global__ void k(double* y) { }": "__device__ double c = 1;",
    "__device__ int f(int);\n__global__ void k(int* y) { *y = f(1); }": "define f in the cell",
    "#include <stdio.h>\n__global__ void k(double* y) { }": "printf needs no header",
    "#include <cmath>\n__global__ void k(double* y) { }": "mathematics of C needs no header",
    "#include <stdint.h>\n__global__ void k(double* y) { }": "#include <cuda/std/cstdint>",
    "#include <complex>\n__global__ void k(double* y) { }": "#include <cuda/std/complex>",
    "#include <iostream>\n__global__ void k(double* y) { }": 'printf("%g\\n", x);',
    "#include <vector>\n__global__ void k(double* y) { }": "arrays as parameters",
    "#include <kit/scan.cuh>\n__global__ void k(double* y) { }": "a later version",
    "#include <kit/arrays.cuh>\n__global__ void k(double* y) { }": "<kit/array_view.cuh>",
    "#include <curand_kernel.h>\n__global__ void k(double* y) { }": "a later version",
    '#include "mine.cuh"\n__global__ void k(double* y) { }': "-I FOLDER",
}


@pytest.mark.parametrize(("cell", "fix"), CELLS.items(), ids=CELLS)
def test_what_newcomers_write_around_a_kernel_has_a_fix(cell: str, fix: str) -> None:
    error = refused("\n" + cell)
    assert error.line == 2
    assert error.fix is not None
    assert fix in error.fix


def test_after_an_unknown_type_it_is_the_type_that_is_shown_first() -> None:
    # NVRTC complains about `__global__` before it, and about four things behind it.
    error = refused("\n__global__ void k(Array1D<double> y) { y(0) = 1; }\n")
    assert error.message == 'k: identifier "Array1D" is undefined'
    assert error.column == 19
    assert len(error.others) >= 4


def test_a_missing_semicolon_is_shown_where_it_is_missing() -> None:
    error = refused(KERNEL.format(body="int i = 0  // zero\n\n    y[i] = 0;"))
    assert (error.line, error.column) == (3, 14)


def test_a_header_beside_the_notebook_needs_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.cuh").write_text("")
    error = refused('\n#include "mine.cuh"\n__global__ void k(double* y) { }\n')
    assert error.fix == "%%cuda_kernel -I ."
    assert (error.source_line or "")[(error.column or 0) - 1 :] == 'mine.cuh"'


def test_what_ptxas_refuses_names_the_kernel_and_its_line() -> None:
    body = "__shared__ double s[9999]; s[threadIdx.x] = y[0]; y[1] = s[2];"
    error = refused(KERNEL.format(body=body))
    assert (error.line, error.column) == (2, None)
    assert error.message == (
        "k: the kernel has 79992 bytes of static shared memory, and 49152 is the most"
    )
    assert "shared_bytes=79992" in (error.fix or "")


def test_inline_assembler_that_ptxas_refuses_is_told() -> None:
    error = refused(KERNEL.format(body='asm("bogus.f64 %0;" : "=d"(y[0]));'))
    assert "bogus" in error.message


def test_questions_of_kits_own_are_never_shown() -> None:
    error = refused("\n__global__ void k(double* y) { }\n__device__ void k(float y) { }\n")
    assert "kit_probe" not in str(error) + "".join(notes(error))
    assert error.line is None
    assert "a name that no other function of the cell has" in (error.fix or "")


def test_host_code_is_refused_before_nvrtc_sees_it() -> None:
    text = "\n__global__ void k(double* y) { }\nint main() { k<<<1, 2>>>(0); }\n"
    with pytest.raises(CellError, match="launched from Python"):
        build_cuda_cell(text)


def test_warnings_are_in_the_cells_lines() -> None:
    text = "\n#include <cuda_fp16.h>\n__global__ void k(double* y) {\n    int unused;\n}\n"
    record = build_cuda_cell(text, options=CudaOptions(architectures=("sm_75",))).record
    assert record.warnings == (
        'cell line 4: k: variable "unused" was declared but never referenced',
    )


def test_warnings_about_the_users_own_headers_are_told_and_others_are_not(tmp_path: Path) -> None:
    (tmp_path / "h.cuh").write_text("__device__ int f() { int idle; return 1; }\n")
    text = '\n#include "h.cuh"\n__global__ void k(int* y) { *y = f(); }\n'
    options = CudaOptions(architectures=("sm_75",), include_dirs=(str(tmp_path),))
    record = build_cuda_cell(text, options=options).record
    assert record.warnings == (
        'cell line 2: h.cuh line 1: variable "idle" was declared but never referenced',
    )
    log = record.log.split("--- sm_75\n")[1]
    assert warnings_of(text, (), log, (str(tmp_path / "elsewhere"),)) == ()


# ---- failures of the tools ----------------------------------------------------------------------


def test_an_option_that_nvrtc_does_not_know_is_named() -> None:
    options = CudaOptions(architectures=("sm_75",), flags=("--bogus",))
    with pytest.raises(BuildError, match="unrecognized option --bogus") as caught:
        build_cuda_cell(KERNEL.format(body="y[0] = 1;"), options=options)
    assert "--flags" in (caught.value.fix or "")


def test_a_killed_compiler_may_want_memory() -> None:
    program = NvrtcProgram(architecture="sm_90", ok=False, failure="NVRTC ended with signal 9")
    assert "memory may be short" in (tool_failure(program).fix or "")
    program = NvrtcProgram(architecture="sm_90", ok=False, failure="NVRTC ended with signal 11")
    assert "memory" not in (tool_failure(program).fix or "")


# ---- single answers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("Array16D", "<kit/array_view.cuh>"),
        ("half2", "<cuda_fp16.h>"),
        ("__hadd", "<cuda_fp16.h>"),
        ("__float2half", "<cuda_fp16.h>"),
        ("__float2bfloat16", "<cuda_bf16.h>"),
        ("uint_fast8_t", "<cuda/std/cstdint>"),
        ("CUDART_PI", "<math_constants.h>"),
        ("cooperative_groups", "<cooperative_groups.h>"),
    ],
)
def test_names_lead_to_their_headers(name: str, header: str) -> None:
    assert advise_on_name(name, name, "") == (None, f"#include {header}  // at the top of the cell")


def test_a_name_that_resembles_nothing_gets_no_guess() -> None:
    assert advise_on_name("zq", "zq = 1;", "int ab; double velocity;") == (None, None)


def test_a_member_of_std_that_is_nowhere_is_offered_from_cuda_std() -> None:
    message, fix = advise_on_std("lerp", "y = std::lerp(a, b, t);")
    assert message == "device code has no std::lerp"
    assert fix == "y = cuda::std::lerp(a, b, t);"


def test_a_strange_name_of_a_header_is_only_missing() -> None:
    assert "-I FOLDER" in advise_on_header("a" * 5000, ())

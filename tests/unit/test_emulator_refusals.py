"""What the CPU cannot run is refused with its place; what only looks like it is not."""

from __future__ import annotations

import pytest

from kit.backends.emulator.dead_code import leave_dead_code_out
from kit.backends.emulator.device_macros import name_device_macros
from kit.backends.emulator.refusals import refuse_what_cannot_run
from kit.cuda.options import CudaOptions
from kit.errors import CellError


def cell(body: str, before: str = "") -> str:
    """A cell whose body stands in line 4."""
    return f"\n{before}\n__global__ void k(float* x) {{\n{body}\n}}\n"


@pytest.mark.parametrize(
    ("body", "words", "column"),
    [
        ('asm volatile("bar.sync 0;");', "PTX", 1),
        ("auto g = cg::this_grid(); g.sync();", "whole grid", 27),
        ("cg::grid_group all = cg::this_grid(); cg::sync(all);", "whole grid", 39),
        ("cg::sync(cg::this_grid());", "whole grid", 1),
        ("nvcuda::wmma::mma_sync(a, b, c, d);", "tensor core", 1),
        ("cg::memcpy_async(block, s, x, 4);", "asynchronous copy", 5),
        ("__pipeline_commit();", "asynchronous copy", 1),
        ("cuda::pipeline<cuda::thread_scope_thread> p;", "asynchronous copy", 7),
        ("__shared__ cuda::barrier<cuda::thread_scope_block> b;", "barrier object", 18),
        ("cub::BlockReduce<float, 256> r;", "CUB", 1),
        ("x[0] = tex2D<float>(t, 1, 2);", "texture", 8),
        ("surf2Dwrite(1.0f, s, 0, 0);", "surface", 1),
        ("k<<<1, 32>>>(x);", "launch inside a kernel", 2),
        ("auto c = cg::this_cluster();", "cluster", 14),
        ("auto t = cg::tiled_partition<64>(b);", "32 threads", 10),
        ("curandState s; curand_init(0, 0, 0, &s);", "cuRAND", 1),
        ("cudaDeviceSynchronize();", "runtime API", 1),
    ],
)
def test_a_construct_is_refused_with_place_and_advice(body: str, words: str, column: int) -> None:
    with pytest.raises(CellError) as caught:
        refuse_what_cannot_run(cell(body), CudaOptions())
    error = caught.value
    assert words in error.message
    assert (error.line, error.column) == (4, column)
    assert error.source_line == body
    assert error.fix


@pytest.mark.parametrize(
    "header", ["curand_kernel.h", "cub/cub.cuh", "mma.h", "cuda/barrier", "cuda_fp8.h", "cuda/ptx"]
)
def test_a_header_is_refused_in_its_line(header: str) -> None:
    with pytest.raises(CellError) as caught:
        refuse_what_cannot_run(cell("x[0] = 1;", f"#include <{header}>"), CudaOptions())
    assert (caught.value.line, caught.value.column) == (2, 1)


@pytest.mark.parametrize(
    "body",
    [
        '// asm("")',
        'printf("asm() cub:: <<<");',
        "int barrier = 1; x[barrier] = 2;",
        "float texture = x[0]; x[1] = texture;",
        '#ifndef KIT_EMULATION\nasm("");\n#endif',
        '#if !defined(KIT_EMULATION)\nasm("");\n#else\nx[0] = 1;\n#endif',
        '#if __CUDA_ARCH__ >= 900 && defined(__CUDACC__)\nasm("");\n#endif',
        '#if 0\nasm("");\n#endif',
        '#if UNKNOWN > 2\nasm("");\n#elif __CUDA_ARCH__ >= 800\nx[0] = 1;\n#else\nasm("");\n#endif',
        "auto g = cg::this_grid(); x[0] = g.thread_rank(); block.sync();",
        "auto t = cg::tiled_partition<32>(b); t.sync();",
    ],
)
def test_what_only_looks_like_it_is_not_refused(body: str) -> None:
    refuse_what_cannot_run(cell(body), CudaOptions())


def test_a_function_of_the_cells_own_is_not_cudas() -> None:
    own = "__device__ float tex2D(int a, int b) { return a + b; }"
    refuse_what_cannot_run(cell("x[0] = tex2D(1, 2);", own), CudaOptions())


def test_a_macro_is_refused_where_it_is_used() -> None:
    barrier = '#define WAIT asm volatile("bar.sync 0;")'
    refuse_what_cannot_run(cell("x[0] = 1;", barrier), CudaOptions())
    with pytest.raises(CellError) as caught:
        refuse_what_cannot_run(cell("WAIT;", barrier), CudaOptions())
    assert (caught.value.line, caught.value.column) == (4, 1)


def test_an_option_decides_what_is_dead() -> None:
    body = '#if defined(PTX) && PTX > 1\nasm("");\n#endif'
    refuse_what_cannot_run(cell(body), CudaOptions(defines=("PTX=1",)))
    with pytest.raises(CellError):
        refuse_what_cannot_run(cell(body), CudaOptions(defines=("PTX=2",)))


def test_the_first_of_several_is_named() -> None:
    with pytest.raises(CellError) as caught:
        refuse_what_cannot_run(cell('asm("");\ncub::X y;', "#include <mma.h>"), CudaOptions())
    assert caught.value.line == 2


def test_dead_code_is_blank_and_lines_stay() -> None:
    text = "a\n#if A\nb\n#elif B // x\nc\n#else\nd\n#endif\ne"
    live = leave_dead_code_out(text, {"A": "0", "B": "1"}).text
    assert [line.strip() for line in live.split("\n")] == ["a", "", "", "", "c", "", "", "", "e"]
    assert [len(line) for line in live.split("\n")] == [len(line) for line in text.split("\n")]


def test_macros_of_the_text_decide_from_their_line_on() -> None:
    text = (
        "#if N\na\n#endif\n#define N (1 << 2)\n#if N == 4\nb\n#endif\n#undef N\n#ifdef N\nc\n#endif"
    )
    assert leave_dead_code_out(text, {}).text.split() == [
        "#define",
        "N",
        "(1",
        "<<",
        "2)",
        "b",
        "#undef",
        "N",
    ]


def test_only_code_is_renamed() -> None:
    text = '#ifdef __CUDACC__  // __CUDACC__\nprintf("__CUDACC__");\n#elif __CUDACC_VER_MAJOR__'
    expected = text.replace("#ifdef __CUDACC__", "#ifdef KIT_CUDACC")
    assert name_device_macros(text) == expected

"""What kit reads in the text of a CUDA cell, and what it refuses before anything is compiled."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest

from kit.cuda.options import CudaOptions
from kit.cuda.prototypes import parse_cuda_cell
from kit.cuda.text.found import Found
from kit.cuda.text.scopes import Scopes
from kit.cuda.text.syntax import read_cell
from kit.cuda.text.tokens import split_tokens
from kit.errors import CellError

# Name -> a cell with one kernel, and its parameters as (name, declared type, restrict).
PROTOTYPES: dict[str, tuple[str, list[tuple[str, str, bool]]]] = {
    "plain": (
        "__global__ void f(const double* __restrict__ x, double* y, int n) {}",
        [("x", "const double* __restrict__", True), ("y", "double*", False), ("n", "int", False)],
    ),
    "no parameters": ("__global__ void f() {}", []),
    "void": ("__global__ void f(void) {}", []),
    "the other order": ("void __global__ f(float* x) {}", [("x", "float*", False)]),
    "static inline": ("static inline __global__ void f(int n) {}", [("n", "int", False)]),
    "auto": ("__global__ auto f(int n) -> void {}", [("n", "int", False)]),
    "extern C": ('extern "C" __global__ void f(int n) {}', [("n", "int", False)]),
    "extern C block": ('extern "C" {\n__global__ void f(int n) {}\n}', [("n", "int", False)]),
    "launch bounds before the name": (
        "__global__ void __launch_bounds__(128 * (1 + 1), 4) f(int n) {}",
        [("n", "int", False)],
    ),
    "launch bounds first": (
        "__launch_bounds__(128) __global__ void f(int n) {}",
        [("n", "int", False)],
    ),
    "cluster dimensions": (
        "__global__ void __cluster_dims__(2, (1 + 0), 1) f(int n) {}",
        [("n", "int", False)],
    ),
    "grid constant": (
        "struct P { int a; };\n__global__ void f(const __grid_constant__ P p) {}",
        [("p", "const __grid_constant__ P", False)],
    ),
    "attributes": (
        "[[deprecated]] __global__ void f([[maybe_unused]] int n) {}",
        [("n", "[[maybe_unused]] int", False)],
    ),
    "arrays": (
        "__global__ void f(float x[], const int y[4]) {}",
        [("x", "float []", False), ("y", "const int [4]", False)],
    ),
    "function pointer": (
        "__global__ void f(float (*op)(float, float), int n) {}",
        [("op", "float (* )(float, float)", False), ("n", "int", False)],
    ),
    "defaults": (
        "__global__ void f(int n = 3, float a = g(1, 2), bool b = (3 > 2)) {}",
        [("n", "int", False), ("a", "float", False), ("b", "bool", False)],
    ),
    "no names": (
        "__global__ void f(float*, int, const double* __restrict__) {}",
        [("", "float*", False), ("", "int", False), ("", "const double* __restrict__", True)],
    ),
    "odd line breaks": (
        "__global__\nvoid\nf\n(\n  float\n  *\n  x\n  ,\n int n\n)\n{\n}",
        [("x", "float *", False), ("n", "int", False)],
    ),
    "comments": (
        "__global__ void f(float* x, // the input, in m\n  /* count, of x */ int n /* > 0 */) {}",
        [("x", "float*", False), ("n", "int", False)],
    ),
    "const on the other side": (
        "__global__ void f(double const* const __restrict x, int const n) {}",
        [("x", "double const* const __restrict", True), ("n", "int const", False)],
    ),
    "templates as types": (
        "__global__ void f(cuda::std::complex<double>* x, Grid<(1 > 0), int> g) {}",
        [("x", "cuda::std::complex<double>*", False), ("g", "Grid<(1 > 0), int>", False)],
    ),
    "split line": (
        "__global__ void f(float* x, \\\n int n) {}",
        [("x", "float*", False), ("n", "int", False)],
    ),
    "macro for __restrict__": (
        "#define R __restrict__\n__global__ void f(const float* R x, float* y) {}",
        [("x", "const float* R", True), ("y", "float*", False)],
    ),
    "macro for a type": (
        "#define REAL double\n__global__ void f(const REAL* x, REAL a) {}",
        [("x", "const REAL*", False), ("a", "REAL", False)],
    ),
    "macro for the whole head": (
        '#define KERNEL extern "C" __global__ void\nKERNEL f(float* x) {}',
        [("x", "float*", False)],
    ),
    "macro for several parameters": (
        "#define ARGS float* x, \\\n  int n\n__global__ void f(ARGS, int m) {}",
        [("x", "float*", False), ("n", "int", False), ("m", "int", False)],
    ),
    "macro with arguments": (
        (
            "#define GK(name, ...) __global__ void name##_(__VA_ARGS__)\n"
            "#define IN(T) const T* __restrict__\nGK(f, IN(double) x, int n) {}"
        ),
        [("x", "const double* __restrict__", True), ("n", "int", False)],
    ),
    "macro that names itself": (
        "#define x __restrict__ x\n__global__ void f(float* x) {}",
        [("x", "float* __restrict__", True)],
    ),
    "macro from an option": (
        "__global__ void f(OUT(float) y) {}",
        [("y", "OUT(float)", True)],
    ),
    "parameters under #if": (
        "__global__ void f(float* x,\n#ifdef WITH_Y\n float* y,\n#endif\n int n) {}",
        [("x", "float*", False), ("n", "int", False)],
    ),
    "parameters under #if of the cell": (
        "#define Y 1\n__global__ void f(float* x,\n#if defined(Y)\n float* y,\n#endif\n int n) {}",
        [("x", "float*", False), ("y", "float*", False), ("n", "int", False)],
    ),
    "other text that looks like kernels": (
        (
            'const char* s = R"x(__global__ void g(int a) {})x", *t = "__global__ void h() {}";\n'
            "// __global__ void i(int b) {}\n/* __global__ void j() {} */\n"
            "#if 0\n__global__ void k() {}\n#endif\n__global__ void f(int n) {}"
        ),
        [("n", "int", False)],
    ),
    "a declaration before": (
        "__global__ void f(float*, int);\n__global__ void f(float* x, int n) {}",
        [("x", "float*", False), ("n", "int", False)],
    ),
    "a specialisation after": (
        (
            "template<class T> __global__ void f(T* x) {}\n"
            "template<> __global__ void f<int>(int* y) {}\n"
            "template __global__ void f<float>(float*);"
        ),
        [("x", "T*", False)],
    ),
}


@pytest.mark.parametrize("name", PROTOTYPES)
def test_parameters_are_read_as_they_are_written(name: str) -> None:
    text, expected = PROTOTYPES[name]
    found = read_cell("\n" + text, ("OUT(T)=T* __restrict__",))
    (kernel,) = found.kernels
    assert kernel.readable
    assert [(one.name, one.text, one.restrict) for one in kernel.parameters] == expected
    assert found.unread == ()


def test_places_are_the_cells_own_even_behind_macros_and_tabs() -> None:
    text = (
        "\n#define LONG_MACRO int c, int\n\n\t__global__ void f(LONG_MACRO* x, /* , */\tint n) {}"
    )
    (kernel,) = read_cell(text).kernels
    starts = [text[one.offset :][:10] for one in kernel.parameters]
    assert starts == ["LONG_MACRO", "LONG_MACRO", "int n) {}"]
    assert text[kernel.name_offset :].startswith("f(LONG_MACRO")
    assert kernel.source == text[text.index("__global__") :]


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("namespace a { namespace b { __global__ void f() {} } }", ("a", "b")),
        ("namespace a::b { __global__ void f() {} }", ("a", "b")),
        ("namespace a::inline b { __global__ void f() {} }", ("a", "b")),
        ("inline namespace v1 { __global__ void f() {} }", ("v1",)),
        ("namespace { __global__ void f() {} }", ("",)),
        ('namespace a { extern "C" { __global__ void f() {} } }', ("a",)),
        ("namespace a { __global__ void f(); }\n__global__ void a::f() {}", ("a",)),
    ],
)
def test_a_kernel_knows_its_namespaces(text: str, scope: tuple[str, ...]) -> None:
    (kernel,) = read_cell(text).kernels
    assert (kernel.name, kernel.scope) == ("f", scope)


def test_the_comment_right_above_a_kernel_documents_it() -> None:
    text = """
int a; // not this one

// Nor this one.

/** Adds a
 *  multiple.
 */
// y += a * x
template<class T>
__global__ void f(T* y) {}

__device__ int b; // of b
__global__ void g() {}
"""
    first, second = read_cell(text).kernels
    assert first.doc == "Adds a\nmultiple.\ny += a * x"
    assert second.doc == ""
    assert first.source.startswith("template<class T>")


def test_variables_are_found_with_their_memory() -> None:
    text = """
__constant__ float a[3], *b, c = 2;
namespace n { __device__ int d(3); namespace { static __device__ double e[2][2] = {{1}}; } }
extern "C" { __device__ __constant__ int f; }
extern __device__ int elsewhere;
__managed__ int of_both;
extern __shared__ float s[];
template<class T> __constant__ T pi = 3;
__device__ int function(int x) { static __device__ int inside; return inside; }
#if defined(X)
__device__ int g;
#endif
__global__ void k() {}
"""
    found = read_cell(text)
    assert [(one.name, one.scope, one.space) for one in found.symbols] == [
        ("a", (), "constant"),
        ("b", (), "constant"),
        ("c", (), "constant"),
        ("d", ("n",), "device"),
        ("e", ("n", ""), "device"),
        ("f", (), "constant"),
    ]


def test_fields_of_structs_are_found_where_they_can_be_reached() -> None:
    text = """
struct alignas(16) P {
    float x, y[3][4];
    struct I { char c; } in;
    static int s;
    void m(int a);
    float (*op)(int);
};
typedef struct { int a; } Q;
class H { int hidden; public: int seen; };
template<class T, int N> struct V { T data[N]; };
struct B : P { int more; };
struct U { union { int a; float b; }; };
struct __align__(8) R { int r; struct { int deep; } un; };
"""
    structs = read_cell(text).structs
    assert {one.spelling: one.fields for one in structs} == {
        "::P::I": ("c",),
        "::P": ("x", "y", "in", "op"),
        "::Q": ("a",),
        "::H": ("hidden", "seen"),
        "::V<T, N>": ("data",),
        "::U": ("",),
        "::R": ("r", "un"),
        "@bare<decltype(::R::un)>": ("deep",),
    }


def test_what_the_cell_decides_itself_is_no_condition_even_if_macros_change_later() -> None:
    text = "#define A 1\n#if A\n__global__ void f() {}\n#else\n__global__ void g() {}\n#endif\n"
    (kernel,) = read_cell(text + "#undef A").kernels
    assert (kernel.name, kernel.conditions) == ("f", ())


@pytest.mark.parametrize(
    "text",
    [
        "#if __CUDA_ARCH__ > 1\n{head}{{\n#else\n{head}{{\n#endif\n}}",
        "__global__ void f(\n#if __CUDA_ARCH__ > 1\nint n\n#else\nint m\n#endif\n) {{}}",
        '#include "config.h"\n__global__ void f(int n\n#ifdef M\n, int m\n#endif\n) {{}}',
        "#include <config.h>\n__global__ void f(int n\n#ifdef M\n, int m\n#endif\n) {{}}",
    ],
)
def test_a_signature_with_a_guess_in_it_is_not_trusted_and_the_next_one_is(text: str) -> None:
    filled = text.format(head="__global__ void f(int n) ") + "\n__global__ void after(int k) {}"
    f, after = read_cell(filled).kernels
    assert (f.name, f.readable) == ("f", False)
    assert (after.name, after.readable, after.conditions, after.scope) == ("after", True, (), ())


def test_an_if_inside_of_a_body_is_no_matter_of_the_signature() -> None:
    text = "__global__ void f(int n) {\n#if __CUDA_ARCH__ > 1\n if (n) {\n#else\n {\n#endif\n }\n}"
    (kernel,) = read_cell(text).kernels
    assert kernel.readable


def test_template_parameters_are_read_with_kind_and_default() -> None:
    text = (
        "template <typename T, class = int, template<class> class C = Box, bool B = (3 > 2), "
        "class... R> __global__ void f(T* x) {}"
    )
    (kernel,) = read_cell(text).kernels
    assert [tuple(one) for one in kernel.template or ()] == [
        ("T", "type", "typename T", "", False),
        ("", "type", "class", "int", False),
        ("C", "template", "template<class> class C", "Box", False),
        ("B", "value", "bool B", "(3 > 2)", False),
        ("R", "type", "class... R", "", True),
    ]


# ---- what is refused before anything is compiled -------------------------------------------


def refusal(text: str, **options: Any) -> CellError:
    with pytest.raises(CellError) as caught:
        parse_cuda_cell("\n" + text, CudaOptions(**options))
    return caught.value


TEMPLATE = "template<class T, int N>\n__global__ void f(T* x) {}"


@pytest.mark.parametrize(
    ("text", "options", "message", "place", "fix"),
    [
        ("int x;", {}, "no __global__ function", (1, None), "__global__ void saxpy("),
        ("__global__ void f(int);", {}, "f is declared and never defined", (2, 17), "body"),
        (
            "__global__ void f(int n) {}\nint main() { f<<<1, 2>>>(3); }",
            {},
            "no host code that launches",
            (3, 15),
            "f(n, grid=64, block=256)  # in Python",
        ),
        ("__global__ void f() {}\nint main() { }", {}, "no main", (3, 5), "f(grid=64"),
        ("__global__ void f() {}\n// \0 unseen", {}, "NUL character", (3, 4), "delete it"),
        (
            TEMPLATE,
            {},
            "f is a template, and T has no argument",
            (2, 1),
            "--template T=float64,N=1",
        ),
        (
            TEMPLATE,
            {"template": {"T": "float32"}},
            "N has no argument",
            (2, 1),
            "--template T=float32,N=1",
        ),
        (
            "template<class T, int N = 1, int M = 2> __global__ void f(T* x) {}",
            {"template": {"T": "float32", "M": "4"}},
            "N has no argument",
            (2, 1),
            "--template T=float32,N=1,M=4",
        ),
        (
            TEMPLATE,
            {"template": {"T": "float32", "N": "3", "M": "4"}},
            "no kernel of this cell has a template parameter M (T, N)",
            (1, None),
            "--template",
        ),
        (
            "__global__ void f() {}",
            {"template": {"T": "int"}},
            "no kernel of this cell has a template parameter T",
            (1, None),
            "leave --template away",
        ),
        (
            TEMPLATE,
            {"template": {"T": "float32", "N": "3>(); int x("}},
            "'3>(); int x(' cannot be an argument",
            (1, None),
            "--template N=1",
        ),
        (
            TEMPLATE,
            {"template": {"T": "complex128", "N": "3"}},
            "complex128 is cuda::std::complex<double> in CUDA C++, which the cell does not include",
            (1, None),
            "#include <cuda/std/complex>",
        ),
        (
            "template<class... A> __global__ void f(A... a) {}",
            {"template": {"A": "int"}},
            "parameter pack",
            (2, 1),
            "template<class T>",
        ),
        (
            "namespace a { __global__ void f() {} }\n__global__ void f(int) {}",
            {},
            "two kernels are named f (the other one in line 2)",
            (3, 17),
            "f_2",
        ),
        (
            "__global__ void fill(int* x) {}",
            {"outputs": {"fil": ("x",)}},
            "outputs are declared for fil, which is no kernel of this cell (fill)",
            (1, None),
            "--outputs fill:x",
        ),
        (
            "__global__ void f(int* x) {}\n__global__ void g(int* x) {}",
            {"outputs": {None: ("x",)}},
            "the cell has several kernels",
            (1, None),
            "--outputs f:x",
        ),
    ],
)
def test_what_cannot_be_a_cell_is_refused_with_place_and_fix(
    text: str,
    options: dict[str, Any],
    message: str,
    place: tuple[int, int | None],
    fix: str,
) -> None:
    error = refusal(text, **options)
    assert message in error.message
    assert (error.line, error.column) == place
    assert error.fix is not None
    assert fix in error.fix


def test_host_code_that_the_cell_leaves_out_is_left_to_the_compiler() -> None:
    text = "__global__ void f() {}\n#ifndef __CUDACC_RTC__\nint main() { f<<<1, 1>>>(); }\n#endif"
    assert [one.name for one in parse_cuda_cell("\n" + text, CudaOptions()).kernels] == ["f"]


def test_a_string_with_launch_brackets_is_no_host_code() -> None:
    text = '__global__ void f() { printf("<<< %d", 1); } // f<<<1, 2>>>()'
    assert len(parse_cuda_cell("\n" + text, CudaOptions()).kernels) == 1


def test_a_kernels_name_is_one_that_python_can_write() -> None:
    (kernel,) = parse_cuda_cell("\n__global__ void lambda() {}", CudaOptions()).kernels
    assert (kernel.name, kernel.expression, kernel.line) == ("lambda_", "lambda", 2)


def test_names_of_the_probe_avoid_those_of_the_cell() -> None:
    cell = parse_cuda_cell("\n__global__ void kit_probe_list() {}", CudaOptions())
    assert "struct kit_probe_list" not in cell.probe_source
    assert "struct kit_probe___list" in cell.probe_source
    assert all("kit_probe___" in one for one in cell.name_expressions)


# ---- malformed text ------------------------------------------------------------------------


def read_somehow(text: str) -> Found:
    """What is found, or nothing of it refused otherwise than by a CellError."""
    with suppress(CellError):
        parse_cuda_cell(text, CudaOptions(template={"T": "int"}))
    return read_cell(text)


def test_cells_that_end_anywhere_never_break_the_reader() -> None:
    for text, _ in PROTOTYPES.values():
        for end in range(len(text)):
            read_somehow("\n" + text[:end])


def test_cells_with_pieces_missing_or_doubled_never_break_the_reader() -> None:
    rng = random.Random(7)
    texts = [text for text, _ in PROTOTYPES.values()]
    for _ in range(1500):
        text = rng.choice(texts) + "\n" + rng.choice(texts)
        for _ in range(rng.randint(1, 4)):
            low = rng.randrange(len(text))
            high = min(len(text), low + rng.randint(0, 9))
            text = (
                text[:low]
                + rng.choice(["", text[low:high] * 2, "(", "}", "#", "ä", "\0", '"'])
                + text[high:]
            )
        read_somehow(text)


def test_macros_that_grow_without_end_are_left_as_they_stand() -> None:
    doubled = "\n".join(f"#define A{n + 1} A{n} A{n}" for n in range(40))
    text = (
        f"#define A0 int\n{doubled}\n#define LOOP LOOP LOOP\n__global__ void f(A40 x, LOOP y) {{}}"
    )
    (kernel,) = read_cell(text).kernels
    assert kernel.name == "f"


@pytest.mark.parametrize(
    "head", ["void f(struct P p)", "auto f(int n) -> void", "void f(int n) try"]
)
def test_bodies_of_kernels_are_found_whatever_their_heads_are_like(head: str) -> None:
    text = f"__global__ {head} {{ inside }} int after;"
    assert [text[low:high] for low, high in Scopes(split_tokens(text)).bodies] == [" inside "]

"""What NVRTC answers about the kernels of a cell, read as signatures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit.cuda.options import CI_ARCHITECTURES
from kit.cuda.signature import CudaParameter, Element, StructField
from kit.cuda.stored_signature import (
    signature_from_json,
    signature_to_json,
    symbol_from_json,
    symbol_to_json,
)
from kit.errors import CellError
from tests.unit.nvrtc_compiler import compile_cell, compile_text, signatures_of, symbols_of

VIEWS = """
namespace kit {
template<class T, int N> struct ArrayView {
    T* data; long long shape[N]; long long strides[N]; int ghost_low[N]; int ghost_high[N];
};
template<class T, int N> struct CArrayView { T* data; long long shape[N]; };
}
template<class T> using Array2D = kit::ArrayView<T, 2>;
template<class T> using CArray3D = kit::CArrayView<T, 3>;
"""

# C++ spelling -> what one of it is.
NUMBERS = {
    "bool": Element("bool", 1, 1, 1, "bool"),
    "char": Element("int8", 1, 1, 1, "char"),
    "signed char": Element("int8", 1, 1, 1, "signed char"),
    "unsigned char": Element("uint8", 1, 1, 1, "unsigned char"),
    "short": Element("int16", 1, 2, 2, "short"),
    "short unsigned int": Element("uint16", 1, 2, 2, "unsigned short"),
    "int": Element("int32", 1, 4, 4, "int"),
    "unsigned": Element("uint32", 1, 4, 4, "unsigned int"),
    "long": Element("int64", 1, 8, 8, "long"),
    "size_t": Element("uint64", 1, 8, 8, "unsigned long"),
    "long long int": Element("int64", 1, 8, 8, "long long"),
    "unsigned long long": Element("uint64", 1, 8, 8, "unsigned long long"),
    "float": Element("float32", 1, 4, 4, "float"),
    "double": Element("float64", 1, 8, 8, "double"),
    "__half": Element("float16", 1, 2, 2, "__half"),
    "half": Element("float16", 1, 2, 2, "__half"),
    "__nv_bfloat16": Element("bfloat16", 1, 2, 2, "__nv_bfloat16"),
    "decltype(1 + 1u)": Element("uint32", 1, 4, 4, "unsigned int"),
    "Small": Element("int16", 1, 2, 2, "short"),
}
VECTORS = {
    "char2": Element("int8", 2, 2, 2, "char2"),
    "uchar4": Element("uint8", 4, 4, 4, "uchar4"),
    "short3": Element("int16", 3, 6, 2, "short3"),
    "ushort1": Element("uint16", 1, 2, 2, "ushort1"),
    "int3": Element("int32", 3, 12, 4, "int3"),
    "uint4": Element("uint32", 4, 16, 16, "uint4"),
    "long2": Element("int64", 2, 16, 16, "long2"),
    "ulonglong4": Element("uint64", 4, 32, 16, "ulonglong4"),
    "float1": Element("float32", 1, 4, 4, "float1"),
    "float2": Element("float32", 2, 8, 8, "float2"),
    "float3": Element("float32", 3, 12, 4, "float3"),
    "float4": Element("float32", 4, 16, 16, "float4"),
    "double3": Element("float64", 3, 24, 8, "double3"),
    "double4": Element("float64", 4, 32, 16, "double4"),
    "__half2": Element("float16", 2, 4, 4, "__half2"),
    "__nv_bfloat162": Element("bfloat16", 2, 4, 4, "__nv_bfloat162"),
}
HEADERS = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\nenum Small : short { one };\n"


def parameters_of(text: str, **options: Any) -> tuple[CudaParameter, ...]:
    (signature,) = signatures_of(text, **options)
    return signature.parameters


# ---- kinds of parameters -------------------------------------------------------------------


@pytest.mark.parametrize("std", ["c++17", "c++20"])
def test_every_number_and_vector_type_is_known_by_value_and_behind_a_pointer(std: str) -> None:
    types = {**NUMBERS, **VECTORS}
    listed = ", ".join(f"{one} v{i}, const {one}* p{i}" for i, one in enumerate(types))
    cell, compiled = compile_cell(f"{HEADERS}__global__ void f({listed}) {{}}", std=std)
    (signature,) = cell.signatures(compiled.lowered)
    assert compiled.log == ""
    for index, (text, element) in enumerate(types.items()):
        value, pointer = signature.parameters[2 * index : 2 * index + 2]
        assert (value.name, value.kind) == (f"v{index}", "vector" if text in VECTORS else "scalar")
        assert value.element == pointer.element == element
        assert (value.size, value.alignment) == (element.size, element.alignment)
        assert (value.intent, pointer.intent, pointer.kind) == ("in", "in", "pointer")
        assert (value.text, pointer.text) == (text, f"const {text}*")


@pytest.mark.parametrize(
    ("declared", "intent", "restrict"),
    [
        ("float* x", "inout", False),
        ("const float* x", "in", False),
        ("float const* x", "in", False),
        ("float* const x", "inout", False),
        ("const volatile float* __restrict__ x", "in", True),
        ("volatile float* __restrict x", "inout", True),
        ("float x[]", "inout", False),
        ("const float x[16]", "in", False),
        ("Alias x", "in", False),
        ("PTR(float) x", "inout", True),
    ],
)
def test_the_intent_of_a_pointer_is_that_of_what_it_points_at(
    declared: str, intent: str, restrict: bool
) -> None:
    text = (
        "using Alias = const float*;\n#define PTR(T) T* __restrict__\n"
        f"__global__ void f({declared}) {{}}"
    )
    (one,) = parameters_of(text)
    assert (one.name, one.kind, one.intent, one.restrict) == ("x", "pointer", intent, restrict)
    assert one.element == NUMBERS["float"]


def test_complex_numbers_are_known_from_libcu_thrust_and_cu_complex() -> None:
    text = """
#include <cuda/std/complex>
#include <cuComplex.h>
namespace thrust { template<class T> struct complex; }
namespace c = cuda::std;
__global__ void f(cuda::std::complex<double> a, const c::complex<float>* x,
                  thrust::complex<double>* t, const thrust::complex<float>* u,
                  cuDoubleComplex d, cuComplex* s, float2* v) {}
"""
    a, x, t, u, d, s, v = parameters_of(text)
    assert a.kind == "scalar"
    assert a.element == Element("complex128", 1, 16, 16, "cuda::std::complex<double>")
    assert x.element == Element("complex64", 1, 8, 8, "cuda::std::complex<float>")
    assert t.element == Element("complex128", 1, 16, 16, "thrust::complex<double>")
    assert u.element == Element("complex64", 1, 8, 8, "thrust::complex<float>")
    assert (d.kind, d.element) == ("scalar", Element("complex128", 1, 16, 16, "cuDoubleComplex"))
    assert s.element == Element("complex64", 1, 8, 8, "cuComplex")
    assert v.element == VECTORS["float2"]
    assert (x.intent, t.intent, u.intent) == ("in", "inout", "in")


def test_views_are_known_by_their_template_with_axes_and_const() -> None:
    text = VIEWS + (
        "struct P { int a; };\n"
        "__global__ void f(Array2D<const double> a, const CArray3D<float4> b, "
        "kit::ArrayView<P, 16> c) {}"
    )
    a, b, c = parameters_of(text)
    assert (a.kind, a.ndim, a.intent, a.size) == ("view", 2, "in", 56)
    assert a.element == NUMBERS["double"]
    assert (b.kind, b.ndim, b.intent, b.size) == ("cview", 3, "inout", 32)
    assert b.element == VECTORS["float4"]
    assert (c.kind, c.ndim, c.size, c.offset) == ("view", 16, 392, 88)
    assert c.element.fields == (StructField("a", NUMBERS["int"], (), 0),)


def test_structs_have_their_fields_where_the_compiler_put_them() -> None:
    text = """
namespace physics {
struct Inner { char c; double d; };
template<class T, int N> struct Vec { T data[N]; };
typedef struct { unsigned char r, g, b; } Color;
struct __align__(32) Particle {
    float x; int y[2][3]; Inner in[2]; Vec<float, 3> v; Color color; double* buffer;
    struct Own { short s; } own; struct { int deep; } un;
    __device__ float norm() const { return x; }
    static const int count = 3;
};
}
using namespace physics;
__global__ void f(Particle p, const physics::Particle* q, Vec<double, 2>* v) {}
"""
    p, q, v = parameters_of(text)
    inner = Element(
        "",
        1,
        16,
        8,
        "physics::Inner",
        (
            StructField("c", NUMBERS["char"], (), 0),
            StructField("d", NUMBERS["double"], (), 8),
        ),
    )
    assert (p.kind, p.intent, p.size, p.alignment) == ("struct", "in", 96, 32)
    assert (q.kind, q.intent, q.element) == ("pointer", "in", p.element)
    fields = {one.name: one for one in p.element.fields or ()}
    assert {name: (one.shape, one.offset) for name, one in fields.items()} == {
        "x": ((), 0),
        "y": ((2, 3), 4),
        "in": ((2,), 32),
        "v": ((), 64),
        "color": ((), 76),
        "buffer": ((), 80),
        "own": ((), 88),
        "un": ((), 92),
    }
    assert fields["in"].element == inner
    assert fields["v"].element.text == "physics::Vec<float, 3>"
    assert fields["v"].element.fields == (StructField("data", NUMBERS["float"], (3,), 0),)
    assert [one.name for one in fields["color"].element.fields or ()] == ["r", "g", "b"]
    assert fields["buffer"].element == Element("uint64", 1, 8, 8, "void*")
    assert fields["own"].element.fields == (StructField("s", NUMBERS["short"], (), 0),)
    assert fields["un"].element.fields == (StructField("deep", NUMBERS["int"], (), 0),)
    assert v.element.fields == (StructField("data", NUMBERS["double"], (2,), 0),)


@pytest.mark.parametrize(
    "body",
    [
        "int a : 3; int b;",
        "int a; private: int b;",
        "int a; union { int b; float c; };",
        "int a; int Hidden::*member;",
        "int a; Derived d;",
    ],
)
def test_a_struct_with_fields_that_no_dtype_has_keeps_its_size_alone(body: str) -> None:
    text = "struct Base { int b; };\nstruct Derived : Base {};\nstruct Hidden;\n"
    text += f"struct P {{ {body} }};\n__global__ void f(P p, P* q) {{}}"
    p, q = parameters_of(text)
    assert p.kind == "struct"
    assert p.element == q.element
    assert p.element.fields is None
    assert p.element.size == p.size > 0


def test_a_struct_of_an_included_file_is_known_by_size_and_name() -> None:
    text = "#include <cuda_fp8.h>\n__global__ void f(__nv_fp8_e4m3 p) {}"
    (p,) = parameters_of(text)
    assert (p.kind, p.element) == ("struct", Element("", 1, 1, 1, "__nv_fp8_e4m3"))


def test_a_private_base_is_no_field() -> None:
    text = "struct B { int b; };\nstruct P : B { int p; };\n__global__ void f(P* q) {}"
    (q,) = parameters_of(text)
    assert q.element == Element("", 1, 8, 4, "P")


# ---- kernels -------------------------------------------------------------------------------


def test_a_signature_says_where_its_kernel_is_and_what_it_is_called() -> None:
    text = """
// Moves particles.
namespace physics { namespace {
template<typename T, int N, bool B = true>
__global__ void __launch_bounds__(N * 32, 2)
push(T* x, const T a) { x[0] = a * N; }
}}
extern "C" __global__ void plain() {}
"""
    push, plain = signatures_of(text, template={"T": "float64", "N": "3"})
    assert (push.name, push.expression, push.line) == ("push", "physics::push<double, 3>", 5)
    assert "push" in push.lowered
    assert (push.max_threads, push.min_blocks, push.packed_size) == (96, 2, 16)
    assert push.source.startswith("template<typename T")
    assert push.source.endswith("a * N; }")
    assert [(one.name, one.text, one.line, one.column) for one in push.parameters] == [
        ("x", "T*", 7, 6),
        ("a", "const T", 7, 12),
    ]
    assert [one.element.dtype for one in push.parameters] == ["float64", "float64"]
    assert (plain.name, plain.lowered, plain.parameters) == ("plain", "plain", ())
    assert (plain.max_threads, plain.min_blocks, plain.packed_size) == (None, None, 0)
    assert signature_from_json(signature_to_json(push)) == push


@pytest.mark.parametrize(
    ("header", "template", "expression", "dtype"),
    [
        ("class T", {"T": "int32"}, "f<int>", "int32"),
        ("class T", {"T": "unsigned short"}, "f<unsigned short>", "uint16"),
        ("class T", {"T": "float16"}, "f<__half>", "float16"),
        ("class T = float", {}, "f<>", "float32"),
        ("class T = float, int N = 3", {"T": "float64"}, "f<double>", "float64"),
        ("int N, class T = double", {"N": "4"}, "f<4>", "float64"),
        ("bool B, class T", {"B": "True", "T": "bool"}, "f<true, bool>", "bool"),
        ("class T, template<class> class C = Box", {"T": "int8"}, "f<signed char>", "int8"),
        (
            "class T, auto V",
            {"T": "uint8", "V": "sizeof(int)"},
            "f<unsigned char, sizeof(int)>",
            "uint8",
        ),
    ],
)
def test_template_arguments_are_dtypes_numbers_or_cpp(
    header: str, template: dict[str, str], expression: str, dtype: str
) -> None:
    text = (
        "#include <cuda_fp16.h>\ntemplate<class T> struct Box {};\n"
        f"template<{header}> __global__ void f(T* x) {{}}"
    )
    (signature,) = signatures_of(text, template=template)
    assert signature.expression == expression
    assert signature.parameters[0].element.dtype == dtype


def test_if_decides_in_the_compiler_which_kernel_is_meant() -> None:
    text = """
#ifndef MY_CELL_H
#define MY_CELL_H
#if __CUDA_ARCH__ >= 800
__global__ void f(float* x) {}
#elif __CUDA_ARCH__ >= 750
#ifdef __CUDACC_RTC__
__global__ void f(double* y, int n) {}
#endif
#else
__global__ void f(nothing z) {}
#endif
#ifdef NEVER_SO
__global__ void g(nothing z) {}
__device__ nothing v;
struct S { nothing t; };
#endif
#endif
"""
    for arch, names in (("sm_90", ["x"]), ("sm_75", ["y", "n"])):
        cell, compiled = compile_cell(text, arch=arch)
        (signature,) = cell.signatures(compiled.lowered)
        assert compiled.log == ""
        assert [one.name for one in signature.parameters] == names
        assert cell.symbol_facts(compiled.lowered) == ()


def test_a_deprecated_kernel_gives_no_warning_of_the_probe() -> None:
    _, compiled = compile_cell("[[deprecated]] __global__ void f() {}")
    assert "kit_probe" not in compiled.log


def test_unnamed_parameters_and_words_of_python_get_names() -> None:
    text = "__global__ void f(float*, int lambda, int) {}"
    (signature,) = signatures_of(text)
    assert [one.name for one in signature.parameters] == ["arg0", "lambda_", "arg2"]
    assert list(signature.to_inspect().parameters) == ["arg0", "lambda_", "arg2"]


def test_the_probe_leaves_a_byte_for_each_answer_in_the_cubin_and_nothing_else() -> None:
    text = "__constant__ int c[2];\n__global__ void f(int* x) { x[0] = c[0]; }\n"
    text += "struct P { int a; };\n__global__ void h(P p) {}\n"
    text += "#if __CUDA_ARCH__ < 100\n__global__ void g() {}\n#endif"
    cell, compiled = compile_cell(text)
    left = {one.decode() for one in re.findall(rb"\w*kit_probe\w*", compiled.cubin)}
    asked = {compiled.lowered[one] for one in cell.name_expressions}
    assert left == {one for one in asked if "kit_probe" in one}
    assert all("fact" in one or "absent" in one for one in left)


def test_what_bodies_and_local_types_hold_is_no_matter_of_the_probe() -> None:
    text = """
__device__ int g(int n) { struct P { int a; } p{n}; static __device__ int inside; return p.a; }
__global__ auto f(int* x, int n) -> void {
    struct Local { float* y; };
    __shared__ struct Local s;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(n));
    auto add = [=](int i) { return i + n; };
    for (int i = 0; i < add(n); i++) { x[i] = g(i) << 3 >> (i > 2); }
}
namespace after { struct P { double d; }; __global__ void h(P p) {} }
"""
    f, h = signatures_of(text)
    assert [one.name for one in f.parameters] == ["x", "n"]
    assert h.expression == "after::h"
    assert h.parameters[0].element.fields == (StructField("d", NUMBERS["double"], (), 0),)
    assert symbols_of(text) == ()


@pytest.mark.parametrize(
    ("header", "declared", "message"),
    [
        (
            "#define ARGS float* x, int n",
            "ARGS",
            "the compiler sees 2 parameters of f and kit sees 1",
        ),
        ("#define R __restrict__", "float* R x, int n", "the compiler sees 2 parameters of f"),
        (
            "#define NONE",
            "float* x NONE",
            "the compiler sees 1 parameters of f and kit sees others",
        ),
    ],
)
def test_macros_of_included_files_that_hide_parameters_are_refused(
    tmp_path: Path, header: str, declared: str, message: str
) -> None:
    (tmp_path / "config.h").write_text(header)
    text = f'#include "config.h"\n__global__ void f({declared}) {{}}'
    with pytest.raises(CellError) as caught:
        signatures_of(text, include_dirs=(str(tmp_path),))
    assert message in caught.value.message
    assert "every parameter written out" in (caught.value.fix or "")
    (signature,) = signatures_of(text.replace('#include "config.h"', header))
    assert signature.parameters[0].name == "x"


def test_a_users_macros_and_names_do_not_reach_the_probe() -> None:
    names = ["T", "N", "A", "list", "type", "value", "kind", "size", "K_T", "class_", "qualifiers"]
    text = "\n".join(f"#define {one} user's {one}" for one in names if one != "type")
    text += "\nstruct kit_probe_list;\nnamespace kit { int __device__ kit_probe; }\n"
    text += "__global__ void kit_probe_cat(float* x) {}"
    (signature,) = signatures_of(text)
    assert signature.name == "kit_probe_cat"


def test_a_comment_or_a_split_line_at_the_end_does_not_swallow_the_probe() -> None:
    for end in ("// the end", "// the end \\", "/* end */", "#define LAST \\"):
        (signature,) = signatures_of(f"__global__ void f(int n) {{}}\n{end}")
        assert signature.name == "f"


def test_all_architectures_of_ci_give_the_same_signature() -> None:
    text = "struct P { float4 a; char b; };\n__global__ void f(P p, double* x, bool b) {}"
    signatures = set()
    for arch in CI_ARCHITECTURES:
        cell, compiled = compile_cell(text, arch=arch)
        signatures.add(cell.signatures(compiled.lowered))
    assert len(signatures) == 1


# ---- variables -----------------------------------------------------------------------------


def test_variables_are_known_with_shape_memory_and_name_in_the_cubin() -> None:
    text = """
struct P { float x; int n[2]; };
__constant__ float table[3][4];
namespace n { __device__ double one = 2, two[2]; namespace { __device__ P parts[5]; } }
__device__ float* pointer;
__device__ struct { int a : 3; } bits;
__managed__ int of_both;
__constant__ const unsigned char bytes[] = {1, 2, 3};
__global__ void f() {}
"""
    symbols = symbols_of(text)
    assert [(one.name, one.element.text, one.shape, one.space, one.line) for one in symbols] == [
        ("table", "float", (3, 4), "constant", 4),
        ("n::one", "double", (), "device", 5),
        ("n::two", "double", (2,), "device", 5),
        ("n::parts", "P", (5,), "device", 5),
        ("bytes", "unsigned char", (3,), "constant", 9),
    ]
    assert [one.const for one in symbols] == [False, False, False, False, True]
    assert symbols[0].lowered == "table"
    assert symbols[1].lowered == "_ZN1n3oneE"
    assert [one.name for one in symbols[3].element.fields or ()] == ["x", "n"]
    assert symbol_from_json(symbol_to_json(symbols[3])) == symbols[3]


# ---- what cannot be passed -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "message", "fix"),
    [
        ("int n, void* x", "f(x): a void* does not say", "double* x"),
        ("int n, const void* x", "f(x): a void* does not say", "double* x"),
        ("int n, float** rows", "f(rows): a pointer to pointers", "double* rows, long long"),
        ("int n, float (*op)(float)", "points at a function", "template<int operation>"),
        ("int n, float (*x)[4]", "has extents in its type", "float* x"),
        ("int n, int x[2][3]", "has extents in its type", "int* x"),
        ("int n, float& x", "cannot be a reference", "float x  // or a pointer"),
        ("int n, Later* x", "does not say what Later is", "struct Later { ... };"),
        ("int n, int P::*x", "nothing in Python can be passed", "double* x"),
        ("int n, kit::ArrayView<float, 1>* x", "views are passed by value", "by value"),
    ],
)
def test_what_no_argument_can_be_is_refused_in_its_place(
    declared: str, message: str, fix: str
) -> None:
    text = f"{VIEWS}struct Later;\nstruct P {{ int a; }};\n__global__ void f({declared}) {{}}"
    with pytest.raises(CellError) as caught:
        signatures_of(text)
    error = caught.value
    assert message in error.message
    assert error.fix is not None
    assert fix in error.fix
    assert error.source_line is not None
    assert error.source_line[(error.column or 0) - 1 :].startswith(declared.split(", ", 1)[1])


def test_other_templates_of_libcu_are_no_complex_numbers() -> None:
    text = "namespace cuda { template<class T> struct Box { T a; }; }\n"
    (one,) = parameters_of(text + "__global__ void f(cuda::Box<double>* x) {}")
    assert (one.element.dtype, one.element.text) == ("", "cuda::Box<double>")
    assert one.element.fields == (StructField("a", NUMBERS["double"], (), 0),)


def test_mdspan_comes_with_a_later_version() -> None:
    text = """
namespace cuda { namespace std { inline namespace __4 {
template<class T, class E, class L, class A> struct mdspan { T* p; };
}}}
__global__ void f(cuda::std::mdspan<double, int, int, int> m) {}
"""
    with pytest.raises(CellError, match="mdspan parameters come with a later version"):
        signatures_of(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "__global__ void f(float* x\n#if __CUDA_ARCH__ < 100\n, int n\n#endif\n) {}",
            "the compiler sees 1 parameters of f and kit sees others",
        ),
        ("#if __CUDA_ARCH__ < 100\n__global__ void f() {}\n#endif", "leaves out every kernel"),
        (
            "#ifdef __CUDA_ARCH__\n__global__ void f() {}\n__global__ void f(int) {}\n#endif",
            "two kernels are named f",
        ),
        (
            """namespace a { __global__ void f() {} }
#ifdef __CUDA_ARCH__
__global__ void f() {}
#endif""",
            "two kernels are named f",
        ),
        ("__global__ void f(float x<::>) <% %>", "does not see which function this is"),
    ],
)
def test_where_text_and_compiler_disagree_the_cell_is_refused(text: str, message: str) -> None:
    with pytest.raises(CellError) as caught:
        signatures_of(text)
    assert message in caught.value.message
    assert caught.value.fix


# ---- declared outputs ----------------------------------------------------------------------

SAXPY = VIEWS + "__global__ void f(float a, const float* x, Array2D<float> v, float* y) {}"


def test_declared_outputs_that_fit_are_the_written_parameters() -> None:
    for key in (None, "f"):
        (signature,) = signatures_of(SAXPY, outputs={key: ("y", "v")})
        assert signature.outputs == ("v", "y")


@pytest.mark.parametrize(
    ("outputs", "message", "fix"),
    [
        (
            ("y",),
            "f may write v, which is not among the declared outputs",
            "Array2D<const float> v",
        ),
        (("v",), "f may write y", "const float* y  // or --outputs v,y"),
        (("v", "y", "x"), "x is declared an output of f, and is const", "float* x"),
        (("v", "y", "a"), "a is declared an output of f, and is passed by value", "--outputs v,y"),
        (("v", "yy"), "f has no parameter yy", "--outputs"),
        ((), "f may write v", "Array2D<const float> v  // or --outputs v"),
    ],
)
def test_declared_outputs_that_do_not_fit_are_refused(
    outputs: tuple[str, ...], message: str, fix: str
) -> None:
    with pytest.raises(CellError) as caught:
        signatures_of(SAXPY, outputs={None: outputs})
    assert message in caught.value.message
    assert caught.value.fix is not None
    assert fix in caught.value.fix


# ---- random prototypes ---------------------------------------------------------------------

ELEMENTS = {**NUMBERS, **VECTORS}
_names = st.sampled_from(["x", "y", "n", "data", "kit", "T", "size_", "_a", "blockSum"])


@st.composite
def declared_parameters(draw: st.DrawFn) -> list[tuple[str, dict[str, Any]]]:
    """Parameters as (declaration, what must be read of it)."""
    result: list[tuple[str, dict[str, Any]]] = []
    for index in range(draw(st.integers(0, 7))):
        text = draw(st.sampled_from(list(ELEMENTS)))
        element = ELEMENTS[text]
        name = f"{draw(_names)}{index}"
        space = draw(st.sampled_from(["", " ", "\n", " /* , ) */ ", " // (\n"]))
        const = draw(st.booleans())
        facts: dict[str, Any] = {"name": name, "element": element, "restrict": False, "ndim": None}
        shape = draw(st.sampled_from(["value", "pointer", "array", "view", "cview"]))
        typed = draw(st.sampled_from([f"const {text}", f"{text} const"])) if const else text
        if shape == "value":
            kind = "vector" if text in VECTORS else "scalar"
            declaration = f"{typed} {space}{name}"
            facts |= {"kind": kind, "intent": "in", "size": element.size}
        elif shape in ("pointer", "array"):
            restrict = shape == "pointer" and draw(st.booleans())
            star = "*" if shape == "pointer" else ""
            star += "__restrict__" if restrict else ""
            declaration = f"{typed}{space}{star} {name}" + ("[]" if shape == "array" else "")
            facts |= {"kind": "pointer", "restrict": restrict, "size": 8}
        else:
            ndim = draw(st.integers(1, 16))
            template = "ArrayView" if shape == "view" else "CArrayView"
            declaration = f"kit::{template}<{typed},{space}{ndim}> {name}"
            size = 8 + (24 if shape == "view" else 8) * ndim
            facts |= {"kind": shape, "ndim": ndim, "size": size}
        facts.setdefault("intent", "in" if const else "inout")
        result.append((declaration, facts))
    return result


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(declared_parameters(), min_size=1, max_size=5))
def test_random_prototypes_are_read_as_they_were_made(
    kernels: list[list[tuple[str, dict[str, Any]]]],
) -> None:
    lines = [
        f"__global__ void k{index}({', '.join(text for text, _ in one)}) {{}}"
        for index, one in enumerate(kernels)
    ]
    signatures = signatures_of(HEADERS + VIEWS + "\n".join(lines))
    for signature, declared in zip(signatures, kernels, strict=True):
        end = 0
        for one, (_, facts) in zip(signature.parameters, declared, strict=True):
            assert {key: getattr(one, key) for key in facts} == facts
            end = -(-end // one.alignment) * one.alignment
            assert one.offset == end
            end += one.size
        assert signature.packed_size == end


def test_offsets_of_parameters_are_those_of_the_compilers_own_parameter_space() -> None:
    """PTX declares parameters with alignment and size; ptxas lays them out in this order."""
    text = (
        "struct P { char c; double d; };\n"
        "__global__ void f(char a, P p, bool b, float4 v, short s) {}"
    )
    (signature,) = signatures_of(text)
    assert [one.offset for one in signature.parameters] == [0, 8, 24, 32, 48]
    members = "char a; P p; bool b; float4 v; short s;"
    names = [f"&at<__INTADDR__(&((All*)0)->{one})>" for one in "apbvs"]
    lowered = compile_text(
        f"{text}\nstruct All {{ {members} }};\ntemplate<long long> __device__ int at;", names
    ).lowered
    assert [lowered[one].split("Lx")[1].rstrip("E") for one in names] == [
        "0",
        "8",
        "24",
        "32",
        "48",
    ]

"""NVRTC's log, read: as version 12.9 prints it."""

from __future__ import annotations

from kit.building_cuda.log import read_messages, read_resources

TEMPLATE = """\
/home/me/t.cuh(3): error: expression must have class type but it has type "double"
  template<class T> __device__ T twice(T x) { return x.foo; }
                                                     ^
          detected during:
            instantiation of "T twice(T) [with T=double]" at line 4
            instantiation of "T four(T) [with T=double]" at line 4 of cell

1 error detected in the compilation of "cell".
"""
OVERLOADS = """\
cell(5): error: no instance of overloaded function "f" matches the argument list
            argument types are: (double *, double, int)
  __global__ void k(double* y) { f(y, 1.0, 3); }
                                 ^
cell(4): note #3326-D: function "f(cuda::std::__4::complex<float>, int)" does not match because \
argument #1 does not match parameter
  __device__ void f(cuda::std::complex<float> a, int b);
                  ^

cell(9): warning #177-D: variable "i" was declared but never referenced
  \tint i;
  \t    ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

1 error detected in the compilation of "cell".
"""
RESOURCES = """\
ptxas info    : 0 bytes gmem, 24 bytes cmem[3]
ptxas info    : Compiling entry function '_Z3onePd' for 'sm_75'
ptxas info    : Function properties for _Z3onePd
ptxas         .     5728 bytes stack frame, 5380 bytes spill stores, 11212 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 5728 bytes cumulative stack size, \
400 bytes smem, 360 bytes cmem[0]
ptxas info    : Compile time = 449.434 ms
ptxas info    : Function properties for _Z6helperd
ptxas         .     8 bytes stack frame, 16 bytes spill stores, 32 bytes spill loads
ptxas info    : Compiling entry function '_Z3twoPd' for 'sm_75'
ptxas info    : Function properties for _Z3twoPd
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers, 352 bytes cmem[0]
"""


def test_what_led_into_a_template_belongs_to_the_message() -> None:
    (message,) = read_messages(TEMPLATE)
    assert (message.file, message.line, message.offset) == ("/home/me/t.cuh", 3, 51)
    assert message.source == "template<class T> __device__ T twice(T x) { return x.foo; }"
    assert message.notes == (
        'instantiation of "T twice(T) [with T=double]" at line 4',
        'instantiation of "T four(T) [with T=double]" at line 4 of cell',
    )


def test_lines_that_go_on_are_one_text_and_candidates_are_notes() -> None:
    error, warning = read_messages(OVERLOADS)
    assert error.text == (
        'no instance of overloaded function "f" matches the argument list '
        "argument types are: (double *, double, int)"
    )
    assert error.source == "__global__ void k(double* y) { f(y, 1.0, 3); }"
    (note,) = error.notes
    assert note == (
        'function "f(cuda::std::complex<float>, int)" does not match because '
        "argument #1 does not match parameter"
    )
    assert (warning.severity, warning.line, warning.source) == ("warning", 9, "\tint i;")
    assert warning.offset == 5


def test_errors_of_ptxas_have_no_place() -> None:
    log = " ptxas error   : Entry function '_Z1kPd' uses too much shared data (0x13880 bytes)\n"
    (message,) = read_messages(log)
    assert (message.severity, message.file, message.line) == ("error", "", 0)
    assert message.text.startswith("Entry function '_Z1kPd' uses too much")


def test_nothing_said_is_no_message() -> None:
    assert read_messages("") == []
    assert read_messages('1 error detected in the compilation of "cell".\n') == []


def test_what_each_kernel_takes_is_its_own_and_not_a_functions_that_it_calls() -> None:
    found = read_resources(RESOURCES)
    assert list(found) == ["_Z3onePd", "_Z3twoPd"]
    assert found["_Z3onePd"] == (64, 5728, 5380, 11212, 400)
    assert found["_Z3twoPd"] == (10, 0, 0, 0, 0)

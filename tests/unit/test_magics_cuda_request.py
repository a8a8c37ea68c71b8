"""The magic line of ``%%cuda_kernel``: what it asks for, and where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.cuda.options import CudaOptions
from kit.errors import CellError
from kit.magics.completion import complete_line
from kit.magics.cuda_request import CUDA_KERNEL, parse_cuda_request
from kit.magics.cuda_text import kernel_names, parameter_names


def options(line: str) -> CudaOptions:
    return parse_cuda_request(line).options


def test_an_empty_line_asks_for_the_defaults() -> None:
    request = parse_cuda_request("")
    assert request.options == CudaOptions()
    assert not any((request.pairs, request.keeps, request.is_quiet, request.is_verbose))


def test_every_option_reaches_the_build(tmp_path: Path) -> None:
    found = options(
        "-o y,z --block 16,8 --arch sm_80,sm_90a --arch sm_120 --std c++20 "
        f'-I "{tmp_path}" -D N=3 -DFAST --flags "--use_fast_math -lineinfo" --target emulator '
        "--check bounds --template T=float64,N=3 --debug --force"
    )
    assert found == CudaOptions(
        outputs={None: ("y", "z")},
        block=(16, 8),
        architectures=("sm_80", "sm_90a", "sm_120"),
        std="c++20",
        include_dirs=(str(tmp_path),),
        defines=("N=3", "FAST"),
        flags=("--use_fast_math", "-lineinfo"),
        target="emulator",
        check=("bounds",),
        template={"T": "double", "N": "3"},
        debug=True,
        force=True,
    )


def test_the_rest_is_the_magics_own() -> None:
    request = parse_cuda_request("--pair --on-error keep -v")
    assert (request.pairs, request.keeps, request.is_verbose) == (True, True, True)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("T=float32", {"T": "float"}),
        ("T=int64,U=uint8", {"T": "long long", "U": "unsigned char"}),
        ("T=complex128", {"T": "cuda::std::complex<double>"}),
        ("T=Pair<int,float>,N=3", {"T": "Pair<int,float>", "N": "3"}),
        ("T=Particle --template B=true", {"T": "Particle", "B": "true"}),
        ('"T = double, N = 3"', {"T": "double", "N": "3"}),
    ],
)
def test_template_arguments_are_dtypes_integers_or_cpp(text: str, meaning: dict[str, str]) -> None:
    assert options(f"--template {text}").template == meaning


def test_a_relative_directory_is_below_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "headers").mkdir()
    monkeypatch.chdir(tmp_path)
    assert options("-I headers").include_dirs == (str(tmp_path / "headers"),)


@pytest.mark.parametrize(
    ("line", "wrong", "message", "fix"),
    [
        ("--block x", "x", "'x' is not", "--block 256"),
        ("--block 16,,4", ",4", "'' is not", "--block"),
        ("--block 8,8,4,2", "2", "x, y, z", "--block 8,8,4"),
        ("--block -1", "-1", "'-1' is not", "--block 256"),
        ("--block 0", "0", "block (0, 1, 1)", "--block 256"),
        ("--block 64,64", "64,64", "4096 threads", "--block 16,16"),
        ("--block 1,1,128", "1,1", "1 to 64 along z", "--block 16,16"),
        ("--block ²", "²", "'²' is not", "--block 256"),
        ("--arch sm_80,sm90", "sm90", "'sm90' is no architecture", "--arch sm_90"),
        ("--arch compute_80", "compute_80", "no architecture", "--arch sm_80"),
        ('--arch "sm_80, volta"', "volta", "no architecture", "--arch sm_"),
        ("--std c++14", "c++14", "it is c++17 or c++20", "--std c++17"),
        ("-I /no/such/place", "/no", "no directory '/no/such/place'", "-I DIR"),
        ("-I/no/such/place", "/no", "no directory", "-I DIR"),
        ("-D 3=4", "3=4", "'3' is no name of a macro", "-D NAME"),
        ("--target gpu", "gpu", "cannot be 'gpu'", "--target"),
        ("--check bounds,races", "races", "later version", "--check bounds"),
        ("--check=init", "init", "later version", "--check bounds"),
        ("--check sync", "sync", "later version", "--check bounds"),
        ("--check bound", "bound", "it is bounds", "--check bounds"),
        ("--schedule random", "random", "later version", "leave it out"),
        ("--isolate", "--isolate", "later version", "leave it out"),
        ("-a", "-a", "later version", "%kit_source"),
        ("--template T", "T", "not NAME=ARGUMENT", "--template T=float64"),
        ("--template T=int32,N", "N", "not NAME", "--template"),
        ("--template T=int32,N=", "N=", "not NAME", "--template"),
        ("--template T=int32,T=int64", "T=int64", "given twice", "each parameter once"),
        ('--flags "-D\'a"', '"-D', "never closed", "--flags"),
        ("-o 3", "3", "is not a name", "--outputs a,b"),
        ("-q -v", "-v", "contradict", "leave one"),
        ("--blok 3", "--blok", "no option --blok", "--block"),
        ("256", "256", "unexpected '256'", "%%cuda_kernel?"),
        ("emulator", "emulator", "unexpected", "--target emulator"),
    ],
)
def test_what_is_wrong_stands_above_the_caret(
    line: str, wrong: str, message: str, fix: str
) -> None:
    with pytest.raises(CellError) as caught:
        parse_cuda_request(line)
    error = caught.value
    assert message in error.message
    assert fix in (error.fix or "")
    assert (error.line, error.source_line) == (1, f"%%cuda_kernel {line}")
    assert error.column is not None
    assert f"%%cuda_kernel {line}"[error.column - 1 :].startswith(wrong)


CELL = """%%cuda_kernel -o
template<class T, int N>
__global__ void __launch_bounds__(128, 2) scale(const T* __restrict__ x, T *out, int n /*, no */);
// __global__ void commented(int c);
__global__ void half(Array2D<double> field, double (*f)(int), float table[3
"""


@pytest.mark.parametrize(
    ("before", "fragment", "found"),
    [
        ("-o ", "", ["x", "out", "n", "field", "table"]),
        ("-o x,o", "o", ["out"]),
        ("--arch sm_9", "sm_9", ["sm_90"]),
        ("--arch sm_90,sm_12", "sm_12", ["sm_120", "sm_121"]),
        ("--arch=sm_80,sm_10", "sm_10", ["sm_100", "sm_103"]),
        ("--target ", "", ["auto", "device", "emulator", "compile"]),
        ("--std c++2", "c++2", ["c++20"]),
        ("--check ", "", ["bounds"]),
        ("--block 8", "8", ["8,8,4"]),
        ("--pa", "--pa", ["--pair"]),
        ("--sch", "--sch", []),
    ],
)
def test_tab_completes_options_values_and_parameters(
    before: str, fragment: str, found: list[str]
) -> None:
    assert complete_line(CUDA_KERNEL, before, cell=CELL) == (fragment, found)


def test_kernels_are_found_in_text_that_is_no_cpp() -> None:
    assert kernel_names(CELL) == ("scale", "half")
    assert kernel_names('extern "C" __global__ void f(int n) {{{') == ("f",)
    assert kernel_names("__global__ void") == ()
    assert kernel_names("__global__ __attribute__((x)) void g (") == ("g",)
    assert kernel_names("namespace a { __global__ void f(); }  /* __global__ void h();") == ("f",)
    assert parameter_names("__global__ void f(int, double* y = nullptr, void)") == ("y",)


def test_help_names_every_option_and_marks_those_to_come() -> None:
    text = CUDA_KERNEL.help_text()
    for one in CUDA_KERNEL.options:
        assert one.usage in text
    assert text.count("[comes with a later version]") == 3

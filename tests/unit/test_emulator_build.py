"""A CUDA cell is compiled for the CPU once, and what g++ says is said in the cell's lines."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.backends.emulator import commands, runtime_library
from kit.backends.emulator.commands import Toolchain
from kit.backends.emulator.diagnose import build_error
from kit.backends.emulator.elf import undefined_thread_locals
from kit.backends.emulator.translation import translate_cell
from kit.cache import open_store
from kit.cuda.options import CudaOptions
from kit.errors import BuildError, LaunchError
from tests.unit.cuda_calls import Cell, signature

FILL = "__global__ void fill(int* out) { out[threadIdx.x] = VALUE; }\n"


def failure(source: str, *declared: str, **options: Any) -> BuildError:
    with pytest.raises(BuildError) as caught:
        Cell(source, *(declared or ("k(int*)",)), **options)
    return caught.value


def filled(cell: Cell) -> int:
    out = np.zeros(1, np.int32)
    cell("fill", 1, 1, out)
    return int(out[0])


@pytest.fixture
def no_compiler_may_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise AssertionError("g++ was run")

    monkeypatch.setattr(Toolchain, "compile", refuse)
    monkeypatch.setattr(Toolchain, "link", refuse)


def test_an_error_is_in_the_cells_line_and_column() -> None:
    error = failure("__global__ void k(int* out) {\n    /* µ */ out[0] = missing;\n}\n")
    assert (error.line, error.column) == (3, 22)
    assert error.source_line == "    /* µ */ out[0] = missing;"
    assert "missing" in error.message
    assert "kit-cell.cu:3:" in error.log


def test_the_rest_of_the_errors_is_attached() -> None:
    error = failure("__global__ void k(int* out) {\n    out[0] = one;\n    out[1] = two;\n}\n")
    assert error.line == 3
    assert [one for one in error.others if one.startswith("cell line 4: ") and "two" in one]


def test_an_error_in_an_included_file_names_it_and_the_line_that_includes_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "own.cuh").write_text("\n\nint f() { return missing; }\n")
    source = '#include "own.cuh"\n__global__ void k(int* out) {}\n'
    error = failure(source, include_dirs=(str(tmp_path),))
    assert error.line == 2
    assert "(own.cuh line 3)" in error.message


def test_what_is_declared_and_defined_nowhere_is_an_error_with_its_line() -> None:
    source = 'extern "C" __device__ int nowhere(int);\n__global__ void k(int* out) {\n\n'
    error = failure(source + "    out[0] = nowhere(1);\n}\n")
    assert error.line == 5
    assert error.message == "nowhere is declared, and the emulator has no definition of it"


def test_a_thrown_exception_is_refused_with_its_line() -> None:
    error = failure("__global__ void k(int* out) {\n    throw 1;\n}\n")
    assert error.line == 3


def test_without_a_compiler_the_error_says_how_to_install_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("kit.toolchain._environment_directories", list)
    for name in ("CXX", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    error = failure("__global__ void k(int* out) {}\n")
    assert "no C++ compiler (g++)" in error.message
    assert error.fix is not None
    assert "sudo apt-get install g++" in error.fix
    assert "conda install -c conda-forge compilers" in error.fix


def test_a_cell_in_the_store_runs_no_compiler(
    request: pytest.FixtureRequest,
) -> None:
    source = FILL.replace("VALUE", "41")
    assert filled(Cell(source, "fill(int*)")) == 41
    request.getfixturevalue("no_compiler_may_run")
    assert filled(Cell(source, "fill(int*)")) == 41


def test_a_changed_included_file_is_compiled_anew(tmp_path: Path) -> None:
    header = tmp_path / "with space" / "value.cuh"
    header.parent.mkdir()
    source = '#include "value.cuh"\n' + FILL
    values: list[int] = []
    for value in (1, 2, 1):
        header.write_text(f"#define VALUE {value}\n")
        cell = Cell(source, "fill(int*)", include_dirs=(str(header.parent),))
        values.append(filled(cell))
    assert values == [1, 2, 1]


def test_defines_reach_the_cell_and_not_the_emulators_headers() -> None:
    defines = ("VALUE=7", "Worker=1", "block", "T=oops", "launch(x)=broken")
    assert filled(Cell(FILL, "fill(int*)", defines=defines)) == 7


def test_macros_of_a_cell_do_not_reach_what_kit_adds() -> None:
    names = ("K", "A", "kernel", "Kernel", "Entry", "sizes", "worker", "thread", "address")
    source = "".join(f"#define {name} ]broken[\n" for name in names)
    assert filled(Cell(source + FILL.replace("VALUE", "3"), "fill(int*)")) == 3


def test_bounds_are_checked_whether_that_is_asked_for_or_not() -> None:
    source = "#ifdef KIT_CHECK_BOUNDS\n#define VALUE 1\n#else\n#define VALUE 0\n#endif\n" + FILL
    options: list[dict[str, Any]] = [{}, {"check": ("bounds",)}, {"debug": True}]
    assert [filled(Cell(source, "fill(int*)", **one)) for one in options] == [1, 1, 1]


def test_the_standard_is_the_cells() -> None:
    source = FILL.replace("VALUE", "__cplusplus / 100")
    assert filled(Cell(source, "fill(int*)")) == 2017
    assert filled(Cell(source, "fill(int*)", std="c++20")) in (2017, 2020)


def test_parameters_that_the_compilers_lay_out_differently_are_an_error() -> None:
    with pytest.raises(BuildError, match="NVRTC and g\\+\\+ lay out the parameters of fill"):
        Cell(FILL.replace("VALUE", "5"), "fill(int)")


def test_a_damaged_library_is_built_again() -> None:
    source = FILL.replace("VALUE", "17")
    Cell(source, "fill(int*)")
    entry = next(one for one in open_store().list() if one.meta.get("kernels") == ["fill"])
    content = bytearray(entry.artifact.read_bytes())
    content[-1] ^= 1
    # In another file: this process still has pages of the first one, and would die when it ends.
    damaged = entry.artifact.with_suffix(".damaged")
    damaged.write_bytes(content)
    damaged.replace(entry.artifact)
    from kit.store import loading

    loading._libraries.pop(entry.module_name)  # as in another process
    assert filled(Cell(source, "fill(int*)")) == 17


def test_what_a_kernel_prints_is_written_to_stdout_after_the_launch(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = '__global__ void k(int* out) { printf("%d µ\\n", threadIdx.x); if (out[0]) __trap(); }'
    cell = Cell(source, "k(int*)")
    out = np.zeros(1, np.int32)
    cell("k", 1, 3, out)
    assert sorted(capsys.readouterr().out.splitlines()) == ["0 µ", "1 µ", "2 µ"]
    out[0] = 1
    with pytest.raises(LaunchError):
        cell("k", 1, 1, out)
    assert capsys.readouterr().out == "0 µ\n"


class FullDisk(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(text)


@pytest.mark.parametrize("stdout", [None, FullDisk()])
def test_a_fault_is_told_whatever_becomes_of_what_was_printed(
    monkeypatch: pytest.MonkeyPatch, stdout: io.StringIO | None
) -> None:
    source = '__global__ void k(int* out) { printf("text"); if (out[0]) __trap(); }'
    cell = Cell(source, "k(int*)")
    monkeypatch.setattr(sys, "stdout", stdout)
    with pytest.raises(LaunchError, match="__trap"):
        cell("k", 1, 1, np.ones(1, np.int32))
    if stdout is None:  # as print does: nothing is shown, and nothing wrong
        cell("k", 1, 1, np.zeros(1, np.int32))
    else:
        with pytest.raises(OSError, match="text"):
            cell("k", 1, 1, np.zeros(1, np.int32))


def test_a_child_that_is_forked_while_kernels_print_can_print() -> None:
    source = '__global__ void k(int n) { while (n--) printf("%d ", n); }'
    program = f"""
        import os, signal, threading, numpy as np
        from tests.unit.cuda_calls import Cell
        cell = Cell({source!r}, "k(int)")
        import sys
        sys.stdout = open(os.devnull, "w")
        def work():
            while True:
                cell("k", 1, 64, 50)
        threading.Thread(target=work, daemon=True).start()
        for _ in range(200):
            child = os.fork()
            if child == 0:
                signal.alarm(5)
                cell("k", 1, 1, 1)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        os._exit(0)
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


# 2**17 types, each of its own: three seconds of g++'s time on a fast machine.
SLOW = """
template <int N, int M> struct Slow { static constexpr int value =
    Slow<N - 1, 2 * M>::value + Slow<N - 1, 2 * M + 1>::value; };
template <int M> struct Slow<0, M> { static constexpr int value = 1; };
__global__ void k(int* out) { out[0] = Slow<16, 1>::value; }
"""


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def children() -> set[str]:
    path = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return set(path.read_text().split())


def test_ctrl_c_ends_the_compiler(ctrl_c: None) -> None:
    Cell("__global__ void k(int* out) {}\n", "k(int*)")  # the runtime library is there
    before = children()
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        Cell(SLOW, "k(int*)")
    assert time.perf_counter() - started < 2.5
    assert children() == before


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from kit.backends.emulator import obtain

    stages: list[str] = []
    kernel = signature("fill(int*)")
    source = "\n" + FILL.replace("VALUE", "99")
    obtain(source, [kernel], [], CudaOptions(), on_progress=lambda stage, _: stages.append(stage))
    assert stages == ["compiling", "linking"]


def test_workers_are_as_many_as_cpus_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KIT_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    cpus = len(os.sched_getaffinity(0))
    assert runtime_library._count_workers() == cpus
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert runtime_library._count_workers() == 1
    monkeypatch.setenv("KIT_THREADS", "5")
    assert runtime_library._count_workers() == 5
    monkeypatch.setenv("KIT_THREADS", "many")
    assert runtime_library._count_workers() == 1


def test_the_processor_is_in_the_key_of_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain = commands.find_toolchain()
    before = toolchain.cell_identity("c++17")
    monkeypatch.setattr(commands, "cpu_digest", lambda: "another")
    assert toolchain.cell_identity("c++17") != before


def test_dynamic_shared_arrays_are_found_in_the_object(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(
        "namespace n { extern thread_local int dynamic[]; extern int plain[]; }\n"
        "static thread_local int own;\n"
        "int f() { return n::dynamic[0] + n::plain[0] + own++; }\n"
    )
    commands.find_toolchain().compile(["-fPIC", "-c", "a.cpp", "-o", "a.o"], scratch=tmp_path)
    assert undefined_thread_locals((tmp_path / "a.o").read_bytes()) == ("_ZN1n7dynamicE",)


def test_a_name_that_is_taken_is_renamed_and_lines_stay() -> None:
    kernels = [signature("main(int*)", line=4), signature("free_name(int*)")]
    text = translate_cell("\n// two\n", kernels, [], CudaOptions())
    assert "#define main kit_cell_main" in text
    assert "free_name kit" not in text
    assert '#line 1 "kit-cell.cu"\n\n// two\n' in text
    assert '#line 4 "kit-cell.cu"\nkit_emulator_kernel_of<&main>' in text


def test_a_compiler_that_names_no_place_is_quoted() -> None:
    error = build_error("g++: fatal error: Killed signal terminated program cc1plus\n", "\nx\n")
    assert error.line is None
    assert "Killed" in error.message

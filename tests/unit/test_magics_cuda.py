"""``%%cuda_kernel`` in a shell: what it binds, prints, raises and unbinds; pairs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.errors import (
    BuildError,
    CellError,
    KitWarning,
    LaunchError,
    StaleDependencyWarning,
    StaleKernelError,
)
from kit.kernel import PyccelKernel
from kit.kernel_cuda import CudaKernel
from kit.paired_kernel import PairedKernel
from kit.stale import StaleKernel
from tests.unit.magic_shell import ShellUser

# One architecture: these tests are about the magic, and each of the five costs NVRTC's time.
MAGIC = "%%cuda_kernel --arch sm_90 --target emulator"
SCALE = f"""{MAGIC}
__global__ void scale(double* x, double factor, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}}
"""
COPY = """
__global__ void copy(const double* x, double* y) { y[threadIdx.x] = x[threadIdx.x]; }
"""
BROKEN = SCALE.replace("x[i] *= factor", "x[i] *= fctor")
PYCCEL = """%%pyccel_kernel
def scale(x: 'float64[:]', factor: float, n: int):
    for i in range(n):
        x[i] = factor * x[i]
"""
PAIR = SCALE.replace(MAGIC, f"{MAGIC} --pair")


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch) -> Iterator[ShellUser]:
    monkeypatch.setenv("KIT_STABLE_OUTPUT", "1")
    with ShellUser() as one:
        yield one


def kernel(user: ShellUser, name: str = "scale") -> Any:
    found = user.names[name]
    assert isinstance(found, CudaKernel | PairedKernel)
    return found


# ---- one cell ----------------------------------------------------------------------------------


def test_a_cell_binds_its_kernels_and_prints_one_line_for_each(user: ShellUser) -> None:
    run = user.good(SCALE + COPY)
    assert run.output == ("scale(x, factor, n): cuda, writes x\ncopy(x, y): cuda, writes y\n")
    x = np.arange(300.0)
    kernel(user)(x, 2.0, 299)
    assert np.array_equal(x, np.append(2.0 * np.arange(299.0), 299.0))


def test_registers_and_where_it_runs_are_told_unless_outputs_must_be_stable(
    user: ShellUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KIT_STABLE_OUTPUT")
    first, second = user.good(SCALE).output.splitlines()
    assert first == "scale(x, factor, n): cuda, writes x, in the emulator (--target emulator)"
    assert second.startswith("  sm_90: ")
    assert " registers, no spills, occupancy " in second
    assert second.endswith(" at 256 threads")


def test_a_hit_prints_what_the_build_printed(
    user: ShellUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KIT_STABLE_OUTPUT")
    cell = SCALE.replace("factor", "by")
    assert user.good(cell).output == user.good(cell).output


def test_a_warning_of_the_compiler_stands_in_the_cells_line(user: ShellUser) -> None:
    run = user.good(SCALE.replace("int i =", "int unused = 3;\n    int i ="))
    assert "  warning: " in run.output
    assert "line 3" in run.output
    assert "unused" in run.output


def test_quiet_prints_nothing_and_verbose_prints_more(user: ShellUser) -> None:
    assert user.good(SCALE.replace(MAGIC, f"{MAGIC} -q")).output == ""
    assert "flags: " in user.good(SCALE.replace(MAGIC, f"{MAGIC} -v")).output


def test_options_reach_kernel_and_compiler(user: ShellUser) -> None:
    line = "--arch sm_80 --target emulator --template T=float32,N=3 -D BY=2 --block 64"
    text = "template<class T, int N> __global__ void fill(T* x) { x[threadIdx.x] = N * BY; }"
    user.good(f"%%cuda_kernel {line}\n{text}\n")
    x = np.zeros(64, dtype=np.float32)
    kernel(user, "fill")(x)
    assert x.tolist() == [6.0] * 64
    assert kernel(user, "fill").architectures == ("sm_80",)


# ---- what goes wrong ---------------------------------------------------------------------------


def test_an_error_stands_in_the_cells_own_line_without_frames(user: ShellUser) -> None:
    run = user.failed(BROKEN)
    assert isinstance(run.error, BuildError | CellError)
    assert run.error.line == 4
    lines = run.output.splitlines()
    assert "cell line 4" in lines[0]
    assert "fctor" in lines[0]
    assert lines[1].strip() == "if (i < n) x[i] *= fctor;"
    assert "Traceback" not in run.output
    assert ".py" not in run.output


def test_a_wrong_option_is_an_error_of_line_one(user: ShellUser) -> None:
    run = user.failed(SCALE.replace("--arch sm_90", "--arch sm90"))
    assert isinstance(run.error, CellError)
    assert (run.error.line, run.error.column) == (1, len("%%cuda_kernel --arch ") + 1)


@pytest.mark.parametrize("cell", ["%%cuda_kernel", "%%cuda_kernel -q\n", "%%cuda_kernel\n\n \n"])
def test_a_cell_without_a_body_says_what_is_missing(user: ShellUser, cell: str) -> None:
    run = user.failed(cell)
    assert isinstance(run.error, CellError)
    assert "empty" in run.output
    assert "__global__" in run.output


def test_an_unknown_architecture_says_so(user: ShellUser) -> None:
    run = user.failed(SCALE.replace("sm_90", "sm_12"))
    assert isinstance(run.error, CellError)
    assert "for sm_12" in run.error.message
    assert (run.error.line, run.error.column) == (1, len("%%cuda_kernel --arch ") + 1)


def test_a_failed_build_leaves_a_stub_that_offers_the_kernel_before(user: ShellUser) -> None:
    user.good(SCALE)
    held = kernel(user)
    user.failed(BROKEN)
    stub = user.names["scale"]
    assert isinstance(stub, StaleKernel)
    assert stub.previous is held
    with pytest.raises(StaleKernelError, match="scale"):
        stub()
    assert "fctor" in user.good("%kit_log scale").output
    user.good(SCALE)
    assert user.names["scale"] == held


def test_text_that_cannot_be_read_leaves_stubs_too(user: ShellUser) -> None:
    user.failed(f"{MAGIC}\n__global__ void scale(double* x {'{'}\n")
    assert isinstance(user.names["scale"], StaleKernel)


def test_a_kernel_that_a_macro_declares_is_stubbed_by_its_own_name(user: ShellUser) -> None:
    user.failed(f"{MAGIC}\n#define KERNEL(f) __global__ void f\nKERNEL(half)(double* x) {{ y; }}\n")
    assert isinstance(user.names["half"], StaleKernel)
    assert "f" not in user.names


def test_on_error_keep_warns_and_keeps_what_works(user: ShellUser) -> None:
    user.good(SCALE)
    held = user.names["scale"]
    run = user.good(BROKEN.replace(MAGIC, f"{MAGIC} --on-error keep"))
    assert user.names["scale"] is held
    assert [one.category for one in run.warned] == [KitWarning]
    assert run.warned[0].filename == "<%%cuda_kernel>"


def test_a_name_that_vanishes_from_the_edited_cell_is_unbound(user: ShellUser) -> None:
    user.good(SCALE + COPY)
    run = user.good(SCALE)
    assert "copy" not in user.names
    assert "copy: unbound" in run.output


def test_a_fault_of_a_kernel_is_shown_at_the_users_line(user: ShellUser) -> None:
    user.good(
        """%%cuda_kernel --arch sm_90 --check bounds --target emulator
#include <kit/array_view.cuh>
__global__ void shift(Array1D<double> x) {
    long long i = threadIdx.x;
    x(i) = x(i + 1);
}
"""
    )
    user.names["x"] = np.zeros(32)
    run = user.failed("shift(x)")
    assert isinstance(run.error, LaunchError)
    assert (run.error.kind, run.error.line) == ("bounds", 5)
    assert run.error.thread == (31, 0, 0)
    assert "cell line 5" in run.output
    assert "/kit/" not in run.output
    assert user.good("1 + 1").result == 2


# ---- pairs -------------------------------------------------------------------------------------


def check_both(user: ShellUser) -> None:
    found = user.names["scale"]
    assert isinstance(found, PairedKernel)
    for call in (found, found.host, found.emulator):  # type: ignore[attr-defined]
        x = np.arange(4.0)
        call(x, 3.0, 4)
        assert x.tolist() == [0.0, 3.0, 6.0, 9.0]


def test_a_pair_is_one_object_with_both_versions(user: ShellUser) -> None:
    user.good(PYCCEL)
    run = user.good(PAIR)
    assert "  scale: paired with the Pyccel kernel\n" in run.output
    check_both(user)


def test_the_pyccel_cell_may_run_again(user: ShellUser) -> None:
    user.good(PYCCEL)
    user.good(PAIR)
    again = user.good(PYCCEL.replace("factor * x[i]", "x[i] * factor"))
    assert "  scale: paired with the CUDA kernel again\n" in again.output
    assert again.warned == []
    assert "x[i] * factor" in user.names["scale"].pyccel.source  # type: ignore[attr-defined]
    check_both(user)


def test_the_cuda_cell_may_run_again(user: ShellUser) -> None:
    user.good(PYCCEL)
    user.good(PAIR)
    user.good(PAIR.replace("x[i] *= factor", "x[i] = factor * x[i]"))
    check_both(user)


def test_a_new_pyccel_version_that_no_longer_agrees_is_alone_and_says_so(user: ShellUser) -> None:
    user.good(PYCCEL)
    user.good(PAIR)
    run = user.good(PYCCEL.replace(", n: int", "").replace("range(n)", "range(x.shape[0])"))
    assert type(user.names["scale"]) is PyccelKernel
    assert [one.category for one in run.warned] == [StaleDependencyWarning]
    assert "only the CUDA version takes `int`" in run.warnings_text


def test_a_failed_version_is_not_in_a_pair(user: ShellUser) -> None:
    user.good(PYCCEL)
    user.good(PAIR)
    user.failed(BROKEN.replace(MAGIC, f"{MAGIC} --pair"))
    assert isinstance(user.names["scale"], StaleKernel)
    run = user.good(PYCCEL)
    assert type(user.names["scale"]) is PyccelKernel
    assert "its CUDA cell failed" in run.warnings_text
    user.good(PAIR)
    check_both(user)
    user.failed(PYCCEL.replace("range(n)", "range(m)"))
    assert "repair the %%pyccel_kernel cell" in user.failed(PAIR).output
    user.good(PYCCEL)
    user.good(PAIR)
    check_both(user)


def test_a_failure_of_one_version_is_not_forgotten_when_the_other_fails_too(
    user: ShellUser,
) -> None:
    user.good(PYCCEL)
    user.good(PAIR)
    user.failed(BROKEN)
    user.failed(PYCCEL.replace("range(n)", "range(m)"))
    run = user.good(PYCCEL)
    assert type(user.names["scale"]) is PyccelKernel
    assert "its CUDA cell failed" in run.warnings_text


def test_versions_that_do_not_agree_are_an_error_with_each_difference(user: ShellUser) -> None:
    user.good(PYCCEL)
    header = "__global__ void scale(const float* x, double factor, int n) {"
    run = user.failed(f"{MAGIC} --pair\n{header}}}\n")
    assert isinstance(run.error, CellError)
    assert run.error.line == 2
    assert run.error.source_line == header + "}"
    assert "float64[:] in Pyccel, `const float*` in CUDA" in run.output
    assert "written in Pyccel, const in CUDA" in run.output
    assert run.output.splitlines()[-1].strip()


def test_a_pair_needs_a_pyccel_kernel(user: ShellUser) -> None:
    run = user.failed(PAIR)
    assert isinstance(run.error, CellError)
    assert "there is no Pyccel kernel that is called scale" in run.output
    assert f"  {MAGIC} --pair" in run.output.splitlines()
    assert run.error.column == len(MAGIC) + 2


def test_a_pyccel_kernel_that_loses_its_name_is_told_of_pairs(user: ShellUser) -> None:
    user.good(PYCCEL)
    assert "--pair joins the two" in user.good(SCALE).output


def test_a_pair_can_be_called_from_pyccel_cells_and_a_cuda_kernel_cannot(user: ShellUser) -> None:
    caller = "%%pyccel_kernel\ndef twice(x: 'float64[:]', n: int):\n    scale(x, 2.0, n)\n"
    user.good(PYCCEL)
    user.good(PAIR)
    user.good(caller)
    x = np.ones(3)
    user.names["twice"](x, 3)  # type: ignore[operator]
    assert x.tolist() == [2.0, 2.0, 2.0]
    user.good(SCALE)
    assert "'scale' is a CUDA kernel" in user.failed(caller).output


# ---- line magics -------------------------------------------------------------------------------


def test_a_plan_takes_launch_options(user: ShellUser) -> None:
    user.good(SCALE)
    user.names["x"] = np.zeros(4)
    plan = user.good("plan = %kit_plan scale(x, 2.0, 4, grid=1, block=32)").result
    del plan
    found: Any = user.names["plan"]
    assert found.passes
    assert found.target == "emulator"
    refused = user.good("%kit_plan scale(x[::2], 2.0, 4, n_threads=4)").result
    assert "Array1D<double>" in repr(refused)


def test_the_source_says_what_it_is(user: ShellUser) -> None:
    user.good(SCALE + COPY)
    text = repr(user.good("%kit_source scale").result)
    assert text.startswith("// ")
    assert "scale" in text
    assert "copy" not in text


def test_the_list_of_the_store_names_cuda_kernels(
    user: ShellUser, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("KIT_CACHE_DIR", str(tmp_path / "store"))
    user.good(SCALE)
    x = np.ones(1)
    kernel(user)(x, 2.0, 1)
    listed = user.good("%kit_cache list").output
    assert "scale (cuda)" in listed
    assert "scale (emulator)" in listed


# ---- what is imported --------------------------------------------------------------------------

CHILD = """
import sys
from tests.unit.magic_shell import ShellUser
with ShellUser() as user:
    user.good("%%pyccel_kernel -q\\ndef f(x: float) -> float:\\n    return x\\n")
    user.good("%kit_plan f(1.0)")
    assert not {"kit.kernel_cuda", "kit.build_cuda", "kit.magics.pairs"} & set(sys.modules)
    user.good(CELL)
    user.names["scale"].stub()
    assert not {"tree_sitter", "cuda.bindings", "cupy"} & set(sys.modules), sorted(sys.modules)
"""


def test_cells_that_were_built_before_load_no_parser_and_no_cuda_library(user: ShellUser) -> None:
    user.good(SCALE)
    environment = {**os.environ, "KIT_PREWARM": "0"}
    code = CHILD.replace("CELL", repr(SCALE))
    root = Path(__file__).parents[2]  # for tests.unit.magic_shell
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

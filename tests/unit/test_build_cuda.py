"""Story 1 for CUDA, with the real compiler: a cell becomes kernels, once."""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.backends import cuda_packages
from kit.build_cuda import BuiltCudaCell, build_cuda_cell, rebuild_cuda_kernel
from kit.building_cuda import command, compiling, obtain
from kit.cache import open_store
from kit.cuda.options import CI_ARCHITECTURES, CudaOptions
from kit.cuda.signature import CudaParameter, CudaSignature, CudaSymbol, Element, StructField
from kit.errors import BuildError, CellError, KitError
from kit.targets import use_target
from kit.trace import KernelResources

# The first line is that of the magic.
CELL = """
__constant__ double coef[3];

// Adds.
__global__ void add(int n, const double* __restrict__ x, double* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}
template<class T> __global__ void fill(T* x, T value) { x[threadIdx.x] = value; }
"""
ONE = CudaOptions(architectures=("sm_90",), template={"T": "float"})
PLAIN = CudaOptions(architectures=("sm_90",))
SMALL = "\n__global__ void k(double* y) { if (threadIdx.x < 3) y[threadIdx.x] = VALUE; }\n"


def build(text: str, **options: Any) -> BuiltCudaCell:
    return build_cuda_cell(text, options=CudaOptions(**{"architectures": ("sm_90",), **options}))


@pytest.fixture(scope="module")
def built() -> BuiltCudaCell:
    return build_cuda_cell(CELL, options=ONE)


def cubins_of(cell: BuiltCudaCell) -> Mapping[str, bytes]:
    """What the store has for a cell."""
    options = next(iter(cell.kernels.values())).cell
    return obtain.obtain_cell(options.source, options.options).read_cubins()


# ---- what it gives ------------------------------------------------------------------------------


def test_global_functions_become_kernels_in_the_cells_order(built: BuiltCudaCell) -> None:
    assert list(built.kernels) == ["add", "fill"]
    add = built.kernels["add"].cuda_signature
    assert [one.name for one in add.parameters] == ["n", "x", "y"]
    assert add.outputs == ("y",)
    assert add.line == 5
    assert built.kernels["add"].__doc__ == "Adds."


def test_kernels_of_a_cell_share_its_variables(built: BuiltCudaCell) -> None:
    symbols = built.kernels["add"].cell.symbols
    assert [(one.name, one.shape, one.space) for one in symbols] == [("coef", (3,), "constant")]
    assert built.kernels["fill"].cell is built.kernels["add"].cell


COUNTER = """
__device__ int state = 5;
__global__ void count(int* x) { x[0] = state++; }
"""


def counted(kernel: Any) -> int:
    x = np.zeros(1, np.int32)
    kernel.emulator(x, grid=1, block=1)
    return int(x[0])


def test_a_cell_that_is_built_again_has_variables_of_its_own_as_on_a_gpu() -> None:
    first = build(COUNTER).kernels["count"]
    assert [counted(first), counted(first)] == [5, 6]
    again = build(COUNTER).kernels["count"]
    assert [counted(again), counted(first)] == [5, 7]
    again.symbols.on("emulator")["state"] = 100
    assert [counted(again), counted(first)] == [100, 8]


def test_a_child_that_is_forked_while_a_cell_is_loaded_loads_it_itself() -> None:
    kernel = build(COUNTER).kernels["count"]
    loaders: Any = kernel.cell.loaders
    load, is_loading, go_on = loaders["emulator"], threading.Event(), threading.Event()
    obtain_it = load._load

    def slowly() -> Any:
        is_loading.set()
        go_on.wait()
        return obtain_it()

    load._load = slowly
    other = threading.Thread(target=counted, args=(kernel,))
    other.start()
    is_loading.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: of threads, of course
        child = os.fork()
    if child == 0:
        signal.alarm(20)
        go_on.set()
        os._exit(counted(kernel))
    _, status = os.waitpid(child, 0)
    go_on.set()
    other.join()
    assert os.waitstatus_to_exitcode(status) == 5


def test_copies_of_a_kernel_are_one_in_a_process_that_gets_many() -> None:
    pickled = pickle.dumps(build(COUNTER).kernels["count"])
    assert pickle.loads(pickled) is pickle.loads(pickled)


def test_the_record_says_how_it_was_built(built: BuiltCudaCell) -> None:
    record = built.record
    assert (record.language, record.kernels) == ("cuda", ("add", "fill"))
    assert record.architectures == ("sm_90",)
    assert record.compiler.startswith("NVRTC 12.")
    assert "--std=c++17" in record.flags
    assert record.artifact_bytes > 1000
    assert "Compiling entry function" in record.log
    uses = record.resources["add"]["sm_90"]
    assert isinstance(uses, KernelResources)
    assert 0 < uses.registers < 64
    assert (uses.shared_bytes, uses.spill_store_bytes, uses.block_threads) == (0, 0, 256)
    assert uses.occupancy == 1.0


def test_ptx_is_kept_without_kits_own_questions(built: BuiltCudaCell) -> None:
    ((name, ptx),) = built.record.generated.items()
    assert name == "cell.sm_90.ptx"
    assert ".entry" in ptx
    assert "kit_probe" not in ptx


def test_it_computes_what_numpy_does(built: BuiltCudaCell) -> None:
    x, y = np.arange(5.0), np.ones(5)
    built.kernels["add"].emulator(5, x, y)
    np.testing.assert_array_equal(y, 1 + np.arange(5.0))


def test_resources_are_of_each_kernel_and_of_the_cells_block() -> None:
    text = (
        "\n__global__ void __launch_bounds__(64) small(float* y) {\n"
        "    __shared__ float s[100]; s[threadIdx.x] = y[0]; __syncthreads(); y[1] = s[3];\n}\n"
        "__global__ void other(float* y) { y[0] = 1; }\n"
    )
    resources = build(text).record.resources
    assert resources["small"]["sm_90"].shared_bytes == 400
    assert resources["small"]["sm_90"].block_threads == 64
    assert resources["other"]["sm_90"].shared_bytes == 0
    blocks = build(text, block=(16, 2)).record.resources
    assert blocks["other"]["sm_90"].block_threads == 32
    occupancy = blocks["other"]["sm_90"].occupancy
    assert occupancy is not None
    assert occupancy < 1.0


def test_a_type_that_is_another_for_each_architecture_is_refused() -> None:
    text = (
        "\n#if __CUDA_ARCH__ >= 900\nusing T = double;\n#else\nusing T = float;\n#endif\n"
        "__global__ void k(T* y) { *y = 1; }\n"
    )
    with pytest.raises(CellError, match="others for each architecture") as caught:
        build(text, architectures=("sm_75", "sm_90"))
    assert caught.value.line == 7
    assert build(text).kernels["k"].cuda_signature.parameters[0].element.dtype == "float64"


@pytest.mark.parametrize(
    "text",
    [
        "struct P { float a[N]; };\n__global__ void k(P p, float* y) { *y = p.a[0]; }\n",
        "__device__ float table[N];\n__global__ void k(float* y) { *y = table[0]; }\n",
    ],
)
def test_what_lies_otherwise_on_each_architecture_is_refused_although_it_is_called_the_same(
    text: str,
) -> None:
    sizes = "\n#if __CUDA_ARCH__ >= 900\n#define N 2\n#else\n#define N 1\n#endif\n"
    with pytest.raises(CellError, match="others for each architecture"):
        build(sizes + text, architectures=("sm_75", "sm_90"))
    assert list(build(sizes + text).kernels) == ["k"]


def test_bounds_of_a_launch_may_be_others_on_each_architecture() -> None:
    text = (
        "\n#if __CUDA_ARCH__ >= 900\n#define MOST 512\n#else\n#define MOST 256\n#endif\n"
        "__global__ void __launch_bounds__(MOST) k(float* y) { *y = 1; }\n"
    )
    assert list(build(text, architectures=("sm_75", "sm_90")).kernels) == ["k"]


def test_spilled_registers_are_told() -> None:
    text = (
        "\n__global__ void __launch_bounds__(1024, 2) k(double* y) {\n"
        "    double a[64];\n    for (int i = 0; i < 64; i++) a[i] = y[i];\n"
        "    for (int j = 0; j < 64; j++) for (int i = 0; i < 64; i++) a[i] += a[j] * y[i * j];\n"
        "    for (int i = 0; i < 64; i++) y[i] = a[i];\n}\n"
    )
    uses = build(text).record.resources["k"]["sm_90"]
    assert uses.stack_bytes > 0
    assert uses.registers <= 32


def test_code_for_some_architectures_only_is_a_kernel_for_these() -> None:
    text = (
        "\n#if __CUDA_ARCH__ >= 900\n__global__ void newer(double* y) { *y = 1; }\n#endif\n"
        "__global__ void always(double* y) { *y = 1; }\n"
    )
    built = build(text, architectures=("sm_75", "sm_90"))
    assert list(built.kernels) == ["newer", "always"]
    assert list(built.record.resources["newer"]) == ["sm_90"]
    assert list(built.record.resources["always"]) == ["sm_75", "sm_90"]


EVERY_HEADER = """
#include <kit/array_view.cuh>
#include <kit/index.cuh>
#include <kit/atomic.cuh>
#include <kit/reduce.cuh>
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math_constants.h>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/cstdint>
#include <cuda/std/mdspan>
#include <thrust/complex.h>
__device__ int counter;
__global__ void every(Array2D<double> x, CArray1D<float> y, __half* h, __nv_bfloat16* b,
                      cuda::std::complex<double>* z, thrust::complex<float>* w, int32_t n) {
    auto block = cooperative_groups::this_thread_block();
    for (long long i : kit::grid_stride(n)) y(i) = x(i, 0) + CUDART_PI_F;
    block.sync();
    h[0] = __float2half(1.0f); b[0] = __float2bfloat16(1.0f); z[0] *= 2.0; w[0] *= 2.0f;
    kit::atomic_add(&counter, 1);
    cuda::std::mdspan<double, cuda::std::dextents<int, 1>> m(x.data, n);
    m(0) = 1.0;
}
"""


@pytest.mark.parametrize("std", ["c++17", "c++20"])
def test_a_cell_with_every_header_compiles_for_all_architectures(std: str) -> None:
    built = build(EVERY_HEADER, architectures=None, std=std)
    assert built.record.architectures == CI_ARCHITECTURES
    assert set(built.record.resources["every"]) == set(CI_ARCHITECTURES)
    assert all(one.startswith(b"\x7fELF") for one in cubins_of(built).values())
    assert built.record.warnings == ()
    dtypes = [one.element.dtype for one in built.kernels["every"].cuda_signature.parameters]
    assert dtypes == [
        "float64",
        "float32",
        "float16",
        "bfloat16",
        "complex128",
        "complex64",
        "int32",
    ]


# ---- once ---------------------------------------------------------------------------------------


def test_the_same_cell_again_is_a_hit_and_says_the_same(built: BuiltCudaCell) -> None:
    again = build_cuda_cell(CELL, options=ONE)
    assert again.record.hit
    assert again.record.reason == "store"
    assert again.record.resources == built.record.resources
    assert again.record.log == built.record.log
    assert [one.cuda_signature for one in again.kernels.values()] == [
        one.cuda_signature for one in built.kernels.values()
    ]
    assert again.kernels["add"].cell.symbols == built.kernels["add"].cell.symbols


def test_a_hit_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    text = SMALL.replace("VALUE", "1.25")
    build(text)

    def fail(*args: object, **kwargs: object) -> None:
        raise AssertionError("compiled")

    monkeypatch.setattr(compiling, "compile_cubins", fail)
    told: list[str] = []
    cell = build_cuda_cell(text, options=PLAIN, on_progress=lambda stage, _: told.append(stage))
    assert cell.record.hit
    assert told == []


def test_force_builds_again() -> None:
    text = SMALL.replace("VALUE", "1.5")
    build(text)
    again = build(text, force=True)
    assert not again.record.hit
    assert again.record.reason == "built: forced"
    # A copy of the kernel, in each process of a cluster, is not to be built again.
    assert pickle.loads(pickle.dumps(again.kernels["k"])).build.hit


def test_progress_is_told_while_nvrtc_works() -> None:
    told: list[str] = []
    build_cuda_cell(
        SMALL.replace("VALUE", "1.75"),
        options=PLAIN,
        on_progress=lambda stage, seconds: told.append(stage),
    )
    assert "nvrtc sm_90" in told


def test_what_the_emulator_runs_is_made_with_the_cell_where_somebody_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from kit.backends.emulator import building

    told: list[str] = []
    cell = build_cuda_cell(
        SMALL.replace("VALUE", "1.875"),
        options=PLAIN,
        on_progress=lambda stage, seconds: told.append(stage),
        ahead=True,
    )
    assert told[-2:] == ["compiling for the CPU", "linking for the CPU"]
    # So the call compiles nothing.
    monkeypatch.setattr(building, "find_toolchain", None)
    y = np.zeros(3)
    cell.kernels["k"](y)
    np.testing.assert_array_equal(y, np.full(3, 1.875))


@pytest.mark.parametrize(("target", "chosen"), [("device", None), ("compile", "emulator")])
def test_another_target_makes_nothing_for_the_emulator(target: Any, chosen: Any) -> None:
    told: list[str] = []
    with use_target(chosen) if chosen else nullcontext():
        build_cuda_cell(
            SMALL.replace("VALUE", f"1.9375{len(target)}"),
            options=replace(PLAIN, target=target),
            on_progress=lambda stage, seconds: told.append(stage),
            ahead=True,
        )
    assert all("CPU" not in one for one in told)


@pytest.mark.parametrize(
    "options",
    [
        {"architectures": ("sm_80",)},
        {"architectures": ("sm_90", "sm_80")},
        {"std": "c++20"},
        {"defines": ("N=3",)},
        {"flags": ("--use_fast_math",)},
        {"check": ("bounds",)},
        {"debug": True},
        {"outputs": {None: ("y",)}},
    ],
    ids=str,
)
def test_whatever_changes_the_build_changes_the_key(options: dict[str, Any]) -> None:
    text = SMALL.replace("VALUE", "2.0")
    assert build(text, **options).record.key != build(text).record.key


def test_templates_change_the_key() -> None:
    text = "\ntemplate<class T> __global__ void k(T* y) { *y = 1; }\n"
    keys = {build(text, template={"T": one}).record.key for one in ("float", "double")}
    assert len(keys) == 2


def test_where_calls_run_is_no_part_of_the_key() -> None:
    text = SMALL.replace("VALUE", "2.0")
    assert build(text, target="compile", block=(32,)).record.key == build(text).record.key


def test_versions_of_packages_and_kits_own_headers_are_in_the_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages = cuda_packages.find_cuda_packages()
    identity, _ = command.build_identity("text", PLAIN, ("sm_90",), packages)
    (tmp_path / "include" / "kit").mkdir(parents=True)
    (tmp_path / "include" / "kit" / "index.cuh").write_text("// changed\n")
    monkeypatch.setattr(command, "KIT_HEADERS", tmp_path / "include")
    other, _ = command.build_identity("text", PLAIN, ("sm_90",), packages)
    assert {name for name in identity if identity[name] != other[name]} == {"kit headers"}
    real = packages.library.stat()
    copy = tmp_path / "libnvrtc.so.12"
    copy.write_bytes(b"another")
    moved = packages._replace(library=copy)
    assert moved.identity()["nvrtc"] != packages.identity()["nvrtc"]
    assert str(real.st_size) in packages.identity()["nvrtc"]


def test_the_parser_is_in_the_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packages = cuda_packages.find_cuda_packages()
    identity, _ = command.build_identity("text", PLAIN, ("sm_90",), packages)
    assert identity["parser"].count("_binding") == 2
    (tmp_path / "_binding.so").write_bytes(b"another")
    monkeypatch.setattr(command, "find_package", lambda name: tmp_path)
    other, _ = command.build_identity("text", PLAIN, ("sm_90",), packages)
    assert {name for name in identity if identity[name] != other[name]} == {"parser"}


def test_the_fields_that_the_store_keeps_are_in_the_key() -> None:
    packages = cuda_packages.find_cuda_packages()
    identity, _ = command.build_identity("text", PLAIN, ("sm_90",), packages)
    fields = dict(one.split(" ", 1) for one in identity["stored fields"].split("; "))
    for kind in (CudaSignature, CudaSymbol, CudaParameter, Element, StructField):
        assert fields[kind.__name__].split() == list(kind._fields)


def drop_last(values: list[Any]) -> None:
    del values[-1]


@pytest.mark.parametrize(
    "damage",
    [
        lambda meta: drop_last(meta["signatures"][0]),
        lambda meta: meta["signatures"][0].append(1),
        lambda meta: drop_last(meta["signatures"][0][3][0]),
        lambda meta: drop_last(meta["signatures"][0][3][0][2]),
        lambda meta: drop_last(meta["symbols"][0]),
        lambda meta: meta["resources"]["k"]["sm_90"].pop("shared"),
        lambda meta: meta.update(resources=None),
        lambda meta: meta["cubins"][0].__setitem__(1, 10),
        lambda meta: meta.pop("refusal"),
    ],
)
def test_an_entry_that_says_something_else_than_kit_stores_is_built_again(
    damage: Callable[[dict[str, Any]], object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KIT_CACHE_DIR", str(tmp_path))
    text = "\n__constant__ float c[2];\n__global__ void k(double* y) { *y = c[0]; }\n"
    first = build(text)
    (path,) = (one for one in tmp_path.rglob("*") if one.is_file() and is_entry(one))
    document = json.loads(path.read_bytes())
    damage(document["meta"])
    path.write_text(json.dumps(document))
    again = build(text)
    assert not again.record.hit
    assert "damaged" in again.record.reason
    assert again.kernels["k"].__signature__ == first.kernels["k"].__signature__
    assert build(text).record.hit


def is_entry(path: Path) -> bool:
    return b'"signatures":' in path.read_bytes()


# ---- included files -----------------------------------------------------------------------------


def test_a_changed_header_of_the_users_is_compiled_again_wherever_it_is_included(
    tmp_path: Path,
) -> None:
    (tmp_path / "outer.cuh").write_text('#include "inner.cuh"\n')
    inner = tmp_path / "inner.cuh"
    text = '\n#include "outer.cuh"\n__global__ void k(double* y) { *y = VALUE; }\n'
    folders = (str(tmp_path),)
    values: list[float] = []
    for value in (1.0, 2.0, 1.0):
        inner.write_text(f"#define VALUE {value}\n")
        built = build(text, include_dirs=folders)
        y = np.zeros(1)
        built.kernels["k"].emulator(y, grid=1, block=1)
        values.append(y[0])
    assert values == [1.0, 2.0, 1.0]
    assert built.record.hit  # what was built for the first content is still there


def test_a_header_that_changes_while_it_is_compiled_is_not_taken_for_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = tmp_path / "h.cuh"
    header.write_text("#define VALUE 1\n")
    text = '\n#include "h.cuh"\n__global__ void k(double* y) { *y = VALUE; }\n'
    real = compiling.compile_cubins

    def changing(*args: Any, **kwargs: Any) -> Any:
        header.write_text("#define VALUE 2\n")
        return real(*args, **kwargs)

    monkeypatch.setattr(compiling, "compile_cubins", changing)
    with pytest.raises(BuildError, match="changed while it was compiled"):
        build(text, include_dirs=(str(tmp_path),))


def test_a_header_that_changes_before_the_first_call_does_not_reach_a_cell_of_the_old_one(
    tmp_path: Path,
) -> None:
    # As large as before, so that no size gives it away.
    header = tmp_path / "pair.cuh"
    text = '\n#include "pair.cuh"\n__global__ void k(Pair p, float* y) { *y = p.a; }\n'
    header.write_text("struct Pair { float a; float b; };\n")
    kernel = build(text, include_dirs=(str(tmp_path),)).kernels["k"]
    header.write_text("struct Pair { float b; float a; };\n")
    y = np.zeros(1, np.float32)
    pair = np.void(np.array([1, 2], np.float32).tobytes())
    with pytest.raises(BuildError, match="changed since the cell was built"):
        kernel.emulator(pair, y, grid=1, block=1)
    header.write_text("struct Pair { float a; float b; };\n")
    kernel.emulator(pair, y, grid=1, block=1)
    assert y[0] == 1


def test_a_new_header_that_is_found_before_the_old_one_is_compiled(tmp_path: Path) -> None:
    folders = (tmp_path / "first", tmp_path / "second")
    for folder in folders:
        folder.mkdir()
    text = '\n#include "which.cuh"\n__global__ void k(double* y) { *y = VALUE; }\n'
    values: list[float] = []
    for value, folder in ((2.0, folders[1]), (1.0, folders[0])):
        (folder / "which.cuh").write_text(f"#define VALUE {value}\n")
        y = np.zeros(1)
        build(text, include_dirs=tuple(map(str, folders))).kernels["k"].emulator(y, block=1)
        values.append(y[0])
    assert values == [2.0, 1.0]


# ---- the store ----------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["flip", "remove"])
def test_damaged_cubins_are_built_again_when_they_are_needed(damage: str) -> None:
    text = SMALL.replace("VALUE", "3.0")
    built = build(text)
    whole = cubins_of(built)
    cell = obtain.obtain_cell(text, PLAIN)
    entry = open_store().lookup(built.record.key)
    assert entry is not None
    if damage == "flip":
        content = bytearray(entry.artifact.read_bytes())
        content[100] ^= 1
        entry.artifact.write_bytes(content)
    else:
        entry.artifact.unlink()
    again = cell.read_cubins()
    assert again.keys() == whole.keys()
    assert again["sm_90"].startswith(b"\x7fELF")


def test_several_cubins_come_back_apart() -> None:
    built = build(SMALL.replace("VALUE", "3.5"), architectures=("sm_80", "sm_90"))
    both = cubins_of(built)
    assert list(both) == ["sm_80", "sm_90"]
    entry = open_store().lookup(built.record.key)
    assert entry is not None
    assert b"".join(both.values()) == entry.artifact.read_bytes()
    assert all(one.startswith(b"\x7fELF") for one in both.values())
    assert both["sm_80"] != both["sm_90"]


def test_nothing_is_written_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    build(SMALL.replace("VALUE", "3.75"))
    assert list(tmp_path.iterdir()) == []


FRESH = """
import sys
import numpy as np
import kit
k = kit.cuda_kernel({text!r}, arch="sm_90", target="emulator")
y = np.zeros(1)
k(y, grid=1, block=1)
heavy = ("tree_sitter", "tree_sitter_cuda", "cupy", "cupy_backends", "pyccel", "IPython")
print(k.cache_info().hit, y[0], [one for one in heavy if one in sys.modules])
print([one for one in sys.modules if one.startswith("cuda.bindings")])
"""


def test_a_known_cell_in_a_fresh_process_imports_no_compiler_and_no_parser() -> None:
    text = SMALL.replace("VALUE", "4.0")
    build(text).kernels["k"].emulator(np.zeros(1), grid=1, block=1)
    done = subprocess.run(
        [sys.executable, "-c", FRESH.format(text=text)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True 4.0 []\n[]\n"


# ---- targets ------------------------------------------------------------------------------------


def test_a_cell_that_is_only_compiled_has_no_target() -> None:
    kernel = build(SMALL.replace("VALUE", "1.0"), target="compile").kernels["k"]
    assert kernel.targets == ()
    with pytest.raises(KitError, match="only compiled"):
        kernel(np.zeros(1))


# Global atomics of a whole grid at once: the emulator runs blocks one after another.
GRID_SYNC = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(double* y) {
    cg::grid_group grid = cg::this_grid();
    grid.sync();
    y[0] = 1;
}
"""


def test_what_the_emulator_cannot_run_is_refused_by_the_cell_where_it_would_run_there() -> None:
    for target in ("emulator", "emulator"):  # built, and known
        with pytest.raises(CellError) as caught:
            build(GRID_SYNC, target=target)
        assert caught.value.line in (5, 6)
        assert caught.value.fix


def test_it_is_refused_by_the_call_where_the_cell_was_for_the_device() -> None:
    kernel = build(GRID_SYNC, target="device").kernels["k"]
    with pytest.raises(CellError):
        kernel.emulator(np.zeros(1), grid=1, block=1)
    with use_target("emulator"), pytest.raises(CellError):
        build(GRID_SYNC, target="device")


def test_a_refused_call_keeps_nothing_alive() -> None:
    text = '\n__global__ void k(float* y) { asm(""); }\n'
    kernel = build(text, target="device").kernels["k"]

    def refused() -> weakref.ref[Any]:
        y = np.zeros(3, np.float32)
        try:
            kernel.emulator(y)
        except CellError:
            return weakref.ref(y)
        raise AssertionError("it ran")

    array = refused()
    gc.collect()
    assert array() is None


def test_a_load_that_failed_is_tried_again() -> None:
    kernel = build(GRID_SYNC, target="device").kernels["k"]
    load = kernel.cell.loaders["emulator"]
    for _ in range(2):
        with pytest.raises(CellError):
            load()


def test_a_loaded_cell_is_one_object_for_all_its_kernels(built: BuiltCudaCell) -> None:
    load = built.kernels["add"].cell.loaders["emulator"]
    assert load() is load()


# ---- architectures and options ------------------------------------------------------------------


def test_without_a_device_and_options_it_is_compiled_for_what_ci_compiles_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "find_devices", lambda: ())
    assert command.choose_architectures(CudaOptions()) == CI_ARCHITECTURES


def test_devices_that_are_here_name_the_architectures(monkeypatch: pytest.MonkeyPatch) -> None:
    class Device:
        def __init__(self, architecture: str) -> None:
            self.architecture = architecture

    devices = (Device("sm_86"), Device("sm_90"), Device("sm_86"))
    monkeypatch.setattr(command, "find_devices", lambda: devices)
    assert command.choose_architectures(CudaOptions()) == ("sm_86", "sm_90")
    assert command.choose_architectures(PLAIN) == ("sm_90",)


def test_an_architecture_that_nvrtc_does_not_know_is_refused_with_those_that_it_knows() -> None:
    with pytest.raises(CellError, match="does not compile for sm_999; it does for sm_") as caught:
        build(SMALL.replace("VALUE", "1.0"), architectures=("sm_90", "sm_999"))
    assert (caught.value.fix or "").startswith("--arch sm_")
    assert "sm_90," in caught.value.message


@pytest.mark.parametrize(
    ("flag", "instead"),
    [
        ("-arch=sm_90", "--arch"),
        ("--gpu-architecture=sm_90", "--arch"),
        ("--std=c++20", "--std"),
        ("-Ihere", "-I DIR"),
        ("-I", "-I DIR"),
        ("--include-path=here", "-I DIR"),
        ("-DN=3", "-D NAME"),
        ("--pre-include=x.h", "#include"),
        ("-rdc=true", "one unit"),
        ("-dlto", "one unit"),
        ("--use-pch=kept.pch", "watched for changes"),
        ("--create-pch=kept.pch", "watched for changes"),
    ],
)
def test_flags_that_kit_has_options_for_are_refused(flag: str, instead: str) -> None:
    with pytest.raises(CellError, match="--flags cannot have") as caught:
        build(SMALL.replace("VALUE", "1.0"), flags=(flag,))
    assert instead in (caught.value.fix or "")


def test_other_flags_reach_nvrtc() -> None:
    flags = ("--use_fast_math", "--maxrregcount=32", "-lineinfo")
    record = build(SMALL.replace("VALUE", "1.0"), flags=flags).record
    assert record.flags[-3:] == flags


def test_bounds_checks_and_debug_define_their_macro() -> None:
    text = (
        "\n#ifndef KIT_CHECK_BOUNDS\n#error no checks\n#endif\n"
        "__global__ void k(double* y) { *y = 1; }\n"
    )
    with pytest.raises(BuildError, match="no checks"):
        build(text)
    build(text, check=("bounds",))
    assert "--generate-line-info" in build(text, debug=True).record.flags


def test_outputs_narrow_what_is_written() -> None:
    text = "\n__global__ void k(const double* x, double* y) { *y = *x; }\n"
    built = build(text, outputs={None: ("y",)})
    assert built.kernels["k"].outputs == ("y",)
    with pytest.raises(CellError):
        build(text, outputs={None: ("x",)})


# ---- pickles ------------------------------------------------------------------------------------


def test_a_kernel_comes_back_from_a_pickle_with_its_options(built: BuiltCudaCell) -> None:
    kernel = built.kernels["fill"]
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert again.cell.options == kernel.cell.options
    x = np.zeros(4, np.float32)
    again.emulator(x, np.float32(7), grid=1, block=4)
    assert x.tolist() == [7, 7, 7, 7]


def test_a_kernel_comes_back_in_another_process(tmp_path: Path, built: BuiltCudaCell) -> None:
    path = tmp_path / "kernel.pickle"
    path.write_bytes(pickle.dumps(built.kernels["add"]))
    code = (
        "import pickle, sys, numpy as np\n"
        "k = pickle.loads(open(sys.argv[1], 'rb').read())\n"
        "y = np.zeros(3); k.emulator(3, np.ones(3), y); print(y.tolist(), k.cache_info().hit)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[1.0, 1.0, 1.0] True\n"


def test_a_rebuilt_kernel_is_asked_for_by_its_name() -> None:
    options = {"architectures": ("sm_90",)}
    assert rebuild_cuda_kernel(SMALL.replace("VALUE", "1.0"), "k", options).__name__ == "k"


# ---- several processes --------------------------------------------------------------------------

ONE_OF_MANY = """
import sys
from kit.build_cuda import build_cuda_cell
from kit.cuda.options import CudaOptions
sys.stdin.readline()
built = build_cuda_cell({text!r}, options=CudaOptions(architectures=("sm_90",)))
print(built.record.hit)
"""


def test_of_processes_that_want_the_same_cell_one_compiles(tmp_path: Path) -> None:
    code = ONE_OF_MANY.format(text=SMALL.replace("VALUE", "5.0"))
    environment = {**os.environ, "KIT_CACHE_DIR": str(tmp_path / "store")}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(3)
    ]
    for one in processes:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    outputs = [one.communicate(timeout=120)[0] for one in processes]
    assert sorted(outputs) == ["False\n", "True\n", "True\n"]


BY_ARCHITECTURE = """
struct Pair {
#if __CUDA_ARCH__ >= 900
    float b, a;
#else
    float a, b;
#endif
};
__global__ void first(Pair pair, float* y) { y[0] = pair.a; y[1] = __CUDA_ARCH__; }
"""


@pytest.mark.parametrize(
    ("architectures", "seen"),
    [(("sm_90",), 900), (("sm_75",), 750), (("sm_75", "sm_80"), 800), (("sm_100", "sm_120"), 1000)],
)
def test_types_that_hang_on_the_architecture_lie_alike_in_the_emulator(
    architectures: tuple[str, ...], seen: int
) -> None:
    cell = build_cuda_cell(BY_ARCHITECTURE, options=CudaOptions(architectures=architectures))
    names = ["b", "a"] if seen >= 900 else ["a", "b"]
    pair = np.zeros((), [(name, np.float32) for name in names])
    pair["a"], pair["b"] = 1.0, 2.0
    y = np.zeros(2, np.float32)
    cell.kernels["first"].emulator(pair[()], y, grid=1, block=1)
    np.testing.assert_array_equal(y, [1.0, seen])


@pytest.mark.parametrize(
    "place",
    [
        "__global__ void first(Pair pair, float* y) { y[0] = pair.n; }",
        "__global__ void first(const Pair* pair, float* y) { y[0] = pair->n; }",
        "__constant__ Pair pair[3]; __global__ void first(float* y) { y[0] = pair[1].n; }",
        "#include <kit/array_view.cuh>\n__global__ void first(Array1D<const Pair> p, float* y) {}",
    ],
)
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ("Inner b[2]; Inner a; |Inner a; Inner b[2];", "a"),
        ("float x; Other a; |float x; Inner a;", "a.x"),
        ("float a[2]; int b[2]; |int b[2]; float a[2];", "b"),
    ],
)
def test_fields_that_the_compilers_lay_out_differently_are_an_error_with_the_line(
    place: str, fields: str, field: str
) -> None:
    emulated, device = fields.split("|")
    text = (
        "\nstruct Inner { float x, y; };\nstruct Other { float y, x; };\nstruct Pair { int n;\n"
        f"#ifdef KIT_EMULATION\n{emulated}\n#else\n{device}\n#endif\n}};\n"
    )
    cell = build(text + place)
    with pytest.raises(BuildError, match=f"lay out Pair: its field {field} differently") as caught:
        cell.kernels["first"].cell.loaders["emulator"]()
    assert caught.value.source_line == place.split("\n")[-1]
    assert "k.device" in (caught.value.fix or "")


def test_a_brace_that_is_never_closed_is_named_with_its_place() -> None:
    text = "\n__global__ void k(int n, double* y) {\n    if (n) {\n        y[0] = 1;\n}\n"
    with pytest.raises(BuildError, match="never closed") as caught:
        build(text)
    assert (caught.value.line, caught.value.column) == (2, 37)
    assert caught.value.source_line == "__global__ void k(int n, double* y) {"

"""`kit.cuda_kernel`: source text becomes a kernel, or a namespace of kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kit
from kit import decorate_cuda
from kit.build_cuda import BuiltCudaCell
from kit.cuda.options import CudaOptions
from kit.errors import CellError, KitError, LaunchError
from kit.kernel_cuda import CudaKernel

ONE = """
__global__ void scale(int n, double a, double* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
"""
TWO = ONE + "__global__ void clear(double* x) { x[threadIdx.x] = 0; }\n"


class _Recorded:
    """Takes the options of a build, which does not happen."""

    options: CudaOptions

    def __call__(self, source: str, *, options: CudaOptions) -> BuiltCudaCell:
        self.options = options
        return BuiltCudaCell(kernels={}, record=kit.BuildRecord(kernels=(), language="cuda"))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> _Recorded:
    recorded = _Recorded()
    monkeypatch.setattr(decorate_cuda, "build_cuda_cell", recorded)
    return recorded


def test_source_with_one_kernel_gives_the_kernel() -> None:
    scale = kit.cuda_kernel(ONE, arch="sm_90")
    assert isinstance(scale, CudaKernel)
    x = np.arange(3.0)
    scale.emulator(3, 2.0, x)
    assert x.tolist() == [0, 2, 4]


def test_source_that_begins_with_its_first_line_counts_from_it() -> None:
    with pytest.raises(kit.BuildError) as caught:
        kit.cuda_kernel("__global__ void k(double* y) { *y = nowhere; }", arch="sm_90")
    assert caught.value.line == 1


def test_source_with_several_kernels_gives_a_namespace() -> None:
    kernels = kit.cuda_kernel(TWO, arch="sm_90")
    assert isinstance(kernels, kit.KernelNamespace)
    assert list(kernels) == ["scale", "clear"]
    assert kernels.clear is kernels["clear"]
    assert "scale: cuda" in repr(kernels)


def test_a_name_picks_one_of_several() -> None:
    assert kit.cuda_kernel(TWO, "clear", arch="sm_90").__name__ == "clear"
    with pytest.raises(KitError, match="no kernel 'scal'; it has scale, clear") as caught:
        kit.cuda_kernel(TWO, "scal", arch="sm_90")
    assert "fix: name='scale'" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"outputs": "x, y"}, {"outputs": {None: ("x", "y")}}),
        ({"outputs": ["x"]}, {"outputs": {None: ("x",)}}),
        ({"outputs": {"f": "x"}}, {"outputs": {"f": ("x",)}}),
        ({"block": 128}, {"block": (128,)}),
        ({"block": [16, 16]}, {"block": (16, 16)}),
        ({"arch": "sm_90"}, {"architectures": ("sm_90",)}),
        ({"arch": "sm_90,sm_80 sm_90"}, {"architectures": ("sm_90", "sm_80")}),
        ({"arch": ["sm_90a"]}, {"architectures": ("sm_90a",)}),
        ({"std": "c++20"}, {"std": "c++20"}),
        (
            {"defines": {"N": 3, "FAST": True, "SLOW": False}},
            {"defines": ("N=3", "FAST=1", "SLOW=0")},
        ),
        ({"defines": "N=3"}, {"defines": ("N=3",)}),
        ({"defines": ["N", "M=a b"]}, {"defines": ("N", "M=a b")}),
        ({"flags": "--use_fast_math '-a b'"}, {"flags": ("--use_fast_math", "-a b")}),
        ({"flags": ["-x"]}, {"flags": ("-x",)}),
        ({"target": "compile"}, {"target": "compile"}),
        ({"check": "bounds"}, {"check": ("bounds",)}),
        ({"template": {"T": np.float32, "N": 3}}, {"template": {"T": "float", "N": "3"}}),
        ({"debug": True}, {"debug": True}),
    ],
    ids=str,
)
def test_options_are_those_of_the_magic(
    asked: _Recorded, given: dict[str, Any], wanted: dict[str, Any]
) -> None:
    kit.cuda_kernel(ONE, **given)
    assert asked.options == CudaOptions(**wanted)


def test_folders_become_absolute_from_the_working_directory(
    asked: _Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "include").mkdir()
    monkeypatch.chdir(tmp_path)
    kit.cuda_kernel(ONE, include_dirs="include")
    assert asked.options.include_dirs == (str(tmp_path / "include"),)
    kit.cuda_kernel(ONE, include_dirs=[tmp_path, "."])
    assert asked.options.include_dirs == (str(tmp_path), str(tmp_path))
    with pytest.raises(KitError, match="no directory 'nowhere'"):
        kit.cuda_kernel(ONE, include_dirs=["nowhere"])


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"block": (1, 2, 3, 4)}, ValueError, "one to three"),
        ({"block": ()}, ValueError, "one to three"),
        ({"block": 2048}, LaunchError, "1024"),
        ({"arch": "90"}, ValueError, "'sm_90', not '90'"),
        ({"arch": ""}, ValueError, "no architecture"),
        ({"std": "c++14"}, ValueError, "c\\+\\+17, c\\+\\+20"),
        ({"defines": "1N"}, ValueError, "NAME=VALUE"),
        ({"target": "gpu"}, ValueError, "auto, device, emulator, compile"),
        ({"check": "races"}, KitError, "later version"),
        ({"check": "leaks"}, ValueError, "bounds"),
        ({"schedule": "random"}, KitError, "later version"),
        ({"template": {"T": 1.5}}, TypeError, "1.5"),
        ({"flags": "-arch=sm_90"}, CellError, "--flags"),
    ],
    ids=str,
)
def test_options_that_cannot_be_are_refused(
    options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        kit.cuda_kernel(ONE, **options)

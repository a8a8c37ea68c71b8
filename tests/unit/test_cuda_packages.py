"""Where NVRTC and NVIDIA's headers are found, and what is said where they are not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kit.backends import cuda_packages
from kit.backends.cuda_packages import find_cuda_packages
from kit.errors import BuildError

NVRTC = "libnvrtc.so.12"
CCCL = "cuda/std/__cccl/version.h"
RUNTIME = "cuda_fp16.h"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NVRTC exists for Linux")


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A Python whose only folder is empty, in no conda environment."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.setattr(sys, "path", [str(site)])
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "prefix"))
    return site


def test_wheels_are_found_below_their_namespace_package(empty: Path) -> None:
    nvidia = empty / "nvidia"
    touch(nvidia / "cuda_nvrtc/lib" / NVRTC, nvidia / "cu13/include/cccl" / CCCL)
    touch(nvidia / "cuda_runtime/include" / RUNTIME)
    found = find_cuda_packages()
    assert found.library == nvidia / "cuda_nvrtc/lib" / NVRTC
    assert found.cccl == nvidia / "cu13/include/cccl"
    assert found.runtime == nvidia / "cuda_runtime/include"


def test_wheels_in_two_folders_are_found_together(
    empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = tmp_path / "user"
    touch(empty / "nvidia/cuda_nvrtc/lib" / NVRTC, user / "nvidia/cu13/include/cccl" / CCCL)
    touch(user / "nvidia/cuda_runtime/include" / RUNTIME)
    monkeypatch.setattr(sys, "path", [str(empty), str(user)])
    assert find_cuda_packages().cccl.is_relative_to(user)


def test_a_conda_environment_has_them_in_its_own_places(empty: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    touch(prefix / "lib" / NVRTC, prefix / "targets/x86_64-linux/include" / CCCL)
    touch(prefix / "targets/x86_64-linux/include" / RUNTIME)
    with pytest.raises(BuildError):  # any prefix, such as /usr
        find_cuda_packages()
    (prefix / "conda-meta").mkdir()
    found = find_cuda_packages()
    assert found.library == prefix / "lib" / NVRTC
    assert found.cccl == found.runtime == prefix / "targets/x86_64-linux/include"


@pytest.mark.parametrize(
    ("missing", "package"),
    [
        (NVRTC, "nvidia-cuda-nvrtc-cu12"),
        (CCCL, "nvidia-cuda-cccl"),
        (RUNTIME, "nvidia-cuda-runtime-cu12"),
    ],
)
def test_a_missing_package_is_named_with_what_installs_it(
    empty: Path, missing: str, package: str
) -> None:
    nvidia = empty / "nvidia"
    touch(nvidia / "cuda_nvrtc/lib" / NVRTC, nvidia / "cu13/include/cccl" / CCCL)
    touch(nvidia / "cuda_runtime/include" / RUNTIME)
    next(nvidia.rglob(missing)).unlink()
    with pytest.raises(BuildError, match="not installed") as caught:
        find_cuda_packages()
    assert package in caught.value.message
    assert caught.value.fix == 'python -m pip install "pyccel-kit[cuda]"'


def test_other_systems_have_no_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(BuildError, match="does not exist for darwin"):
        find_cuda_packages()


def test_another_version_in_the_same_place_is_another_identity(empty: Path) -> None:
    nvidia = empty / "nvidia"
    touch(nvidia / "cuda_nvrtc/lib" / NVRTC, nvidia / "cu13/include/cccl" / CCCL)
    touch(nvidia / "cuda_runtime/include" / RUNTIME)
    found = find_cuda_packages()
    before = found.identity()
    for name, path in (("nvrtc", found.library), ("cccl", found.cccl / CCCL)):
        path.write_text("another version")
        assert found.identity()[name] != before[name]
    assert found.identity()["cuda"] == before["cuda"]


def test_kits_headers_come_first_and_cccls_before_older_ones_of_the_runtime() -> None:
    found = find_cuda_packages()
    folders = (cuda_packages.KIT_HEADERS, found.cccl, found.runtime)
    assert found.include_dirs == tuple(map(str, folders))

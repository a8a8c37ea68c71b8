"""Where NVRTC and NVIDIA's headers lie: in the wheels of pip, or in a conda environment."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final, NamedTuple

from kit.errors import BuildError

__all__ = ["KIT_HEADERS", "CudaPackages", "describe_file", "find_cuda_packages"]

KIT_HEADERS: Final = Path(__file__).resolve().parents[1] / "cuda" / "include"
"""Where ``<kit/array_view.cuh>`` and the others are."""

_INSTALL: Final = 'python -m pip install "pyccel-kit[cuda]"'

# Of each package: what of it must be there, and the places of that, below the ``nvidia`` package
# (nvidia-cuda-nvrtc-cu12 12.9, nvidia-cuda-cccl 13.3, nvidia-cuda-runtime-cu12 12.9) and below a
# conda environment (cuda-nvrtc, cuda-cccl, cuda-cudart-dev).
_LIBRARY: Final = "libnvrtc.so.12"
_LIBRARY_PLACES: Final = ("cuda_nvrtc/lib", "lib", "targets/x86_64-linux/lib")
_CCCL: Final = "cuda/std/__cccl/version.h"
_CCCL_PLACES: Final = (
    "cu13/include/cccl",
    "cuda_cccl/include",
    "targets/x86_64-linux/include/cccl",
    "targets/x86_64-linux/include",
    "include/cccl",
    "include",
)
_RUNTIME: Final = "cuda_fp16.h"
_RUNTIME_PLACES: Final = ("cuda_runtime/include", "targets/x86_64-linux/include", "include")


class CudaPackages(NamedTuple):
    """What compiles CUDA C++.

    Parameters
    ----------
    library : Path
        NVRTC, ``libnvrtc.so.12``.
    cccl : Path
        Folder of ``<cuda/std/...>`` and ``<thrust/complex.h>``.
    runtime : Path
        Folder of ``<cuda_fp16.h>`` and the CUDA runtime's other headers.
    """

    library: Path
    cccl: Path
    runtime: Path

    @property
    def include_dirs(self) -> tuple[str, ...]:
        """Folders that are searched before the user's own, in this order."""
        # kit first: it has a file in the place of one of CCCL. CCCL before the runtime, whose wheel
        # may bring older parts of it.
        return tuple(map(str, (KIT_HEADERS, self.cccl, self.runtime)))

    def identity(self) -> dict[str, str]:
        """Which packages these are: place, size and modification time [bytes, ns] of one file."""
        files = {"nvrtc": self.library, "cccl": self.cccl / _CCCL, "cuda": self.runtime / _RUNTIME}
        return {name: describe_file(path) for name, path in files.items()}


def find_cuda_packages() -> CudaPackages:
    """The packages of the running Python's environment; imports and loads nothing.

    Raises
    ------
    BuildError
        One is not installed, or this is no Linux.
    """
    if not sys.platform.startswith("linux"):
        raise BuildError(
            f"NVRTC, which compiles CUDA cells, does not exist for {sys.platform}",
            fix="# run the notebook on Linux; on Windows: wsl --install",
        )
    roots = list(_roots())
    library = _find(roots, _LIBRARY_PLACES, _LIBRARY)
    cccl = _find(roots, _CCCL_PLACES, _CCCL)
    runtime = _find(roots, _RUNTIME_PLACES, _RUNTIME)
    if library is None:
        raise _missing("NVRTC, which compiles CUDA cells, is", "nvidia-cuda-nvrtc-cu12")
    if cccl is None:
        raise _missing("NVIDIA's headers <cuda/std/...> are", "nvidia-cuda-cccl")
    if runtime is None:
        raise _missing("NVIDIA's headers <cuda_fp16.h>, ... are", "nvidia-cuda-runtime-cu12")
    return CudaPackages(library / _LIBRARY, cccl, runtime)


def _roots() -> Iterator[Path]:
    """Folders that hold packages: ``nvidia`` of each entry of `sys.path`, then conda's prefix."""
    spec = PathFinder.find_spec("nvidia")  # a namespace package, spread over several folders
    if spec is not None and spec.submodule_search_locations is not None:
        yield from map(Path, spec.submodule_search_locations)
    if Path(sys.base_prefix, "conda-meta").is_dir():
        yield Path(sys.base_prefix)


def _find(roots: list[Path], places: tuple[str, ...], name: str) -> Path | None:
    for root in roots:
        for place in places:
            if (root / place / name).is_file():
                return root / place
    return None


def describe_file(path: Path) -> str:
    """Place, size and modification time of a file that stands for its package [bytes, ns]."""
    facts = path.stat()
    return f"{path} {facts.st_size} {facts.st_mtime_ns}"


def _missing(what: str, package: str) -> BuildError:
    return BuildError(f"{what} not installed for {sys.executable} ({package})", fix=_INSTALL)

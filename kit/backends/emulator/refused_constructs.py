"""What cannot run on the CPU: how it is recognised by its names, and what to do instead."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = [
    "ASM",
    "GRID_SYNC",
    "LARGE_TILE",
    "LAUNCH",
    "Construct",
    "refused_include",
    "refused_name",
]


class Construct(NamedTuple):
    """Something that the emulator refuses.

    Parameters
    ----------
    what : str
        In words, after which "cannot run on the CPU" can follow.
    fix : str
        What to write instead.
    """

    what: str
    fix: str


def _guarded(instead: str) -> str:
    return f"#ifdef KIT_EMULATION\n{instead}\n#else\n// as it is now\n#endif"


_C: Final = _guarded("// the same in plain C++, for the CPU")

ASM: Final = Construct("inline PTX (asm)", _C)
GRID_SYNC: Final = Construct(
    "waiting for the whole grid (grid.sync())",
    "# end the kernel here, and launch a second one for what follows",
)
LAUNCH: Final = Construct("a launch inside a kernel (<<<...>>>)", "# launch the kernel from Python")
LARGE_TILE: Final = Construct(
    "a tile of more than 32 threads",
    "auto tile = cg::tiled_partition<32>(cg::this_thread_block());",
)
_TENSOR: Final = Construct(
    "a tensor core operation (wmma, mma)", _guarded("// the product of the tiles as a loop")
)
_ASYNC: Final = Construct(
    "an asynchronous copy", _guarded("shared[i] = global[i];  // then __syncthreads();")
)
_BARRIER: Final = Construct(
    "a barrier object (cuda::barrier, cuda::latch, semaphores)", _guarded("__syncthreads();")
)
_CUB: Final = Construct(
    "CUB", _guarded("// kit's own: #include <kit/reduce.cuh>, or cooperative_groups/reduce.h")
)
_TEXTURE: Final = Construct(
    "a texture or surface", _guarded("// read the array itself: image[y * width + x]")
)
_CLUSTER: Final = Construct(
    "a cluster of blocks", _guarded("// blocks on their own: data that they share in global memory")
)
_CURAND: Final = Construct(
    "cuRAND", "# random numbers as an argument: numpy.random.default_rng(0).random(n)"
)
_RUNTIME: Final = Construct("CUDA's runtime API", "# call it from Python, outside of the kernel")
_FLOAT8: Final = Construct("a number of 8, 6 or 4 bits", _guarded("// __half, of cuda_fp16.h"))

# Names that stand for themselves, whatever they are qualified with.
_NAMES: Final = (
    (r"tex[123]D\w*|texCubemap\w*|surf[123]D\w*|surfCubemap\w*", _TEXTURE),
    (r"cuda(Texture|Surface)Object_t|texture(Reference)?", _TEXTURE),
    (r"memcpy_async|__pipeline_\w+|make_pipeline|__memcpy_async\w*|CUtensorMap", _ASYNC),
    (r"(load|store)_matrix_sync|mma_sync|fill_fragment|__[bih]mma_\w+", _TENSOR),
    (r"curand\w*", _CURAND),
    (r"cluster_group|this_cluster|__cluster_dims__|__cluster\w*", _CLUSTER),
    (r"cuda(Malloc|Free|Memcpy|Memset|Launch|Stream|Event|Device|Get|Occupancy|Func)\w*", _RUNTIME),
    (r"__nv_fp[864]\w*", _FLOAT8),
    (r"multi_grid_group|this_multi_grid", GRID_SYNC),
)
# Names within a namespace.
_QUALIFIED: Final = (
    (r"(.*::)?cub(::.*)?", _CUB),
    (r"(.*::)?(nvcuda|wmma)(::.*)?", _TENSOR),
    (r"cuda::pipeline\w*", _ASYNC),
    (r"cuda::(std::)?(barrier|latch|counting_semaphore|binary_semaphore)", _BARRIER),
    (r"cuda::(ptx|device)(::.*)?", ASM),
)
_INCLUDES: Final = (
    (r"curand\w*\.h", _CURAND),
    (r"cub(/.*)?", _CUB),
    (r"(crt/)?mma\.h", _TENSOR),
    (r"cuda_pipeline\w*\.h|cooperative_groups/memcpy_async\.h|cuda/pipeline", _ASYNC),
    (r"cuda/(std/)?(barrier|latch|semaphore)", _BARRIER),
    (r"cuda/ptx", ASM),
    (r"cuda_fp[864]\.h", _FLOAT8),
    (r"(texture_indirect|surface_indirect|cuda_texture|cuda_surface)\w*\.h", _TEXTURE),
    (r"cuda_(device_)?runtime_api\.h|cuda_device_runtime_api\.h", _RUNTIME),
)


def refused_name(name: str, qualified: str) -> Construct | None:
    """Why a name cannot be used; None where it can.

    Parameters
    ----------
    name : str
        Its last part: ``barrier``.
    qualified : str
        With its namespaces, as written: ``cuda::barrier``.
    """
    return _first(_NAMES, name) or _first(_QUALIFIED, qualified)


def refused_include(name: str) -> Construct | None:
    """Why a header cannot be included; None where it can."""
    return _first(_INCLUDES, name)


def _first(rows: tuple[tuple[str, Construct], ...], text: str) -> Construct | None:
    return next((found for pattern, found in rows if re.fullmatch(pattern, text)), None)

"""Limits and occupancy, compared with what NVIDIA ships: two headers that plain g++ compiles."""

from __future__ import annotations

import ctypes
import importlib.util
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.architectures import (
    ARCHITECTURES,
    Architecture,
    estimate_occupancy,
    find_architecture,
    most_threads,
)

CASES = 5000

TRAITS = """
#include <cuda/__device/arch_traits.h>
template <cuda::arch_id id> void row(long *out) {
    auto one = cuda::arch_traits<id>();
    out[0] = one.max_threads_per_multiprocessor;
    out[1] = one.max_blocks_per_multiprocessor;
    out[2] = one.max_shared_memory_per_multiprocessor;
    out[3] = one.reserved_shared_memory_per_block;
    out[4] = one.max_shared_memory_per_block_optin;
    out[5] = one.max_registers_per_block;
    out[6] = one.max_registers_per_multiprocessor;
    out[7] = one.max_threads_per_block;
    out[8] = one.max_block_dim_z;
    out[9] = one.max_grid_dim_x;
    out[10] = one.max_grid_dim_z;
}
extern "C" int traits(int number, long *out) {
    switch (number) {
"""

OCCUPANCY = """
#include <cuda_occupancy.h>
extern "C" int occupancy(int major, int minor, int threads, long shared, long reserved,
                         int registers, long block_shared, int block, int *out) {
    cudaOccDeviceProp device;
    device.computeMajor = major;
    device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = threads;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 49152;
    device.sharedMemPerMultiprocessor = shared;
    device.numSms = 1;
    device.sharedMemPerBlockOptin = shared - reserved;
    device.reservedSharedMemPerBlock = reserved;
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = 1024;
    function.numRegs = registers;
    function.sharedSizeBytes = 0;
    function.partitionedGCConfig = PARTITIONED_GC_OFF;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = shared - reserved;
    function.numBlockBarriers = 1;
    cudaOccDeviceState state;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    cudaOccResult result;
    int failed = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, block,
                                                         block_shared);
    out[0] = result.activeBlocksPerMultiprocessor;
    out[1] = result.limitingFactors;
    return failed;
}
"""


def headers(package: str, folder: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None, package
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations))) / folder


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[..., Any]:
    def build(name: str, text: str, include: Path) -> Any:
        (tmp_path / f"{name}.cpp").write_text(text)
        library = tmp_path / f"{name}.so"
        command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{include}"]
        subprocess.run(
            [*command, str(tmp_path / f"{name}.cpp"), "-o", str(library)],
            check=True,
            timeout=120,
        )
        return ctypes.CDLL(str(library))

    return build


def test_limits_are_those_of_nvidias_own_table(compiled: Callable[..., Any]) -> None:
    numbers = [name.removeprefix("sm_") for name in ARCHITECTURES]
    cases = "".join(f"case {n}: row<cuda::arch_id::sm_{n}>(out); return 1;" for n in numbers)
    library = compiled(
        "traits", f"{TRAITS}{cases} }} return 0; }}", headers("nvidia.cu13", "include/cccl")
    )
    out = (ctypes.c_long * 11)()
    for number, one in zip(numbers, ARCHITECTURES.values(), strict=True):
        assert library.traits(int(number), out) == 1
        assert list(out[:5]) == [
            one.threads,
            one.blocks,
            one.shared_bytes,
            one.reserved_bytes,
            one.block_shared_bytes,
        ], one.name
        assert list(out[5:]) == [65536, 65536, 1024, 64, 2**31 - 1, 65535], one.name


def test_occupancy_is_what_nvidias_calculator_says(compiled: Callable[..., Any]) -> None:
    library = compiled("occupancy", OCCUPANCY, headers("nvidia.cuda_runtime", "include"))
    # The calculator of the installed toolkit knows neither sm_88 nor sm_110.
    known = [one for one in ARCHITECTURES.values() if one.name not in ("sm_88", "sm_110")]
    chance = random.Random(0)
    bits = {"threads": 1, "registers": 2, "shared memory": 4, "blocks": 8}
    for _ in range(CASES):
        one = chance.choice(known)
        threads = chance.choice([32, 64, 96, 128, 192, 256, 512, 1024, chance.randint(1, 1024)])
        registers = chance.randint(1, 255)
        shared = chance.choice([0, 128, 4096, chance.randint(0, one.block_shared_bytes + 2000)])
        ours = estimate_occupancy(one, threads=threads, registers=registers, shared_bytes=shared)
        blocks, factors = calculated(library, one, threads, registers, shared)
        case = (one.name, threads, registers, shared)
        assert ours.blocks == blocks, case
        # "Barriers" (16) are counted by newer devices; one for each block limits nothing here.
        assert sum(bits[name] for name in ours.limited_by) == factors & 15, case


def calculated(
    library: Any, one: Architecture, threads: int, registers: int, shared: int
) -> tuple[int, int]:
    major, minor = divmod(int(one.name.removeprefix("sm_")), 10)
    out = (ctypes.c_int * 2)()
    failed = library.occupancy(
        major,
        minor,
        one.threads,
        ctypes.c_long(one.shared_bytes),
        ctypes.c_long(one.reserved_bytes),
        registers,
        ctypes.c_long(shared),
        threads,
        out,
    )
    assert failed == 0
    return out[0], out[1]


def test_most_threads_is_the_largest_block_that_fits_by_registers() -> None:
    sm_90 = ARCHITECTURES["sm_90"]
    for registers in range(1, 256):
        fits = [
            threads
            for threads in range(32, 1025, 32)
            if estimate_occupancy(
                sm_90, threads=threads, registers=registers, shared_bytes=0
            ).blocks
        ]
        assert most_threads(registers) == max(fits), registers


def test_variants_of_an_architecture_have_its_limits_and_unknown_ones_none() -> None:
    assert find_architecture("sm_100f") is ARCHITECTURES["sm_100"]
    assert find_architecture("sm_90a") is ARCHITECTURES["sm_90"]
    assert find_architecture("sm_70") is None
    assert find_architecture("compute_90") is None


def test_a_fraction_of_the_warps_is_there() -> None:
    one = estimate_occupancy(ARCHITECTURES["sm_86"], threads=256, registers=64, shared_bytes=0)
    assert (one.blocks, one.warps, one.max_warps) == (4, 32, 48)
    assert one.fraction == pytest.approx(2 / 3)
    assert one.limited_by == ("registers",)

"""What NVIDIA's architectures can hold: limits of a block, and how many blocks run at a time."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = [
    "ARCHITECTURES",
    "Architecture",
    "Occupancy",
    "estimate_occupancy",
    "find_architecture",
    "most_threads",
]

WARP: Final = 32
REGISTERS: Final = 65536  # of a multiprocessor, and of one block

_REGISTER_UNIT: Final = 256  # registers are given to warps in units of this
_PARTITIONS: Final = 4  # of a multiprocessor; each has its own registers, and every fourth warp
_KIB: Final = 1024


class Architecture(NamedTuple):
    """Limits of one architecture.

    Parameters
    ----------
    name : str
        ``sm_90``.
    threads, blocks : int
        That a multiprocessor runs at a time, at most.
    shared_bytes : int
        Shared memory of a multiprocessor [bytes].
    reserved_bytes : int
        Shared memory that the driver takes of it for each block [bytes].
    shared_unit : int
        Shared memory is given to blocks in units of this [bytes].
    """

    name: str
    threads: int
    blocks: int
    shared_bytes: int
    reserved_bytes: int
    shared_unit: int

    @property
    def block_shared_bytes(self) -> int:
        """Shared memory that one block can have, static and dynamic [bytes]."""
        return self.shared_bytes - self.reserved_bytes


class Occupancy(NamedTuple):
    """How full a kernel's blocks make a multiprocessor.

    Parameters
    ----------
    blocks : int
        That run at a time; 0 where not even one fits.
    warps, max_warps : int
        Of these blocks, and of the multiprocessor.
    limited_by : tuple of str
        What allows no more blocks: "threads", "registers", "blocks", "shared memory".
    """

    blocks: int
    warps: int
    max_warps: int
    limited_by: tuple[str, ...]

    @property
    def fraction(self) -> float:
        """Share of the multiprocessor's warps that are there, 0 to 1."""
        return self.warps / self.max_warps


def _architecture(number: int, threads: int, blocks: int, shared_kib: int) -> Architecture:
    before_ampere = number < 80
    return Architecture(
        name=f"sm_{number}",
        threads=threads,
        blocks=blocks,
        shared_bytes=shared_kib * _KIB,
        reserved_bytes=0 if before_ampere else _KIB,
        shared_unit=256 if before_ampere else 128,
    )


# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". CCCL ships the same
# table as <cuda/__device/arch_traits.h>, which tests/unit/test_architectures.py compares with.
ARCHITECTURES: Final = {
    one.name: one
    for one in (
        _architecture(75, 1024, 16, 64),
        _architecture(80, 2048, 32, 164),
        _architecture(86, 1536, 16, 100),
        _architecture(87, 1536, 16, 164),
        _architecture(88, 1536, 16, 100),
        _architecture(89, 1536, 24, 100),
        _architecture(90, 2048, 32, 228),
        _architecture(100, 2048, 32, 228),
        _architecture(103, 2048, 32, 228),
        _architecture(110, 1536, 24, 228),
        _architecture(120, 1536, 24, 100),
        _architecture(121, 1536, 24, 100),
    )
}


def find_architecture(name: str) -> Architecture | None:
    """The limits of an architecture; None for one that is newer than this table.

    Examples
    --------
    >>> find_architecture("sm_90a").block_shared_bytes
    232448
    >>> find_architecture("sm_999") is None
    True
    """
    # sm_90a, sm_100f: more instructions, the same limits.
    return ARCHITECTURES.get(name.rstrip("af"))


def most_threads(registers: int) -> int:
    """Threads of the largest block whose registers a multiprocessor has.

    Parameters
    ----------
    registers : int
        Of one thread; 0 where that is not known.
    """
    warps_of_partition = REGISTERS // _PARTITIONS // _registers_of_warp(registers)
    return min(warps_of_partition * _PARTITIONS * WARP, 1024)


def estimate_occupancy(
    architecture: Architecture, *, threads: int, registers: int, shared_bytes: int
) -> Occupancy:
    """How many blocks of a kernel one multiprocessor runs at a time.

    Parameters
    ----------
    architecture : Architecture
        Of the device.
    threads : int
        Of a block.
    registers : int
        Of one thread.
    shared_bytes : int
        Of a block, static and dynamic [bytes].

    Returns
    -------
    Occupancy
        As NVIDIA's ``cuda_occupancy.h`` has it, for a kernel that prefers shared memory to cache
        and uses one barrier.

    Examples
    --------
    >>> estimate_occupancy(
    ...     ARCHITECTURES["sm_90"], threads=256, registers=40, shared_bytes=4096
    ... )
    Occupancy(blocks=6, warps=48, max_warps=64, limited_by=('registers',))
    """
    warps = -(-threads // WARP)
    max_warps = architecture.threads // WARP
    limits = {
        "threads": max_warps // warps,
        "registers": _blocks_by_registers(warps, registers),
        "blocks": architecture.blocks,
    }
    by_shared_memory = _blocks_by_shared_memory(architecture, shared_bytes)
    if by_shared_memory is not None:
        limits["shared memory"] = by_shared_memory
    blocks = min(limits.values())
    limited_by = tuple(name for name, limit in limits.items() if limit == blocks)
    return Occupancy(blocks, blocks * warps, max_warps, limited_by)


def _registers_of_warp(registers: int) -> int:
    return _rounded_up(max(registers, 1) * WARP, _REGISTER_UNIT)


def _blocks_by_registers(warps: int, registers: int) -> int:
    warps_of_partition = REGISTERS // _PARTITIONS // _registers_of_warp(registers)
    return warps_of_partition * _PARTITIONS // warps


def _blocks_by_shared_memory(architecture: Architecture, shared_bytes: int) -> int | None:
    """None where blocks take none, so that it limits nothing."""
    if shared_bytes > architecture.block_shared_bytes:
        return 0
    each = _rounded_up(shared_bytes + architecture.reserved_bytes, architecture.shared_unit)
    return architecture.shared_bytes // each if each else None


def _rounded_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit

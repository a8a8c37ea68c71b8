"""What a built CUDA kernel says about itself in the cell's output, from plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kit.errors import clean_text
from kit.show.sizes import bytes_text

__all__ = ["ResourceRow", "resource_lines", "target_words", "warning_lines"]

_MOST_WARNINGS = 5
"""Warnings that a cell prints before it only counts them."""


class ResourceRow(NamedTuple):
    """What one kernel takes of one architecture.

    Parameters
    ----------
    architecture : str
        ``sm_90``.
    registers : int
        Of a thread.
    spilled_bytes : int
        What did not fit into registers, of a thread [bytes].
    shared_bytes : int
        Static shared memory of a block [bytes].
    occupancy : float or None
        Share of a multiprocessor's warps that blocks of `threads` fill, 0 to 1; None where it is
        not known.
    threads : int
        Of a block.
    """

    architecture: str
    registers: int
    spilled_bytes: int
    shared_bytes: int
    occupancy: float | None
    threads: int

    def words(self) -> str:
        """All of it but the architecture's name."""
        parts = [f"{self.registers} registers"]
        parts.append(
            f"{bytes_text(self.spilled_bytes)} spilled" if self.spilled_bytes else "no spills"
        )
        if self.shared_bytes:
            parts.append(f"{bytes_text(self.shared_bytes)} shared")
        if self.occupancy is not None:
            parts.append(f"occupancy {self.occupancy:.0%} at {self.threads} threads")
        return ", ".join(parts)


def resource_lines(rows: Sequence[ResourceRow]) -> list[str]:
    """One line for all architectures on which the kernel takes the same.

    Examples
    --------
    >>> same = ResourceRow("sm_80", 16, 0, 0, 1.0, 256)
    >>> rows = [same, same._replace(architecture="sm_90"), same._replace(spilled_bytes=48)]
    >>> print("\\n".join(resource_lines(rows)))
      sm_80, sm_90: 16 registers, no spills, occupancy 100% at 256 threads
      sm_80: 16 registers, 48 B spilled, occupancy 100% at 256 threads
    """
    groups: dict[str, list[str]] = {}
    for row in rows:
        groups.setdefault(row.words(), []).append(row.architecture)
    return [clean_text(f"  {', '.join(names)}: {words}") for words, names in groups.items()]


def warning_lines(warnings: Sequence[str]) -> list[str]:
    """What the compiler warned about, each in one line.

    Examples
    --------
    >>> warning_lines(["cell line 3: unused"])
    ['  warning: cell line 3: unused']
    """
    lines = [f"  warning: {' '.join(clean_text(one).split())}" for one in warnings[:_MOST_WARNINGS]]
    if len(warnings) > _MOST_WARNINGS:
        lines.append(f"  ... and {len(warnings) - _MOST_WARNINGS} more in %kit_log")
    return lines


def target_words(target: str, reason: str) -> str:
    """Where calls run, and why: ``"in the emulator (no GPU here)"``.

    Examples
    --------
    >>> target_words("emulator", "no GPU here"), target_words("compile", "--target compile")
    ('in the emulator (no GPU here)', 'compiled only (--target compile)')
    """
    places = {"compile": "compiled only", "emulator": "in the emulator"}
    return f"{places.get(target, f'on the {target}')} ({reason})"

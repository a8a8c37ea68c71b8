"""How much memory there is, and how much of it is left: of the machine, or of this process's group.

Containers and batch systems limit the memory of a control group; the machine's own numbers then say
nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MemoryLeft", "inspect_memory"]

PROC = Path("/proc")
GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class MemoryLeft:
    """Memory that this process may use.

    Parameters
    ----------
    total : int
        The machine's, or the limit of the control group where that is less [bytes].
    available : int or None
        What could be allocated now without swapping [bytes]; None where it is not known.
    """

    total: int
    available: int | None


def inspect_memory(proc: Path = PROC, groups: Path = GROUPS) -> MemoryLeft:
    """Memory of the machine and of every control group that this process is in: the least of them.

    Parameters
    ----------
    proc, groups : Path
        Where the kernel of the system says so.

    Examples
    --------
    >>> inspect_memory().total > 0
    True
    """
    machine = _read_table(proc / "meminfo")
    if "MemTotal:" not in machine:
        return MemoryLeft(_physical_memory(), None)
    total, left = machine["MemTotal:"] * 1024, machine.get("MemAvailable:", 0) * 1024
    for limit, used in _limited_groups(proc, groups):
        total, left = min(total, limit), min(left, limit - used)
    return MemoryLeft(total, left)


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 4 * 2**30  # nobody says: little enough to be there


def _limited_groups(proc: Path, groups: Path) -> Iterator[tuple[int, int]]:
    """Limit and use [bytes] of each group with a limit, from this process's own up to the root."""
    for line in _read_text(proc / "self" / "cgroup").splitlines():
        _, controllers, path = (line + "::").split(":")[:3]
        if controllers == "":  # version 2
            root, names = groups, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = groups / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        own = root / path.strip("/")
        for folder in (own, *own.parents):
            limit = _read_number(folder / names[0])
            if limit is not None:
                # Files that were read and lie in the cache give way to what is allocated.
                cached = _read_table(folder / "memory.stat").get(names[2], 0)
                yield limit, max(0, (_read_number(folder / names[1]) or 0) - cached)
            if folder == root:
                break


def _read_table(path: Path) -> dict[str, int]:
    rows = [line.split() for line in _read_text(path).splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}


def _read_number(path: Path) -> int | None:
    text = _read_text(path).strip()
    return int(text) if text.isdigit() else None


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

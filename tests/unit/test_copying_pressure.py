"""How much memory is left, read from files as the system writes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kit.copying.pressure import MemoryLeft, inspect_memory

KIB, GIB = 2**10, 2**30
MEMINFO = (
    "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\nHugePages_Total: 0\n"
)


def inspect(root: Path, files: Mapping[str, str]) -> MemoryLeft:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return inspect_memory(root / "proc", root / "groups")


def test_without_a_group_the_machine_decides(tmp_path: Path) -> None:
    assert inspect(tmp_path, {"proc/meminfo": MEMINFO}) == MemoryLeft(16 * GIB, 8 * GIB)


def test_the_limit_of_the_own_group_counts_without_files_that_are_only_cached(
    tmp_path: Path,
) -> None:
    files = {
        "proc/meminfo": MEMINFO,
        "proc/self/cgroup": "0::/user/job\n",
        "groups/user/job/memory.max": f"{4 * GIB}\n",
        "groups/user/job/memory.current": f"{3 * GIB}\n",
        "groups/user/job/memory.stat": f"anon {2 * GIB}\ninactive_file {GIB}\n",
    }
    assert inspect(tmp_path, files) == MemoryLeft(4 * GIB, 2 * GIB)


def test_the_tightest_group_above_counts(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": MEMINFO,
        "proc/self/cgroup": "0::/user/job\n",
        "groups/user/job/memory.max": "max\n",
        "groups/user/memory.max": f"{2 * GIB}\n",
        "groups/user/memory.current": f"{GIB}\n",
        "groups/memory.max": f"{12 * GIB}\n",
        "groups/memory.current": f"{3 * GIB}\n",
        "memory.max": "1\n",  # above the tree of groups
    }
    assert inspect(tmp_path, files) == MemoryLeft(2 * GIB, GIB)


@pytest.mark.parametrize("limit", [GIB, 2**63 - 4096])
def test_groups_of_version_1_count_and_their_largest_number_is_no_limit(
    tmp_path: Path, limit: int
) -> None:
    files = {
        "proc/meminfo": MEMINFO,
        "proc/self/cgroup": "5:cpu,cpuacct:/a\n4:memory:/docker/1\nnot a line\n",
        "groups/memory/docker/1/memory.limit_in_bytes": f"{limit}\n",
        "groups/memory/docker/1/memory.usage_in_bytes": f"{512 * KIB * KIB}\n",
        "groups/memory/docker/1/memory.stat": "total_inactive_file 0\n",
    }
    limited = MemoryLeft(GIB, GIB // 2)
    assert inspect(tmp_path, files) == (limited if limit == GIB else MemoryLeft(16 * GIB, 8 * GIB))


def test_where_the_system_does_not_say_what_is_left_it_is_unknown(tmp_path: Path) -> None:
    found = inspect(tmp_path, {})
    assert found.total > 0
    assert found.available is None


def test_this_machine_says_something_plausible() -> None:
    found = inspect_memory()
    assert found.total > 2**28
    assert found.available is None or found.available <= found.total

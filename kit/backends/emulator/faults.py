"""A kernel's fault, as the runtime library tells it, as a LaunchError in the cell's lines."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from kit.backends.emulator.translation import CELL_FILE
from kit.errors import LaunchError

__all__ = ["INTERRUPTED", "FaultReport", "Wait", "launch_error"]

# runtime/worker.h has the same numbers.
_KINDS: Final = {
    1: "trap",
    2: "assert",
    3: "signal",
    4: "sync",
    5: "bounds",
    6: "align",
    7: "limit",
}
INTERRUPTED: Final = 8
"""A launch that Ctrl-C ended."""


class Wait(ctypes.Structure):
    """Who waits where (runtime/internal.h)."""

    _fields_ = (
        ("first", ctypes.c_uint),
        ("last", ctypes.c_uint),
        ("arrived", ctypes.c_uint),
        ("awaited", ctypes.c_uint),
        ("line", ctypes.c_int),
        ("pc", ctypes.c_void_p),
        ("operation", ctypes.c_char * 40),
    )


class FaultReport(ctypes.Structure):
    """What happened in a launch (runtime/internal.h)."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("line", ctypes.c_int),
        ("block", ctypes.c_uint * 3),
        ("thread", ctypes.c_uint * 3),
        ("thread_is_known", ctypes.c_int),
        ("signal", ctypes.c_int),
        ("pc", ctypes.c_void_p),
        ("file", ctypes.c_char * 256),
        ("message", ctypes.c_char * 256),
        ("n_waits", ctypes.c_int),
        ("waits", Wait * 8),
    )


def launch_error(
    report: FaultReport, *, kernel: str, source: str, library: Path, base: int
) -> LaunchError:
    """The error of a launch.

    Parameters
    ----------
    report : FaultReport
        What the runtime says.
    kernel : str
        Which kernel.
    source : str
        Text of the cell.
    library : Path
        File that the cell was compiled to.
    base : int
        Where this process has loaded it.
    """
    waits: Sequence[Wait] = [report.waits[i] for i in range(report.n_waits)]
    # A signal's address is that of the instruction. Others are where a call returns to, which may
    # be the next line: one byte less is the call's.
    first = report.pc if report.signal or report.pc is None else report.pc - 1
    lines = _cell_lines([first, *(one.pc - 1 for one in waits)], library, base)
    is_cells = report.file.decode(errors="replace") == CELL_FILE
    line = report.line if is_cells and report.line > 0 else lines[0]
    message = report.message.decode(errors="replace")
    if _KINDS[report.kind] == "assert":
        message = f"assertion failed: {message}"
    elif waits:
        message = _deadlock(waits, lines[1:])
    text = source.split("\n")
    return LaunchError(
        message,
        kernel=kernel,
        kind=_KINDS[report.kind],
        block=_triple(report.block),
        thread=_triple(report.thread) if report.thread_is_known else None,
        line=line,
        source_line=text[line - 1] if line is not None and line <= len(text) else None,
    )


def _triple(values: Iterable[int]) -> tuple[int, int, int]:
    x, y, z = values
    return x, y, z


def _deadlock(waits: Iterable[Wait], lines: Iterable[int | None]) -> str:
    told: list[str] = []
    barriers: dict[int | None, list[tuple[int, int]]] = {}
    for one, line in zip(waits, lines, strict=True):
        if not one.arrived:
            barriers.setdefault(line, []).append((one.first, one.last))
            continue
        operation = one.operation.decode(errors="replace")
        told.append(
            f"lanes {_ranges(one.arrived)} of warp {one.first // 32}: {operation} "
            f"{_place(line)}, for lanes {_ranges(one.awaited)}"
        )
    for line, spans in barriers.items():
        # The same line can be in two places of the program: as a loop's and as a fiber's.
        threads = sum(((1 << last + 1) - (1 << first) for first, last in spans), 0)
        told.insert(0, f"threads {_ranges(threads)}: __syncthreads() {_place(line)}, for the block")
    return "threads of the block wait for each other\n  " + "\n  ".join(told)


def _place(line: int | None) -> str:
    return "in a header" if line is None else f"in line {line}"


def _ranges(mask: int) -> str:
    """Bits of a mask in words.

    Examples
    --------
    >>> _ranges(0b1011)
    '0 to 1, 3'
    """
    parts: list[str] = []
    bit = 0
    while mask >> bit:
        if mask >> bit & 1:
            end = bit
            while mask >> (end + 1) & 1:
                end += 1
            parts.append(f"{bit}" if end == bit else f"{bit} to {end}")
            bit = end
        bit += 1
    return ", ".join(parts)


def _cell_lines(pcs: Sequence[int | None], library: Path, base: int) -> list[int | None]:
    """For each address the innermost line of the cell that it belongs to, or None."""
    import shutil
    import subprocess

    known = [pc - base for pc in pcs if pc is not None and pc >= base]
    program = shutil.which("addr2line")
    if not known or program is None:
        return [None] * len(pcs)
    asked = [hex(one) for one in known]
    told = subprocess.run(
        [program, "-a", "-i", "-e", str(library), *asked],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    ).stdout
    found = iter([_innermost(part) for part in re.split(r"^0x[0-9a-f]+\n", told, flags=re.M)[1:]])
    return [next(found, None) if pc is not None and pc >= base else None for pc in pcs]


def _innermost(frames: str) -> int | None:
    """The first of addr2line's lines that is the cell's; inlined calls come before callers."""
    match = re.search(rf"(?:^|/){re.escape(CELL_FILE)}:(\d+)", frames, re.MULTILINE)
    return None if match is None else int(match[1])

"""The words that every other module uses for order, intent, place, target and action."""

from __future__ import annotations

from typing import Literal

__all__ = [
    "Action",
    "Intent",
    "KernelLanguage",
    "Language",
    "Order",
    "Place",
    "Policy",
    "Target",
]

Order = Literal["C", "F"]
"""Which axis is fastest: the last one ("C") or the first one ("F")."""

Intent = Literal["in", "inout", "out"]
"""What a kernel does with an argument: reads it, writes it, or overwrites all of it.

The last is declared, never inferred.
"""

Place = Literal["host", "device"]
"""Memory that holds an array's elements."""

Target = Literal["python", "host", "device", "emulator"]
"""Where code runs: the cell uncompiled, compiled by Pyccel, CUDA, or CUDA source on the CPU."""

Action = Literal["PASS", "CONVERT", "COPY", "MOVE", "REFUSE"]
"""What the boundary does with one argument; CONVERT is an exact conversion of a scalar."""

Language = Literal["fortran", "c"]
"""What Pyccel translates a cell to."""

KernelLanguage = Literal["fortran", "c", "cuda"]
"""What a kernel was compiled from: a translation by Pyccel, or CUDA C++ as the cell has it."""

Policy = Literal["copy", "warn", "strict"]
"""When an argument must be copied: silently, with one warning per argument, or not at all."""

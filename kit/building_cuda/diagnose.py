"""From what NVRTC said about a cell to one error in the cell's own lines."""

from __future__ import annotations

from collections.abc import Sequence

from kit.backends.nvrtc_protocol import NvrtcProgram
from kit.building_cuda.command import PROGRAM
from kit.building_cuda.log import read_messages
from kit.cuda.prototypes import CellKernel
from kit.errors import BuildError

__all__ = ["build_error", "tool_failure", "warnings_of"]


def build_error(
    text: str, kernels: Sequence[CellKernel], program: NvrtcProgram, folders: Sequence[str]
) -> BuildError:
    """The first error of a cell that NVRTC refused."""
    errors = [one for one in read_messages(program.log) if one.severity == "error"]
    first = errors[0]
    return BuildError(first.text, line=first.line or None, log=program.log)


def tool_failure(program: NvrtcProgram) -> BuildError:
    """The error where NVRTC itself failed."""
    return BuildError(program.failure, log=program.log)


def warnings_of(text: str, log: str) -> tuple[str, ...]:
    """What NVRTC warned about, in the cell's lines."""
    return tuple(
        f"cell line {one.line}: {one.text}"
        for one in read_messages(log)
        if one.severity == "warning" and one.file == PROGRAM
    )

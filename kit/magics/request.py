"""What the line of ``%%pyccel_kernel`` may say, and what it asks the build for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from kit.build import BuildOptions
from kit.magics.options import parse_line
from kit.magics.request_values import (
    FORCE,
    ISOLATE,
    ON_ERROR,
    QUIET,
    VERBOSE,
    CellRequest,
    parse_flags,
    parse_name_lists,
    refuse_quiet_and_verbose,
)
from kit.magics.specs import MagicSpec, Option
from kit.terms import Language, Policy

__all__ = ["PYCCEL_KERNEL", "KernelRequest", "parse_request"]

_PYTHON_TWIN = (
    "leave it out; to find a fault now, run the cell uncompiled: "
    'with kit.use_target("python"): f(...)'
)

PYCCEL_KERNEL = MagicSpec(
    name="pyccel_kernel",
    is_cell=True,
    summary=(
        "Compile the cell's typed Python functions.\n\n"
        "Every top-level function without a leading underscore is bound under its name as a\n"
        "PyccelKernel; the others stay callable inside the cell. The same cell again costs\n"
        "milliseconds, in this process and in the next. A cell that cannot be compiled raises,\n"
        "and its names then raise StaleKernelError until it is repaired."
    ),
    options=(
        Option(
            name="language",
            short="l",
            metavar="LANGUAGE",
            choices=("fortran", "c"),
            default="fortran",
            help="what Pyccel translates to",
        ),
        Option(
            name="outputs",
            short="o",
            metavar="A,B",
            repeatable=True,
            completes="parameters",
            help="what the kernel writes, or f:A,B; must agree with the source, which else decides",
        ),
        Option(
            name="overwrites",
            metavar="A,B",
            repeatable=True,
            completes="parameters",
            help="outputs that the kernel overwrites entirely: they need not move in",
        ),
        Option(
            name="flags",
            metavar='"..."',
            help="compiler flags in place of kit's own; -ffp-contract=off switches FMA off",
        ),
        Option(name="openmp", help="compile #$ omp pragmas"),
        Option(
            name="debug",
            help="check bounds and overflow, an error in place of a dead process",
            later=_PYTHON_TWIN,
        ),
        Option(
            name="policy",
            metavar="POLICY",
            choices=("copy", "warn", "strict"),
            default="warn",
            help="when an argument must be copied: copy silently, warn once, or refuse",
        ),
        ISOLATE,
        ON_ERROR,
        FORCE,
        QUIET,
        VERBOSE,
        Option(
            name="annotate",
            short="a",
            help="the cell beside its translation",
            later="leave it out; %kit_source f shows the translation",
        ),
    ),
    notes=(
        "The magic line is line 1 in every message. %kit_log shows everything that the toolchain\n"
        "printed, %kit_source the translation, %kit_plan what a call would do to its arguments."
    ),
    example=(
        "%%pyccel_kernel --language c\n"
        "def scale(x: 'float64[:]', factor: float):\n"
        "    for i in range(x.shape[0]):\n"
        "        x[i] = factor * x[i]"
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRequest(CellRequest):
    """What the magic line asks for."""

    options: BuildOptions = field(default_factory=BuildOptions)


def parse_request(line: str) -> KernelRequest:
    """What the magic line asks for; CellError with a column where it is wrong."""
    parsed = parse_line(PYCCEL_KERNEL, line)
    refuse_quiet_and_verbose(PYCCEL_KERNEL, line, parsed)
    options = BuildOptions(
        language=cast(Language, parsed.text("language") or "fortran"),
        outputs=parse_name_lists(PYCCEL_KERNEL, line, parsed, "outputs"),
        overwrites=parse_name_lists(PYCCEL_KERNEL, line, parsed, "overwrites") or {},
        flags=parse_flags(PYCCEL_KERNEL, line, parsed, "'-O2 -DNAME=\"a b\"'"),
        openmp=parsed.has("openmp"),
        policy=cast(Policy, parsed.text("policy") or "warn"),
        force=parsed.has("force"),
    )
    return KernelRequest(
        options=options,
        keeps=parsed.text("on-error") == "keep",
        is_quiet=parsed.has("quiet"),
        is_verbose=parsed.has("verbose"),
    )

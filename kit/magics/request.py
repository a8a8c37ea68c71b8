"""What the line of ``%%pyccel_kernel`` may say, and what it asks the build for."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from kit.build import BuildOptions
from kit.magics.options import ParsedLine, Word, parse_line
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
        Option(
            name="isolate",
            help="run each call in a process of its own",
            later="leave it out; calls run in the notebook process",
        ),
        Option(
            name="on-error",
            metavar="ACTION",
            choices=("raise", "keep"),
            default="raise",
            help="when the build fails: raise, or warn and keep the kernels of before",
        ),
        Option(name="force", help="build again even if the result is stored"),
        Option(name="quiet", short="q", help="print nothing on success"),
        Option(name="verbose", short="v", help="also print flags, stages, compiler and size"),
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
class KernelRequest:
    """What the magic line asks for."""

    options: BuildOptions
    keeps: bool = False
    is_quiet: bool = False
    is_verbose: bool = False


def parse_request(line: str) -> KernelRequest:
    """What the magic line asks for; CellError with a column where it is wrong."""
    parsed = parse_line(PYCCEL_KERNEL, line)
    if parsed.has("quiet") and parsed.has("verbose"):
        raise PYCCEL_KERNEL.error(
            line,
            "--quiet and --verbose contradict each other",
            start=parsed.options["verbose"][0].start,
            fix="leave one of them out",
        )
    flags = parsed.text("flags")
    options = BuildOptions(
        language=cast(Language, parsed.text("language") or "fortran"),
        outputs=_name_lists(line, parsed, "outputs"),
        overwrites=_name_lists(line, parsed, "overwrites") or {},
        flags=None if flags is None else _flags(line, parsed, flags),
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


def _flags(line: str, parsed: ParsedLine, text: str) -> tuple[str, ...]:
    """The flags as a shell would split them, as in `kit.pyccel_kernel`."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise PYCCEL_KERNEL.error(
            line,
            "a quote inside --flags is never closed",
            start=parsed.options["flags"][-1].start,
            fix="--flags '-O2 -DNAME=\"a b\"'",
        ) from None


def _name_lists(
    line: str, parsed: ParsedLine, option: str
) -> Mapping[str | None, tuple[str, ...]] | None:
    """``a,b`` or ``f:a,b,g:c`` as names by function; None where the option was not given."""
    if not parsed.has(option):
        return None
    names: dict[str | None, tuple[str, ...]] = {}
    for value in parsed.options[option]:
        function: str | None = None
        for part in value.text.replace(",", " ").split():
            head, colon, name = part.rpartition(":")
            if colon:
                function = _identifier(line, option, value, head)
            known = names.setdefault(function, ())
            if name:
                names[function] = (*known, _identifier(line, option, value, name))
        if not value.text.strip():
            names.setdefault(None, ())
    return names


def _identifier(line: str, option: str, value: Word, text: str) -> str:
    if not text.isidentifier():
        raise PYCCEL_KERNEL.error(
            line,
            f"--{option}: {text!r} is not a name",
            start=value.start,
            fix=f"--{option} a,b   or, in a cell of several functions, --{option} f:a,b",
        )
    return text

"""What a cell's options ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kit.terms import Language, Policy
from kit.toolchain import DEFAULT_FLAGS

__all__ = ["BuildOptions", "Names"]

Names = Mapping[str | None, tuple[str, ...]]
"""Parameter names by function; the key None stands for the cell's only public function."""


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """What a cell's options ask for.

    Parameters
    ----------
    language : {"fortran", "c"}
        What Pyccel translates to.
    outputs : mapping or None
        Parameters that each function writes; None reads them from the source.
    overwrites : mapping
        Outputs that each function overwrites entirely.
    flags : tuple of str or None
        Compiler flags in place of `DEFAULT_FLAGS`.
    openmp : bool
        Whether ``#$ omp`` pragmas count.
    policy : {"copy", "warn", "strict"}
        What happens when an argument must be copied.
    force : bool
        Build again even where the store has the artifact.
    """

    language: Language = "fortran"
    outputs: Names | None = None
    overwrites: Names = field(default_factory=dict[str | None, tuple[str, ...]])
    flags: tuple[str, ...] | None = None
    openmp: bool = False
    policy: Policy = "warn"
    force: bool = False

    @property
    def effective_flags(self) -> tuple[str, ...]:
        """The flags that the compiler will see."""
        return DEFAULT_FLAGS if self.flags is None else self.flags

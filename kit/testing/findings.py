"""What the comparisons of a kernel's targets found: agreement, or differences to be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kit.errors import KitError, one_line
from kit.testing.differences import Difference, Tolerance, worst_difference
from kit.testing.runs import Case, Result

__all__ = ["Agreement", "Findings"]

_MOST_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What was compared, and found to agree.

    Parameters
    ----------
    kernel : str
        Its name.
    targets : tuple of str
        What ran; ``"reference"`` where there was one. All were compared with the first.
    n_calls : int
        Calls of each.
    layouts : tuple of str
        Layouts that at least one array had.
    worst : Difference or None
        The largest difference within the tolerance; None where all results are the same bits.
    """

    kernel: str
    targets: tuple[str, ...]
    n_calls: int
    layouts: tuple[str, ...]
    worst: Difference | None

    def __str__(self) -> str:
        worst = "no difference" if self.worst is None else f"at most {self.worst}"
        return (
            f"{self.kernel}: {', '.join(self.targets)} agree in {self.n_calls} calls "
            f"with {len(self.layouts)} layouts; {worst}"
        )


@dataclass(slots=True)
class Findings:
    """Everything that the comparisons found so far."""

    kernel: str
    targets: tuple[str, ...]
    tolerance: Tolerance
    n_calls: int = 0
    n_compared: int = 0
    worst: Difference | None = None
    layouts: dict[str, None] = field(default_factory=dict[str, None])
    failures: dict[tuple[str, str], tuple[Difference, str]] = field(
        default_factory=dict[tuple[str, str], tuple[Difference, str]]
    )
    around: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def compare(self, case: Case, results: Mapping[str, Result]) -> None:
        """Compare every target with the first one."""
        self.n_calls += 1
        self.layouts.update({one.name: None for one in case.layouts.values()})
        first, *others = results
        for target, result in results.items():
            for name in result.around:
                self.around.setdefault((target, name), str(case))
        for other in others:
            for name, a, b in self._pairs(case, results[first], results[other]):
                difference = worst_difference(name, (first, other), a, b, self.tolerance)
                if difference is not None:
                    self._add(difference, str(case))

    def _pairs(self, case: Case, a: Result, b: Result) -> Iterator[tuple[str, Any, Any]]:
        for name, choice in case.choices.items():
            self.n_compared += choice.written * a.arrays[name].size
            yield name, a.arrays[name], b.arrays[name]
        if a.returned is not None and b.returned is not None:
            for name in {**a.returned, **b.returned}:
                self.n_compared += 1
                yield name, a.returned.get(name), b.returned.get(name)

    def _add(self, difference: Difference, case: str) -> None:
        if not difference.n_different:
            if self.worst is None or difference.ulp > self.worst.ulp:
                self.worst = difference
            return
        key = (difference.name, difference.targets[1])
        if key not in self.failures or difference.ulp > self.failures[key][0].ulp:
            self.failures[key] = difference, case

    def raise_differences(self) -> None:
        """AssertionError with the worst of each array and pair of targets."""
        __tracebackhide__ = True
        if self.failures or self.around:
            raise AssertionError(self._text())
        if not self.n_compared:
            raise KitError(
                f"assert_kernels_agree: {self.kernel} left nothing to compare\n"
                "  found: no element of an array that it writes, and no result\n"
                "  fix:   make arguments whose written arrays have elements"
            )

    def _text(self) -> str:
        names = sorted({name for name, _ in (*self.failures, *map(_swapped, self.around))})
        lines = [f"{self.kernel}: results differ ({', '.join(map(one_line, names))})"]
        worst = sorted(self.failures.values(), key=lambda one: -one[0].ulp)
        for difference, case in worst[:_MOST_SHOWN]:
            lines += [f"  {difference}", f"    {case}"]
        if len(worst) > _MOST_SHOWN:
            lines.append(f"  and {len(worst) - _MOST_SHOWN} more")
        for (target, name), case in self.around.items():
            lines.append(
                f"  {one_line(name)}: {target} wrote memory between or around its elements"
            )
            lines.append(f"    {case}")
        allowed = f"ulp={self.tolerance.ulp:g}"
        if self.tolerance.rtol or self.tolerance.atol:
            allowed += f", rtol={self.tolerance.rtol:g}, atol={self.tolerance.atol:g}"
        return "\n".join([*lines, f"  allowed: {allowed}"])

    def agreement(self) -> Agreement:
        """What was compared."""
        return Agreement(
            kernel=self.kernel,
            targets=self.targets,
            n_calls=self.n_calls,
            layouts=tuple(self.layouts),
            worst=self.worst,
        )


def _swapped(pair: tuple[str, str]) -> tuple[str, str]:
    return pair[1], pair[0]

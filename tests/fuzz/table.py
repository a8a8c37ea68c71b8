"""What came of the cases, counted, as a table to print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

WORKED: Final = ("passed", "copied", "converted", "refused")
"""What a case may come to; "refused" is as documented, before anything changed."""

FAILED: Final = (
    "wrong",
    "aborts",
    "read-only written",
    "undue refusal",
    "changed and refused",
    "not refused",
    "undue copy",
    "bad refusal",
    "bad fix",
    "disagreement",
    "another error",
)
"""What a case may not come to."""

BARE: Final = ("right", "refused", "accepted", "wrong", "aborts", "read-only written")
"""What comes of a bare function; "accepted" ran where a refusal is owed."""


@dataclass
class Counts:
    """Outcomes of one language, in all and by what was in the cases."""

    total: Counter[str] = field(default_factory=Counter[str])
    by_kind: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    failures: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])

    def add(self, report: Mapping[str, Any]) -> None:
        said = report["said"]
        self.total[said] += 1
        for kind in report["kinds"]:
            self.by_kind.setdefault(kind, Counter())[said] += 1
        if said in FAILED:
            self.failures.append(report)


def _rows(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    table = [[str(one) for one in row] for row in [list(head), *rows]]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    )


def outcome_table(language: str, counts: Counts) -> str:
    """Outcomes by what was in the cases; a case with two arrays counts in the row of each."""
    failed = [one for one in FAILED if counts.total[one] or FAILED.index(one) < 5]
    columns = [*WORKED, *failed]
    rows = [
        [kind, found.total(), *(found[one] for one in columns)]
        for kind, found in sorted(counts.by_kind.items(), key=lambda item: -item[1].total())
    ]
    total = ["all cases", counts.total.total(), *(counts.total[one] for one in columns)]
    return _rows([language, "cases", *columns], [total, *rows])


def bare_table(counts: Mapping[str, Counts]) -> str:
    """What came of the bare functions, in percent."""
    rows = [
        [
            language,
            found.total.total(),
            *(f"{100 * found.total[one] / max(1, found.total.total()):.1f} %" for one in BARE),
        ]
        for language, found in counts.items()
    ]
    return _rows(["bare Pyccel", "cases", *BARE], rows)

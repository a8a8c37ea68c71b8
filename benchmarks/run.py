"""Run the benchmarks, print a table, write it to ``benchmarks/results/``.

``python -m benchmarks.run [cell] [cuda_cell] [kernels] ...``, any of `NAMES`; no name runs all.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Row, machine

RESULTS = Path(__file__).resolve().parent / "results"
NAMES = ("cell", "kernels", "call", "copy", "view", "cuda_cell", "emulator", "cuda_call")


def main(names: Sequence[str]) -> int:
    """Run the named benchmarks; the exit code is 0 also where a figure was missed."""
    unknown = set(names) - set(NAMES)
    if unknown:
        print(f"no benchmark is called {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}")
        return 2
    RESULTS.mkdir(exist_ok=True)
    for name in names or NAMES:
        rows: list[Row] = []
        for row in importlib.import_module(f"benchmarks.bench_{name}").rows():
            rows.append(row)
            print(_line(row), flush=True)
        record = {"machine": machine(), "rows": [row.as_json() for row in rows]}
        (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
        (RESULTS / f"{name}.md").write_text(_page(name, rows))
    return 0


def _line(row: Row) -> str:
    verdict = {True: "reached", False: "MISSED", None: ""}[row.met]
    peers = ", ".join(f"{name} {value:.3g}" for name, value in row.peers.items())
    reached = f"{row.value:.3g} {row.unit} (must {row.must or '-'}) {verdict}"
    return f"{row.figure}: {reached} [{peers}] {row.note}"


def _page(name: str, rows: Sequence[Row]) -> str:
    facts = ", ".join(f"{key} {value}" for key, value in machine().items())
    lines = [f"# {name}", "", facts, "", "| figure | kit | must | reached | peers | note |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        peers = ", ".join(f"{peer} {value:.3g}" for peer, value in row.peers.items()) or "-"
        reached = {True: "yes", False: "**no**", None: "-"}[row.met]
        lines.append(
            f"| {row.figure} | {row.value:.3g} {row.unit} | {row.must or '-'} | {reached} "
            f"| {peers} | {row.note} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Runs cases in children, two at a time, and prints what came of them.

``python -m tests.fuzz.run --cases 20000 [--seed 1] [--case 17] [--bare 2000]``

Every case runs in both languages. A child that dies is started again after the case that it died
in. The last quarter of the cases runs with the Python guard and with copies as large ones are made,
the others with the compiled guard.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.kernels import Family
from tests.fuzz.table import FAILED, Counts, bare_table, outcome_table

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("fortran", "c")
Report = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Some cases of one language, for one child.

    Parameters
    ----------
    what : {"kit", "tiled", "bare"}
        Through the boundary, through it with copies as of large arrays, or not through it.
    first, last : int
        Numbers of the cases, `last` excluded.
    guard : str
        Value of KIT_GUARD.
    """

    what: str
    language: str
    family: Family
    seed: int
    first: int
    last: int
    guard: str = ""


def run_cases(
    what: str, family: Family, seed: int, first: int, last: int, workers: int = 2
) -> dict[str, Counts]:
    """What came of the cases in each language."""
    middle = first + (last - first) * 3 // 4
    ways = [(what, "", first, last)]
    if what == "kit":
        ways = [("kit", "", first, middle), ("tiled", "python", middle, last)]
        if last - first == 1:  # one case again: in both ways
            ways = [(one, guard, first, last) for one, guard, *_ in ways]
    pieces = [
        Piece(
            what=way,
            language=language,
            family=family,
            seed=seed,
            first=start,
            last=end,
            guard=guard,
        )
        for way, guard, start, end in ways
        for language in LANGUAGES
        if start < end
    ]
    counts = {language: Counts() for language in LANGUAGES}
    with (
        tempfile.TemporaryDirectory(prefix="kit-fuzz-") as folder,
        ThreadPoolExecutor(workers) as pool,
    ):
        found = pool.map(lambda one: _run_piece(one, folder), pieces)
        for piece, reports in zip(pieces, found, strict=True):
            for report in reports:
                counts[piece.language].add(report)
    return counts


def _run_piece(piece: Piece, folder: str) -> list[Report]:
    def command(first: int) -> list[str]:
        where = [piece.what, piece.language, piece.family, str(piece.seed), str(first)]
        return [sys.executable, "-m", "tests.fuzz.child", *where, str(piece.last), folder]

    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    if piece.guard:
        environment["KIT_GUARD"] = piece.guard
    return list(follow(command, piece.first, piece.last, environment))


def follow(
    command: Callable[[int], Sequence[str]],
    first: int,
    last: int,
    environment: dict[str, str],
) -> Iterator[Report]:
    """The reports of a child, which is started again after each case that it dies in.

    Parameters
    ----------
    command : callable
        Gives the command that runs the cases from a number on.
    first, last : int
        Numbers of the cases, `last` excluded.

    Raises
    ------
    RuntimeError
        If a child ends before its first case.
    """
    while first < last:
        done = subprocess.run(
            command(first), cwd=ROOT, env=environment, capture_output=True, text=True
        )
        lines = [json.loads(one) for one in done.stdout.splitlines() if one.startswith("{")]
        yield from (one for one in lines if "said" in one)
        if lines and "finished" in lines[-1]:
            return
        started = [one["start"] for one in lines if "start" in one]
        if not started:
            raise RuntimeError(f"no case was reached ({done.returncode}):\n{done.stderr[-3000:]}")
        why = f"the process ended with {done.returncode}\n{done.stderr[-1000:]}"
        yield {"number": started[-1], "said": "aborts", "kinds": [], "label": "?", "why": why}
        first = started[-1] + 1


def describe_failures(seed: int, language: str, counts: Counts, most: int = 10) -> str:
    """The first failures, and how to run each again."""
    return "\n\n".join(
        f"{language}, case {one['number']}: {one['said']}\n{one['label']}\n{one['why']}\n"
        f"again: make fuzz SEED={seed} CASE={one['number']}"
        for one in counts.failures[:most]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; 1 where a case failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--case", type=int, default=None, help="this one only")
    parser.add_argument("--bare", type=int, default=None, help="cases for the bare functions, too")
    parser.add_argument("--family", choices=("small", "full"), default="full")
    options = parser.parse_args(arguments)
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    first, last = (0, options.cases) if options.case is None else (options.case, options.case + 1)
    print(f"seed {seed}, cases {first} to {last - 1}, each in {' and '.join(LANGUAGES)}")
    # A store of its own: 200 kernels are of no use to anyone else, and make clean removes them.
    os.environ.setdefault("KIT_CACHE_DIR", str(ROOT / "build" / "fuzz"))
    began = time.monotonic()
    counts = run_cases("kit", options.family, seed, first, last)
    for language, found in counts.items():
        print(f"\n{outcome_table(language, found)}")
    print(f"\n{time.monotonic() - began:.0f} s")
    bare = min(2000, last // 10) if options.bare is None else options.bare
    if bare and options.case is None:
        print(f"\n{bare_table(run_cases('bare', options.family, seed, 0, bare))}")
    print(f"\nOne case again: make fuzz SEED={seed} CASE=number")
    for language, found in counts.items():
        if found.failures:
            print(f"\n{describe_failures(seed, language, found)}")
    return int(any(found.total[one] for found in counts.values() for one in FAILED))


if __name__ == "__main__":
    sys.exit(main())

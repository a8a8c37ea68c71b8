"""How the benchmarks measure: pairs in turn, medians, children with a store of their own."""

from __future__ import annotations

import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = [
    "Overhead",
    "Row",
    "child_seconds",
    "machine",
    "median_of",
    "paired_medians",
    "paired_overheads",
    "run_child",
    "timed_loop",
]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure of a benchmark.

    Parameters
    ----------
    figure : str
        What was measured.
    value, unit : float, str
        The median that kit reached.
    must : str
        What the issue asks for.
    met : bool or None
        Whether it was reached; None where nothing is asked.
    peers : mapping of str to float
        The same figure for others, same unit, same run.
    note : str
        What bounds it, how often it ran.
    """

    figure: str
    value: float
    unit: str
    must: str = ""
    met: bool | None = None
    peers: Mapping[str, float]
    note: str = ""

    def as_json(self) -> dict[str, object]:
        """Plain values, for the results file."""
        return asdict(self)


def paired_medians(
    candidates: Mapping[str, Callable[[], object]], *, rounds: int, inner: int = 1
) -> dict[str, float]:
    """Median seconds of each candidate, run in turn so that drift of the machine hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for run in candidates.values():
        run()
    for _ in range(rounds):
        for name, run in candidates.items():
            start = time.perf_counter()
            for _ in range(inner):
                run()
            times[name].append((time.perf_counter() - start) / inner)
    return {name: statistics.median(values) for name, values in times.items()}


@dataclass(frozen=True, kw_only=True)
class Overhead:
    """What one call costs more than another [s].

    Parameters
    ----------
    median, low, high : float
        Median and quartiles of the differences.
    base : float
        Median of the other call.
    """

    median: float
    low: float
    high: float
    base: float


def timed_loop(
    function: Callable[..., object],
    args: Sequence[object],
    kwargs: Mapping[str, object] | None = None,
) -> Callable[[int], float]:
    """A loop that makes one call, written out with its arguments, and returns its seconds.

    A lambda around the call, or ``function(*args)``, costs as much as what is to be measured.
    """
    names = [f"a{index}" for index in range(len(args))]
    keywords = kwargs or {}
    text = ", ".join([*names, *(f"{name}=k_{name}" for name in keywords)])
    source = f"""
def loop(count):
    {"".join(f"{name} = given[{index}]; " for index, name in enumerate(names))}
    {"".join(f"k_{name} = named[{name!r}]; " for name in keywords)}
    call = function
    start = clock()
    for _ in repeat(None, count):
        call({text})
    return clock() - start
"""
    scope: dict[str, Any] = {
        "given": args,
        "named": keywords,
        "function": function,
        "clock": time.perf_counter,
        "repeat": itertools.repeat,
    }
    exec(source, scope)
    return scope["loop"]


def paired_overheads(
    base: Callable[[int], float],
    others: Mapping[str, Callable[[int], float]],
    *,
    rounds: int,
    seconds: float = 1e-4,
) -> dict[str, Overhead]:
    """What one call of each loop costs over one of `base`, from differences of neighbours in time.

    Each sample takes about `seconds`: long against the clock, and short against the time for which
    the system runs a process without another in between. `base` runs before and after each of the
    others, so that a drift of the machine cancels.
    """
    counts = {one: max(1, round(seconds / _seconds_of(one))) for one in (base, *others.values())}
    differences: dict[str, list[float]] = {name: [] for name in others}
    bases: list[float] = []
    before = base(counts[base]) / counts[base]
    for _ in range(rounds):
        for name, loop in others.items():
            own = loop(counts[loop]) / counts[loop]
            after = base(counts[base]) / counts[base]
            differences[name].append(own - (before + after) / 2)
            bases.append(after)
            before = after
    found: dict[str, Overhead] = {}
    for name, values in differences.items():
        low, middle, high = statistics.quantiles(values, n=4)
        found[name] = Overhead(median=middle, low=low, high=high, base=statistics.median(bases))
    return found


def _seconds_of(loop: Callable[[int], float]) -> float:
    loop(100)
    return min(loop(10) for _ in range(20)) / 10


def run_child(code: str, *, cache: str, env: Mapping[str, str] | None = None) -> dict[str, object]:
    """Run Python code in a fresh process; its last line of output is JSON."""
    # Users have byte code; without it an import measures the compiler of Python.
    kept = {key: one for key, one in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    # f2py looks for meson on the PATH, as an activated environment has it.
    kept["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    with tempfile.TemporaryDirectory() as cwd:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=cwd,
            env={**kept, "KIT_CACHE_DIR": cache, "KIT_PREWARM": "0", **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"benchmark child failed:\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def child_seconds(
    codes: Mapping[str, str],
    *,
    rounds: int,
    fresh_store: bool,
    env: Mapping[str, str] | None = None,
) -> dict[str, list[float]]:
    """Seconds that each child reports about itself (``{"seconds": s}``), in turn.

    With `fresh_store` every child finds an empty artifact store; otherwise all share one, which a
    first uncounted round fills.
    """
    times: dict[str, list[float]] = {name: [] for name in codes}
    with tempfile.TemporaryDirectory() as shared:
        for count in range(rounds + (not fresh_store)):
            for name, code in codes.items():
                with tempfile.TemporaryDirectory() as own:
                    reply = run_child(code, cache=own if fresh_store else shared, env=env)
                if fresh_store or count:
                    times[name].append(float(str(reply["seconds"])))
    return times


_PACKAGES = ("numpy", "pyccel", "numba", "cython", "cunumpy", "pybind11")


def machine() -> dict[str, str]:
    """What the numbers were measured on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return {
        "processor": model,
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def median_of(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Median of each list."""
    return {name: statistics.median(values) for name, values in times.items()}

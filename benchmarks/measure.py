"""How the benchmarks measure: pairs in turn, medians, children with a store of their own."""

from __future__ import annotations

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

__all__ = ["Row", "child_seconds", "machine", "median_of", "paired_medians", "run_child"]


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
        **{name: _version(name) for name in ("numpy", "pyccel", "numba", "cython", "cunumpy")},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def median_of(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Median of each list."""
    return {name: statistics.median(values) for name, values in times.items()}

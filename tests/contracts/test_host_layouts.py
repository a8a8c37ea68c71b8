"""Every row of the table of layouts against NumPy: no death, no wrong number.

The calls run in a child process, because the bare functions die on many of these arrays; a death is
attributed to the case that was announced last.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.terms import Language
from tests.contracts.host_layouts import cases
from tests.contracts.host_probes import Probes

ROOT = Path(__file__).resolve().parents[2]
ROWS = list(dict.fromkeys(case.row for case in cases(Path())))
LANGUAGES: list[Language] = ["fortran", "c"]


def run_child(probes: Probes, folder: Path) -> list[dict[str, Any]]:
    """What the child said about each case."""
    command = [sys.executable, "-W", "error", "-m", "tests.contracts.host_child"]
    command += [str(probes.path), probes.language, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    started = [line["start"] for line in lines if "start" in line]
    last = started[-1] if started else "the imports"
    finished = bool(lines) and "finished" in lines[-1]
    assert finished, f"the child ended with {done.returncode} in: {last}\n{done.stderr[-2000:]}"
    return [line for line in lines if "ok" in line]


def failures(reports: list[dict[str, Any]]) -> str:
    return "\n".join(f"{one['label']}\n{one['why']}" for one in reports if not one["ok"])


@pytest.fixture(scope="session")
def layout_reports(
    probes_of: Callable[[Language], Probes], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Language], list[dict[str, Any]]]:
    made: dict[Language, list[dict[str, Any]]] = {}

    def get(language: Language) -> list[dict[str, Any]]:
        if language not in made:
            folder = tmp_path_factory.mktemp("maps")
            made[language] = run_child(probes_of(language), folder)
        return made[language]

    return get


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("row", ROWS)
def test_layout_gives_the_right_values_or_a_refusal_whose_fix_works(
    row: str, language: Language, layout_reports: Callable[[Language], list[dict[str, Any]]]
) -> None:
    reports = [one for one in layout_reports(language) if one["label"].startswith(f"{row} [")]
    assert reports
    assert not failures(reports)


HAZARDS = {
    "zero stride": "module.fold_float64_1C(np.broadcast_to(np.array(2.0), (3,)))",
    "negative inner stride, c": "module.fold_float64_1C(np.ones(4)[::-1])",
    "middle step": "module.fold_float64_3C(np.arange(60.0).reshape(3, 5, 4)[:, ::2])",
    "np.True_": "module.scalars(np.True_, 0, 0.0, 0j)",
}


def bare(probes: Probes, expression: str) -> tuple[int, str]:
    """Exit status and printed value of a bare call in a child of its own."""
    code = (
        "import numpy as np; from pathlib import Path; from tests.contracts.host_probes import *\n"
        f"module = load_extension(Path({str(probes.path)!r})); print({expression})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout.strip()


def test_bare_functions_still_have_the_hazards_that_the_boundary_is_for(probes: Probes) -> None:
    """Where a new Pyccel repairs one, the rules can become wider: look at facts again."""
    right = probes.python["fold_float64_1C"](np.full(3, 2.0))
    assert bare(probes, HAZARDS["zero stride"]) != (0, str(right))
    right = probes.python["fold_float64_3C"](np.arange(60.0).reshape(3, 5, 4)[:, ::2])
    assert bare(probes, HAZARDS["middle step"]) != (0, str(float(right)))
    assert bare(probes, HAZARDS["np.True_"]) == (0, "0j")
    if probes.language == "c":
        assert bare(probes, HAZARDS["negative inner stride, c"])[0] < 0

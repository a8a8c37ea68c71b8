"""Arrays that a kernel leaves in an object: never a copy of kit's, and alive while it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kit.terms import Language
from tests.contracts.kept_child import CASES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("language", ["fortran", "c"])
@pytest.mark.parametrize("case", CASES)
def test_what_an_object_points_at_is_right(case: str, language: Language) -> None:
    command = [sys.executable, "-m", "tests.contracts.kept_child", language, case]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""

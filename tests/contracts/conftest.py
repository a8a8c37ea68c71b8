"""The probe kernels, compiled once per session and language."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kit.terms import Language
from tests.contracts.host_probes import Probes, compile_probes


@pytest.fixture(scope="session")
def probes_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Language], Probes]:
    """The probes of a language."""
    made: dict[Language, Probes] = {}

    def get(language: Language) -> Probes:
        if language not in made:
            folder: Path = tmp_path_factory.mktemp(f"probes_{language}")
            made[language] = Probes(compile_probes(folder, language), language)
        return made[language]

    return get


@pytest.fixture(params=["fortran", "c"])
def probes(request: pytest.FixtureRequest, probes_of: Callable[[Language], Probes]) -> Probes:
    """The probes, once in each language."""
    return probes_of(request.param)

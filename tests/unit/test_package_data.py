"""Every file that kit reads at run time is in the package, not only in the checkout."""

from __future__ import annotations

import tomllib
from pathlib import Path

import kit

PACKAGE = Path(kit.__file__).parent


def test_every_header_and_source_of_kit_is_package_data() -> None:
    with (PACKAGE.parent / "pyproject.toml").open("rb") as file:
        patterns = tomllib.load(file)["tool"]["setuptools"]["package-data"]
    packaged = {
        path
        for package, globs in patterns.items()
        for one in globs
        for path in PACKAGE.parent.joinpath(*package.split(".")).glob(one)
    }
    suffixes = {".c", ".cpp", ".h", ".cuh", ".typed"}
    found = {path for path in PACKAGE.rglob("*") if path.suffix in suffixes}
    assert {"array_view.cuh", "reduce.cuh"} <= {path.name for path in found}
    assert sorted(found - packaged) == []

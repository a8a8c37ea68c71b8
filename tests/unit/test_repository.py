"""The repository's own promises: the files that name packages agree, and imports stay cheap."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]

# The names that conda-forge has for packages called otherwise in pyproject.toml.
CONDA_NAMES = {
    "cupy-cuda12x": "cupy",
    "matplotlib": "matplotlib-base",
    "ml-dtypes": "ml_dtypes",
    "nvidia-cuda-cccl": "cuda-cccl",
    "nvidia-cuda-nvrtc-cu12": "cuda-nvrtc",
    "nvidia-cuda-runtime-cu12": "cuda-cudart-dev",
    "playwright": "playwright-python",
}
# conda-forge's CCCL is versioned with the toolkit; the environment's cuda-version decides.
VERSIONED_OTHERWISE = {"cuda-cccl"}
# What pip takes for granted: the language, the compilers, the toolkit's version, pip itself.
CONDA_ONLY = {
    "c-compiler",
    "cuda-version",
    "cxx-compiler",
    "fortran-compiler",
    "gcc",
    "gfortran",
    "gxx",
    "pip",
    "python",
    "setuptools",
}


def split_requirement(text: str) -> tuple[str, str]:
    """Name, without its extras, and version range of a requirement, without its markers.

    >>> split_requirement("pyright[nodejs]>=1.1; sys_platform == 'linux'")
    ('pyright', '>=1.1')
    """
    match = re.fullmatch(r"([A-Za-z0-9._-]+?)(?:\[[^]]*\])?\s*([<>=!~][^;]*)?(?:;.*)?", text)
    assert match, text
    return match[1].lower(), (match[2] or "").replace(" ", "")


def conda_requirements(file: str) -> dict[str, str]:
    lines = (ROOT / file).read_text(encoding="utf-8").partition("dependencies:")[2].splitlines()
    named = (line.strip()[2:] for line in lines if line.startswith(("  - ", "      - ")))
    found = dict(split_requirement(one) for one in named if one != "pip:")
    # What an environment takes from pip has pip's name there.
    return {CONDA_NAMES.get(name, name): versions for name, versions in found.items()}


def pip_requirements(*extras: str) -> dict[str, str]:
    wanted = PROJECT["dependencies"] + [one for extra in extras for one in EXTRAS[extra]]
    named = (split_requirement(one) for one in wanted)
    return {CONDA_NAMES.get(name, name): versions for name, versions in named}


@pytest.mark.parametrize("file", ["environment.yml", "environment-cpu.yml"])
def test_conda_environments_name_what_pyproject_names(file: str) -> None:
    conda = conda_requirements(file)
    pip = pip_requirements("lab", "test", "cuda")
    if file == "environment-cpu.yml":
        del pip["cupy"]  # launches on GPUs only
    for name in VERSIONED_OTHERWISE & pip.keys():
        pip[name] = conda.get(name, "not named")
    assert {name: conda[name] for name in conda.keys() - CONDA_ONLY} == pip


def test_conda_environments_have_the_compilers_and_the_python_of_pyproject() -> None:
    for file in ("environment.yml", "environment-cpu.yml"):
        conda = conda_requirements(file)
        assert conda["python"] == PROJECT["requires-python"]
        assert {"c-compiler", "cxx-compiler", "fortran-compiler", "gfortran"} <= conda.keys()


def test_constraints_hold_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    odd = [one for one in lines if not re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", one)]
    assert odd == []
    assert lines == sorted(set(lines))
    assert "pyccel-kit" not in {one.partition("==")[0] for one in lines}


def test_constraints_fix_every_package_that_pyproject_names() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    fixed = {one.partition("==")[0] for one in lines}
    wanted = PROJECT["dependencies"] + [one for extra in EXTRAS.values() for one in extra]
    assert {split_requirement(one)[0] for one in wanted} - fixed == set()


def test_every_make_target_is_explained_by_make_help() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony
    explained = set(re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE))
    assert set(phony[1].split()) == explained
    promised = {"setup", "demo", "test", "lab", "lint", "bench", "fuzz", "gpu-check", "constraints"}
    assert promised <= explained


def test_the_map_of_the_architecture_names_every_module() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = page.partition("## Map")[2].partition("\n## ")[0]
    rows = "\n".join(row for row in rows.splitlines() if not row.startswith("| &nbsp;"))
    named = {
        name.strip("/") for name in re.findall(r"`([a-z_]+/?)`(?=[^|]*\|[^|]*\|$)", rows, re.M)
    }
    there = {path.stem for path in (ROOT / "kit").glob("*.py")} - {
        "__init__",
        "__main__",
        "_worker",
    }
    packages = {path.parent.name for path in (ROOT / "kit").glob("*/__init__.py")}
    assert named == there | packages


def test_every_decision_is_in_the_table_of_decisions() -> None:
    folder = ROOT / "docs" / "decisions"
    table = (folder / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\| \[(\d{4})\]\((\1-[a-z0-9-]+\.md)\) \| (.+) \|", table)
    titles = {
        path.name: path.read_text(encoding="utf-8").splitlines()[0]
        for path in folder.glob("[0-9]*.md")
    }
    assert titles == {file: f"# {number}: {title}" for number, file, title in linked}


def test_importing_kit_loads_no_toolchain_and_no_notebook_library() -> None:
    heavy = {
        "IPython",
        "anywidget",
        "cupy",
        "filelock",
        "importlib.metadata",
        "ipywidgets",
        "matplotlib",
        "platformdirs",
        "pyccel",
    }
    code = f"import kit, sys; print(sorted({heavy!r} & set(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"

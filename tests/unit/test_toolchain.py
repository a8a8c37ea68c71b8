"""Which compilers are found, and what an artifact's identity depends on."""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import sys
import time
from pathlib import Path

import pytest

from kit.backends import identity, packages
from kit.backends.identity import identify_toolchain
from kit.errors import BuildError
from kit.toolchain import DEFAULT_FLAGS, find_compilers


def make_program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without compilers; its PATH is one empty directory, which is returned."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for name in ("CC", "FC", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "python"))
    return directory


def test_compilers_on_path_are_found_and_c_needs_no_gfortran(bare: Path) -> None:
    gcc = make_program(bare / "gcc")
    assert find_compilers("c") == {"c": str(gcc)}
    gfortran = make_program(bare / "gfortran")
    assert find_compilers("fortran") == {"c": str(gcc), "fortran": str(gfortran)}


def test_a_machine_without_compilers_gets_the_apt_and_the_conda_line(bare: Path) -> None:
    with pytest.raises(BuildError, match="no C compiler") as caught:
        find_compilers("fortran")
    assert "sudo apt-get install gcc gfortran" in str(caught.value.fix)
    assert "conda install -c conda-forge compilers" in str(caught.value.fix)


def test_missing_gfortran_also_offers_c(bare: Path) -> None:
    make_program(bare / "gcc")
    with pytest.raises(BuildError, match="no Fortran compiler") as caught:
        find_compilers("fortran")
    assert "apt-get install gfortran" in str(caught.value.fix)
    assert "--language c" in str(caught.value.fix)


def test_the_environment_of_this_python_comes_before_all_others(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    (python / "conda-meta").mkdir(parents=True)
    on_path = make_program(bare / "gcc")
    other = make_program(tmp_path / "other" / "bin" / "gcc")
    variable = make_program(tmp_path / "cc" / "gcc-13")
    assert find_compilers("c")["c"] == str(on_path)
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "other"))
    assert find_compilers("c")["c"] == str(other)
    monkeypatch.setenv("CC", str(variable))
    assert find_compilers("c")["c"] == str(variable)
    # conda-forge's compilers have long names only
    machine = os.uname().machine
    own = make_program(python / "bin" / f"{machine}-conda-linux-gnu-gcc")
    assert find_compilers("c")["c"] == str(own)


@pytest.mark.parametrize("value", ["icx", "/opt/intel/bin/icx", "gcc", "ccache gcc"])
def test_a_variable_that_names_no_gnu_compiler_by_path_is_ignored(
    bare: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    gcc = make_program(bare / "gcc")
    monkeypatch.setenv("CC", value)
    assert find_compilers("c")["c"] == str(gcc)


def test_relative_path_entries_and_plain_files_are_passed_over(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc = make_program(bare / "gcc")
    make_program(tmp_path / "here" / "gcc")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "gcc").write_text("not executable")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(["here", "", str(tmp_path / "data"), str(bare)]))
    assert find_compilers("c")["c"] == str(gcc)


def test_a_compiler_cache_gives_way_to_the_compiler_behind_it(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = make_program(tmp_path / "ccache")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "gcc").symlink_to(cache)
    gcc = make_program(bare / "gcc")
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "links"), str(bare)]))
    assert find_compilers("c")["c"] == str(gcc)


def test_native_windows_is_told_to_use_wsl2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(BuildError, match="Windows") as caught:
        find_compilers("c")
    assert "WSL2" in str(caught.value.fix)


def test_identity_changes_with_everything_that_changes_an_artifact(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc = make_program(bare / "gcc")
    make_program(bare / "gfortran")
    seen = {"plain": identify_toolchain("c", None, False)}
    assert identify_toolchain("c", None, False) == seen["plain"]
    seen["flags"] = identify_toolchain("c", ("-O2",), False)
    seen["flag order"] = identify_toolchain("c", ("-O2", "-g"), False)
    seen["flag border"] = identify_toolchain("c", ("-O2 -g",), False)
    seen["openmp"] = identify_toolchain("c", None, True)
    seen["language"] = identify_toolchain("fortran", None, False)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/lib")
    seen["run-time path"] = identify_toolchain("c", None, False)
    monkeypatch.delenv("LD_LIBRARY_PATH")
    gcc.write_text("#!/bin/sh\n# new version\n")
    seen["compiler"] = identify_toolchain("c", None, False)
    texts = [repr(sorted(identity.items())) for identity in seen.values()]
    assert len(set(texts)) == len(seen)
    assert all(isinstance(text, str) for one in seen.values() for text in one.values())


def test_the_processor_counts_only_where_the_flags_ask_for_it(bare: Path) -> None:
    make_program(bare / "gcc")
    assert "cpu" not in identify_toolchain("c", ("-O3",), False)
    assert len(identify_toolchain("c", ("-march=native",), False)["cpu"]) == 16


def test_identity_is_cheap_and_neither_runs_a_process_nor_imports_pyccel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = set(sys.modules)
    identify_toolchain("fortran", None, False)

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if active and event in {"subprocess.Popen", "os.fork", "os.posix_spawn"}:
            raise AssertionError(event)

    active = True
    sys.addaudithook(refuse)
    try:
        times: list[float] = []
        for _ in range(20):
            started = time.perf_counter()
            identify_toolchain("fortran", None, False)
            times.append(time.perf_counter() - started)
    finally:
        active = False
    assert min(times) < 0.002
    assert not {name for name in set(sys.modules) - before if name.split(".")[0] == "pyccel"}


@pytest.mark.parametrize("version", ["2.2.2", "2.3.0", "3.0"])
def test_an_untested_pyccel_is_refused_with_the_line_that_installs_a_tested_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    (tmp_path / "version.py").write_text(f'__version__ = "{version}"\n')
    monkeypatch.setattr(identity, "find_package", lambda name: tmp_path)
    with pytest.raises(BuildError, match=version) as caught:
        identify_toolchain("c", None, False)
    assert caught.value.fix == 'python -m pip install "pyccel>=2.2.3,<2.3"'


@pytest.mark.parametrize("stranger", ["pyccel.py", "pyccel/notes.txt", "pyccel/__init__.py"])
def test_what_is_called_pyccel_beside_the_notebook_is_not_taken_for_pyccel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stranger: str
) -> None:
    usual = packages.find_package("pyccel")
    (tmp_path / stranger).parent.mkdir(exist_ok=True)
    (tmp_path / stranger).write_text("raise SystemExit('imported')\n")
    monkeypatch.chdir(tmp_path)
    for name in [one for one in sys.modules if one.partition(".")[0] == "pyccel"]:
        monkeypatch.delitem(sys.modules, name)
    for entries in (["", *sys.path], [str(tmp_path), *sys.path]):
        monkeypatch.setattr(sys, "path", entries)
        importlib.invalidate_caches()
        assert packages.find_package("pyccel") == usual
    monkeypatch.chdir("/")
    if stranger != "pyccel/__init__.py":  # beside a script that is run from elsewhere
        assert packages.find_package("pyccel") == usual


def test_a_pyccel_that_is_only_in_the_working_directory_is_pyccel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyccel").mkdir()
    (tmp_path / "pyccel" / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    for name in [one for one in sys.modules if one.partition(".")[0] == "pyccel"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "meta_path", [importlib.machinery.PathFinder])
    importlib.invalidate_caches()
    assert packages.find_package("pyccel") == tmp_path / "pyccel"
    with pytest.raises(BuildError, match="cannot be read"):
        identify_toolchain("c", None, False)


def test_a_missing_pyccel_is_an_error_with_a_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "find_package", lambda name: None)
    with pytest.raises(BuildError, match="not installed") as caught:
        identify_toolchain("c", None, False)
    assert "pip install" in str(caught.value.fix)


def test_default_flags_change_no_values() -> None:
    assert "-O3" in DEFAULT_FLAGS
    unsafe = {"-Ofast", "-ffast-math", "-funsafe-math-optimizations", "-ffinite-math-only"}
    assert not unsafe & set(DEFAULT_FLAGS)

"""Loading: what was hashed is what runs, once for each module name."""

from __future__ import annotations

import ctypes
import importlib.machinery
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kit.cache import ArtifactUnusable, Store
from kit.errors import CacheError
from kit.store import loading
from kit.store.loading import load_descriptor, sha256_hex, unique_alias
from tests.unit.small_artifacts import KEY, OTHER_KEY, compile_module, module_builder

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc/self/fd")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def _load(path: Path, name: str) -> object:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return load_descriptor(
            descriptor, module_name=name, sha256=sha256_hex(path.read_bytes()), path=path
        )
    finally:
        os.close(descriptor)


@on_linux
def test_two_artifacts_through_one_descriptor_number_are_two_libraries(tmp_path: Path) -> None:
    # The same module name in two directories would be the strictest case, but a name is loaded
    # once; the linker's own list goes by file name, which is what this is about.
    numbers: list[int] = []
    values: list[object] = []
    for number, name in enumerate(("kit_fd_one", "kit_fd_two", "kit_fd_three")):
        path = compile_module(tmp_path, name, number)
        descriptor = os.open(path, os.O_RDONLY)
        numbers.append(descriptor)
        module = load_descriptor(
            descriptor, module_name=name, sha256=sha256_hex(path.read_bytes()), path=path
        )
        os.close(descriptor)
        values.append(module.value)
    assert len(set(numbers)) == 1
    assert values == [0, 1, 2]


@on_linux
def test_the_plain_path_of_a_descriptor_would_have_given_the_old_library(tmp_path: Path) -> None:
    # Why `unique_alias` exists. If this fails, the C library has changed and the alias may go.
    script = f"""
import ctypes, os
def open_plain(path):
    descriptor = os.open(path, os.O_RDONLY)
    library = ctypes.CDLL(f"/proc/self/fd/{{descriptor}}")
    os.close(descriptor)
    return library
first = open_plain({str(compile_module(tmp_path, "kit_plain_a", 1))!r})
second = open_plain({str(compile_module(tmp_path, "kit_plain_b", 2))!r})
raise SystemExit(hasattr(second, "PyInit_kit_plain_b"))
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@on_linux
def test_aliases_stay_different_short_and_readable() -> None:
    with Path(os.devnull).open() as file:
        aliases = [unique_alias(file.fileno(), Path(os.devnull)) for _ in range(2000)]
        assert len(set(aliases)) == 2000
        assert max(map(len, aliases)) < 80
        assert all(Path(alias).samefile(os.devnull) for alias in aliases)


def test_where_descriptors_have_no_path_the_file_is_opened_by_its_own(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, _ = store.build_once(KEY, module_builder(KEY, 3), label="f")
    monkeypatch.setattr(loading.sys, "platform", "darwin")
    assert unique_alias(0, entry.artifact) == str(entry.artifact)
    assert store.load(entry).value == 3


@on_linux
def test_what_was_hashed_is_loaded_when_the_path_is_exchanged_in_between(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, _ = store.build_once(KEY, module_builder(KEY, 1), label="f")
    evil = compile_module(tmp_path, entry.module_name, 666)

    def exchange(content: bytes) -> str:
        evil.replace(entry.artifact)
        return sha256_hex(content)

    monkeypatch.setattr(loading, "sha256_hex", exchange)
    assert store.load(entry).value == 1


def test_a_module_is_loaded_once_also_by_threads_and_other_stores(store: Store) -> None:
    entry, _ = store.build_once(KEY, module_builder(KEY, 1), label="f")
    modules: list[object] = []
    threads = [
        threading.Thread(target=lambda: modules.append(Store(store.root).load(entry)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(modules) == 8
    assert len({id(module) for module in modules}) == 1


def test_a_rebuilt_kernel_runs_its_new_code_and_the_old_module_keeps_its_own(store: Store) -> None:
    old = store.load(store.build_once(KEY, module_builder(KEY, 1), label="f")[0])
    new = store.load(store.build_once(KEY, module_builder(KEY, 2), label="f", force=True)[0])
    assert (old.value, new.value) == (1, 2)


def test_a_module_says_where_it_lies(store: Store) -> None:
    entry, _ = store.build_once(OTHER_KEY, module_builder(OTHER_KEY, 1), label="f")
    module = store.load(entry)
    assert module.__file__ == str(entry.artifact)
    assert module.__name__ == entry.module_name
    assert module.__spec__ is not None
    assert module.__spec__.origin == str(entry.artifact)
    assert entry.artifact.name.endswith(importlib.machinery.EXTENSION_SUFFIXES[0])


def _open_descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def test_no_descriptor_stays_open(store: Store) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("counts /proc/self/fd")
    before = _open_descriptors()
    entry, _ = store.build_once(KEY, module_builder(KEY, 1), label="f")
    store.load(entry)
    entry.artifact.unlink()
    assert store.lookup(KEY) is None
    store.clear()
    assert _open_descriptors() == before


def test_a_library_without_the_modules_init_function_is_unusable(tmp_path: Path) -> None:
    path = compile_module(tmp_path, "kit_named_otherwise", 1)
    with pytest.raises(ArtifactUnusable, match="does not load"):
        _load(path, "kit_expected_name")


def test_a_file_system_that_nothing_may_be_run_from_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(b"no library")
    monkeypatch.setattr(loading, "_is_noexec", lambda path: True)
    with pytest.raises(CacheError, match="noexec") as caught:
        _load(path, "kit_noexec")
    assert not isinstance(caught.value, ArtifactUnusable)  # building again would not help
    assert "export KIT_CACHE_DIR=" in caught.value.fix


def test_the_files_own_flags_tell_noexec(tmp_path: Path) -> None:
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        pytest.skip("reads /proc/self/mounts")
    for line in mounts.read_text().splitlines():
        _, place, _, options, *_ = line.split()
        if "noexec" in options.split(",") and Path(place).is_dir():
            assert loading._is_noexec(Path(place) / "x")
            break
    assert not loading._is_noexec(Path(ctypes.__file__))

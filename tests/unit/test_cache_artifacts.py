"""Artifacts that are no Python modules: bytes to read, and plain shared libraries."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kit.cache import ArtifactUnusable, Built, Entry, Store, unique_module_name
from kit.errors import CacheError
from kit.store import loading
from kit.store.loading import sha256_hex
from tests.unit.small_artifacts import KEY, OTHER_KEY, bytes_builder

CUBINS = bytes(range(256)) * 3
STRANGER = 12345

Use = Callable[[Store, Entry], object]
USES: dict[str, Use] = {
    "read": lambda store, entry: store.read_artifact(entry),
    "open": lambda store, entry: store.open_library(entry),
}
each_use = pytest.mark.parametrize("use", USES.values(), ids=USES)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def library_builder(value: int) -> Callable[[Path], Built]:
    def build(scratch: Path) -> Built:
        source, artifact = scratch / "value.c", scratch / "value.so"
        source.write_text(f"int value(void) {{ return {value}; }}\n")
        command = ["gcc", "-shared", "-fPIC", "-O0", str(source), "-o", str(artifact)]
        subprocess.run(command, check=True, capture_output=True)
        return Built(artifact=artifact, module_name=unique_module_name(KEY), meta={})

    return build


def test_the_bytes_that_were_built_are_read(store: Store) -> None:
    entry, _ = store.build_once(KEY, bytes_builder(KEY, CUBINS), label="f")
    assert store.read_artifact(entry) == CUBINS
    assert Store(store.root).read_artifact(entry) == CUBINS


def test_a_library_is_opened_once_for_each_build(store: Store) -> None:
    entry, _ = store.build_once(KEY, library_builder(7), label="f")
    library = store.open_library(entry)
    assert library.value() == 7
    entry.artifact.unlink()  # what runs is in memory
    assert Store(store.root).open_library(entry) is library


def test_a_library_that_was_built_anew_runs_its_new_code_beside_the_old(store: Store) -> None:
    old = store.open_library(store.build_once(KEY, library_builder(1), label="f")[0])
    new = store.open_library(store.build_once(KEY, library_builder(2), label="f", force=True)[0])
    assert (old.value(), new.value()) == (1, 2)


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@each_use
@pytest.mark.parametrize("damage", [_flip, _truncate, Path.unlink], ids=lambda one: one.__name__)
def test_what_was_damaged_is_not_used_and_built_again(
    store: Store, use: Use, damage: Callable[[Path], None]
) -> None:
    entry, _ = store.build_once(KEY, library_builder(1), label="f")
    damage(entry.artifact)
    with pytest.raises(ArtifactUnusable):
        use(store, entry)
    again, was_built = store.build_once(KEY, library_builder(2), label="f")
    assert was_built
    assert store.open_library(again).value() == 2


@each_use
@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_what_others_can_write_is_not_used(store: Store, use: Use, mode: int) -> None:
    entry, _ = store.build_once(KEY, library_builder(1), label="f")
    entry.artifact.chmod(mode)
    with pytest.raises(CacheError, match="can be written by others") as caught:
        use(store, entry)
    assert not isinstance(caught.value, ArtifactUnusable)  # to build it again would hide it


@each_use
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_a_stranger_is_not_used(store: Store, use: Use) -> None:
    entry, _ = store.build_once(KEY, library_builder(1), label="f")
    os.chown(entry.artifact, STRANGER, STRANGER)
    with pytest.raises(CacheError, match="belongs to"):
        use(store, entry)


@each_use
def test_a_link_in_the_place_of_an_artifact_is_not_followed(
    store: Store, use: Use, tmp_path: Path
) -> None:
    entry, _ = store.build_once(KEY, library_builder(1), label="f")
    other = tmp_path / "other.so"
    entry.artifact.rename(other)
    entry.artifact.symlink_to(other)
    with pytest.raises(CacheError):
        use(store, entry)


def test_what_is_no_library_is_unusable_and_forgotten(store: Store) -> None:
    entry, _ = store.build_once(OTHER_KEY, bytes_builder(OTHER_KEY), label="f")
    with pytest.raises(ArtifactUnusable, match="does not load"):
        store.open_library(entry)
    assert store.inspect(OTHER_KEY)[0] is None


def test_a_library_with_a_missing_symbol_is_unusable_at_once(store: Store) -> None:
    def build(scratch: Path) -> Built:
        source, artifact = scratch / "calls.c", scratch / "calls.so"
        source.write_text("int kit_nowhere(void);\nint value(void) { return kit_nowhere(); }\n")
        command = ["gcc", "-shared", "-fPIC", str(source), "-o", str(artifact)]
        subprocess.run(command, check=True, capture_output=True)
        return Built(artifact=artifact, module_name=unique_module_name(KEY), meta={})

    entry, _ = store.build_once(KEY, build, label="f")
    with pytest.raises(ArtifactUnusable, match="kit_nowhere"):
        store.open_library(entry)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc/self/fd")
def test_what_was_hashed_is_opened_when_the_path_is_exchanged_in_between(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, _ = store.build_once(KEY, library_builder(1), label="f")
    evil = library_builder(666)(tmp_path).artifact

    def exchange(content: bytes) -> str:
        evil.replace(entry.artifact)
        return sha256_hex(content)

    monkeypatch.setattr(loading, "sha256_hex", exchange)
    assert store.open_library(entry).value() == 1


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts /proc/self/fd")
def test_no_descriptor_stays_open(store: Store) -> None:
    entry, _ = store.build_once(KEY, library_builder(3), label="f")
    before = {path.name for path in Path("/proc/self/fd").iterdir()}
    assert isinstance(store.open_library(entry), ctypes.CDLL)
    store.read_artifact(entry)
    entry.artifact.unlink()
    with pytest.raises(ArtifactUnusable):
        store.read_artifact(entry)
    assert {path.name for path in Path("/proc/self/fd").iterdir()} == before

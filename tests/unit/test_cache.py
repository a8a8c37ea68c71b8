"""The artifact store: what it finds, what it builds, and what it does about damage."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kit.cache import ArtifactUnusable, Built, Entry, Store, digest, open_store, unique_module_name
from kit.errors import CacheError
from tests.unit.small_artifacts import KEY, OTHER_KEY, bytes_builder, module_builder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def _must_not_build(scratch: Path) -> Built:
    raise AssertionError("built although there is an entry")


def _put(store: Store, key: str = KEY, content: bytes = b"content", **options: object) -> Entry:
    return store.build_once(key, bytes_builder(key, content), label="f")[0]


def _files_below(directory: Path) -> list[str]:
    return sorted(str(p.relative_to(directory)) for p in directory.rglob("*") if p.is_file())


# ---- finding and building -------------------------------------------------------------------


def test_nothing_is_created_before_the_first_build(store: Store) -> None:
    assert store.lookup(KEY) is None
    assert store.last_miss_reason == "new"
    assert (store.list(), store.size_bytes(), store.clear(), store.verify()) == ((), 0, 0, ())
    assert not store.root.exists()


def test_a_build_is_published_with_its_metadata_and_found_again(store: Store) -> None:
    meta = {"log": "gfortran \u2026", "generated": {"f.f90": "end"}, "seconds": 0.5, "none": None}
    entry, was_built = store.build_once(KEY, bytes_builder(KEY, b"abc", meta=meta), label="f")
    assert was_built
    found = Store(store.root).lookup(KEY)
    assert found == entry
    assert found is not None
    assert found.meta == meta
    assert found.artifact.read_bytes() == b"abc"
    assert found.artifact_bytes == 3
    assert found.sha256 == hashlib.sha256(b"abc").hexdigest()


def test_a_second_request_does_not_build(store: Store) -> None:
    first = _put(store)
    entry, was_built = store.build_once(KEY, _must_not_build, label="f")
    assert (entry, was_built) == (first, False)
    assert store.lookup(KEY) is not None
    assert store.last_miss_reason == ""


def test_force_builds_again_under_a_new_name_and_removes_the_older_object(store: Store) -> None:
    older = _put(store)
    entry, was_built = store.build_once(KEY, bytes_builder(KEY), label="f", force=True)
    assert was_built
    assert entry.module_name != older.module_name
    assert not older.artifact.exists()
    assert store.lookup(KEY) == entry


def test_a_finished_build_leaves_one_entry_and_one_object_and_nothing_else(store: Store) -> None:
    entry = _put(store)
    assert _files_below(store.root) == [
        f"v1/entries/{KEY}.json",
        f"v1/objects/{entry.artifact.name}",
    ]
    assert list((store.root / "v1/scratch").iterdir()) == []


def test_a_hit_leaves_the_store_as_it_was(store: Store) -> None:
    _put(store)
    before = {p: p.stat().st_mtime_ns for p in store.root.rglob("*")}
    assert store.lookup(KEY) is not None
    assert {p: p.stat().st_mtime_ns for p in store.root.rglob("*")} == before


def test_the_working_directory_stays_empty_and_may_be_gone(tmp_path: Path) -> None:
    script = f"""
import os, sys
from pathlib import Path
sys.path[:0] = {sys.path!r}
from kit.cache import open_store
from tests.unit.small_artifacts import KEY, module_builder
cwd = Path("cwd").absolute(); cwd.mkdir(); os.chdir(cwd)
store = open_store()
store.build_once(KEY, module_builder(KEY, 5), label="f")
assert list(cwd.iterdir()) == [], list(cwd.iterdir())
cwd.rmdir()
assert store.load(store.lookup(KEY)).value == 5
entry, built = store.build_once(KEY, module_builder(KEY, 6), label="f", force=True)
assert built and store.load(entry).value == 6
"""
    environment = {**os.environ, "KIT_CACHE_DIR": str(tmp_path / "store")}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True)


def test_a_relative_store_in_a_deleted_working_directory_is_refused_with_a_fix(
    tmp_path: Path,
) -> None:
    script = f"""
import os, sys
sys.path[:0] = {sys.path!r}
from kit.cache import open_store
from kit.errors import CacheError
os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")
try:
    open_store()
except CacheError as error:
    assert "deleted" in error.found and "export KIT_CACHE_DIR=" in error.fix
else:
    raise AssertionError
"""
    environment = {**os.environ, "KIT_CACHE_DIR": "store"}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True)


def test_a_file_that_the_build_read_and_that_changed_is_a_miss_that_names_it(
    store: Store, tmp_path: Path
) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("x = 1\n")
    meta = {"files": {str(helper): hashlib.sha256(helper.read_bytes()).hexdigest()}}
    store.build_once(KEY, bytes_builder(KEY, meta=meta), label="f")
    assert store.lookup(KEY) is not None
    helper.write_text("x = 2\n")
    assert store.lookup(KEY) is None
    assert store.last_miss_reason == "file changed: helper.py"
    helper.unlink()
    assert store.inspect(KEY) == (None, "file changed: helper.py")


@pytest.mark.parametrize("key", ["", "../../../etc/passwd", "A" * 64, "0" * 63, "0" * 65])
def test_a_key_that_is_no_digest_is_refused(store: Store, key: str) -> None:
    with pytest.raises(ValueError, match="digest"):
        store.lookup(key)
    with pytest.raises(ValueError, match="digest"):
        store.build_once(key, bytes_builder(KEY), label="f", force=True)


# ---- what a builder may do ------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [RuntimeError("no"), KeyboardInterrupt(), OSError(13, "compiler")]
)
def test_a_build_that_fails_publishes_nothing_and_leaves_neither_scratch_nor_lock(
    store: Store, error: BaseException
) -> None:
    def build(scratch: Path) -> Built:
        (scratch / "half").write_text("half")
        raise error

    with pytest.raises(type(error)) as caught:
        store.build_once(KEY, build, label="f")
    assert caught.value is error
    assert store.lookup(KEY) is None
    assert _files_below(store.root) == []
    assert list((store.root / "v1/scratch").iterdir()) == []
    assert store.build_once(KEY, bytes_builder(KEY), label="f")[1]


def _built(scratch: Path, **changes: object) -> Built:
    artifact = scratch / "a.so"
    artifact.write_bytes(b"x")
    values: dict[str, object] = {"artifact": artifact, "module_name": "m", "meta": {}, **changes}
    return Built(**values)  # type: ignore[arg-type]


def _link(scratch: Path) -> Path:
    (scratch / "link.so").symlink_to("/etc/hostname")
    return scratch / "link.so"


@pytest.mark.parametrize(
    "build",
    [
        lambda scratch: _built(scratch, artifact=Path("/etc/hostname")),
        lambda scratch: _built(scratch, artifact=scratch / "missing.so"),
        lambda scratch: _built(scratch, artifact=_link(scratch)),
        lambda scratch: _built(scratch, module_name="../m"),
        lambda scratch: _built(scratch, module_name=""),
        lambda scratch: _built(scratch, meta={"files": {"x": "no hash"}}),
        lambda scratch: _built(scratch, meta={"x": float("nan")}),
        lambda scratch: _built(scratch, meta={"x": object()}),
        lambda scratch: _built(scratch, meta={"files": ["x"]}),
    ],
)
def test_a_builder_that_breaks_its_contract_is_told_and_nothing_is_published(
    store: Store, build: Callable[[Path], Built]
) -> None:
    with pytest.raises((ValueError, TypeError)):
        store.build_once(KEY, build, label="f")
    assert _files_below(store.root) == []


def test_a_module_name_is_published_once(store: Store) -> None:
    store.build_once(KEY, _built, label="f")
    with pytest.raises(ValueError, match="published before"):
        store.build_once(OTHER_KEY, _built, label="f")
    assert store.lookup(KEY) is not None
    assert store.lookup(OTHER_KEY) is None


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_the_store_trusts_what_it_made_itself_under_any_umask(tmp_path: Path, umask: int) -> None:
    store = Store(tmp_path / "new" / "store")
    old = os.umask(umask)
    try:
        entry = _put(store)
    finally:
        os.umask(old)
    assert store.lookup(KEY) == entry
    assert store.verify() == ()
    for path in (store.root.parent, *store.root.rglob("*")):
        assert path.stat().st_mode & 0o022 == 0, path


def test_only_the_default_store_is_closed_to_other_readers(tmp_path: Path) -> None:
    _put(Store(tmp_path / "private"))
    _put(Store(tmp_path / "shared", is_private=False))
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o755


# ---- damage ---------------------------------------------------------------------------------


def _damaged_document(content: bytes, **changes: object) -> bytes:
    return json.dumps({**json.loads(content), **changes}).encode()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-5],
        lambda content: b"\xff\xfe",
        lambda content: b"[]",
        lambda content: b"[" * 100_000,
        lambda content: b'"text"',
        lambda content: _damaged_document(content, key=OTHER_KEY),
        lambda content: _damaged_document(content, object="../../x.so"),
        lambda content: _damaged_document(content, object="m./../x.so", module_name="m"),
        lambda content: _damaged_document(content, object=3),
        lambda content: _damaged_document(content, module_name=None),
        lambda content: _damaged_document(content, sha256="0"),
        lambda content: _damaged_document(content, artifact_bytes="7"),
        lambda content: _damaged_document(content, meta=[]),
        lambda content: _damaged_document(content, meta={"files": {"\0": "0" * 64}}),
    ],
)
def test_a_damaged_entry_is_a_miss_and_is_built_again(
    store: Store, damage: Callable[[bytes], bytes]
) -> None:
    _put(store)
    path = store.root / f"v1/entries/{KEY}.json"
    path.write_bytes(damage(path.read_bytes()))
    assert store.inspect(KEY) == (None, "corrupt")
    assert [problem.text for problem in store.verify()] == ["the entry is not readable"]
    assert store.list() == ()
    assert store.build_once(KEY, bytes_builder(KEY), label="f")[1]
    assert store.lookup(KEY) is not None


def test_a_truncated_object_is_a_miss(store: Store) -> None:
    entry = _put(store)
    os.truncate(entry.artifact, 3)
    assert store.inspect(KEY) == (None, "corrupt")


def test_a_missing_object_is_a_miss(store: Store) -> None:
    entry = _put(store)
    entry.artifact.unlink()
    assert store.inspect(KEY) == (None, "evicted")
    assert [problem.text for problem in store.verify()] == [f"{entry.artifact.name} is missing"]
    with pytest.raises(ArtifactUnusable, match="cannot be read"):
        store.load(entry)


def test_a_flipped_bit_is_found_before_anything_runs_and_the_object_is_removed(
    store: Store,
) -> None:
    entry, _ = store.build_once(KEY, module_builder(KEY, 1), label="f")
    content = bytearray(entry.artifact.read_bytes())
    content[len(content) // 2] ^= 1
    entry.artifact.write_bytes(content)
    assert store.verify()[0].text == f"{entry.artifact.name} has changed"
    found = store.lookup(KEY)
    assert found is not None
    with pytest.raises(ArtifactUnusable, match="content has changed"):
        store.load(found)
    assert not entry.artifact.exists()
    again, was_built = store.build_once(KEY, module_builder(KEY, 2), label="f")
    assert was_built
    assert store.load(again).value == 2


def test_an_artifact_that_does_not_load_is_forgotten_so_that_it_is_built_again(
    store: Store,
) -> None:
    entry = _put(store, content=b"no ELF at all")
    with pytest.raises(ArtifactUnusable, match="does not load") as caught:
        store.load(entry)
    assert isinstance(caught.value.__cause__, ImportError)
    assert "/proc" not in str(caught.value)
    again, was_built = store.build_once(KEY, module_builder(KEY, 3), label="f")
    assert was_built
    assert store.load(again).value == 3


def test_a_rejected_entry_that_was_replaced_meanwhile_is_left_alone(store: Store) -> None:
    entry = _put(store, content=b"no ELF at all")
    other = Store(store.root)
    newer, _ = other.build_once(KEY, module_builder(KEY, 4), label="f", force=True)
    with pytest.raises(ArtifactUnusable):
        store.load(entry)
    assert store.lookup(KEY) == newer
    assert store.load(newer).value == 4


def test_a_store_that_is_deleted_during_a_build_is_made_again(store: Store) -> None:
    calls: list[Path] = []

    def build(scratch: Path) -> Built:
        calls.append(scratch)
        if len(calls) == 1:
            shutil.rmtree(store.root)
        return bytes_builder(KEY)(scratch)

    _, was_built = store.build_once(KEY, build, label="f")
    assert was_built
    assert len(calls) == 2
    assert store.lookup(KEY) is not None


def test_a_store_that_is_deleted_after_a_load_does_not_disturb_the_module(store: Store) -> None:
    entry, _ = store.build_once(KEY, module_builder(KEY, 8), label="f")
    module = store.load(entry)
    shutil.rmtree(store.root)
    assert store.load(entry) is module
    assert module.value == 8
    assert store.inspect(KEY) == (None, "new")
    assert store.build_once(KEY, bytes_builder(KEY), label="f")[1]


# ---- threads --------------------------------------------------------------------------------


def test_threads_that_ask_for_one_key_build_once_and_are_told_whom_they_wait_for(
    store: Store,
) -> None:
    started, go_on = threading.Event(), threading.Event()
    builds: list[int] = []
    told: list[tuple[int, str]] = []
    results: list[tuple[Entry, bool]] = []

    def build(scratch: Path) -> Built:
        builds.append(1)
        started.set()
        assert go_on.wait(20)
        return bytes_builder(KEY)(scratch)

    def tell(pid: int, label: str) -> None:
        told.append((pid, label))
        go_on.set()

    def ask() -> None:
        results.append(store.build_once(KEY, build, label="heat(u)", on_wait=tell))

    first = threading.Thread(target=ask)
    first.start()
    assert started.wait(20)
    others = [threading.Thread(target=ask) for _ in range(4)]
    for thread in others:
        thread.start()
    for thread in (first, *others):
        thread.join(20)
    assert builds == [1]
    assert sorted(was_built for _, was_built in results) == [False] * 4 + [True]
    assert len({entry.module_name for entry, _ in results}) == 1
    assert set(told) == {(os.getpid(), "heat(u)")}
    assert len(told) <= 4


def test_a_waiter_builds_itself_when_the_build_it_waits_for_fails(store: Store) -> None:
    started, go_on = threading.Event(), threading.Event()
    failures: list[Exception] = []

    def fail(scratch: Path) -> Built:
        started.set()
        assert go_on.wait(20)
        raise RuntimeError("compiler")

    def ask() -> None:
        try:
            store.build_once(KEY, fail, label="f")
        except RuntimeError as error:
            failures.append(error)

    first = threading.Thread(target=ask)
    first.start()
    assert started.wait(20)
    _, was_built = store.build_once(
        KEY, bytes_builder(KEY), label="f", on_wait=lambda pid, label: go_on.set()
    )
    first.join(20)
    assert was_built
    assert len(failures) == 1


# ---- upkeep ---------------------------------------------------------------------------------


def test_list_gives_the_most_recently_used_first(store: Store) -> None:
    older, newer = _put(store, KEY), _put(store, OTHER_KEY)
    os.utime(store.root / f"v1/entries/{KEY}.json", (1, 1))
    assert [entry.key for entry in store.list()] == [newer.key, older.key]
    assert store.list()[1].last_used == 1


def test_size_counts_entries_and_objects(store: Store) -> None:
    entry = _put(store, content=b"x" * 1000)
    document = store.root / f"v1/entries/{KEY}.json"
    assert store.size_bytes() == 1000 + document.stat().st_size
    assert entry.artifact_bytes == 1000


def test_clear_removes_entries_and_objects_and_loaded_modules_keep_working(store: Store) -> None:
    entry, _ = store.build_once(KEY, module_builder(KEY, 9), label="f")
    _put(store, OTHER_KEY)
    module = store.load(entry)
    assert store.clear() == 2
    assert store.size_bytes() == 0
    assert _files_below(store.root) == []
    assert module.value == 9


def test_clear_spares_a_running_build(store: Store) -> None:
    def build(scratch: Path) -> Built:
        assert Store(store.root).clear() == 0
        return bytes_builder(KEY)(scratch)

    entry, _ = store.build_once(KEY, build, label="f")
    assert store.lookup(KEY) == entry


# ---- names ----------------------------------------------------------------------------------


def test_a_digest_depends_on_every_part_and_takes_any_text() -> None:
    parts = {"source": "x = '\udcff'", "flags": "-O3"}
    key = digest(parts)
    assert len(key) == 64
    assert key == digest(dict(reversed(parts.items())))
    assert key != digest({**parts, "flags": "-O2"})
    assert key != digest({"source": parts["source"]})


def test_each_build_gets_its_own_module_name() -> None:
    names = {unique_module_name(KEY) for _ in range(100)}
    assert len(names) == 100
    assert all(name.isidentifier() for name in names)


def test_the_same_place_gives_the_same_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_CACHE_DIR", str(tmp_path / "a"))
    store = open_store()
    assert open_store() is store
    assert store.root == tmp_path / "a"
    monkeypatch.setenv("KIT_CACHE_DIR", str(tmp_path / "b"))
    assert open_store() is not store


def test_native_windows_is_told_about_wsl(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kit.cache._SUPPORTED", False)
    assert store.lookup(KEY) is None
    with pytest.raises(CacheError, match="wsl --install"):
        store.build_once(KEY, bytes_builder(KEY), label="f")

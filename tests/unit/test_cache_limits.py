"""The store's size, what dead builders leave, and disks that are full or cannot be written."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kit.cache import Built, Entry, Store, digest, open_store
from kit.errors import BuildError, CacheError, KitWarning
from kit.store.location import parse_size
from kit.store.locking import KeyLock
from kit.store.shelves import Shelves
from tests.unit.small_artifacts import KEY, OTHER_KEY, bytes_builder, module_builder

HOUR = 3600


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def _key(number: int) -> str:
    return digest({"number": str(number)})


def _fill(store: Store, numbers: range, size: int = 10_000) -> None:
    """Entries that were last used one hour apart, number 0 longest ago."""
    limit, store.limit = store.limit, 1 << 30
    for number in numbers:
        store.build_once(_key(number), bytes_builder(_key(number), b"x" * size), label="f")
        used = time.time() - HOUR * (len(numbers) - number + 1)
        os.utime(store.root / f"v1/entries/{_key(number)}.json", (used, used))
    store.limit = limit


# ---- size -----------------------------------------------------------------------------------


def test_the_least_recently_used_goes_first(store: Store) -> None:
    store.limit = 46_000
    _fill(store, range(5))
    assert store.lookup(_key(0)) is not None  # which makes it the most recently used
    store.build_once(KEY, bytes_builder(KEY, b"x" * 10_000), label="f")
    kept = {entry.key for entry in store.list()}
    assert kept == {KEY, _key(0), _key(4), _key(3)}
    assert store.size_bytes() <= store.limit
    assert store.verify() == ()
    assert len(list((store.root / "v1/objects").iterdir())) == 4


def test_below_the_limit_nothing_goes(store: Store) -> None:
    _fill(store, range(3))
    store.build_once(KEY, bytes_builder(KEY), label="f")
    assert len(store.list()) == 4


def test_the_entry_just_published_stays_even_if_it_is_too_large_alone(store: Store) -> None:
    store.limit = 100
    _fill(store, range(2))
    store.build_once(KEY, bytes_builder(KEY, b"x" * 1000), label="f")
    assert [entry.key for entry in store.list()] == [KEY]


def test_a_use_is_noted_at_most_once_an_hour(store: Store) -> None:
    store.build_once(KEY, bytes_builder(KEY), label="f")
    path = store.root / f"v1/entries/{KEY}.json"
    recent, old = time.time() - 0.9 * HOUR, time.time() - 1.1 * HOUR
    os.utime(path, (recent, recent))
    store.lookup(KEY)
    assert path.stat().st_mtime == pytest.approx(recent)
    os.utime(path, (old, old))
    store.lookup(KEY)
    assert path.stat().st_mtime == pytest.approx(time.time(), abs=60)


def test_objects_and_entries_that_nobody_can_reach_are_removed_when_room_is_needed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill(store, range(1))
    orphan = store.root / "v1/objects/kit_orphan.so"
    orphan.write_bytes(b"x" * 50_000)
    garbage = store.root / f"v1/entries/{_key(7)}.json"
    garbage.write_bytes(b"x" * 50_000)
    store.limit = 30_000
    store.build_once(KEY, bytes_builder(KEY), label="f")
    assert orphan.exists(), "its entry may be about to be written"
    _fill(store, range(1))
    monkeypatch.setattr("kit.store.upkeep._ORPHAN_AGE", -1.0)
    store.build_once(OTHER_KEY, bytes_builder(OTHER_KEY), label="f")
    assert not orphan.exists()
    assert not garbage.exists()
    assert store.lookup(_key(0)) is not None, "room was found without it"


def test_one_process_evicts_at_a_time(store: Store) -> None:
    _fill(store, range(3))
    store.limit = 100
    with Shelves(store.root) as shelves:
        lock = KeyLock(shelves.descriptor("locks"), "evict")
        assert lock.try_acquire()
        store.build_once(KEY, bytes_builder(KEY), label="f")
        assert len(store.list()) == 4
        lock.release()
    store.build_once(OTHER_KEY, bytes_builder(OTHER_KEY), label="f")
    assert [entry.key for entry in store.list()] == [OTHER_KEY]


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("10k", 10240), ("1.5GB", 3 << 29), (" 2 TiB ", 2 << 40), ("7B", 7)],
)
def test_sizes_are_read_with_units(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["much", "-1", "2X", "G", "1e9", "2 G B", "\u0665\u0662x"])
def test_a_limit_that_is_no_size_is_refused_with_a_fix(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("KIT_CACHE_LIMIT", text)
    with pytest.raises(CacheError, match="export KIT_CACHE_LIMIT=2G"):
        open_store()


def test_the_limit_is_2_gib_or_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KIT_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("KIT_CACHE_LIMIT", raising=False)
    assert open_store().limit == 2 * 1024**3
    monkeypatch.setenv("KIT_CACHE_LIMIT", "500M")
    assert open_store().limit == 500 * 1024**2


# ---- what dead builders leave ---------------------------------------------------------------


def test_scratch_and_locks_of_dead_builders_are_swept_and_live_ones_are_not(store: Store) -> None:
    store.build_once(KEY, bytes_builder(KEY), label="f")
    dead = store.root / f"v1/scratch/{_key(1)}.0123456789abcdef"
    dead.mkdir()
    (dead / "half.o").write_text("half")
    (store.root / f"v1/locks/{_key(1)}.lock").write_text("{}")
    (store.root / f"v1/locks/{_key(2)}.lock").write_text("")
    started, go_on = threading.Event(), threading.Event()

    def build(scratch: Path) -> Built:
        started.set()
        assert go_on.wait(20)
        return bytes_builder(_key(3))(scratch)

    live = threading.Thread(target=lambda: store.build_once(_key(3), build, label="live"))
    live.start()
    assert started.wait(20)
    store.build_once(OTHER_KEY, bytes_builder(OTHER_KEY), label="f")
    assert [p.name.split(".")[0] for p in (store.root / "v1/scratch").iterdir()] == [_key(3)]
    assert [p.stem for p in (store.root / "v1/locks").iterdir()] == [_key(3)]
    go_on.set()
    live.join(20)
    assert store.lookup(_key(3)) is not None
    assert list((store.root / "v1/scratch").iterdir()) == []


def test_a_lock_is_not_inherited_by_programs_that_are_started_meanwhile(store: Store) -> None:
    with Shelves(store.root, create=True) as shelves:
        lock = KeyLock(shelves.descriptor("locks"), KEY)
        assert lock.try_acquire()
        child = subprocess.Popen(
            [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            close_fds=False,
        )
        assert child.stdout is not None
        child.stdout.readline()  # it runs: the kernel closes descriptors one after the other
        assert lock._descriptor is not None
        os.close(lock._descriptor)  # as if this process had been killed
        lock._descriptor = None
        other = KeyLock(shelves.descriptor("locks"), KEY)
        try:
            assert other.try_acquire()
        finally:
            other.release()
            child.communicate()


def test_a_forked_child_does_not_keep_its_parents_lock(store: Store) -> None:
    with Shelves(store.root, create=True) as shelves:
        lock = KeyLock(shelves.descriptor("locks"), KEY)
        assert lock.try_acquire()
        alive, done = os.pipe(), os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads of the test runner
            child = os.fork()
        if child == 0:
            os.write(alive[1], b"x")
            os.read(done[0], 1)
            os._exit(0)
        os.read(alive[0], 1)
        assert lock._descriptor is not None
        os.close(lock._descriptor)  # as if this process had been killed
        lock._descriptor = None
        other = KeyLock(shelves.descriptor("locks"), KEY)
        try:
            assert other.try_acquire()
        finally:
            other.release()
            os.write(done[1], b"x")
            os.waitpid(child, 0)
            for descriptor in (*alive, *done):
                os.close(descriptor)


def test_a_lock_file_that_was_removed_and_made_again_is_not_taken_twice(store: Store) -> None:
    with Shelves(store.root, create=True) as shelves:
        directory = shelves.descriptor("locks")
        first, waiting, third = (KeyLock(directory, KEY) for _ in range(3))
        assert first.try_acquire()
        assert not waiting.try_acquire()  # has the first one's file open
        first.release()  # and removes it
        assert third.try_acquire()  # a new file
        assert not waiting.try_acquire()
        third.release()
        assert waiting.try_acquire()
        waiting.release()


def test_a_lock_whose_file_somebody_removed_does_not_keep_others_waiting(store: Store) -> None:
    with Shelves(store.root, create=True) as shelves:
        directory = shelves.descriptor("locks")
        lost, waiting = KeyLock(directory, KEY), KeyLock(directory, KEY)
        assert lost.try_acquire()
        assert not waiting.try_acquire()
        os.unlink(f"{KEY}.lock", dir_fd=directory)
        assert waiting.try_acquire()
        waiting.release()
        lost.release()


def test_where_the_file_system_has_no_locks_it_is_built_all_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def flock(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    scratch = store.root / f"v1/scratch/{_key(1)}.0123456789abcdef"
    scratch.mkdir(parents=True, mode=0o755)
    entry, was_built = store.build_once(KEY, bytes_builder(KEY), label="f")
    assert was_built
    assert store.lookup(KEY) == entry
    assert scratch.exists(), "nobody can tell whether its builder lives"


# ---- full and read-only disks ---------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a file system of a given size; only where this process may."""
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        place = tmp_path / f"disk{len(mounted)}"
        place.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)],
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            pytest.skip("may not mount a small file system here")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        # Lazily, because a loaded module keeps it busy.
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where builds go that the store cannot take."""
    roots = [tmp_path / "temporary"]
    monkeypatch.setattr("kit.store.temporary.temporary_roots", lambda: iter(roots))
    return roots


def _assert_built_in(store: Store, root: Path, build: Callable[[Path], Built]) -> Entry:
    with pytest.warns(KitWarning, match="cannot be written") as caught:
        entry, was_built = store.build_once(KEY, build, label="f")
    assert len(caught) == 1
    assert "export KIT_CACHE_DIR=" in str(caught[0].message)
    assert was_built
    assert entry.artifact.is_relative_to(root)
    assert store.lookup(KEY) == entry
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.build_once(OTHER_KEY, bytes_builder(OTHER_KEY), label="f")
    return entry


@pytest.mark.parametrize("size", ["64k", "1m"])
def test_on_a_full_disk_kernels_are_built_in_a_temporary_directory(
    small_disk: Callable[[str], Path], temporary: list[Path], size: str
) -> None:
    disk = small_disk(f"size={size}")
    with contextlib.suppress(OSError), (disk / "ballast").open("wb", buffering=0) as ballast:
        while ballast.write(b"x" * 4096):
            pass
    store = Store(disk / "store")
    entry = _assert_built_in(store, temporary[0], module_builder(KEY, 21))
    assert store.load(entry).value == 21


def test_a_disk_that_fills_during_the_build_is_left_for_a_temporary_directory(
    small_disk: Callable[[str], Path], temporary: list[Path]
) -> None:
    store = Store(small_disk("size=1m") / "store")
    _assert_built_in(store, temporary[0], bytes_builder(KEY, b"x" * (2 << 20)))


def test_a_read_only_disk_serves_hits_and_new_builds_go_elsewhere(
    small_disk: Callable[[str], Path], temporary: list[Path]
) -> None:
    disk = small_disk("size=16m")
    key = _key(1)
    Store(disk / "store").build_once(key, module_builder(key, 22), label="f")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    store = Store(disk / "store")
    entry = store.lookup(key)
    assert entry is not None
    assert store.load(entry).value == 22
    _assert_built_in(store, temporary[0], bytes_builder(KEY))
    with pytest.raises(CacheError, match="Read-only"):
        store.clear()


def test_when_every_place_is_full_the_error_says_so_and_what_to_type(
    small_disk: Callable[[str], Path], temporary: list[Path]
) -> None:
    disk = small_disk("size=64k")
    temporary[:] = [disk / "a b" / "temporary", disk / "temporary"]
    store = Store(disk / "store")
    with pytest.raises(CacheError, match="No space left on device") as caught:
        store.build_once(KEY, bytes_builder(KEY, b"x" * 100_000), label="f")
    assert caught.value.found.count("No space left") == 3
    (disk / "a b").mkdir(exist_ok=True)
    (disk / "store").mkdir(exist_ok=True)
    subprocess.run(["sh", "-c", caught.value.fix], check=True, capture_output=True)
    assert not (disk / "temporary").exists()


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO]
)
@pytest.mark.parametrize("function", ["mkdir", "open", "fsync", "rename", "replace"])
def test_whatever_the_store_cannot_do_the_kernel_is_built(
    store: Store,
    temporary: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    number: int,
) -> None:
    real = getattr(os, function)
    failed: list[object] = []

    def fail_once(*args: object, **options: object) -> object:
        ours = "dir_fd" in options or "dst_dir_fd" in options or function == "fsync"
        if function == "open":
            ours = ours and str(args[0]).endswith(".lock")
        if ours and not failed:
            failed.append(args)
            raise OSError(number, os.strerror(number), str(args[0]))
        return real(*args, **options)

    monkeypatch.setattr(os, function, fail_once)
    entry, was_built = None, False
    with pytest.warns(KitWarning, match=os.strerror(number)):
        entry, was_built = store.build_once(KEY, bytes_builder(KEY), label="f")
    assert failed
    assert was_built
    assert entry.artifact.read_bytes() == b"not a library"
    assert store.lookup(KEY) == entry
    assert [p for p in store.root.rglob("*") if p.is_file()] == []


def test_a_compiler_that_reports_a_full_disk_is_believed(
    store: Store, temporary: list[Path]
) -> None:
    def build(scratch: Path) -> Built:
        if scratch.is_relative_to(store.root):
            raise BuildError("gcc failed", log="cc1: fatal error: No space left on device")
        return bytes_builder(KEY)(scratch)

    _assert_built_in(store, temporary[0], build)


def test_a_build_that_fails_where_there_is_little_room_is_tried_elsewhere(
    small_disk: Callable[[str], Path], temporary: list[Path]
) -> None:
    store = Store(small_disk("size=4m") / "store")

    def build(scratch: Path) -> Built:
        if scratch.is_relative_to(store.root):
            raise BuildError("the linker was killed")
        return bytes_builder(KEY)(scratch)

    _assert_built_in(store, temporary[0], build)


def test_a_permission_error_of_the_build_itself_is_not_blamed_on_the_store(
    store: Store, temporary: list[Path]
) -> None:
    def build(scratch: Path) -> Built:
        raise PermissionError(errno.EACCES, "Permission denied", "/usr/bin/gfortran")

    with pytest.raises(PermissionError):
        store.build_once(KEY, build, label="f")
    assert not temporary[0].exists()


def test_a_temporary_store_goes_when_the_process_ends_and_not_when_a_fork_does(
    tmp_path: Path,
) -> None:
    script = f"""
import os, sys, warnings
sys.path[:0] = {sys.path!r}
from pathlib import Path
import kit.store.temporary
from kit import cache
from tests.unit.small_artifacts import KEY, bytes_builder
warnings.simplefilter("ignore")
root = Path("temporary").absolute()
kit.store.temporary.temporary_roots = lambda: iter([root])
store = cache.Store(Path("/proc/kit"))
entry, _ = store.build_once(KEY, bytes_builder(KEY), label="f")
if os.fork() == 0:
    sys.exit(0)
os.wait()
assert entry.artifact.exists()
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []

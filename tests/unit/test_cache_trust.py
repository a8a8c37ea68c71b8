"""Who may have written the store: ownership, modes and links, judged before anything is loaded."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kit.cache import Entry, Store, open_store
from kit.errors import CacheError, KitWarning
from kit.store import location
from tests.unit.small_artifacts import KEY, OTHER_KEY, bytes_builder, module_builder

STRANGER = 12345

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    store.build_once(KEY, module_builder(KEY, 1), label="f")
    return store


PARTS: dict[str, Callable[[Path, Entry], Path]] = {
    "root": lambda root, entry: root,
    "format": lambda root, entry: root / "v1",
    "entries": lambda root, entry: root / "v1/entries",
    "objects": lambda root, entry: root / "v1/objects",
    "entry": lambda root, entry: root / f"v1/entries/{KEY}.json",
    "object": lambda root, entry: entry.artifact,
}


def _use(store: Store) -> None:
    entry = store.lookup(KEY)
    assert entry is not None
    store.load(entry)


def _refusal(store: Store, entry: Entry) -> CacheError:
    """The refusal of a lookup, or of the load that follows; nothing may have run."""
    with pytest.raises(CacheError) as caught:
        _use(store)
    assert entry.module_name not in sys.modules
    return caught.value


@pytest.mark.parametrize("mode", [0o020, 0o002])
@pytest.mark.parametrize("part", PARTS)
def test_what_others_can_write_is_refused_until_the_fix_is_pasted(
    store: Store, part: str, mode: int
) -> None:
    entry = store.list()[0]
    path = PARTS[part](store.root, entry)
    path.chmod(path.stat().st_mode | mode)
    error = _refusal(store, entry)
    assert "can be written by others" in error.found
    assert str(path) in error.found
    subprocess.run(["sh", "-c", error.fix], check=True)
    _use(store)


def test_a_directory_that_is_open_to_all_on_purpose_is_not_to_be_closed(store: Store) -> None:
    entry = store.list()[0]
    store.root.chmod(0o1777)  # as /tmp
    assert _refusal(store, entry).fix == 'export KIT_CACHE_DIR="$HOME/kit-store"'


@as_root
def test_roots_directory_is_not_to_be_closed_by_others(public: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path\n"
        "from kit.store import trust\n"
        f"os.seteuid({STRANGER})\n"
        "try: trust.open_directory(Path(sys.argv[1]))\n"
        "except Exception as error: print(error.found, error.fix)\n"
    )
    public.chmod(0o777)
    told = subprocess.check_output([sys.executable, "-c", script, str(public)], text=True)
    assert "can be written by others" in told
    assert "chmod" not in told


@as_root
@pytest.mark.parametrize("part", PARTS)
def test_what_belongs_to_someone_else_is_refused(store: Store, part: str) -> None:
    entry = store.list()[0]
    path = PARTS[part](store.root, entry)
    os.chown(path, STRANGER, -1)
    error = _refusal(store, entry)
    assert f"belongs to uid {STRANGER}" in error.found
    assert "export KIT_CACHE_DIR=" in error.fix


@pytest.mark.parametrize("part", PARTS)
def test_a_symbolic_link_in_the_store_is_refused(store: Store, part: str, tmp_path: Path) -> None:
    entry = store.list()[0]
    path = PARTS[part](store.root, entry)
    target = path.rename(tmp_path / "moved")
    path.symlink_to(target)
    if part == "object":  # its size is that of a link, so it never gets as far as a load
        assert store.inspect(KEY) == (None, "corrupt")
        with pytest.raises(CacheError, match="symbolic link"):
            store.load(entry)
    else:
        assert "symbolic link" in _refusal(store, entry).found


def test_the_fix_for_a_linked_root_is_the_directory_it_leads_to(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "a link"
    link.symlink_to(store.root)
    error = _refusal(Store(link), store.list()[0])
    name, _, value = error.fix.removeprefix("export ").partition("=")
    monkeypatch.setenv(name, shlex.split(value)[0])
    assert open_store().lookup(KEY) is not None


def test_parents_of_the_root_may_be_links_and_writable_with_the_sticky_bit(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    tmp_path.chmod(0o1777)
    _use(Store(tmp_path / "link" / "store"))


@pytest.mark.parametrize("part", PARTS)
def test_the_wrong_kind_of_file_is_refused_without_waiting_for_it(store: Store, part: str) -> None:
    entry = store.list()[0]
    path = PARTS[part](store.root, entry)
    path.rename(store.root.parent / "moved")
    os.mkfifo(path, 0o600)
    with pytest.raises(CacheError, match="wrong type"):
        assert (store.load(entry), store.lookup(KEY)) is None


def test_a_store_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    store = Store(tmp_path / "file" / "store")
    with pytest.raises(CacheError, match="no directory"):
        store.build_once(KEY, bytes_builder(KEY), label="f")
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("part", ["root", "format", "locks", "scratch"])
def test_a_build_in_a_store_that_others_can_write_is_refused(store: Store, part: str) -> None:
    path = {"root": store.root, "format": store.root / "v1"}.get(part, store.root / "v1" / part)
    path.chmod(0o777)
    with pytest.raises(CacheError, match="can be written by others"):
        store.build_once(OTHER_KEY, bytes_builder(OTHER_KEY), label="f")


def test_a_lock_file_that_is_a_link_is_not_followed(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("precious")
    (store.root / f"v1/locks/{OTHER_KEY}.lock").symlink_to(target)
    with pytest.warns(KitWarning, match="cannot be written"):
        store.build_once(OTHER_KEY, bytes_builder(OTHER_KEY), label="f")
    assert target.read_text() == "precious"


# ---- other users ----------------------------------------------------------------------------

AS_STRANGER = f"""
import os, sys, warnings
sys.path[:0] = {sys.path!r}
import kit.cache, kit.store.building, kit.store.publishing, kit.store.upkeep, kit.store.locking
import atexit, hashlib, importlib.machinery, json, shlex, shutil, sysconfig, encodings.idna
from pathlib import Path
from kit.cache import Built, Store, open_store, unique_module_name
from kit.errors import CacheError, KitWarning
from tests.unit.small_artifacts import *
def compiled(value):
    # Before the rights are dropped: this Python's headers may be for root only.
    name = unique_module_name(KEY)
    path = compile_module(Path(sys.argv[1]).parent, name, value)
    def build(scratch):
        return Built(artifact=Path(shutil.copy(path, scratch)), module_name=name, meta=dict())
    return build
builders = [compiled(value) for value in (42, 43)]
os.setgroups([]); os.setgid({STRANGER}); os.setuid({STRANGER})
store = Store(Path(sys.argv[1]))
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that other users reach, as root's temporary directories are not."""
    with tempfile.TemporaryDirectory(prefix="kit-public-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        (Path(name) / "tmp").mkdir()
        (Path(name) / "tmp").chmod(0o1777)
        yield Path(name)


def _as_stranger(root: Path, script: str) -> None:
    subprocess.run(
        [sys.executable, "-c", AS_STRANGER + script, str(root)],
        env={
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(root.parent / "tmp"),
        },
        cwd="/",
        check=True,
    )


@as_root
def test_roots_read_only_store_serves_others_and_their_own_builds_go_elsewhere(
    public: Path,
) -> None:
    shared = Store(public / "store", is_private=False)
    shared.build_once(KEY, module_builder(KEY, 41), label="f")
    _as_stranger(
        shared.root,
        """
entry = store.lookup(KEY)
assert store.load(entry).value == 41
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for key, builder in ((OTHER_KEY, 0), (OTHER_KEY, 1), (digest({"a": "b"}), 1)):
        store.build_once(key, builders[builder], label="f")
assert [w.category for w in caught] == [KitWarning], caught
assert "Permission denied" in str(caught[0].message), caught[0].message
found = store.lookup(OTHER_KEY)
assert store.load(found).value == 42
assert store.lookup(KEY) == entry
assert len(store.list()) == 3 and store.verify() == ()
assert found.artifact.parents[2].stat().st_mode & 0o777 == 0o700
""",
    )
    assert [entry.key for entry in shared.list()] == [KEY]
    assert list((public / "tmp").iterdir()) == [], "it goes when its process ends"


@as_root
def test_a_broken_artifact_in_a_read_only_store_is_built_elsewhere_and_not_tried_again(
    public: Path,
) -> None:
    shared = Store(public / "store", is_private=False)
    shared.build_once(KEY, bytes_builder(KEY), label="f")
    _as_stranger(
        shared.root,
        """
warnings.simplefilter("ignore")
try:
    store.load(store.lookup(KEY))
except kit.cache.ArtifactUnusable:
    pass
assert store.lookup(KEY) is None and store.last_miss_reason == "corrupt"
entry, built = store.build_once(KEY, builders[1], label="f")
assert built and store.load(entry).value == 43
assert store.lookup(KEY) == entry
""",
    )


@as_root
def test_a_store_that_cannot_be_read_is_a_miss_with_the_reason(public: Path) -> None:
    hidden = Store(public / "store")
    hidden.build_once(KEY, module_builder(KEY, 44), label="f")
    _as_stranger(
        hidden.root,
        """
assert store.lookup(KEY) is None
assert store.last_miss_reason == "not readable: Permission denied", store.last_miss_reason
for ask in (store.list, store.size_bytes, store.verify, store.clear):
    try:
        ask()
    except CacheError as error:
        assert "Permission denied" in str(error)
        assert error.fix.startswith("ls -ldn ")
    else:
        raise AssertionError(ask)
""",
    )


# ---- where the store lies -------------------------------------------------------------------


@pytest.fixture
def no_setting(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("KIT_CACHE_DIR", "XDG_CACHE_HOME", "KIT_CACHE_LIMIT"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("xdg", [None, "", "/somewhere/cache", "relative"])
@pytest.mark.parametrize("home", ["/home/x", "", "relative", None])
def test_the_users_cache_directory_is_the_one_that_platformdirs_names(
    no_setting: pytest.MonkeyPatch, xdg: str | None, home: str | None
) -> None:
    import platformdirs

    for name, value in (("XDG_CACHE_HOME", xdg), ("HOME", home)):
        if value is None:
            no_setting.delenv(name, raising=False)
        else:
            no_setting.setenv(name, value)
    assert location._user_cache() == Path(platformdirs.user_cache_dir())


def test_a_named_directory_wins_and_its_tilde_is_the_home(no_setting: pytest.MonkeyPatch) -> None:
    no_setting.setenv("HOME", "/home/x")
    no_setting.setenv("KIT_CACHE_DIR", "~/store")
    assert location.store_location() == (Path("/home/x/store"), False, None)


def test_the_home_of_an_unknown_user_is_refused(no_setting: pytest.MonkeyPatch) -> None:
    no_setting.setenv("KIT_CACHE_DIR", "~nobody-of-this-name/store")
    with pytest.raises(CacheError, match="unknown here"):
        location.store_location()


@as_root
def test_root_in_someone_elses_home_gets_a_store_elsewhere_and_one_warning(
    no_setting: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    os.chown(home, STRANGER, STRANGER)
    no_setting.setenv("HOME", str(home))
    no_setting.setenv("TMPDIR", str(temporary))
    with pytest.warns(KitWarning, match=f"belongs to uid {STRANGER}"):
        store = open_store()
    assert open_store() is store  # without another warning, which would be an error
    assert list(temporary.iterdir()) == []
    store.build_once(KEY, bytes_builder(KEY), label="f")
    assert store.root == temporary / "pyccel-kit-0"
    assert store.root.stat().st_mode & 0o777 == 0o700
    assert list(home.iterdir()) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_store().lookup(KEY) is not None


@as_root
@pytest.mark.parametrize("kind", ["directory", "link"])
def test_a_name_that_someone_else_took_first_is_avoided(
    no_setting: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    no_setting.setenv("TMPDIR", str(tmp_path))
    no_setting.setattr(location, "_user_cache", lambda: None)
    taken = tmp_path / "pyccel-kit-0"
    if kind == "link":
        (tmp_path / "mine").mkdir()
        taken.symlink_to(tmp_path / "mine")
    else:
        taken.mkdir()
        os.chown(taken, STRANGER, STRANGER)
    found = location.store_location()
    assert found.root != taken
    assert found.root.parent == tmp_path
    assert location.store_location() == found
    assert found.warning is not None
    assert "has no home directory" in found.warning


def test_temporary_places_never_include_the_working_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", ".")
    monkeypatch.setenv("TEMP", str(tmp_path / "missing"))
    roots = list(location.temporary_roots())
    assert Path("/tmp") in [root.parent for root in roots]
    assert all(root.is_absolute() and root.parent != tmp_path for root in roots)
    assert not any(root.exists() for root in roots)

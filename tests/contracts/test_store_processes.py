"""Processes that share one store: one build, right results, and nobody waits for the dead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.cache import Store
from tests.unit.small_artifacts import KEY, bytes_builder

PREAMBLE = f"""
import os, sys, time
sys.path[:0] = {sys.path!r}
from pathlib import Path
from kit.cache import Store
from tests.unit.small_artifacts import KEY, module_builder
store = Store(Path("store").absolute())
def wait_for(name):
    while not Path(name).exists():
        time.sleep(0.005)
def tell(pid, label):
    print("waiting for", pid, label, flush=True)
"""

ASK = """
Path(f"ready.{os.getpid()}").touch()
wait_for("go")
def build(scratch):
    Path(f"built.{os.getpid()}").touch()
    time.sleep(0.3)
    return module_builder(KEY, 77)(scratch)
entry, was_built = store.build_once(KEY, build, label="heat(u)", on_wait=tell)
assert store.load(entry).value == 77
print("built" if was_built else "found", flush=True)
"""

BUILD_FOREVER = """
def build(scratch):
    (scratch / "half.o").write_text("half")
    Path("building").touch()
    time.sleep(60)
store.build_once(KEY, build, label="heat(u)")
"""


class Children:
    """Python processes in one directory; none outlives its test."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._running: list[subprocess.Popen[str]] = []

    def start(self, script: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", PREAMBLE + script],
            cwd=self.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._running.append(child)
        return child

    def wait_for(self, pattern: str, count: int = 1) -> None:
        deadline = time.monotonic() + 60
        while len(list(self.directory.glob(pattern))) < count:
            assert time.monotonic() < deadline, f"no {pattern}"
            assert all(child.poll() in (None, 0) for child in self._running), "a child died"
            time.sleep(0.005)

    def stop(self) -> None:
        for child in self._running:
            if child.poll() is None:
                child.kill()
            child.communicate()


@pytest.fixture
def children(tmp_path: Path) -> Iterator[Children]:
    children = Children(tmp_path)
    yield children
    children.stop()


def _output(child: subprocess.Popen[str]) -> str:
    output, errors = child.communicate(timeout=60)
    assert child.returncode == 0, errors
    return output


def test_eight_processes_that_ask_at_once_build_once_and_all_get_the_result(
    children: Children, tmp_path: Path
) -> None:
    asking = [children.start(ASK) for _ in range(8)]
    children.wait_for("ready.*", 8)
    (tmp_path / "go").touch()
    outputs = [_output(child) for child in asking]
    assert sorted(output.splitlines()[-1] for output in outputs) == ["built"] + ["found"] * 7
    (builder,) = (path.name.removeprefix("built.") for path in tmp_path.glob("built.*"))
    waiting = [line for output in outputs for line in output.splitlines() if "waiting" in line]
    assert waiting, "a build of 0.3 s is waited for"
    assert set(waiting) == {f"waiting for {builder} heat(u)"}
    store = Store(tmp_path / "store")
    assert len(store.list()) == 1
    assert store.verify() == ()
    assert list((store.root / "v1/locks").iterdir()) == []
    assert list((store.root / "v1/scratch").iterdir()) == []


def test_when_a_builder_is_killed_the_one_that_waits_builds(
    children: Children, tmp_path: Path
) -> None:
    doomed = children.start(BUILD_FOREVER)
    children.wait_for("building")
    waiting = children.start(ASK)
    (tmp_path / "go").touch()
    assert waiting.stdout is not None
    assert waiting.stdout.readline() == f"waiting for {doomed.pid} heat(u)\n"
    doomed.kill()
    assert doomed.wait(60) == -signal.SIGKILL
    assert _output(waiting).splitlines()[-1] == "built"
    store = Store(tmp_path / "store")
    assert list((store.root / "v1/scratch").iterdir()) == [], "the dead builder's is swept"
    assert list((store.root / "v1/locks").iterdir()) == []


def test_an_interrupted_build_leaves_nothing_and_lets_the_next_one_in(
    children: Children, tmp_path: Path
) -> None:
    interrupted = children.start(BUILD_FOREVER)
    children.wait_for("building")
    interrupted.send_signal(signal.SIGINT)
    _, errors = interrupted.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    store = Store(tmp_path / "store")
    assert [p for p in store.root.rglob("*") if p.is_file()] == []
    assert list((store.root / "v1/scratch").iterdir()) == []
    assert store.build_once(KEY, bytes_builder(KEY), label="f")[1]


def test_waiting_ends_at_once_with_an_interrupt(children: Children, tmp_path: Path) -> None:
    builder = children.start(BUILD_FOREVER)
    children.wait_for("building")
    waiting = children.start(ASK)
    (tmp_path / "go").touch()
    assert waiting.stdout is not None
    waiting.stdout.readline()
    begin = time.monotonic()
    waiting.send_signal(signal.SIGINT)
    _, errors = waiting.communicate(timeout=60)
    assert time.monotonic() - begin < 2
    assert "KeyboardInterrupt" in errors
    assert builder.poll() is None
    assert list(tmp_path.glob("built.*")) == []


def test_processes_that_build_use_and_clear_at_once_never_get_a_wrong_result(
    children: Children, tmp_path: Path
) -> None:
    script = """
import random
from kit.cache import ArtifactUnusable, digest
wait_for("go")
chance = random.Random(os.getpid())
values = {}
for step in range(12):
    number = chance.randrange(3)
    key = digest({"number": str(number)})
    if chance.random() < 0.15:
        store.clear()
    for attempt in range(20):
        entry, _ = store.build_once(
            key, module_builder(key, number), label="f", force=chance.random() < 0.1
        )
        try:
            module = store.load(entry)
            break
        except ArtifactUnusable as error:
            assert "cannot be read" in error.found, error
    assert module.value == number, (module.value, number)
"""
    at_work = [children.start(script) for _ in range(4)]
    (tmp_path / "go").touch()
    for child in at_work:
        assert _output(child) == ""
    store = Store(tmp_path / "store")
    store.build_once(KEY, bytes_builder(KEY), label="f")
    assert list((store.root / "v1/scratch").iterdir()) == []
    assert all("missing" in problem.text for problem in store.verify())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts what is imported on Linux")
def test_a_hit_imports_nothing_that_only_a_build_needs(tmp_path: Path) -> None:
    Store(tmp_path / "store").build_once(KEY, bytes_builder(KEY), label="f")
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from kit.cache import open_store
assert open_store().lookup({KEY!r}) is not None
slow = {{"platformdirs", "filelock", "tempfile", "shutil", "subprocess", "fcntl", "shlex",
        "kit.store.building", "kit.store.upkeep", "kit.store.locking"}}
assert not slow & set(sys.modules), slow & set(sys.modules)
"""
    environment = {**os.environ, "KIT_CACHE_DIR": str(tmp_path / "store")}
    subprocess.run([sys.executable, "-S", "-c", script], env=environment, check=True)

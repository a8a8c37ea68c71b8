"""The worker process: interrupts, crashes, orphans, threads, forks."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kit.backends import workers
from kit.backends.protocol import CompileReply, CompileRequest
from kit.backends.pyccel import compile_unit, prewarm
from kit.backends.worker_process import Worker, worker_environment
from kit.errors import BuildError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc")

SOURCE = "def twice(x: float) -> float:\n    return 2.0 * x\n"

# What the child processes below run: one build, announced on its standard output.
SCRIPT = """
import sys, time, pathlib
from kit.backends.protocol import CompileRequest
from kit.backends.pyccel import compile_unit
scratch = pathlib.Path(sys.argv[1])
scratch.mkdir()
request = CompileRequest(
    source={source!r}, module_name="kit_m", language="fortran", scratch=str(scratch)
)
try:
    compile_unit(request)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.fixture(autouse=True)
def fresh_worker() -> Iterator[None]:
    workers.shut_down()
    yield
    workers.shut_down()


@pytest.fixture
def sleeping_gfortran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that writes its process number to the file that is returned, and sleeps."""
    started = tmp_path / "started"
    program = tmp_path / "bin" / "gfortran"
    program.parent.mkdir()
    # The answer to -print-file-name comes at once. A child of the compiler stands for cc1.
    program.write_text(
        "#!/bin/sh\n"
        'case "$1" in -print*|--version) exit 0;; esac\n'
        "sleep 60 &\n"
        f"echo $$ $! > {started}.new; mv {started}.new {started}\n"
        "wait\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return started


def build(scratch: Path, on_progress: Callable[[str, float], None] | None = None) -> CompileReply:
    scratch.mkdir(exist_ok=True)
    return compile_unit(
        CompileRequest(
            source=SOURCE, module_name="kit_m", language="fortran", scratch=str(scratch)
        ),
        on_progress=on_progress,
    )


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def wait_for(condition: Callable[[], object], seconds: float = 20.0) -> float:
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, "it did not happen"
        time.sleep(0.005)
    return time.monotonic() - started


def processes_of(started: Path) -> list[int]:
    wait_for(started.exists, 60.0)
    return [int(text) for text in started.read_text().split()]


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def group_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[2])


@contextlib.contextmanager
def notebook(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that stands for the notebook, busy with a build."""
    command = [sys.executable, "-W", "error", "-c", SCRIPT.format(source=SOURCE)]
    with subprocess.Popen(
        [*command, str(tmp_path / "scratch")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            elif process.returncode > 0 and process.stderr and not process.stderr.closed:
                print(process.stderr.read())  # why nothing was compiled, where that was waited for


# ---- ends ---------------------------------------------------------------------------------------


def test_an_interrupt_ends_worker_and_compilers_within_half_a_second(
    tmp_path: Path, sleeping_gfortran: Path
) -> None:
    with notebook(tmp_path) as process:
        compilers = processes_of(sleeping_gfortran)
        worker = group_of(compilers[0])
        assert worker != os.getpgid(process.pid)
        process.send_signal(signal.SIGINT)
        seconds = wait_for(lambda: not any(map(is_running, [*compilers, worker])), 5.0)
        out, err = process.communicate(timeout=10)
    assert seconds < 0.5
    assert (out, err, process.returncode) == ("interrupted\n", "", 0)


def test_a_killed_notebook_leaves_no_process_and_no_worker_directory(
    tmp_path: Path, sleeping_gfortran: Path
) -> None:
    with notebook(tmp_path) as process:
        compilers = processes_of(sleeping_gfortran)
        worker = group_of(compilers[0])
        home = Path(f"/proc/{worker}/cwd").readlink()
        assert home.name.startswith("kit-worker-")
        process.kill()
        wait_for(lambda: not any(map(is_running, [*compilers, worker])), 2.0)
    assert not home.exists()


def test_compilers_end_with_the_worker_even_if_the_notebook_cannot_help(
    tmp_path: Path, sleeping_gfortran: Path
) -> None:
    with notebook(tmp_path) as process:
        compilers = processes_of(sleeping_gfortran)
        worker = group_of(compilers[0])
        home = Path(f"/proc/{worker}/cwd").readlink()
        process.send_signal(signal.SIGSTOP)
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: not any(map(is_running, compilers)), 2.0)
    assert not home.exists()


def test_a_worker_is_out_of_reach_of_ctrl_c_from_its_first_moment() -> None:
    worker = Worker(command=[sys.executable, "-c", "import sys; sys.stdin.readline()"])
    try:
        assert os.getpgid(worker.pid) == worker.pid != os.getpgid(0)
    finally:
        worker.kill()


def test_without_fork_a_killed_notebook_leaves_no_process_either(
    tmp_path: Path, sleeping_gfortran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = SCRIPT.replace(
        "scratch.mkdir()",
        "scratch.mkdir()\nfrom kit.backends import worker_process, workers\n"
        "workers._states['pyccel'].worker = worker_process.Worker(['--no-fork'])",
    )
    command = [sys.executable, "-c", script.format(source=SOURCE), str(tmp_path / "scratch")]
    with subprocess.Popen(command) as process:
        compilers = processes_of(sleeping_gfortran)
        worker = group_of(compilers[0])
        process.kill()
        wait_for(lambda: not any(map(is_running, [*compilers, worker])), 2.0)


def test_a_worker_killed_in_mid_build_is_an_error_that_names_the_signal(
    tmp_path: Path, sleeping_gfortran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []

    def kill_worker(stage: str, seconds: float) -> None:
        if sleeping_gfortran.exists() and not killed:
            assert workers._states["pyccel"].worker is not None
            killed.append(workers._states["pyccel"].worker.pid)
            os.kill(killed[0], signal.SIGKILL)

    with pytest.raises(BuildError, match="worker was ended by signal SIGKILL") as caught:
        build(tmp_path / "one", kill_worker)
    assert "fresh worker" in str(caught.value.fix)
    wait_for(lambda: not any(map(is_running, processes_of(sleeping_gfortran))), 1.0)
    with contextlib.suppress(ChildProcessError):
        assert os.waitpid(killed[0], os.WNOHANG) is None, "a zombie was left"
    (sleeping_gfortran.parent / "bin" / "gfortran").unlink()
    assert build(tmp_path / "two").ok


def test_a_crash_of_the_compilation_alone_is_named_and_its_log_kept(
    tmp_path: Path, sleeping_gfortran: Path
) -> None:
    def kill_compilation(stage: str, seconds: float) -> None:
        if sleeping_gfortran.exists():
            compiler = processes_of(sleeping_gfortran)[0]
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                os.kill(parent_of(compiler), signal.SIGSEGV)

    with pytest.raises(BuildError, match="the compilation was ended by signal SIGSEGV"):
        build(tmp_path / "one", kill_compilation)
    wait_for(lambda: not any(map(is_running, processes_of(sleeping_gfortran))), 1.0)


def test_a_worker_that_died_while_nobody_looked_is_replaced(tmp_path: Path) -> None:
    prewarm_here()
    worker = workers._states["pyccel"].worker
    assert worker is not None
    os.killpg(worker.pid, signal.SIGKILL)
    assert build(tmp_path / "scratch").ok


def test_a_worker_leaves_after_its_idle_time_and_cleans_up() -> None:
    worker = Worker(["--idle", "0.05"])
    home = worker._home
    wait_for(lambda: not worker.is_alive())
    assert worker._process.returncode == 0
    assert not home.exists()
    worker.kill()


def test_a_worker_that_leaves_in_the_moment_of_a_request_is_replaced(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.readline()"
    workers._states["pyccel"].worker = Worker(command=[sys.executable, "-c", code])
    assert build(tmp_path / "scratch").ok


def test_a_worker_that_has_left_is_collected_with_the_next_cell() -> None:
    worker = workers._states["pyccel"].worker = Worker(command=[sys.executable, "-c", ""])
    wait_for(lambda: not is_running(worker.pid))
    assert Path(f"/proc/{worker.pid}").exists(), "no zombie to collect"
    workers.reap()
    assert workers._states["pyccel"].worker is None
    assert not Path(f"/proc/{worker.pid}").exists()


# ---- rubbish ------------------------------------------------------------------------------------


OUTSIDE = json.dumps({"reply": CompileReply(ok=True, artifact="/elsewhere/a.so").to_json()})


@pytest.mark.parametrize(
    "answer",
    [
        b"hello",
        b"\xff\x80",
        b"[1]",
        b'{"other": 1}',
        b'{"stage": 5}',
        b'{"reply": {"ok": true}}',
        OUTSIDE.encode(),
    ],
)
def test_rubbish_is_a_build_error_and_the_worker_is_not_used_again(
    tmp_path: Path, answer: bytes
) -> None:
    code = (
        "import os, sys\n"
        "sys.stdin.readline()\n"
        f"os.write(1, {answer!r} + b'\\n')\n"
        "sys.stdin.readline()\n"
    )
    worker = workers._states["pyccel"].worker = Worker(command=[sys.executable, "-c", code])
    with pytest.raises(BuildError, match=r"protocol|no message|outside its directory"):
        build(tmp_path / "scratch")
    assert workers._states["pyccel"].worker is None
    assert not worker.is_alive()


def test_a_worker_without_pyccel_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    poison = tmp_path / "poison" / "pyccel"
    poison.mkdir(parents=True)
    (poison / "__init__.py").write_text("raise ImportError('broken installation')\n")
    monkeypatch.setenv("PYTHONPATH", str(poison.parent))
    with pytest.raises(BuildError, match="broken installation") as caught:
        build(tmp_path / "scratch")
    assert "Traceback" in caught.value.log


# ---- company ------------------------------------------------------------------------------------


def test_progress_is_told_at_least_every_tenth_of_a_second(tmp_path: Path) -> None:
    told: list[tuple[str, float, float]] = []
    build(tmp_path / "s", lambda stage, seconds: told.append((stage, seconds, time.monotonic())))
    gaps = [later[2] - earlier[2] for earlier, later in itertools.pairwise(told)]
    assert sorted(gaps)[-2] < 0.1  # one gap may fall to the scheduler of a busy machine
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert stages[0] == "starting"
    assert {"parsing", "translating", "compiling", "linking"} <= set(stages)
    assert [seconds for _, seconds, _ in told] == sorted(seconds for _, seconds, _ in told)


def test_two_threads_build_at_once(tmp_path: Path) -> None:
    replies: dict[str, CompileReply] = {}
    threads = [
        threading.Thread(target=lambda name=name: replies.update({name: build(tmp_path / name)}))
        for name in ("one", "two")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(name for name, reply in replies.items() if reply.ok) == ["one", "two"]
    assert Path(str(replies["one"].artifact)).parent == tmp_path / "one"


def test_a_forked_copy_of_the_notebook_gets_a_worker_of_its_own(tmp_path: Path) -> None:
    code = """
import os, sys, pathlib
from kit.backends import workers
from kit.backends.protocol import CompileRequest
from kit.backends.pyccel import compile_unit
root = pathlib.Path(sys.argv[1])
def build(name):
    (root / name).mkdir()
    source = "def f(x: float) -> float:\\n    return x\\n"
    scratch = str(root / name)
    request = CompileRequest(source=source, module_name="kit_m", language="c", scratch=scratch)
    return compile_unit(request).ok
assert build("before")
mine = workers._states["pyccel"].worker.pid
child = os.fork()
if child == 0:
    code = 1
    try:
        assert workers._states["pyccel"].worker is None
        assert build("in_child") and workers._states["pyccel"].worker.pid != mine
        workers.shut_down()
        code = 0
    finally:
        os._exit(code)
assert os.waitpid(child, 0)[1] == 0
assert build("after") and workers._states["pyccel"].worker.pid == mine
"""
    subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path)], check=True, timeout=60
    )


def test_a_forked_copy_that_lives_on_does_not_keep_the_worker_alive(tmp_path: Path) -> None:
    code = """
import os, time
from kit.backends import workers
workers.prewarm()
print(workers._states["pyccel"].worker.pid, flush=True)
if os.fork() == 0:
    os.close(1)
    time.sleep(30)
time.sleep(30)
"""
    environment = os.environ | {"KIT_PREWARM": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        time.sleep(0.3)  # the copy has been made
        process.kill()
        try:
            wait_for(lambda: not is_running(worker), 5.0)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def test_builds_without_fork_work_one_after_the_other(tmp_path: Path) -> None:
    workers._states["pyccel"].worker = Worker(["--no-fork"])
    worker = workers._states["pyccel"].worker.pid
    assert build(tmp_path / "one").ok
    assert build(tmp_path / "two").ok
    assert workers._states["pyccel"].worker.pid == worker


# ---- surroundings -------------------------------------------------------------------------------


def prewarm_here() -> None:
    workers._live_worker(workers._states["pyccel"], ())


def test_prewarming_returns_at_once_and_leaves_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_PREWARM", "0")
    prewarm()
    assert workers._states["pyccel"].worker is None
    monkeypatch.delenv("KIT_PREWARM")
    started = time.monotonic()
    prewarm()
    assert time.monotonic() - started < 0.2
    assert workers._states["pyccel"].worker is not None
    assert workers._states["pyccel"].worker.is_alive()


def test_modules_in_the_current_directory_shadow_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("numpy", "pyccel", "json", "sympy"):
        (here / f"{name}.py").write_text("raise ImportError('shadowed')\n")
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", ".")
    assert build(tmp_path / "scratch").ok


def test_only_absolute_directories_are_handed_to_the_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([".", "", "relative", "/absolute"]))
    handed = worker_environment()["PYTHONPATH"].split(os.pathsep)
    assert "/absolute" in handed
    assert all(path.startswith("/") for path in handed)


def test_a_deleted_current_directory_disturbs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    try:
        assert build(tmp_path / "scratch").ok
    finally:
        os.chdir(tmp_path)


def test_settings_of_the_users_python_do_not_reach_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    monkeypatch.setenv("PYTHONINSPECT", "1")
    monkeypatch.setenv("PYCCEL_DEBUG_MODE", "1")
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    reply = build(tmp_path / "scratch")
    assert reply.ok
    assert "-fcheck" not in reply.log
    assert "__pyccel__gw0" not in reply.log
    assert not {"PYTHONINSPECT", "PYTHONWARNINGS"} & worker_environment().keys()


def test_a_worker_that_cannot_start_leaves_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(FileNotFoundError):
        Worker(command=[str(tmp_path / "nothing")])
    assert not list(tmp_path.iterdir())


def test_no_descriptor_and_no_directory_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        prewarm_here()
        workers.shut_down()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert not list(temporary.iterdir())


def test_kit_that_is_importable_by_sys_path_alone_starts_its_worker(tmp_path: Path) -> None:
    root = Path(workers.__file__).parents[2]
    (tmp_path / "roots").mkdir()
    (tmp_path / "roots" / "kit").symlink_to(root / "kit")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import pathlib\n"
        "from kit.backends.worker_process import worker_environment\n"
        "print(worker_environment()['PYTHONPATH'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "roots")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(root) in done.stdout.split(os.pathsep)[0]

"""NVRTC's worker: its own process, warm, and gone when it shall be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kit.backends import nvrtc, workers
from kit.backends.cuda_packages import CudaPackages, find_cuda_packages
from kit.backends.nvrtc import compile_cubins, read_cubins
from kit.backends.nvrtc_protocol import NvrtcProgram, NvrtcReply, NvrtcRequest
from kit.backends.worker_process import Worker
from kit.cuda.options import CI_ARCHITECTURES
from kit.errors import BuildError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NVRTC exists for Linux")

SOURCE = 'extern "C" __global__ void twice(double* x) { x[threadIdx.x] *= 2; }\n'

# Takes NVRTC a minute: templates that instantiate each other. What the notebook below compiles.
ENDLESS = """
template<int N, int M> struct Sum {
    static constexpr long value = Sum<N - 1, M>::value + Sum<N - 1, M + N>::value;
};
template<int M> struct Sum<0, M> { static constexpr long value = M; };
__global__ void k(long* x) { *x = Sum<150, 0>::value; }
"""
NOTEBOOK = """
import pathlib, sys
from kit.backends import nvrtc, workers
from kit.backends.cuda_packages import find_cuda_packages
from kit.backends.nvrtc_protocol import NvrtcRequest
scratch = pathlib.Path(sys.argv[1])
scratch.mkdir()
request = NvrtcRequest(
    source={source!r}, name="cell", architectures={architectures!r},
    options=("--std=c++17",), expressions=("k",), scratch=str(scratch),
)
def tell(stage, seconds):
    if stage.startswith("nvrtc"):
        pid = workers._states["nvrtc"].worker.pid
        (scratch / "new").write_text(str(pid))
        (scratch / "new").rename(scratch / "pid")
try:
    nvrtc.compile_cubins(request, find_cuda_packages(), on_progress=tell)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.fixture(autouse=True)
def fresh_worker() -> Iterator[None]:
    workers.shut_down()
    yield
    workers.shut_down()


@pytest.fixture
def packages() -> CudaPackages:
    return find_cuda_packages()


def request_in(
    scratch: Path, *, source: str = SOURCE, architectures: tuple[str, ...] = ("sm_90",)
) -> NvrtcRequest:
    scratch.mkdir(exist_ok=True)
    return NvrtcRequest(
        source=source,
        name="cell",
        architectures=architectures,
        options=("--std=c++17", "--ptxas-options=-v"),
        expressions=("twice",),
        scratch=str(scratch),
    )


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def group_of(leader: int) -> list[int]:
    """Processes of a group that still run."""
    found: list[int] = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and is_running(int(path.name)):
            try:
                fields = (path / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[2]) == leader:
                found.append(int(path.name))
    return found


def wait_for(condition: Callable[[], object], seconds: float = 30.0) -> None:
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, "it did not happen"
        time.sleep(0.005)


@contextmanager
def start_notebook(
    scratch: Path, architectures: tuple[str, ...]
) -> Iterator[subprocess.Popen[str]]:
    """A process that stands for the notebook, busy with a cell; it does not outlive the block."""
    code = NOTEBOOK.format(source=ENDLESS, architectures=architectures)
    command = [sys.executable, "-W", "error", "-c", code, str(scratch)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


# ---- what it makes ------------------------------------------------------------------------------


def test_every_architecture_gets_its_cubin_in_the_order_that_was_asked(
    tmp_path: Path, packages: CudaPackages
) -> None:
    request = request_in(tmp_path, architectures=CI_ARCHITECTURES)
    reply = compile_cubins(request, packages)
    assert tuple(one.architecture for one in reply.programs) == CI_ARCHITECTURES
    cubins = read_cubins(reply, tmp_path)
    assert tuple(cubins) == CI_ARCHITECTURES
    assert all(one.startswith(b"\x7fELF") for one in cubins.values())
    assert len(set(cubins.values())) == len(cubins)
    for one in reply.programs:
        assert f"for '{one.architecture}'" in one.log
        assert one.lowered == {"twice": "twice"}
        assert one.seconds["compile"] > 0
    assert [bool(one.ptx) for one in reply.programs] == [True, False, False, False, False]


def test_one_worker_serves_many_requests(tmp_path: Path, packages: CudaPackages) -> None:
    compile_cubins(request_in(tmp_path / "one"), packages)
    worker = workers._states["nvrtc"].worker
    assert worker is not None
    compile_cubins(request_in(tmp_path / "two"), packages)
    assert workers._states["nvrtc"].worker is worker
    assert workers._states["pyccel"].worker is None


def test_an_error_is_a_reply_and_leaves_no_cubin(tmp_path: Path, packages: CudaPackages) -> None:
    reply = compile_cubins(request_in(tmp_path, source="nonsense"), packages)
    (program,) = reply.programs
    assert not program.ok
    assert "error" in program.log
    assert read_cubins(reply, tmp_path) == {}


def test_an_unknown_architecture_compiles_nothing_and_names_those_that_are_known(
    tmp_path: Path, packages: CudaPackages
) -> None:
    reply = compile_cubins(request_in(tmp_path, architectures=("sm_90", "sm_999")), packages)
    assert reply.programs == ()
    assert set(CI_ARCHITECTURES) <= set(reply.supported)
    assert reply.compiler.startswith("NVRTC 12.")
    assert list(tmp_path.iterdir()) == []


def test_architectures_with_more_instructions_are_known_too(
    tmp_path: Path, packages: CudaPackages
) -> None:
    reply = compile_cubins(request_in(tmp_path, architectures=("sm_90a",)), packages)
    assert reply.programs[0].ok


def test_the_notebook_imports_no_compiler(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from tests.unit.test_nvrtc import compile_cubins, find_cuda_packages, request_in\n"
        "from pathlib import Path\n"
        f"compile_cubins(request_in(Path({str(tmp_path)!r})), find_cuda_packages())\n"
        "print([one for one in sys.modules if one.startswith(('pyccel', 'cupy', 'cuda.b'))])\n"
        "print('libnvrtc' in Path('/proc/self/maps').read_text())\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout == "[]\nFalse\n"


# ---- ends ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("architectures", [("sm_90",), ("sm_80", "sm_90", "sm_100")])
def test_an_interrupt_ends_the_worker_and_its_children_within_half_a_second(
    tmp_path: Path, architectures: tuple[str, ...]
) -> None:
    scratch = tmp_path / "scratch"
    with start_notebook(scratch, architectures) as process:
        wait_for(lambda: (scratch / "pid").exists() and (scratch / "pid").read_text())
        worker = int((scratch / "pid").read_text())
        assert len(group_of(worker)) >= 1
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        wait_for(lambda: not group_of(worker), 5.0)
        seconds = time.monotonic() - started
        out, _ = process.communicate(timeout=10)
    assert seconds < 3.0  # half a second on an idle machine
    assert (out, process.returncode) == ("interrupted\n", 0)


def test_a_killed_notebook_leaves_no_worker(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    with start_notebook(scratch, ("sm_80", "sm_90")) as process:
        wait_for(lambda: (scratch / "pid").exists() and (scratch / "pid").read_text())
        worker = int((scratch / "pid").read_text())
        process.kill()
        wait_for(lambda: not group_of(worker), 5.0)


def test_a_crash_of_nvrtc_is_a_build_error_and_the_next_cell_gets_a_fresh_worker(
    tmp_path: Path, packages: CudaPackages
) -> None:
    def crash(stage: str, seconds: float) -> None:
        worker = workers._states["nvrtc"].worker
        if stage.startswith("nvrtc") and worker is not None:
            os.kill(worker.pid, signal.SIGSEGV)

    request = request_in(tmp_path / "one", source=ENDLESS)
    with pytest.raises(BuildError, match="SIGSEGV") as caught:
        compile_cubins(request, packages, on_progress=crash)
    assert "fresh worker" in (caught.value.fix or "")
    assert compile_cubins(request_in(tmp_path / "two"), packages).programs[0].ok


def test_a_worker_that_is_killed_may_want_memory(tmp_path: Path, packages: CudaPackages) -> None:
    def kill(stage: str, seconds: float) -> None:
        worker = workers._states["nvrtc"].worker
        if stage.startswith("nvrtc") and worker is not None:
            os.kill(worker.pid, signal.SIGKILL)

    with pytest.raises(BuildError, match="SIGKILL") as caught:
        compile_cubins(request_in(tmp_path, source=ENDLESS), packages, on_progress=kill)
    assert "memory may be short" in (caught.value.fix or "")


def test_a_crash_in_a_child_fails_its_architecture(tmp_path: Path, packages: CudaPackages) -> None:
    def crash(stage: str, seconds: float) -> None:
        worker = workers._states["nvrtc"].worker
        if worker is not None:
            for pid in group_of(worker.pid):
                if pid != worker.pid:
                    os.kill(pid, signal.SIGSEGV)

    source = SOURCE + "#if __CUDA_ARCH__ == 900\n" + ENDLESS + "#endif\n"
    request = request_in(tmp_path, source=source, architectures=("sm_80", "sm_90"))
    first, second = compile_cubins(request, packages, on_progress=crash).programs
    assert first.ok
    assert not second.ok
    assert second.failure == "NVRTC ended with signal 11 while it compiled for sm_90"


def test_a_library_that_does_not_load_says_so(tmp_path: Path, packages: CudaPackages) -> None:
    broken = tmp_path / "libnvrtc.so.12"
    broken.write_bytes(b"no library")
    with pytest.raises(BuildError, match="NVRTC does not load"):
        compile_cubins(request_in(tmp_path), packages._replace(library=broken))
    # Another environment's library is another worker.
    assert compile_cubins(request_in(tmp_path), packages).programs[0].ok


def test_another_library_is_another_worker(tmp_path: Path, packages: CudaPackages) -> None:
    compile_cubins(request_in(tmp_path / "one"), packages)
    worker = workers._states["nvrtc"].worker
    assert worker is not None
    elsewhere = tmp_path / "lib"
    elsewhere.mkdir()
    for path in packages.library.parent.iterdir():
        (elsewhere / path.name).symlink_to(path)
    moved = packages._replace(library=elsewhere / packages.library.name)
    assert compile_cubins(request_in(tmp_path / "two"), moved).programs[0].ok
    assert workers._states["nvrtc"].worker is not worker
    assert not worker.is_alive()


# ---- rubbish ------------------------------------------------------------------------------------

PROGRAM = NvrtcProgram(architecture="sm_90", ok=True).to_json()


def reply_with(*programs: object, **others: object) -> bytes:
    reply = {"programs": list(programs), "compiler": "NVRTC", "supported": [], **others}
    return json.dumps({"reply": reply}).encode()


@pytest.mark.parametrize(
    "answer",
    [
        b"hello",
        b'{"reply": {}}',
        reply_with({}),
        reply_with({**PROGRAM, "ok": 1}),
        reply_with({**PROGRAM, "lowered": {"a": 1}}),
        reply_with({**PROGRAM, "more": 1}),
        reply_with(PROGRAM, supported="sm_90"),
        reply_with({**PROGRAM, "architecture": "sm_80"}),
        reply_with({**PROGRAM, "architecture": "../sm_90"}),
        reply_with(PROGRAM, PROGRAM),
    ],
)
def test_rubbish_is_a_build_error_and_the_worker_is_not_used_again(
    tmp_path: Path, packages: CudaPackages, answer: bytes
) -> None:
    code = f"import os, sys\nsys.stdin.readline()\nos.write(1, {answer!r} + b'\\n')\ninput()\n"
    worker = Worker(command=[sys.executable, "-c", code])
    state = workers._states["nvrtc"]
    state.worker, state.options = worker, ("--nvrtc", str(packages.library))
    with pytest.raises(BuildError, match=r"protocol|no message|compiled for"):
        compile_cubins(request_in(tmp_path), packages)
    assert state.worker is None
    assert not worker.is_alive()


@pytest.mark.parametrize("key", ["source", "architectures", "options", "expressions", "scratch"])
def test_a_request_of_the_wrong_form_is_refused(tmp_path: Path, key: str) -> None:
    plain = {**request_in(tmp_path).to_json(), key: 5}
    with pytest.raises(BuildError, match="protocol"):
        NvrtcRequest.from_json(plain)


def test_replies_survive_the_pipe() -> None:
    program = NvrtcProgram(
        architecture="sm_90",
        ok=True,
        log="l",
        ptx="p",
        lowered={"a": "b"},
        seconds={"compile": 1.0},
    )
    reply = NvrtcReply(programs=(program,), compiler="NVRTC 12.9", supported=("sm_90",))
    assert NvrtcReply.from_json(json.loads(json.dumps(reply.to_json()))) == reply


# ---- a head start -------------------------------------------------------------------------------


def test_prewarming_starts_one_worker_that_is_used(
    tmp_path: Path, packages: CudaPackages, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvrtc.prewarm()
    assert workers._states["nvrtc"].worker is None  # KIT_PREWARM=0, as all tests have it
    monkeypatch.delenv("KIT_PREWARM")
    nvrtc.prewarm()
    worker = workers._states["nvrtc"].worker
    assert worker is not None
    nvrtc.prewarm()
    compile_cubins(request_in(tmp_path), packages)
    assert workers._states["nvrtc"].worker is worker


def test_prewarming_without_nvrtc_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> CudaPackages:
        raise BuildError("not installed")

    monkeypatch.delenv("KIT_PREWARM")
    monkeypatch.setattr(nvrtc, "find_cuda_packages", missing)
    nvrtc.prewarm()
    assert workers._states["nvrtc"].worker is None

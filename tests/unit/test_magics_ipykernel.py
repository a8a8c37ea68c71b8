"""The magics inside a real notebook process, over Jupyter's own protocol."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

STEP_SECONDS = 60.0

# A build that takes a second, whatever the machine; the progress of real builds looks the same.
SLOW_BUILD = """
%load_ext kit
import time
import kit.magics.pyccel as magic
real = magic.build_cell
def slow(source, *, on_progress, **options):
    on_progress("pyccel", 0.0)
    time.sleep(1.2)
    return real(source, on_progress=on_progress, **options)
"""
CELL = "%%pyccel_kernel\ndef twice(x: float) -> float:\n    return 2.0 * x\n"
SUMMARY = "twice(x): fortran, returns float\n"


@dataclass
class NotebookProcess:
    """A notebook process and somebody who sends it cells."""

    client: Any

    def run(self, code: str, *, cell_id: str | None = None, attended: bool = True) -> list[Any]:
        """Every message that the cell caused, from its start to its end."""
        metadata = {} if cell_id is None else {"cellId": cell_id}
        content = {"code": code, "silent": False, "store_history": True}
        content |= {"allow_stdin": attended, "stop_on_error": False, "user_expressions": {}}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        found: list[Any] = []
        end = time.monotonic() + STEP_SECONDS
        while True:
            got = self.client.get_iopub_msg(timeout=max(0.1, end - time.monotonic()))
            if got["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            if got["content"].get("execution_state") == "idle":
                return found
            if got["msg_type"] not in ("status", "execute_input"):
                found.append(got)

    def good(self, code: str, **options: Any) -> list[Any]:
        found = self.run(code, **options)
        assert [one["content"] for one in found if one["msg_type"] == "error"] == []
        return found

    def complete(self, code: str, position: int | None = None) -> tuple[list[str], str]:
        """The candidates, and what each of them would replace."""
        reply = self.client.complete(code, position, reply=True, timeout=STEP_SECONDS)["content"]
        return reply["matches"], code[reply["cursor_start"] : reply["cursor_end"]]


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NotebookProcess]:
    from jupyter_client.manager import KernelManager

    folder = tmp_path_factory.mktemp("notebook")
    environment = {name: text for name, text in os.environ.items() if name != "KIT_STABLE_OUTPUT"}
    environment["IPYTHONDIR"] = str(folder / "ipython")
    environment["JUPYTER_RUNTIME_DIR"] = str(folder)
    manager = KernelManager(kernel_name="python3", connection_file=str(folder / "connection.json"))
    manager.start_kernel(env=environment, cwd=str(folder))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=STEP_SECONDS)
        started = NotebookProcess(client)
        started.good(SLOW_BUILD)
        yield started
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def kinds(messages: list[Any]) -> list[str]:
    return [one["msg_type"] for one in messages]


def text_of(messages: list[Any]) -> str:
    return "".join(one["content"]["text"] for one in messages if one["msg_type"] == "stream")


def test_a_slow_build_shows_progress_that_leaves_with_it(process: NotebookProcess) -> None:
    process.good("magic.build_cell = slow")
    found = process.good(CELL)
    assert kinds(found)[0] == "display_data"
    assert "update_display_data" in kinds(found)
    assert kinds(found)[-2:] == ["clear_output", "stream"]
    line = found[0]["content"]["data"]["text/plain"]
    assert line.startswith("kit: building twice (fortran): pyccel, 0.")
    assert text_of(found) == SUMMARY
    process.good("magic.build_cell = real")


def test_nbclient_and_nbval_get_the_result_alone(process: NotebookProcess) -> None:
    process.good("magic.build_cell = slow")
    found = process.good(CELL, attended=False)
    assert kinds(found) == ["stream"]
    assert text_of(found) == SUMMARY
    process.good("magic.build_cell = real")


def test_stable_output_has_no_progress(process: NotebookProcess) -> None:
    process.good("import os; os.environ['KIT_STABLE_OUTPUT'] = '1'; magic.build_cell = slow")
    found = process.good(CELL)
    assert kinds(found) == ["stream"]
    process.good("del os.environ['KIT_STABLE_OUTPUT']; magic.build_cell = real")


def test_a_magic_among_other_output_takes_only_its_own_away(process: NotebookProcess) -> None:
    process.good("magic.build_cell = slow")
    body = CELL.split("\n", 1)[1]
    found = process.good(
        f"print('kept')\nget_ipython().run_cell_magic('pyccel_kernel', '', {body!r})"
    )
    assert "clear_output" not in kinds(found)
    assert found[-2]["msg_type"] == "update_display_data"
    assert found[-2]["content"]["data"] == {}
    process.good("magic.build_cell = real")


def test_a_failed_cell_is_an_error_to_the_frontend_without_frames(
    process: NotebookProcess,
) -> None:
    found = process.run("%%pyccel_kernel --lang c\ndef f(x: float): pass\n")
    assert kinds(found) == ["error"]
    content = found[0]["content"]
    assert content["ename"] == "CellError"
    assert content["traceback"][0].endswith("cell line 1, column 17: there is no option --lang")
    assert content["traceback"][2].index("^") == 2 + 16
    assert ".py" not in "\n".join(content["traceback"])


def test_the_cell_id_tells_an_edit_from_another_cell(process: NotebookProcess) -> None:
    other = CELL.replace("twice", "twin")
    process.good(CELL + "def thrice(x: float) -> float:\n    return 3.0 * x\n", cell_id="one")
    process.good(CELL, cell_id="two")
    process.good("thrice(1.0)")
    found = process.good(other, cell_id="one")
    assert "thrice: unbound" in text_of(found)
    assert "twice: unbound" not in text_of(found)  # belongs to the other cell by now
    process.good("twice(1.0), twin(1.0)")


def test_tab_completes_options_and_values(process: NotebookProcess) -> None:
    assert process.complete("%%pyccel_kernel --la") == (["--language"], "--la")
    assert process.complete("%%pyccel_kernel -l ") == (["fortran", "c"], "")
    assert process.complete("%%pyccel_kernel --policy=s") == (["strict"], "s")
    assert process.complete("%kit_cache v") == (["verify"], "v")
    code = "%%pyccel_kernel -o \ndef f(first: 'float[:]'): pass"
    assert process.complete(code, len("%%pyccel_kernel -o ")) == (["first"], "")
    assert process.complete("%%pyccel_ker")[0] == ["%%pyccel_kernel"]
    assert process.complete("%%cuda_ker")[0] == ["%%cuda_kernel"]
    assert process.complete("%%cuda_kernel --bl") == (["--block"], "--bl")
    assert process.complete("%%cuda_kernel --arch sm_80,sm_12") == (["sm_120", "sm_121"], "sm_12")
    code = "%%cuda_kernel -o \n__global__ void f(const double* x, int n) {"
    assert process.complete(code, len("%%cuda_kernel -o ")) == (["x", "n"], "")


CUDA = """%%cuda_kernel --arch sm_90 --target emulator
__global__ void half(double* x) { x[threadIdx.x] *= 0.5; }
"""


def test_a_cuda_cell_compiles_and_its_kernel_runs_in_a_notebook(process: NotebookProcess) -> None:
    process.good("import kit.magics.cuda as cuda_magic; really = cuda_magic.build_cuda_cell")
    process.good(
        "def slowly(text, *, on_progress, **options):\n"
        "    on_progress('nvrtc', 0.0)\n"
        "    time.sleep(1.2)\n"
        "    return really(text, on_progress=on_progress, **options)\n"
        "cuda_magic.build_cuda_cell = slowly"
    )
    found = process.good(CUDA)
    line = found[0]["content"]["data"]["text/plain"]
    assert line.startswith("kit: building half (cuda): nvrtc, 0.")
    assert kinds(found)[-2:] == ["clear_output", "stream"]
    process.good("cuda_magic.build_cuda_cell = really")
    found = process.good(CUDA, attended=False)
    assert kinds(found) == ["stream"]
    assert text_of(found).startswith("half(x): cuda, writes x, in the emulator (--target emulator)")
    found = process.good("import numpy as np; x = np.arange(3.0); half(x, block=3); print(x)")
    assert text_of(found) == "[0.  0.5 1. ]\n"


@pytest.mark.parametrize("jedi", [True, False])
def test_tab_works_with_and_without_jedi(process: NotebookProcess, jedi: bool) -> None:
    process.good(f"%config Completer.use_jedi = {jedi}")
    assert process.complete("%%pyccel_kernel --ov") == (["--overwrites"], "--ov")
    assert "--language" not in process.complete("x = --la")[0]
    second_line = "%%pyccel_kernel\n%%pyccel_kernel --la"
    assert "--language" not in process.complete(second_line)[0]


def test_what_tab_replaces_does_not_depend_on_ipythons_word_breaks(
    process: NotebookProcess,
) -> None:
    process.good("splitter = get_ipython().Completer.splitter; delims = splitter.delims")
    process.good("splitter.delims = delims + '-'")
    assert process.complete("%%pyccel_kernel --la") == (["--language"], "--la")
    process.good("splitter.delims = delims")


def test_question_mark_shows_the_help(process: NotebookProcess) -> None:
    for magic in (
        "%%pyccel_kernel",
        "%%cuda_kernel",
        "%kit_plan",
        "%kit_cache",
        "%kit_log",
        "%kit_source",
    ):
        code = f"{magic}?"
        reply = process.client.execute(code, reply=True, timeout=STEP_SECONDS)["content"]
        assert reply["status"] == "ok"
        text = reply["payload"][0]["data"]["text/plain"]
        assert "Example" in text
        assert magic in text


def test_nbclient_stops_at_a_failed_cell_and_keeps_what_it_said(tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    broken = CELL.replace("2.0 * x", "2.0 * * x")
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(one) for one in ("%load_ext kit", CELL, broken, "1")]
    )
    client = NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}})
    with pytest.raises(CellExecutionError, match="cell line 3"):
        client.execute()
    assert notebook.cells[1].outputs[0].text == SUMMARY
    (output,) = notebook.cells[2].outputs
    assert output.ename == "CellError"
    assert ".py" not in "\n".join(output.traceback)
    assert notebook.cells[3].outputs == []

"""Progress in terminal IPython: a line on the terminal that is erased again."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

SCRIPT = """
import time
import kit.magics.pyccel as magic
get_ipython().run_line_magic("load_ext", "kit")
real = magic.build_cell
def slow(source, *, on_progress, **options):
    on_progress("pyccel", 0.0)
    time.sleep(1.2)
    return real(source, on_progress=on_progress, **options)
magic.build_cell = slow
cell = "def twice(x: float) -> float:\\n    return 2.0 * x\\n"
get_ipython().run_cell_magic("pyccel_kernel", "", cell)
"""


def run_in_terminal(folder: Path, *, stable: bool) -> str:
    """All bytes that the terminal got."""
    import pexpect

    script = folder / "session.ipy"
    script.write_text(SCRIPT)
    environment = {
        **os.environ,
        "IPYTHONDIR": str(folder / "ipython"),
        "KIT_STABLE_OUTPUT": "1" if stable else "0",
        "TERM": "xterm",
    }
    command = ["-m", "IPython", "--no-banner", "--HistoryManager.enabled=False"]
    command += ["--TerminalInteractiveShell.term_title=False", str(script)]
    child = pexpect.spawn(
        sys.executable, command, env=environment, cwd=str(folder), timeout=60, dimensions=(24, 100)
    )
    output = child.read()
    child.close()
    assert child.exitstatus == 0, output
    # IPython itself shows and hides the cursor.
    return re.sub(r"\x1b\[\?[0-9]+[hl]", "", output.decode())


def screen_lines(output: str) -> list[str]:
    """What is left on the screen, as a terminal without any escape sequence would show it."""
    lines: list[list[str]] = [[]]
    column = 0
    for character in output:
        if character == "\n":
            lines.append([])
        elif character == "\r":
            column = 0
        else:
            row = lines[-1]
            row.extend(" " * (column + 1 - len(row)))
            row[column] = character
            column += 1
    return [text for line in lines if (text := "".join(line).rstrip())]


def test_progress_on_a_terminal_is_seen_and_then_erased(tmp_path: Path) -> None:
    output = run_in_terminal(tmp_path, stable=False)
    assert output.count("\rkit: building twice (fortran): pyccel, ") >= 2
    assert screen_lines(output) == ["twice(x): fortran, returns float"]


def test_stable_output_has_no_progress_on_a_terminal(tmp_path: Path) -> None:
    assert run_in_terminal(tmp_path, stable=True) == "twice(x): fortran, returns float\r\n"

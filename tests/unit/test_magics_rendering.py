"""How IPython shows kit's errors: at the user's line, without kit's own frames."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import kit
from kit.extension import load_ipython_extension, unload_ipython_extension
from tests.unit.magic_shell import ShellUser, the_shell

CELL = "%%pyccel_kernel\ndef shown(x: 'float64[:]'):\n    x[0] = 1.0\n"


@pytest.fixture
def user() -> Iterator[ShellUser]:
    with ShellUser() as one:
        yield one


def test_a_refused_call_is_shown_at_the_users_lines_only(user: ShellUser) -> None:
    user.run(CELL)
    run = user.run("def outer():\n    return shown([1.0])\n\nouter()")
    assert isinstance(run.error, kit.ArgumentRefused)
    assert "----> 2     return shown([1.0])" in run.output
    assert "argument refused" in run.output
    assert "kernel.py" not in run.output
    assert "ArgumentRefused" in run.output
    assert "_Argument" not in run.output


def test_other_errors_keep_all_their_frames(user: ShellUser) -> None:
    run = user.run("import kit\nkit.inspect_layout(3)")
    assert isinstance(run.error, TypeError)
    assert "layout.py" in run.output


def test_unloading_brings_the_frames_back(user: ShellUser) -> None:
    shell = the_shell()
    unload_ipython_extension(shell)
    try:
        run = user.run("import kit\nkit.pyccel_kernel('x = 1')")
        assert isinstance(run.error, kit.CellError)
        assert "decorate.py" in run.output
    finally:
        load_ipython_extension(shell)


def test_an_error_of_the_cell_run_uncompiled_is_shown_without_frames_of_kit(
    user: ShellUser,
) -> None:
    user.run("%%pyccel_kernel\ndef ratio(a: int, b: int):\n    return a // b\n")
    for call in (
        "ratio.python(1, 0)",
        'import kit\nwith kit.use_target("python"):\n    ratio(1, 0)',
    ):
        run = user.run(call)
        assert isinstance(run.error, ZeroDivisionError)
        assert "return a // b" in run.output
        assert "kernel.py" not in run.output

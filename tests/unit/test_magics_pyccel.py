"""``%%pyccel_kernel`` in a shell: what it binds, prints, raises and unbinds."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pytest

from kit.errors import CellError, KitWarning, StaleDependencyWarning, StaleKernelError
from kit.kernel import PyccelKernel
from kit.magics.binding import public_names, session_of
from kit.magics.frontend import Frontend
from kit.stale import StaleKernel
from tests.unit.magic_shell import ShellUser

SCALE = """%%pyccel_kernel
def scale(x: 'float64[:]', factor: float):
    for i in range(x.shape[0]):
        x[i] = factor * x[i]
"""
TWO = (
    SCALE
    + """
def total(x: 'float64[:]') -> float:
    s = 0.0
    for i in range(x.shape[0]):
        s = s + x[i]
    return s
"""
)
BROKEN = """%%pyccel_kernel
def scale(x: 'float64[:]', factor: float):
    for i in range(x.shape[0])
        x[i] = factor * x[i]
"""


@pytest.fixture
def user() -> Iterator[ShellUser]:
    with ShellUser() as one:
        yield one


def kernel(user: ShellUser, name: str) -> PyccelKernel:
    found = user.names[name]
    assert isinstance(found, PyccelKernel)
    return found


def test_a_cell_binds_its_public_functions_and_prints_one_line_for_each(user: ShellUser) -> None:
    run = user.good(TWO + "\ndef _private(x: float) -> float:\n    return x\n")
    assert run.output == ("scale(x, factor): fortran, writes x\ntotal(x): fortran, returns float\n")
    assert "_private" not in user.names
    x = np.arange(3.0)
    cast(Any, kernel(user, "scale"))(x, 2.0)
    assert x.tolist() == [0.0, 2.0, 4.0]
    assert cast(Any, kernel(user, "total"))(x) == 6.0


def test_a_hit_prints_what_the_build_printed(user: ShellUser) -> None:
    first = user.good(SCALE.replace("factor", "by"))
    again = user.good(SCALE.replace("factor", "by"))
    assert first.output == again.output


def test_quiet_prints_nothing_and_verbose_prints_more(user: ShellUser) -> None:
    quiet = user.good(SCALE.replace("%%pyccel_kernel", "%%pyccel_kernel -q"))
    loud = user.good(SCALE.replace("%%pyccel_kernel", "%%pyccel_kernel -v"))
    assert quiet.output == ""
    assert "flags: -O3" in loud.output


def test_options_reach_the_build(user: ShellUser) -> None:
    line = '%%pyccel_kernel -l c -o x --overwrites x --flags "-O1 -g" --policy strict'
    user.good(SCALE.replace("%%pyccel_kernel", line))
    built = kernel(user, "scale")
    assert built.build is not None
    assert built.build.language == "c"
    assert {"-O1", "-g"} <= set(built.build.flags)
    assert built.outputs == ("x",)
    assert built.signature is not None
    assert built.signature.parameters[0].intent == "out"
    with pytest.raises(ValueError, match="argument refused"):
        cast(Any, built)(np.arange(3.0)[::-1], 2.0)


def test_outputs_of_several_functions_are_named_by_function(user: ShellUser) -> None:
    user.good(TWO.replace("%%pyccel_kernel", "%%pyccel_kernel -o scale:x"))
    assert kernel(user, "scale").outputs == ("x",)
    assert kernel(user, "total").outputs == ()


def test_an_error_stands_in_the_cells_own_line_with_a_caret_and_no_frames(
    user: ShellUser,
) -> None:
    run = user.failed(BROKEN)
    assert isinstance(run.error, CellError)
    assert run.error.line == 3
    lines = run.output.splitlines()
    assert lines[0].startswith("CellError: cell line 3, column ")
    assert lines[1] == "      for i in range(x.shape[0])"
    assert lines[2].strip() == "^"
    assert lines[2].index("^") == 2 + (run.error.column or 0) - 1
    assert "Traceback" not in run.output
    assert ".py" not in run.output


def test_a_value_returned_without_annotation_is_told(user: ShellUser) -> None:
    cell = "%%pyccel_kernel\ndef double(x: 'float64[:]'):\n    return 2.0 * x\n"
    assert user.good(cell).output == "double(x): fortran, returns a value\n"


def test_an_error_shown_short_can_still_be_pickled(user: ShellUser) -> None:
    error = user.failed(BROKEN).error
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_wrong_option_is_an_error_of_line_one(user: ShellUser) -> None:
    run = user.failed(SCALE.replace("%%pyccel_kernel", "%%pyccel_kernel --lang c"))
    assert isinstance(run.error, CellError)
    assert (run.error.line, run.error.column) == (1, 17)
    assert "did you mean --language?" in run.output


@pytest.mark.parametrize("option", ["--debug", "--isolate", "--annotate", "-a"])
def test_an_option_of_a_later_version_says_so(user: ShellUser, option: str) -> None:
    run = user.failed(SCALE.replace("%%pyccel_kernel", f"%%pyccel_kernel {option}"))
    assert "later version" in run.output
    assert isinstance(run.error, CellError)


@pytest.mark.parametrize(
    "cell", ["%%pyccel_kernel", "%%pyccel_kernel -q\n", "%%pyccel_kernel\n\n \n"]
)
def test_a_cell_without_a_body_says_what_is_missing(user: ShellUser, cell: str) -> None:
    run = user.failed(cell)
    assert isinstance(run.error, CellError)
    assert "empty" in run.output


def test_an_error_of_the_whole_cell_shows_the_magic_line(user: ShellUser) -> None:
    run = user.failed("%%pyccel_kernel -l c\nx: int = 3\n")
    assert isinstance(run.error, CellError)
    assert run.output.splitlines()[:2] == [
        "CellError: cell line 1: no function to compile in this cell",
        "  %%pyccel_kernel -l c",
    ]


def test_other_cells_do_not_get_a_body_from_kit(user: ShellUser) -> None:
    transform = user.shell.input_transformer_manager.transform_cell
    assert transform("%%time") == "get_ipython().run_cell_magic('time', '', '')\n"
    assert transform("1") == "1\n"


def test_a_failed_build_leaves_a_stub_that_offers_the_kernel_before(user: ShellUser) -> None:
    user.good(SCALE)
    held = kernel(user, "scale")
    user.failed(BROKEN)
    stub = user.names["scale"]
    assert isinstance(stub, StaleKernel)
    assert stub.previous is held
    x = np.ones(2)
    with pytest.raises(StaleKernelError, match="scale"):
        stub(x, 2.0)
    cast(Any, held)(x, 2.0)  # held elsewhere: keeps working
    assert x.tolist() == [2.0, 2.0]
    user.failed(BROKEN.replace("in range", "in  range"))
    again = user.names["scale"]
    assert isinstance(again, StaleKernel)
    assert again.previous is held


def test_a_first_build_that_fails_leaves_a_stub_too(user: ShellUser) -> None:
    user.failed(BROKEN)
    stub = user.names["scale"]
    assert isinstance(stub, StaleKernel)
    assert stub.previous is None


def test_a_repaired_cell_takes_the_stub_away(user: ShellUser) -> None:
    user.failed(BROKEN)
    user.good(SCALE)
    assert isinstance(user.names["scale"], PyccelKernel)


def test_on_error_keep_warns_and_keeps_what_works(user: ShellUser) -> None:
    user.good(SCALE)
    held = kernel(user, "scale")
    run = user.good(BROKEN.replace("%%pyccel_kernel", "%%pyccel_kernel --on-error keep"))
    assert user.names["scale"] is held
    assert [one.category for one in run.warned] == [KitWarning]
    assert "cell line 3" in run.warnings_text
    assert run.warned[0].filename == "<%%pyccel_kernel>"  # no path in a committed notebook


def test_on_error_keep_still_explains_a_name_that_never_worked(user: ShellUser) -> None:
    user.good(BROKEN.replace("%%pyccel_kernel", "%%pyccel_kernel --on-error keep"))
    assert isinstance(user.names["scale"], StaleKernel)


def test_a_name_that_vanishes_from_the_edited_cell_is_unbound(user: ShellUser) -> None:
    user.good(TWO)
    run = user.good(SCALE)
    assert "total" not in user.names
    assert "total: unbound" in run.output


def test_a_vanished_name_that_holds_something_else_by_now_stays(user: ShellUser) -> None:
    user.good(TWO)
    user.names["total"] = 3
    user.good(SCALE)
    assert user.names["total"] == 3


def test_redefining_a_kernel_warns_about_those_built_against_it(user: ShellUser) -> None:
    user.good("%%pyccel_kernel\ndef double(x: float) -> float:\n    return 2.0 * x\n")
    user.good("%%pyccel_kernel\ndef quadruple(x: float) -> float:\n    return double(double(x))\n")
    assert cast(Any, user.names["quadruple"])(1.5) == 6.0
    same = user.good("%%pyccel_kernel\ndef double(x: float) -> float:\n    return 2.0 * x\n")
    assert same.warned == []
    run = user.good("%%pyccel_kernel\ndef double(x: float) -> float:\n    return 3.0 * x\n")
    assert [one.category for one in run.warned] == [StaleDependencyWarning]
    assert "`quadruple`" in run.warnings_text
    assert "double" in run.warnings_text


def test_an_interrupted_build_leaves_stubs_and_a_short_message(
    user: ShellUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    user.good(SCALE)
    monkeypatch.setattr("kit.magics.pyccel.build_cell", interrupted)
    run = user.run(SCALE)
    assert "KeyboardInterrupt: the build was stopped" in run.output
    assert ".py" not in run.output
    stub = user.names["scale"]
    assert isinstance(stub, StaleKernel)
    assert stub.reason == "it was stopped"
    assert "it was stopped" in user.good("%kit_log scale").output


def test_it_works_when_called_by_a_program(user: ShellUser) -> None:
    user.shell.run_cell_magic("pyccel_kernel", "-q", SCALE.split("\n", 1)[1])
    assert isinstance(user.names["scale"], PyccelKernel)
    with pytest.raises(CellError):
        user.shell.run_cell_magic("pyccel_kernel", "", "def f(:\n")


def test_names_are_found_in_text_that_is_no_python() -> None:
    text = "def f(x:\n  def inner(): pass\ndef  größe (x): return\nasync def g():\n"
    text += "def _h():\n# def k():\n"
    assert public_names(text) == ("f", "größe", "g")


# ---- which cell is the same cell ------------------------------------------------------------


def same_cell_run(user: ShellUser, first: Frontend, second: Frontend) -> bool:
    """Whether a name of the first run is gone after the second, which defines another one."""
    session = session_of(user.shell)
    session.bind({"a": 1, "b": 2}, first)
    session.bind({"a": 3}, second)
    gone = "b" not in user.names
    assert user.names["a"] == 3
    return gone


def test_the_cell_id_decides_where_there_is_one(user: ShellUser) -> None:
    one, other = Frontend(cell_id="1"), Frontend(cell_id="2")
    assert same_cell_run(user, one, one)
    assert not same_cell_run(user, one, other)


def test_without_ids_shared_names_decide(user: ShellUser) -> None:
    assert same_cell_run(user, Frontend(), Frontend())


def test_without_ids_a_cell_of_another_magic_is_another_cell(user: ShellUser) -> None:
    pyccel, cuda = Frontend(magic="%%pyccel_kernel"), Frontend(magic="%%cuda_kernel")
    assert not same_cell_run(user, pyccel, cuda)
    assert same_cell_run(user, cuda, cuda)


def test_a_run_from_top_to_bottom_edits_no_cell(user: ShellUser) -> None:
    linear = Frontend(attended=False)
    assert not same_cell_run(user, linear, linear)


def test_an_edited_cell_without_shared_names_is_recognised_by_its_id(user: ShellUser) -> None:
    session = session_of(user.shell)
    session.bind({"a": 1}, Frontend(cell_id="1"))
    assert session.bind({"c": 2}, Frontend(cell_id="1")) == ("a",)


def test_a_failed_edit_puts_stubs_behind_the_names_it_dropped(user: ShellUser) -> None:
    user.good(TWO)
    user.failed(BROKEN)
    assert isinstance(user.names["total"], StaleKernel)
    user.good(SCALE)
    assert "total" not in user.names

"""The line magics: the store, generated source, plans and logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from kit.errors import BuildError, CellError, StaleKernelError
from kit.magics.binding import session_of
from kit.magics.frontend import Frontend
from kit.stale import StaleKernel
from kit.store.locking import KeyLock
from tests.unit.magic_shell import ShellUser

CELL = """%%pyccel_kernel -q
def scale(x: 'float64[:]', factor: float):
    for i in range(x.shape[0]):
        x[i] = factor * x[i]
"""


@pytest.fixture
def user() -> Iterator[ShellUser]:
    with ShellUser() as one:
        yield one


@pytest.fixture
def scale(user: ShellUser) -> ShellUser:
    user.good(CELL)
    return user


# ---- %kit_plan ------------------------------------------------------------------------------


def test_a_plan_says_what_a_call_would_do_and_runs_nothing(scale: ShellUser) -> None:
    x = scale.names["x"] = np.arange(4.0)[::-1]
    before = x.copy()
    plan = scale.good("plan = %kit_plan scale(x, 2.0)").result
    assert plan is None
    plan = scale.names["plan"]
    assert plan.kernel == "scale"
    assert [one.action for one in plan.arguments] == ["COPY", "PASS"]
    np.testing.assert_array_equal(x, before)
    assert "COPY" in repr(plan)


def test_a_plan_is_the_result_of_the_cell(scale: ShellUser) -> None:
    scale.names["x"] = np.arange(4.0)
    run = scale.good("%kit_plan scale(x, factor=2.0)")
    assert run.result.kernel == "scale"
    assert "PASS" in run.output


def test_a_plan_evaluates_any_expression_once(scale: ShellUser) -> None:
    scale.names["calls"] = []
    scale.good("def make():\n    calls.append(1)\n    import numpy\n    return numpy.ones(3)")
    scale.good("%kit_plan scale(make(), max({2.0}))")  # a set: braces are Python's here
    assert scale.names["calls"] == [1]


def test_a_plan_sees_the_locals_of_the_function_that_asks(scale: ShellUser) -> None:
    scale.good(
        "def ask():\n    import numpy\n    inner = numpy.ones(3)\n"
        "    return get_ipython().run_line_magic('kit_plan', 'scale(inner, 1.0)')"
    )
    assert scale.good("ask()").result.kernel == "scale"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("scale", "this is no call"),
        ("scale(1", "no Python expression"),
        ("", "no Python expression"),
        ("print(1)", "print is no kernel"),
        ("x = scale(1)", "no Python expression"),
    ],
)
def test_a_plan_of_something_else_is_a_clear_error(
    scale: ShellUser, line: str, message: str
) -> None:
    run = scale.failed(f"%kit_plan {line}")
    assert isinstance(run.error, CellError)
    assert message in run.output
    assert ".py" not in run.output


def test_an_error_in_an_argument_is_pythons_own_and_short(scale: ShellUser) -> None:
    run = scale.failed("%kit_plan scale(missing, 1.0)")
    assert isinstance(run.error, NameError)
    assert run.output.strip() == "NameError: name 'missing' is not defined"


def test_a_plan_with_an_argument_missing_is_pythons_own_error_and_short(scale: ShellUser) -> None:
    run = scale.failed("%kit_plan scale([1.0])")
    assert run.output == "TypeError: scale() missing 1 required positional argument: 'factor'\n"


def test_a_plan_of_a_stub_says_that_its_build_failed(user: ShellUser) -> None:
    user.failed("%%pyccel_kernel\ndef f(:\n")
    assert isinstance(user.failed("%kit_plan f(1)").error, StaleKernelError)


# ---- %kit_source ----------------------------------------------------------------------------


def test_source_shows_the_translation_highlighted_and_plain(scale: ShellUser) -> None:
    run = scale.good("%kit_source scale")
    assert "subroutine scale" in repr(run.result)
    assert "subroutine" in run.result._repr_html_()
    assert "<span" in run.result._repr_html_()
    everything = scale.good("%kit_source --all scale")
    assert len(repr(everything.result)) > len(repr(run.result))


def test_source_of_c_is_c(user: ShellUser) -> None:
    user.good(CELL.replace("-q", "-q -l c"))
    source = repr(user.good("%kit_source scale").result)
    assert "void kit_cell__scale(array_double_1d x, double factor)" in source
    assert "PyObject" not in source


def test_source_is_the_same_after_every_build(scale: ShellUser) -> None:
    first = repr(scale.good("%kit_source -a scale").result)
    scale.good(CELL.replace("-q", "-q --force"))
    again = repr(scale.good("%kit_source -a scale").result)
    assert first == again
    assert "/scratch/" not in first


def test_source_of_a_stub_is_that_of_the_kernel_before(scale: ShellUser) -> None:
    scale.failed(CELL.replace("factor * x", "factor * * x"))
    assert isinstance(scale.names["scale"], StaleKernel)
    assert "subroutine scale" in repr(scale.good("%kit_source scale").result)


@pytest.mark.parametrize("magic", ["kit_source", "kit_log"])
def test_an_unknown_name_is_answered_with_the_kernels_there_are(
    scale: ShellUser, magic: str
) -> None:
    run = scale.failed(f"%{magic} skale")
    assert isinstance(run.error, CellError)
    assert "skale is not defined" in run.output
    assert f"%{magic} scale" in run.output
    scale.names["number"] = 3
    assert "number is no kernel but int" in scale.failed(f"%{magic} number").output


# ---- %kit_log -------------------------------------------------------------------------------


def test_the_log_of_a_good_build_is_plain_text(scale: ShellUser) -> None:
    run = scale.good("%kit_log scale")
    assert run.output.strip()
    assert "\x1b" not in run.output


def test_the_log_of_a_failed_build_has_all_errors(scale: ShellUser) -> None:
    error = BuildError("first", line=2, log="\x1b[31mall of it\x1b[0m", others=("second", "third"))
    session_of(scale.shell).fail(["scale"], Frontend(), error)
    output = scale.good("%kit_log scale").output
    for piece in ("first", "second", "third", "all of it"):
        assert piece in output
    assert "\x1b" not in output


def test_a_repaired_build_forgets_the_log_of_the_failure(user: ShellUser) -> None:
    user.failed("%%pyccel_kernel\ndef scale(:\n")
    assert "cell line 2" in user.good("%kit_log scale").output
    user.good(CELL)
    assert "cell line 2" not in user.good("%kit_log scale").output


# ---- %kit_cache -----------------------------------------------------------------------------


@pytest.fixture
def store(user: ShellUser, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> ShellUser:
    """A store of this test's own."""
    monkeypatch.setenv("KIT_CACHE_DIR", str(tmp_path / "store"))
    return user


def test_of_many_kernels_the_first_ones_are_named(
    store: ShellUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    announced: list[str] = []
    monkeypatch.setattr(KeyLock, "announce", lambda lock, label: announced.append(label))
    functions = [f"def f{n}(x: float) -> float:\n    return {n}.0 * x\n" for n in range(5)]
    store.good("%%pyccel_kernel -q\n" + "\n".join(functions))
    assert announced == ["f0, f1, f2 and 2 more"]  # what another process waits for
    assert "  f0, f1, f2 and 2 more (fortran)\n" in store.good("%kit_cache list").output


def test_the_store_is_listed_measured_checked_and_emptied(
    store: ShellUser, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KIT_STABLE_OUTPUT", raising=False)
    assert store.good("%kit_cache list").output == "the store is empty\n"
    assert store.good("%kit_cache size").output.startswith("0 artifacts, 0 B")
    store.good(CELL)
    listed = store.good("%kit_cache list").output
    assert "scale (fortran)" in listed
    size = store.good("%kit_cache size").output
    assert size.startswith("1 artifact, ")
    assert size.endswith(f" in {tmp_path / 'store'}\n")
    assert store.good("%kit_cache verify").output == "1 artifact, each as it was stored\n"
    assert store.good("%kit_cache clear").output.startswith("deleted 1 artifact, ")
    assert store.good("%kit_cache list").output == "the store is empty\n"
    x = np.ones(2)
    store.names["scale"](x, 3.0)  # what is loaded keeps working
    assert x.tolist() == [3.0, 3.0]


def test_a_damaged_artifact_is_reported(store: ShellUser, tmp_path: Any) -> None:
    store.good(CELL)
    (artifact,) = (tmp_path / "store").rglob("*.so")
    content = artifact.read_bytes()
    # A new file: this process runs the old one, and changing it in place would change running code.
    artifact.unlink()
    artifact.write_bytes(content[:-1] + b"x")
    output = store.good("%kit_cache verify").output
    assert "each as it was stored" not in output
    assert "%kit_cache clear" in output


def test_a_misspelt_action_is_corrected(user: ShellUser) -> None:
    run = user.failed("%kit_cache clera")
    assert "%kit_cache clear" in run.output
    assert user.failed("%kit_cache").error is not None

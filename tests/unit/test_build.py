"""Story 1, with real compilers: a cell becomes kernels, once."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kit
from kit.build import BuildOptions, BuiltCell, build_cell, stale_dependants
from kit.cache import ArtifactUnusable, Entry, Store, open_store
from kit.errors import CellError

SCALE = '''
def scale(x: "float64[:]", factor: float):
    """Multiply x in place."""
    for i in range(x.shape[0]):
        x[i] = factor * x[i]


def _hidden(x: float):
    return x


def total(x: "Final[float64[:]]"):
    s = 0.0
    for i in range(x.shape[0]):
        s += _hidden(x[i])
    return s
'''.replace("def scale", "from typing import Final\n\n\ndef scale", 1)


@pytest.fixture(scope="module")
def built() -> BuiltCell:
    return build_cell(SCALE)


def test_public_functions_become_kernels_and_hidden_ones_do_not(built: BuiltCell) -> None:
    assert list(built.kernels) == ["scale", "total"]


def test_kernels_compute_and_know_what_they_write(built: BuiltCell) -> None:
    x = np.arange(4.0)
    built.kernels["scale"](x, 3.0)
    assert x.tolist() == [0, 3, 6, 9]
    assert built.kernels["total"](x) == 18
    assert built.kernels["scale"].outputs == ("x",)
    assert built.kernels["total"].outputs == ()


def test_the_same_cell_again_is_a_hit_and_the_same_module(built: BuiltCell) -> None:
    once, again = build_cell(SCALE), build_cell(SCALE)
    assert again.record.hit
    assert again.record.reason == "memory"
    assert again.record.key == built.record.key
    assert again.kernels["scale"].compiled is once.kernels["scale"].compiled
    assert again.kernels["scale"] == built.kernels["scale"]
    assert hash(again.kernels["scale"]) == hash(built.kernels["scale"])


def test_a_record_holds_what_a_reader_asks_for(built: BuiltCell) -> None:
    record = built.record
    assert "scale" in "".join(record.generated.values())
    assert "gfortran" in record.log
    assert "Fortran" in record.compiler
    assert record.artifact_bytes > 1000
    assert "-march=native" in record.flags


def test_another_process_loads_without_pyccel_what_this_one_built(built: BuiltCell) -> None:
    code = (
        "import sys, kit, numpy as np\n"
        f"ns = kit.pyccel_kernel({SCALE!r})\n"
        "assert ns.total(np.arange(4.0)) == 6\n"
        "assert 'pyccel' not in sys.modules\n"
        "assert 'IPython' not in sys.modules\n"
        "print(ns.total.cache_info().reason)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "store", done.stderr


def test_options_change_the_key(built: BuiltCell) -> None:
    plain = build_cell(SCALE, options=BuildOptions(flags=("-O1",)))
    assert plain.record.key != built.record.key
    assert plain.kernels["scale"] != built.kernels["scale"]


def test_force_builds_again_and_old_kernels_keep_working(built: BuiltCell) -> None:
    again = build_cell(SCALE, options=BuildOptions(force=True))
    assert not again.record.hit
    assert again.record.reason == "built: forced"
    assert again.kernels["total"].compiled is not built.kernels["total"].compiled
    assert built.kernels["total"](np.arange(3.0)) == again.kernels["total"](np.arange(3.0)) == 3


def test_a_kernel_comes_back_from_a_pickle_equal_and_working(built: BuiltCell) -> None:
    copy = pickle.loads(pickle.dumps(built.kernels["total"]))
    assert copy == built.kernels["total"]
    assert copy(np.arange(3.0)) == 3


def test_a_damaged_artifact_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_CACHE_DIR", str(tmp_path))
    source = "def one(x: 'float64[:]'):\n    x[0] = 1.0\n"
    code = f"import kit; print(kit.pyccel_kernel({source!r}).cache_info().reason)"
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=True, capture_output=True)
    (artifact,) = tmp_path.glob("v*/objects/*.so")
    content = bytearray(artifact.read_bytes())
    content[len(content) // 2] ^= 1
    artifact.chmod(0o600)
    artifact.write_bytes(content)
    again = subprocess.run(command, check=True, capture_output=True, text=True)
    assert again.stdout.startswith("built")
    third = subprocess.run(command, check=True, capture_output=True, text=True)
    assert third.stdout.strip() == "store"


def test_a_sum_that_starts_as_an_int_is_told_to_start_as_a_float() -> None:
    cell = (
        "def total(x: 'float64[:]'):\n    s = 0  # the sum\n"
        "    for i in range(x.shape[0]):\n        s += x[i]\n    return s\n"
    )
    with pytest.raises(kit.BuildError) as caught:
        build_cell(cell)
    error = caught.value
    assert (error.line, error.fix) == (4, "s = 0.0  # in line 2")
    assert error.message == "s has the type int since its first value, and this one is float64"
    build_cell(cell.replace("s = 0 ", "s = 0.0 "))


def test_an_artifact_that_never_loads_is_built_once_more_and_then_names_the_compilers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As where gfortran belongs to another environment and its libraries are not found.
    loads: list[str] = []

    def load(store: Store, entry: Entry) -> None:
        loads.append(entry.module_name)
        store._reject(entry)
        raise ArtifactUnusable("libgfortran.so.9 not found", need="it", fix="none")

    source = "def never(x: 'float64[:]'):\n    x[0] = 4.0\n"
    build_cell(source)  # now the store has it
    monkeypatch.setattr(Store, "load", load)
    with pytest.raises(kit.BuildError, match=r"does not load: libgfortran\.so\.9") as caught:
        build_cell(source)
    assert "which gfortran" in str(caught.value.fix)
    assert len(set(loads)) == len(loads) == 2


def test_an_error_of_the_compiler_is_told_in_the_line_of_the_cell() -> None:
    source = "\ndef f(x: 'float64[:]', n: int):\n    y = 1.0\n    y = x[0:n]\n    return y[0]\n"
    with pytest.raises(kit.BuildError) as caught:
        build_cell(source)
    assert caught.value.line == 4
    assert caught.value.source_line == "    y = x[0:n]"
    assert caught.value.log
    assert "\x1b" not in str(caught.value)


def test_a_failed_build_publishes_nothing_and_the_next_one_works() -> None:
    before = open_store().size_bytes()
    with pytest.raises(kit.BuildError):
        build_cell(
            "def f(x: 'float64[:]', n: int):\n    y = 1.0\n    y = x[0:n]\n    return y[0]\n"
        )
    assert open_store().size_bytes() == before
    assert build_cell(SCALE).kernels["total"](np.ones(2)) == 2


# ---- functions of other cells --------------------------------------------------------------------

BASE = (
    "\ndef square(x: float):\n    return x * x\n\n\ndef clear(x: 'float64[:]'):\n    x[:] = 0.0\n"
)
USER = """
def norm2(x: 'float64[:]'):
    s = 0.0
    for i in range(x.shape[0]):
        s += square(x[i])
    return s
"""


def test_a_cell_may_call_a_kernel_of_another_cell() -> None:
    base = build_cell(BASE)
    user = build_cell(USER, namespace=dict(base.kernels))
    assert list(user.kernels) == ["norm2"]
    assert user.kernels["norm2"](np.array([3.0, 4.0])) == 25
    assert user.kernels["norm2"].python(np.array([3.0, 4.0])) == 25


def test_a_kernel_built_on_another_comes_back_from_a_pickle_alone() -> None:
    user = build_cell(USER, namespace=dict(build_cell(BASE).kernels))
    assert pickle.loads(pickle.dumps(user.kernels["norm2"]))(np.array([3.0, 4.0])) == 25


def test_what_a_called_kernel_writes_counts_as_written_by_the_caller() -> None:
    source = "def reset(x: 'float64[:]', y: 'float64[:]'):\n    clear(x)\n    x[0] = y[0]\n"
    user = build_cell(source, namespace=dict(build_cell(BASE).kernels))
    assert user.kernels["reset"].outputs == ("x",)


def test_what_a_called_kernel_only_reads_is_not_written_by_the_caller() -> None:
    namespace = dict(build_cell("def head(x: 'float64[:]'):\n    return x[0]\n").kernels)
    source = "def copy_head(x: 'float64[:]', y: 'float64[:]'):\n    y[0] = head(x)\n"
    assert build_cell(source, namespace=namespace).kernels["copy_head"].outputs == ("y",)


def test_redefining_a_function_makes_its_callers_stale_and_repeating_it_does_not() -> None:
    base = build_cell(BASE)
    namespace: dict[str, object] = dict(base.kernels)
    namespace.update(build_cell(USER, namespace=namespace).kernels)
    assert stale_dependants(build_cell(BASE), namespace) == {}
    changed = build_cell(BASE.replace("x * x", "2.0 * x"))
    assert stale_dependants(changed, namespace) == {"norm2": ["square"]}


def test_a_caller_is_stale_however_many_calls_lie_between() -> None:
    namespace: dict[str, object] = dict(build_cell(BASE).kernels)
    namespace.update(build_cell(USER, namespace=namespace).kernels)
    far = "def far(x: 'float64[:]'):\n    return 2.0 * norm2(x)\n"
    namespace.update(build_cell(far, namespace=namespace).kernels)
    changed = build_cell(BASE.replace("x * x", "3.0 * x"))
    assert stale_dependants(changed, namespace) == {"norm2": ["square"], "far": ["square"]}


def test_a_caller_in_the_same_cell_is_stale_when_another_cell_redefines_what_it_calls() -> None:
    source = (
        "def inner(x: float):\n    return x\n\n\n"
        "def outer(x: float):\n    return inner(x)\n\n\n"
        "def alone(x: float):\n    return -x\n"
    )
    namespace: dict[str, object] = dict(build_cell(source).kernels)
    same = build_cell("def inner(x: float):\n    return x\n")
    assert stale_dependants(same, namespace) == {}
    other = build_cell("def inner(x: float):\n    return 2.0 * x\n")
    assert stale_dependants(other, namespace) == {"outer": ["inner"]}


def test_a_changed_helper_behind_an_unchanged_function_counts() -> None:
    source = "def _h(x: float):\n    return x\n\n\ndef g(x: float):\n    return _h(x)\n"
    namespace: dict[str, object] = dict(build_cell(source).kernels)
    user = build_cell("def u(x: float):\n    return g(x)\n", namespace=namespace)
    namespace.update(user.kernels)
    changed = build_cell(source.replace("return x\n", "return 2.0 * x\n", 1))
    assert stale_dependants(changed, namespace) == {"u": ["g"]}


def test_a_name_that_no_cell_supplies_is_refused_in_its_line() -> None:
    with pytest.raises(kit.CellError, match="square") as caught:
        build_cell(USER)
    assert caught.value.line == 5


def test_a_changed_module_of_the_users_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "kit_test_own.py"
    module.write_text("def twice(x: float):\n    return 2.0 * x\n")
    source = "from kit_test_own import twice\n\n\ndef g(x: float):\n    return twice(x)\n"
    assert build_cell(source).kernels["g"](1.5) == 3.0
    assert build_cell(source).record.hit
    module.write_text("def twice(x: float):\n    return 4.0 * x\n")
    again = build_cell(source)
    assert again.kernels["g"](1.5) == 6.0
    assert again.record.reason == "built: file changed: kit_test_own.py"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kit_test_own.py"]


def test_a_module_that_hides_another_is_found_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for directory, factor in ((first, 2.0), (second, 3.0)):
        directory.mkdir()
        text = f"def times(x: float):\n    return {factor} * x\n"
        (directory / "kit_test_hidden.py").write_text(text)
    source = "from kit_test_hidden import times\n\n\ndef g(x: float):\n    return times(x)\n"
    results = []
    for directory in (first, second):
        monkeypatch.chdir(directory)
        results.append(build_cell(source).kernels["g"](1.0))
    assert results == [2.0, 3.0]


def test_classes_of_a_cell_are_compiled_with_it_and_kernels_take_their_instances() -> None:
    built = build_cell(
        "class Box:\n"
        "    def __init__(self: 'Box', width: float):\n"
        "        self.width = width\n\n\n"
        "def area(box: Box):\n"
        "    return box.width * box.width\n"
    )
    assert list(built.classes) == ["Box"]
    box = built.classes["Box"](3.0)  # type: ignore[operator]
    assert built.kernels["area"](box) == 9.0


def test_nothing_is_written_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    built = build_cell(
        "def h(x: 'float64[:]'):\n    x[0] = 2.0\n", options=BuildOptions(force=True)
    )
    built.kernels["h"](np.zeros(1))
    assert list(tmp_path.iterdir()) == []


def test_a_deleted_working_directory_disturbs_no_build(tmp_path: Path) -> None:
    code = (
        "import os, kit, numpy as np\n"
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n"
        "k = kit.pyccel_kernel(\"def h(x: 'float64[:]'):\\n    x[0] = 7.5\\n\")\n"
        "x = np.zeros(1); k(x); print(x[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "7.5", done.stderr


def test_an_expression_too_long_for_the_walk_is_an_error_of_the_cell() -> None:
    terms = " + ".join(["x[0]"] * 500)
    with pytest.raises(CellError, match="nested too deeply"):
        build_cell(f"def f(x: 'float64[:]') -> float:\n    return {terms}\n")

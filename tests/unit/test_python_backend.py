"""The cell uncompiled: names, tracebacks, breakpoints."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any, cast

import pytest

from kit.backends.python import load_python

CELL = """\
from typing import Final

def divide(a: float, b: float) -> float:
    ratio = a / b
    return ratio
"""


def load(source: str, *, first_line: int = 1, label: str = "cell") -> dict[str, Any]:
    return dict(load_python([(label, first_line, source)]))


def test_functions_of_the_cell_run() -> None:
    names = load(CELL)
    assert names["divide"](3.0, 2.0) == 1.5
    assert not [name for name in names if name.startswith("__")]


def test_a_traceback_shows_the_line_and_the_text_of_the_cell() -> None:
    divide = load(CELL, first_line=2)["divide"]
    with pytest.raises(ZeroDivisionError) as caught:
        divide(1.0, 0.0)
    frame = traceback.extract_tb(caught.tb)[-1]
    assert frame.lineno == 5
    assert frame.line == "ratio = a / b"
    assert frame.filename.startswith("<cell")


def test_inspect_and_the_debugger_find_the_source_after_linecache_was_checked() -> None:
    import linecache

    divide = cast("Callable[..., float]", load(CELL, first_line=2)["divide"])
    linecache.checkcache()
    lines, number = inspect.getsourcelines(divide)
    assert number == 4
    assert lines[0] == "def divide(a: float, b: float) -> float:\n"


def test_later_segments_see_earlier_ones_and_keep_their_own_lines() -> None:
    names = load_python(
        [
            ("first", 1, "def two() -> int:\n    return 2\n"),
            ("second", 3, "def four() -> int:\n    return two() + undefined\n"),
        ]
    )
    four = cast("Callable[[], int]", names["four"])
    with pytest.raises(NameError) as caught:
        four()
    frame = traceback.extract_tb(caught.tb)[-1]
    assert frame.lineno == 4
    assert frame.filename.startswith("<second")
    assert frame.line == "return two() + undefined"


def test_an_old_function_keeps_its_own_text_when_the_cell_is_edited() -> None:
    old = load(CELL)["divide"]
    load(CELL.replace("ratio", "quotient"))
    assert "ratio = a / b" in inspect.getsource(old)


def test_classes_can_be_looked_up_by_their_module() -> None:
    import pickle

    names = load("class Point:\n    def __init__(self, x: float):\n        self.x = x\n")
    assert pickle.loads(pickle.dumps(names["Point"](2.0))).x == 2.0


def test_annotations_of_pyccel_are_not_evaluated() -> None:
    source = "def f(x: float[:], y: 'a' | 'b', z: float64) -> float64:\n    return x[0]\n"
    function = load_python([("cell", 1, source)])["f"]
    assert function([2.5], 0, 0) == 2.5  # type: ignore[operator]


def test_decorators_that_pyccel_knows_without_an_import_change_nothing() -> None:
    source = "@pure\n@allow_negative_index('x')\ndef f(x: 'float[:]'):\n    return x[-1]\n"
    names = load_python([("cell", 1, source)])
    assert list(names) == ["f"]
    assert names["f"]([1.0, 2.0]) == 2.0  # type: ignore[operator]

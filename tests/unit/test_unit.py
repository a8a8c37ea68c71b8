"""A unit holds the cell and what it uses, and knows where every line comes from."""

from __future__ import annotations

import ast

import pytest

from kit.errors import CellError
from kit.source.unit import CellSource, assemble_unit

BASE = CellSource(
    text=(
        "\n"
        "import numpy as np\n"
        "HALF = 0.5\n"
        "UNUSED = 3\n"
        "def _inner(x: float):\n"
        "    return HALF * np.sqrt(x)\n"
        "def half_root(x: float):\n"
        "    return _inner(x)\n"
        "def other(x: float):\n"
        "    return x\n"
    ),
    label="the cell of half_root",
)


def test_a_cell_alone_is_compiled_as_it_is() -> None:
    unit = assemble_unit(CellSource(text="\ndef f(x: float):\n    return x\n"))
    assert unit.text == "\ndef f(x: float):\n    return x\n"
    place = unit.place(3)
    assert place is not None
    assert (place.label, place.line, place.source_line) == (None, 3, "    return x")


def test_only_what_is_needed_of_another_cell_comes_along() -> None:
    user = CellSource(
        text="\ndef f(x: float):\n    return half_root(x)\n", uses={"half_root": BASE}
    )
    names = [
        target
        for statement in ast.parse(assemble_unit(user).text).body
        for target in [getattr(statement, "name", type(statement).__name__)]
    ]
    assert names == ["Import", "Assign", "_inner", "half_root", "f"]


def test_lines_of_another_cell_are_named_with_that_cell() -> None:
    user = CellSource(
        text="\ndef f(x: float):\n    return half_root(x)\n", uses={"half_root": BASE}
    )
    unit = assemble_unit(user)
    lines = unit.text.splitlines()
    inner = unit.place(lines.index("    return HALF * np.sqrt(x)") + 1)
    own = unit.place(lines.index("    return half_root(x)") + 1)
    assert inner is not None
    assert own is not None
    assert (inner.label, inner.line) == ("the cell of half_root", 6)
    assert (own.label, own.line) == (None, 3)


def test_a_line_outside_the_unit_has_no_place() -> None:
    unit = assemble_unit(CellSource(text="def f(): pass"))
    assert unit.place(0) is None
    assert unit.place(2) is None


def test_what_comes_along_brings_what_it_uses_itself() -> None:
    middle = CellSource(
        text="def quarter_root(x: float):\n    return half_root(x) / 2.0\n",
        label="the cell of quarter_root",
        uses={"half_root": BASE},
    )
    user = CellSource(
        text="def f(x: float):\n    return quarter_root(x)\n", uses={"quarter_root": middle}
    )
    text = assemble_unit(user).text
    assert text.index("def half_root") < text.index("def quarter_root") < text.index("def f")


def test_a_function_that_two_others_use_is_compiled_once() -> None:
    left = CellSource(text="def a(x: float):\n    return half_root(x)\n", uses={"half_root": BASE})
    right = CellSource(text="def b(x: float):\n    return half_root(x)\n", uses={"half_root": BASE})
    user = CellSource(
        text="def f(x: float):\n    return a(x) + b(x)\n", uses={"a": left, "b": right}
    )
    assert assemble_unit(user).text.count("def half_root") == 1


def test_an_import_that_both_cells_make_is_no_conflict() -> None:
    user = CellSource(
        text="import numpy as np\ndef f(x: float):\n    return np.exp(half_root(x))\n",
        uses={"half_root": BASE},
    )
    assert assemble_unit(user).text.count("import numpy as np") == 1


def test_one_name_with_two_meanings_is_refused_by_name() -> None:
    user = CellSource(
        text="HALF = 0.25\ndef f(x: float):\n    return HALF * half_root(x)\n",
        uses={"half_root": BASE},
    )
    with pytest.raises(
        CellError, match=r"`HALF` means one thing in this cell and another"
    ) as caught:
        assemble_unit(user)
    assert caught.value.fix == "rename `HALF` in one of the two cells"


def test_names_inside_string_annotations_come_along() -> None:
    base = CellSource(
        text=(
            "from typing import TypeVar\n"
            "T = TypeVar('T', 'float[:]', 'int[:]')\n"
            "def first(x: 'T'):\n    return x[0]\n"
        ),
        label="the cell of first",
    )
    user = CellSource(text="def f(x: 'float[:]'):\n    return first(x)\n", uses={"first": base})
    assert "T = TypeVar" in assemble_unit(user).text


def test_a_preamble_has_its_own_lines_and_the_function_keeps_those_of_its_file() -> None:
    source = CellSource(
        text="def f(x: float):\n    return np.sqrt(x)\n",
        first_line=40,
        file="model.py",
        preamble="import numpy as np\n",
    )
    unit = assemble_unit(source)
    preamble, body = unit.place(1), unit.place(3)
    assert preamble is not None
    assert body is not None
    assert preamble.label == "what model.py takes from around it"
    assert (body.label, body.line) == ("model.py", 41)
    assert source.own_line(1) is None
    assert source.own_line(3) == 41


@pytest.mark.parametrize("separator", ["\x0c", "\u2028", "\x1c"])
def test_only_python_line_ends_count_as_lines(separator: str) -> None:
    unit = assemble_unit(CellSource(text=f"# a{separator}b\ndef f(): pass\n"))
    place = unit.place(2)
    assert place is not None
    assert place.source_line == "def f(): pass"

"""Lists and sets that a kernel writes: Fortran would lose it, so the cell is refused there."""

from __future__ import annotations

import textwrap

import pytest

from kit.cell import parse_cell
from kit.errors import CellError
from kit.terms import Language

LIST = "l: 'list[int]'"
SET = "l: 'set[int]'"

WRITES = [
    (LIST, "l[0] = 5"),
    (LIST, "l.append(7)"),
    (LIST, "l.pop()"),
    (LIST, "l.clear()"),
    (LIST, "l.insert(0, 4)"),
    (LIST, "l.extend([4, 5])"),
    (LIST, "l.reverse()"),
    (LIST, "t = l\nt[0] = 9"),
    (LIST, "l[0], l[1] = l[1], l[0]"),
    (LIST, "for i in range(len(l)):\n    l[i] = 2 * l[i]"),
    (LIST, "m = [1]\nm.extend(l)\nl[0] = 1"),
    (LIST, "m = [[1]]\nm.append(l)\nm[1][0] = 2"),
    (LIST, "m = [l]\nm[0][0] = 2"),
    (LIST, "m = [[1]]\nm.extend([l])\nm[1][0] = 2"),
    (SET, "l.add(4)"),
    (SET, "l.discard(1)"),
    (SET, "l.clear()"),
    (SET, "l.pop()"),
    (SET, "m = l.union({3})\nl.add(4)"),
    (SET, "l.update({3})"),
]

READS = [
    (LIST, "return l[0] + len(l)"),
    (LIST, "s = 0\nfor v in l:\n    s += v\nreturn s"),
    (LIST, "m = l[:]\nm[0] = 3\nreturn m[0]"),
    (LIST, "m = [1]\nm.extend(l)\nreturn len(m)"),
    (LIST, "m = [1]\nm.append(l[0])\nreturn len(m)"),
    (LIST, "m = [v for v in l]\nm[0] = 3\nreturn len(m)"),
    (LIST, "m = set(l)\nm.add(3)\nreturn len(m)"),
    (SET, "m = l.union({5})\nreturn len(m)"),
    (SET, "m = l.copy()\nm.add(9)\nreturn len(m)"),
    (SET, "m = {1}\nm.update(l)\nreturn len(m.union(l))"),
    (SET, "if l.isdisjoint({7}):\n    return 1\nreturn 0"),
]


def outputs(parameter: str, body: str, language: Language, name: str = "f") -> tuple[str, ...]:
    source = f"def {name}({parameter}):\n{textwrap.indent(body, '    ')}\n"
    if name.startswith("_"):
        source += "def f():\n    return 1\n"
    return parse_cell(source, language=language).functions[name].signature.outputs


@pytest.mark.parametrize(("parameter", "body"), WRITES)
def test_a_list_that_fortran_would_not_write_back_is_refused(parameter: str, body: str) -> None:
    with pytest.raises(CellError, match="would be lost") as caught:
        outputs(parameter, body, "fortran")
    fix = caught.value.fix or ""
    assert "--language c" in fix
    assert ("l: 'int64[:]'" in fix) == (parameter == LIST)
    assert outputs(parameter, body, "c") == ("l",)


@pytest.mark.parametrize("language", ["fortran", "c"])
@pytest.mark.parametrize(("parameter", "body"), READS)
def test_a_list_that_is_only_read_is_not_an_output(
    parameter: str, body: str, language: Language
) -> None:
    assert outputs(parameter, body, language) == ()


def test_the_refusal_stands_at_the_first_line_that_writes() -> None:
    with pytest.raises(CellError) as caught:
        outputs(LIST, "s = l[0]\nl[0] = s + 1\nl[1] = s", "fortran")
    assert (caught.value.line, caught.value.column) == (3, 5)


def test_a_list_that_gets_another_value_is_told_to_take_another_name() -> None:
    with pytest.raises(CellError, match="another value") as caught:
        outputs(LIST, "l = [1, 2]\nreturn l[0]", "fortran")
    assert (caught.value.fix or "").startswith("l_new = ")


def test_a_function_that_only_the_cell_calls_may_write_its_list() -> None:
    assert outputs(LIST, "l[0] = 1", "fortran", "_f") == ("l",)


def test_a_list_that_a_function_of_the_cell_writes_is_refused_where_it_is_passed() -> None:
    source = (
        "def _put(m: 'list[int]'):\n    m[0] = 1\n\ndef f(l: 'list[int]'):\n    _put(l)\n"
        "    return l[0]\n"
    )
    with pytest.raises(CellError, match="would be lost") as caught:
        parse_cell(source)
    assert caught.value.line == 5


def test_methods_of_a_class_may_write_the_list_that_they_are_given() -> None:
    source = (
        "class Box:\n    def __init__(self: 'Box', n: 'int'):\n        self.n = n\n"
        "    def extend(self: 'Box', m: 'list[int]'):\n        m[0] = self.n\n\n"
        "def f(b: 'Box', l: 'list[int]'):\n    b.extend(l)\n"
    )
    with pytest.raises(CellError, match="would be lost"):
        parse_cell(source)

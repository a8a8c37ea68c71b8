"""What a function needs of extents, as text: found where it certainly runs, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from kit.cell import parse_cell
from kit.errors import CellError
from kit.plan import plan_call
from kit.signature import Signature
from kit.source.extents import rules
from kit.terms import Language

HEAD = """
import numpy as np
from pyccel.decorators import allow_negative_index
N = 3
T = 5
def f(x: 'float[:]', y: 'float[:]', m: 'float[:,:]', k: 'int[:]', n: int, s: float):
"""


def _signature(body: str, language: Language = "fortran") -> Signature:
    text = HEAD + "".join(f"    {line}\n" for line in body.split("\n"))
    return parse_cell(text, language=language).functions["f"].signature


def _conditions(body: str, language: Language = "fortran") -> list[str]:
    return sorted(str(one).rpartition(" (line")[0] for one in _signature(body, language).rules)


def test_a_whole_array_statement_needs_equal_extents() -> None:
    rule = _signature("s = 1.0\ny[:] = x[:] * 2").rules[0]
    assert str(rule) == "y.shape[0] == x.shape[0] (line 8)"
    assert (rule.argument, rule.axis, rule.text) == ("y", 0, "y[:] = x[:] * 2")


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ("y += x", ["y.shape[0] == x.shape[0]"]),
        ("y[:], s = x, 1.0", ["y.shape[0] == x.shape[0]"]),
        ("y[:] += x", ["y.shape[0] == x.shape[0]"]),
        ("y[:] = s * np.sqrt(x) + 1.0", ["y.shape[0] == x.shape[0]"]),
        ("y[:] = np.where(x > 0.0, x, s)", ["y.shape[0] == x.shape[0]"]),
        ("s = np.sum(x * y)", ["x.shape[0] == y.shape[0]"]),
        ("s = x @ y", ["x.shape[0] == y.shape[0]"]),
        ("s = np.vecdot(x, y)", ["x.shape[0] == y.shape[0]"]),
        ("y[:] = m @ x", ["m.shape[1] == x.shape[0]", "y.shape[0] == m.shape[0]"]),
        ("m[:, :] = x", ["m.shape[1] == x.shape[0]"]),
        ("t = m.T\nm[0, :] = t[1]",
         ["m.shape[1] == m.shape[0]", "m.shape[0] >= 1", "m.shape[1] >= 2"]),
        ("t = np.zeros(n)\nx[:] = t", ["x.shape[0] == n where x.shape[0] >= 1",
                                      "x.shape[0] == n where n >= 1"]),
        ("t = np.zeros_like(y)\nt[:] = x", ["y.shape[0] == x.shape[0]"]),
        ("t = x + 1.0\ny[:] = t", ["y.shape[0] == x.shape[0]"]),
        ("m[0, :] = x", ["m.shape[0] >= 1", "m.shape[1] == x.shape[0]"]),
        ("y[1:-1] = x[2:]", ["y.shape[0] == x.shape[0] where y.shape[0] >= 3",
                             "y.shape[0] == x.shape[0] where x.shape[0] >= 3"]),
        ("x[:] = np.ones(N)", ["x.shape[0] == 3"]),
        ("x[:] = 0.0\ny[...] = s", []),
        ("y[1:] = y[:-1]", []),
    ],
)  # fmt: skip
def test_whole_arrays(body: str, rules: list[str]) -> None:
    assert _conditions(body) == sorted(rules)


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ("for i in range(x.shape[0]):\n    y[i] = x[i]", ["y.shape[0] >= x.shape[0]"]),
        ("for i in range(len(x)):\n    y[i] = x[i]", ["y.shape[0] >= x.shape[0]"]),
        ("for i, v in enumerate(x):\n    y[i] = v", ["y.shape[0] >= x.shape[0]"]),
        ("for i in range(n):\n    x[i] = 1.0", ["x.shape[0] >= n"]),
        ("a, b = m.shape\nfor i in range(a):\n    for j in range(b):\n        x[i] = m[i, j]",
         ["x.shape[0] >= m.shape[0] where m.shape[1] >= 1"]),
        ("a, b = np.shape(m)\nfor i in range(a):\n    y[i] = 1.0",
         ["y.shape[0] >= m.shape[0]"]),
        ("for i in range(x.size - 1, -1, -1):\n    y[i] = x[i]", ["y.shape[0] >= x.shape[0]"]),
        ("for i in range(1, x.shape[0] - 1):\n    y[i] = x[i - 1] + x[i + 1]",
         ["y.shape[0] >= x.shape[0] - 1 where x.shape[0] >= 3"]),
        ("for i in range(x.shape[0]):\n    for j in range(i + 1):\n        y[j] = x[i]",
         ["y.shape[0] >= x.shape[0]"]),
        ("for i in range(N):\n    x[i] = 1.0", ["x.shape[0] >= 3"]),
        ("for i in range(0, 7, 3):\n    x[i] = 1.0", ["x.shape[0] >= 7"]),
        ("for r in m:\n    r[:] = x", ["m.shape[1] == x.shape[0] where m.shape[0] >= 1"]),
        ("s = sum(x[i] * y[i] for i in range(len(x)))", ["y.shape[0] >= x.shape[0]"]),
        ("j = n + 1\nx[j] = 1.0", ["n >= -1", "x.shape[0] >= n + 2"]),
        ("x[0] = x[-2]", ["x.shape[0] >= 2"]),
        ("x[N] = 1.0", ["x.shape[0] >= 4"]),
        ("r = m[0]\nr[1] = 1.0", ["m.shape[0] >= 1", "m.shape[1] >= 2"]),
        ("x[:3] = 1.0", ["x.shape[0] >= 3"]),
        ("x[1:n] = 1.0", ["x.shape[0] >= n where n >= 2", "n >= 0 where n + x.shape[0] >= 2"]),
        ("for i in range(x.shape[0]):\n    x[i] = x[i] + x[0]", []),
        ("for i in range(x.shape[0]):\n    x[i] = x[-1 - i + i]", []),
    ][:-1],
)  # fmt: skip
def test_indices_that_follow_from_loops(body: str, rules: list[str]) -> None:
    assert _conditions(body) == sorted(rules)


@pytest.mark.parametrize(
    "body",
    [
        "if s > 0.0:\n    y[:] = x",
        "while s > 0.0:\n    y[:] = x\n    s -= 1.0",
        "if s > 0.0:\n    return\ny[:] = x",
        "s = x[n] if s > 0.0 else 0.0",
        "if s > 0.0 and x[n] > 0.0:\n    s = 0.0",
        "for i in range(len(x)):\n    if x[i] > 0.0:\n        continue\n    y[i] = 1.0",
        "x[k[n * n]] = 1.0",
        "for i in range(k.shape[0]):\n    x[int(s)] = 1.0",
        "for i in range(n // 2):\n    x[i] = 1.0",
        "x[n * n] = 1.0",
    ],
)
def test_what_may_not_run_or_is_not_known_gives_no_rule_and_is_told(body: str) -> None:
    signature = _signature(body)
    assert not [one for one in signature.rules if one.argument in {"x", "y"}]
    assert any(", line " in one for one in signature.unseen)


def test_a_way_out_leaves_the_first_step_of_a_loop_certain() -> None:
    body = "for i in range(n):\n    y[i] = x[i]\n    if s > 0.0:\n        break"
    assert _conditions(body) == ["x.shape[0] >= 1 where n >= 1", "y.shape[0] >= 1 where n >= 1"]
    assert _signature(body).unseen == ("y[i], line 8", "x[i], line 8")


def test_what_a_loop_or_a_branch_assigns_is_not_known_after_it() -> None:
    for body in (
        "j = 0\nfor i in range(n):\n    j = k[i]\nx[j] = 1.0",
        "j = 0\nif s > 0.0:\n    j = n\nx[j] = 1.0",
        "j = 0\nwhile j < n:\n    j += 1\nx[j] = 1.0",
    ):
        assert "x[j], line" in " ".join(_signature(body).unseen)


def test_a_conditional_place_that_a_rule_covers_is_not_told() -> None:
    body = "for i in range(n):\n    x[i] = 1.0\n    if s > 0.0:\n        x[i] = 2.0"
    assert _signature(body).unseen == ()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("for i in range(n):\n    y[i] = x[i - 1]", "the index gets down to -1"),
        ("j = -2\nx[j] = 1.0", "the index gets down to -2"),
        ("t = np.zeros(3)\nt[3] = s", "reaches 1 beyond the array"),
        ("for i in range(1, n + 1):\n    s = x[-i]", "the index gets down to -n"),
        (
            "for i in range(1, x.shape[0] + 1):\n    s = x[-i]",
            r"the index gets down to -x\.shape\[0\]",
        ),
        ("for i in range(5, n):\n    x[3 - i] = s", r"the index gets down to -n \+ 4"),
        ("x[1:] = x[2:]", "the extents differ by 1"),
    ],
)
def test_what_goes_wrong_whenever_it_is_reached_is_an_error_of_the_cell(
    body: str, message: str
) -> None:
    with pytest.raises(CellError, match=message) as caught:
        _signature(body)
    assert caught.value.line is not None
    assert caught.value.fix


def test_the_error_of_a_negative_index_names_the_decorator_that_makes_it_right() -> None:
    with pytest.raises(CellError) as caught:
        _signature("for i in range(n):\n    y[i] = x[i - 1]")
    fix = str(caught.value.fix).replace("  # above the function: counts from the end", "")
    text = (
        HEAD.replace("def f", fix + "\ndef f") + "    for i in range(n):\n        y[i] = x[i - 1]"
    )
    rules = parse_cell(text).functions["f"].signature.rules
    assert "x.shape[0] >= 1 where n >= 1 (line 10)" in map(str, rules)


def test_rules_of_a_function_reach_those_that_call_it() -> None:
    cell = parse_cell("""
def _put(out: 'float[:]', values: 'float[:]', at: int = 0):
    for i in range(values.shape[0]):
        out[at + i] = values[i]
def f(x: 'float[:]', m: 'float[:,:]', n: int):
    for i in range(n):
        _put(m[i], x)
def g(x: 'float[:]', y: 'float[:]'):
    _put(values=x, out=y, at=2)
def h(n: int) -> int:
    if n < 1:
        return 0
    return h(n - 1)
""")
    assert [str(one) for one in cell.functions["f"].signature.rules] == [
        "m.shape[1] >= x.shape[0] where n >= 1 (line 7)",
        "m.shape[0] >= n (line 7)",
    ]
    (rule,) = cell.functions["g"].signature.rules
    assert str(rule) == "y.shape[0] >= x.shape[0] + 2 where x.shape[0] >= 1 (line 9)"
    assert rule.text == "_put(values=x, out=y, at=2)"
    assert cell.functions["h"].signature.rules == ()


def test_rules_of_another_cell_reach_those_that_call_it() -> None:
    other = parse_cell("def put(a: 'float[:]', b: 'float[:]'):\n    a[:] = b")
    used = {"put": other.functions["put"].signature}
    cell = parse_cell(
        "def f(x: 'float[:]', y: 'float[:]'):\n    put(x, y)",
        known=frozenset(used),
        functions={"put": other.functions["put"].node},
        used=used,
        line_offset=10,
    )
    assert [str(one) for one in cell.functions["f"].signature.rules] == [
        "x.shape[0] == y.shape[0] (line 12)"
    ]


def test_a_function_of_another_cell_with_its_parameters_in_another_order_is_read_anew() -> None:
    found: list[str] = []
    for parameters in ("a: 'float[:]', b: 'float[:]'", "b: 'float[:]', a: 'float[:]'"):
        other = parse_cell(f"def put({parameters}):\n    a[2] = b[0]").functions["put"]
        cell = parse_cell(
            "def f(x: 'float[:]', y: 'float[:]'):\n    put(x, y)",
            known=frozenset({"put"}),
            functions={"put": other.node},
            used={"put": other.signature},
        )
        found.append(", ".join(one.condition for one in cell.functions["f"].signature.rules))
    assert found == [
        "x.shape[0] >= 3, y.shape[0] >= 1",
        "y.shape[0] >= 3, x.shape[0] >= 1",
    ]


def test_a_negative_index_that_is_allowed_counts_from_the_end() -> None:
    cell = parse_cell("""
from pyccel.decorators import allow_negative_index
@allow_negative_index('x', 'm')
def f(x: 'float[:]', m: 'float[:,:]', y: 'float[:]', n: int):
    y[:] = x[n:]
    x[n] = m[n][n - 1]
""")
    signature = cell.functions["f"].signature
    assert sorted(str(one).partition(" (")[0] for one in signature.rules) == [
        "m.shape[0] + n >= 0",
        "m.shape[0] >= n + 1",
        "m.shape[1] + n >= 1",
        "m.shape[1] >= n",
        "n + x.shape[0] >= 0",
        "x.shape[0] >= n + 1",
    ]
    assert signature.unseen == ("y[:] = x[n:], line 5", "x[n:], line 5")


def test_what_is_called_later_or_is_no_element_wise_result_gives_no_rule() -> None:
    cell = parse_cell(
        """
import numpy as np
from pyccel.decorators import elemental
@elemental
def twice(v: float):
    return 2.0 * v
def f(x: 'float[:]', y: 'float[:]', n: int):
    y[:] = twice(x)
    first = lambda i: x[i - 5]
    print(x[n:n])
""",
        language="c",
    )
    assert cell.functions["f"].signature.rules == ()


def test_parts_without_elements_ask_for_no_less_and_no_more_than_that() -> None:
    """Of `x[5:]` with 3 elements in x, the length is 0, not -2."""
    cell = parse_cell("""
def _put(values: 'float[:]', out: 'float[:]'):
    for i in range(values.shape[0]):
        out[i] = values[i]
def _first(values: 'float[:]'):
    values[0] = 1.0
def f(x: 'float[:]', y: 'float[:]'):
    _put(x[5:], y[5:])
def g(x: 'float[:]'):
    _first(x[1:])
""")

    def is_refused(name: str, *extents: int) -> bool:
        values = [np.ones(one) for one in extents]
        signature = cell.functions[name].signature
        plan = plan_call(name, signature, values, policy="warn", language="fortran")
        return plan.refused is not None

    for x in range(9):
        for y in range(9):
            assert is_refused("f", x, y) == (len(range(x)[5:]) > len(range(y)[5:])), (x, y)
        assert is_refused("g", x) == (x < 2)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("t = x[5:]\nj = len(t)\nfor i in range(3):\n    y[j] = 1.0", "y[j]"),
        ("t = x[5:]\n(j,) = t.shape\ny[j] = 1.0", "y[j]"),
        ("t = x[5:]\ny[0] = np.sum(y[n + t.size:])", "y[n + t.size:]"),
        ("m[:, :] = np.linspace(x, y, 3)", "m[:, :] = np.linspace(x, y, 3)"),
        ("t = np.zeros_like(x, shape=(3,))\nt[2] = 1.0", "t[2]"),
        ("t = np.array(x, ndmin=2)\nt[0, 2] = 1.0", "t[0, 2]"),
        ("t = np.cross(x, y)\ns = 1.0", "np.cross(x, y)"),
        (f"x[{2**62} * 4 * n] = 1.0", f"x[{2**62} * 4 * n]"),
    ],
)
def test_what_is_no_sum_of_extents_is_told(body: str, place: str) -> None:
    signature = _signature(body)
    assert place in {one.rpartition(", line")[0] for one in signature.unseen}
    assert not [one for one in signature.rules if one.argument == "x" or one.axis is None]


def test_loops_over_a_part_are_followed() -> None:
    body = "t = x[1:] - x[:-1]\nfor i in range(len(t)):\n    y[i] = t[i]"
    assert _conditions(body) == ["y.shape[0] >= x.shape[0] - 1"]


def test_arrays_of_objects_are_told() -> None:
    cell = parse_cell("""
import numpy as np
class Box:
    def __init__(self, n: int):
        self.x = np.zeros(n)
def f(box: 'Box', y: 'float[:]'):
    y[0] = box.x[7] + box.x.shape[0]
""")
    assert cell.functions["f"].signature.unseen == ("box.x[7], line 7",)


def test_a_nest_that_is_too_deep_to_follow_is_told() -> None:
    loops = ["    " * k + f"for i{k} in range({f'i{k - 1}' if k else 'n'}):" for k in range(9)]
    body = "\n".join([*loops, "    " * 9 + "x[i0 + i8 + 9] = 1.0"])
    assert _signature(body).unseen == ("x[i0 + i8 + 9], line 16",)


def test_an_optional_argument_that_is_left_out_asks_for_nothing() -> None:
    cell = parse_cell("""
def _fill(x: 'float[:]', y: 'float[:]' = None):
    x[:] = y
def f(x: 'float[:]', y: 'float[:]' = None):
    x[:] = y
def g(x: 'float[:]'):
    _fill(x)
    _fill(x, None)
""")
    signature = cell.functions["f"].signature
    assert [str(one) for one in signature.rules] == ["x.shape[0] == y.shape[0] (line 5)"]
    plan = plan_call("f", signature, (np.ones(3), None), policy="warn", language="fortran")
    assert plan.refused is None
    assert cell.functions["g"].signature.rules == ()


def test_a_parameter_of_several_ranks_has_no_extents() -> None:
    text = "def f(x: 'float[:] | float[:,:]', y: 'float[:]'):\n    x[:] = 1.0\n    y[0] = 2.0"
    (rule,) = parse_cell(text).functions["f"].signature.rules
    assert rule.argument == "y"


def test_c_needs_parts_that_are_views_to_have_elements() -> None:
    body = "t = x[n:]\nt[:] = 1.0"
    assert "x.shape[0] >= n + 1 where x.shape[0] >= 1" in _conditions(body, "c")
    assert _conditions(body) == ["n >= 0"]


@pytest.mark.parametrize(
    ("body", "need"),
    [
        ("s = np.sum(x[:n])", "n >= 1 where x.shape[0] >= 1"),
        ("s = np.linalg.norm(x[1:])", "x.shape[0] >= 2 where x.shape[0] >= 1"),
        ("s = x[:n].sum()", "n >= 1 where x.shape[0] >= 1"),
        ("s = np.sum(m[:n] * 2.0)", "n >= 1 where m.shape[1] >= 1"),
        ("s = np.max(x[:n] * 2.0)", "n >= 1"),
        ("t = np.zeros((n, 3))", "n >= 1"),
        ("t = np.ones_like(m[:n, :])", "n >= 1 where m.shape[1] >= 1"),
        ("t = np.empty((n, 3))\ns = np.sum(t)", "n >= 1"),
        ("t = np.empty((n, 3))\nr = t.T", "n >= 1"),
        ("t = np.empty(n)\nr = t", "n >= 1"),
        ("t = np.empty(n)\nr = t[:]", "n >= 1"),
        ("t = np.empty((3, n))\nfor r in t:\n    s = 1.0", "n >= 1"),
    ],
)
def test_c_needs_elements_in_what_it_takes_as_a_view_or_goes_through(body: str, need: str) -> None:
    # Of a computed bound, there are rules in both languages.
    assert need in set(_conditions(body, "c")) - set(_conditions(body))


@pytest.mark.parametrize(
    "body",
    [
        "t = np.zeros(n)\ns = np.sum(t)",
        "t = np.empty((n, 3))\nt[:, :] = 1.0",
        "x[:n] = y[:n] * 2.0",
        "t = x[:n].copy()",
        "s = np.sum(x[:n] * 2.0)",
        "s = len(x[:n])",
        "s = np.sum(m)\nt = m.T\nr = np.zeros((m.shape[0], 3))",
    ],
)
def test_c_is_right_with_other_empty_arrays_and_needs_no_elements(body: str) -> None:
    signature = _signature(body, "c")
    assert _conditions(body, "c") == _conditions(body)
    assert signature.unseen == ()


def test_in_c_a_part_that_is_empty_in_some_step_of_every_call_is_an_error_of_the_cell() -> None:
    body = "for i in range(x.shape[0]):\n    y[i] = np.sum(x[:i])"
    with pytest.raises(CellError, match=r"x\[:i\]: an array without elements") as caught:
        _signature(body, "c")
    assert "--language fortran" in str(caught.value.fix)
    assert _conditions(body) == ["y.shape[0] >= x.shape[0]"]
    guarded = "for i in range(x.shape[0]):\n    if i > 0:\n        s = np.sum(x[:i])"
    assert _signature(guarded, "c").unseen == ("x[:i], line 9",)
    assert _signature(body.replace("range(", "range(1, "), "c").unseen == ()


def test_in_c_a_local_array_that_may_be_empty_is_told_where_a_function_takes_it() -> None:
    text = """
import numpy as np
def _total(v: 'float[:,:]') -> float:
    return np.sum(v)
def f(n: int) -> float:
    t = np.empty((n, 3))
    t[:, :] = 1.0
    return _total(t)
def g(m: 'float[:,:]') -> float:
    return _total(m)
"""
    cell = parse_cell(text, language="c").functions
    assert cell["f"].signature.unseen == ("_total(t), line 8",)
    assert cell["g"].signature.unseen == ()
    assert parse_cell(text).functions["f"].signature.unseen == ()


def test_names_imported_inside_a_function_are_those_of_the_module() -> None:
    body = "from numpy import zeros as made\nimport numpy as num\nt = made(n)\nx[:] = t"
    other = "t = np.zeros(n)\nx[:] = t"
    assert _conditions(body) == _conditions(other) != []
    assert _signature(body).unseen == ()
    assert _conditions("import numpy as num\nr = num.zeros(3)\nx[:] = r") == ["x.shape[0] == 3"]


def test_a_kernel_with_very_many_places_keeps_what_whole_arrays_need() -> None:
    body = "\n".join(f"x[{i} * n] = 1.0" for i in range(2, 70)) + "\nx[:] = y"
    signature = _signature(body)
    assert len(signature.rules) == 64
    assert signature.rules[-1].is_equal
    assert signature.unseen


def test_places_are_compared_only_with_what_may_cover_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All pairs of the thousands of places of a generated function would take minutes."""
    compared: list[object] = []
    covers = rules._covers  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(rules, "_covers", lambda *pair: compared.append(pair) or covers(*pair))
    _signature("\n".join(f"x[{i} * n + {i}] = m[{i} * n, {i}]" for i in range(2, 300)))
    assert 0 < len(compared) < 5000

"""Which arguments a function may leave in an object; what is only used during the call passes."""

from __future__ import annotations

import textwrap

import pytest

from kit.cell import parse_cell
from kit.signature import IN_MODULE, IN_RESULT
from kit.source.keeping import find_kept
from tests.unit.test_intent import functions_of

STORE = """
import numpy as np

class Store:
    def __init__(self: 'Store', x: 'float64[:]'):
        self.x = x
    def keep(self: 'Store', x: 'float64[:]'):
        self.x = x
    def keep_scaled(self: 'Store', x: 'float64[:]', by: float):
        self.keep(x)
    def scale(self: 'Store', x: 'float64[:]'):
        self.x[:] = x * 2.0
    def first(self: 'Store') -> float:
        return self.x[0]

class Total:
    def __init__(self: 'Total', x: 'float64[:]'):
        self.n = x.shape[0]
        self.sum = x.sum()
        self.own = x.copy()
"""

OUTER = f"""{STORE}
class Outer:
    def __init__(self: 'Outer', s: Store):
        self.s = s
    def keep_inside(self: 'Outer', x: 'float64[:]'):
        self.s.x = x
"""

HELPERS = """
def helper(t: Store, z: 'float64[:]'):
    t.keep(z[1:])

def maker(z: 'float64[:]', n: int):
    if n > 0:
        return maker(z, n - 1)
    return Store(z)

def reader(t: Store, z: 'float64[:]') -> float:
    return t.x[0] + z[0]

def gives(z: 'float64[:]'):
    return z
"""


def kept(body: str, parameters: str, before: str) -> dict[str, tuple[str, ...]]:
    code = f"{before}\ndef f({parameters}):\n{textwrap.indent(body, '    ')}\n"
    signature = parse_cell(code).functions["f"].signature
    return {one.name: one.kept_by for one in signature.parameters if one.kept_by}


KEPT = {
    "an attribute": ("s.x = x", "s"),
    "a view": ("s.x = x[1:]", "s"),
    "an alias": ("v = x\ns.x = v", "s"),
    "an alias of either": ("if n > 0:\n    v = x\nelse:\n    v = x[1:]\ns.x = v", "s"),
    "an alias that is made later": ("v = x[1:]\nfor i in range(n):\n    s.x = v\n    v = x", "s"),
    "another name of the object": ("t = s\nt.x = x", "s"),
    "a pair": ("s.x, k = x, n", "s"),
    "a written array, too": ("x[0] = 1.0\ns.x = x", "s"),
    "a method": ("s.keep(x)", "s"),
    "a method's keyword": ("s.keep(x=x[1:])", "s"),
    "a method of a method": ("s.keep_scaled(x, 2.0)", "s"),
    "a constructor": ("return Store(x)", IN_RESULT),
    "a constructor's keyword": ("return Store(x=x)", IN_RESULT),
    "an object among other results": ("t = Store(x)\nreturn n, t", IN_RESULT),
    "an object that gets it later": ("t = Store(y)\nt.keep(x)\nreturn t", IN_RESULT),
    "an object that passes it on": ("t = Store(x)\ns.x = t.x", "s"),
    "a function": ("helper(s, x)", "s"),
    "a function's keywords": ("helper(z=x, t=s)", "s"),
    "a recursive function that makes objects": ("return maker(x, n)", IN_RESULT),
    "a function's object": ("t = maker(x, n)\nreturn t", IN_RESULT),
    "what a function gives back": ("s.x = gives(x)", "s"),
    "a nested function": ("def g(z: 'float64[:]'):\n    s.x = z\ng(x)", "s"),
}


@pytest.mark.parametrize(("body", "keeper"), KEPT.values(), ids=KEPT)
def test_an_array_that_an_object_may_point_at_later_is_kept(body: str, keeper: str) -> None:
    parameters = "s: Store, x: 'float64[:]', y: 'float64[:]', n: int"
    assert kept(body, parameters, STORE + HELPERS).get("x") == (keeper,)


READ = {
    "elements are copied": "s.x[:] = x",
    "one element is copied": "s.x[0] = x[n]",
    "a method copies elements": "s.scale(x)",
    "elements are written": "x[:] = s.x",
    "a copy is kept": "s.x = x.copy()",
    "a new array is kept": "s.x = x + 1.0",
    "numbers are kept": "s.n = n\ns.k = x.shape[0]\ns.v = x[0]",
    "the object ends with the call": "t = Store(x)\nreturn t.first()",
    "the object's number is returned": "t = Store(x)\nk = t.first() + n\nreturn k, n",
    "the object is only passed on": "t = Store(x)\nreturn reader(t, x) + reader(s, x)",
    "the object's array is read": "t = Store(x)\ns.scale(t.x)",
    "an object that keeps numbers only": "return Total(x)",
    "the array is returned": "return x",
    "the object's array is returned": "return s.x",
    "a method of arrays": "return x.sum() + s.x.sum()",
    "NumPy": "s.x[:] = np.sqrt(x)\nreturn np.sum(x)",
}


@pytest.mark.parametrize("body", READ.values(), ids=READ)
def test_an_array_that_is_only_used_during_the_call_is_not_kept(body: str) -> None:
    parameters = "s: Store, x: 'float64[:]', n: int"
    assert kept(body, parameters, STORE + HELPERS) == {}


def test_an_object_whose_array_another_one_gets_is_kept() -> None:
    found = kept("b.x = a.x", "a: Store, b: Store, c: Store", STORE)
    assert found == {"a": ("b",)}


def test_each_array_is_kept_where_it_is_left() -> None:
    body = "a.x = x\nb.keep(y)\nc.scale(x)"
    found = kept(body, "a: Store, b: Store, c: Store, x: 'float64[:]', y: 'float64[:]'", STORE)
    assert found == {"x": ("a",), "y": ("b",)}


INSIDE = {
    "an attribute's attribute": ("o.s.x = x", {"x": ("o",)}),
    "an attribute's method": ("o.s.keep(x)", {"x": ("o",)}),
    "a name of an attribute": ("t = o.s\nt.x = x", {"x": ("o",)}),
    "a method that does it": ("o.keep_inside(x)", {"x": ("o",)}),
    "an object": ("o.s = s", {"s": ("o",)}),
    "an object in a new one": ("return Outer(s)", {"s": (IN_RESULT,)}),
    "by way of an object that ends": ("p = Outer(s)\np.s.x = x", {"x": ("s",)}),
    "by way of a method of one": ("p = Outer(s)\np.keep_inside(x)", {"x": ("s",)}),
    "nothing": ("return x[0] + o.s.x[0]", {}),
}


@pytest.mark.parametrize(("body", "expected"), INSIDE.values(), ids=INSIDE)
def test_objects_in_objects_are_followed(body: str, expected: dict[str, tuple[str, ...]]) -> None:
    found = kept(body, "o: Outer, s: Store, x: 'float64[:]'", OUTER)
    assert found == {name: (*keepers, IN_MODULE) for name, keepers in expected.items()}


def test_what_is_kept_lives_for_ever_where_an_object_is_given_out_a_second_time() -> None:
    pick = "\ndef pick(a: Store):\n    return a\n"
    assert kept("s.x = x", "s: Store, x: 'float64[:]'", STORE + pick) == {"x": ("s", IN_MODULE)}


@pytest.mark.parametrize(
    ("method", "found"),
    [
        ("self.x = other\n        return 1.0", {"x": (IN_MODULE,)}),
        ("return other[0]", {}),
        ("self.x[:] = other\n        return 1.0", {}),
    ],
)
def test_an_operator_that_keeps_its_operand_is_seen(
    method: str, found: dict[str, tuple[str, ...]]
) -> None:
    before = f"{STORE}    def __mul__(self: 'Total', other: 'float64[:]'):\n        {method}\n"
    assert kept("return t * x", "t: Total, x: 'float64[:]', n: int", before) == found


def test_a_class_of_another_cell_may_keep_whatever_it_is_given() -> None:
    functions = functions_of("""
        def make(x: 'float[:]', n: int):
            return Unknown(x, n)
        def put(s: 'Unknown', x: 'float[:]'):
            s.take(x)
        def sums(s: 'Unknown', x: 'float[:]'):
            return s.x.sum() + x.sum()
        def both(s: 'Unknown', x: 'float[:]', y: 'float[:]'):
            unknown(x, y)
            s.x = x
        def f(x: 'float[:]'):
            return make(x, 3)
    """)
    found = find_kept(functions)
    assert found["make"] == {"x": (IN_RESULT,)}
    assert found["f"] == {"x": (IN_RESULT,)}
    assert found["put"] == {"x": ("s",)}
    assert found["sums"] == {}
    assert found["both"] == {"x": ("s",)}, "an array keeps no other"


def test_a_cell_without_classes_keeps_nothing() -> None:
    code = "def f(x: 'float64[:]', y: 'float64[:]'):\n    y[:] = x\n    return x\n"
    assert not parse_cell(code).functions["f"].signature.keeps

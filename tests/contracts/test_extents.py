"""Calls whose extents do not fit are refused in both languages; those that fit are right."""

# ruff: noqa: UP037  # annotations are Pyccel's, which are strings of another language
# pyright: reportInvalidTypeArguments=false, reportIndexIssue=false

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit import ArgumentRefused, pyccel_kernel
from kit.build import build_cell
from kit.decorate import KernelNamespace
from kit.terms import Language
from tests.unit.extent_programs import (
    HEADER,
    HELPERS,
    random_arguments,
    random_body,
    run_checked,
)

CELL = """
import numpy as np
from pyccel.decorators import allow_negative_index

N = 3

def scale(b: 'float[:]', a: 'float[:]'):
    b[:] = a[:] * 2

def add(b: 'float[:]', a: 'float[:]'):
    b += a

def plane(b: 'float[:,:]', a: 'float[:,:]', c: 'float[:]'):
    b[:, :] = a + c

def plane_f(b: 'float[:,:](order=F)', a: 'float[:,:](order=F)'):
    b[:, :] = np.sqrt(a) - 1.0

def stencil(b: 'float[:]', a: 'float[:]'):
    b[1:-1] = a[2:] - a[:-2]

def row(m: 'float[:,:]', a: 'float[:]', i: int):
    m[i, :] = a

def dot(a: 'float[:]', b: 'float[:]') -> float:
    return a @ b

def product(c: 'float[:,:]', a: 'float[:,:]', b: 'float[:,:]'):
    c[:, :] = a @ b

def total(a: 'float[:]', b: 'float[:]') -> float:
    return np.sum(a * b)

def fill(y: 'float[:]', x: 'float[:]'):
    for i in range(x.shape[0]):
        y[i] = x[i]

def differences(y: 'float[:]', x: 'float[:]'):
    for i in range(1, len(x)):
        y[i - 1] = x[i] - x[i - 1]

def backward(y: 'float[:]', x: 'float[:]'):
    for i in range(x.size - 1, -1, -1):
        y[i] = x[i]

def triangle(m: 'float[:,:]', x: 'float[:]'):
    n = x.shape[0]
    for i in range(n):
        for j in range(i + 1):
            m[i, j] = x[j]

def chosen(x: 'float[:]', i: int) -> float:
    return x[i - 1]

@allow_negative_index('x')
def wrapped(x: 'float[:]', i: int) -> float:
    return x[i - 1]

def part(x: 'float[:]', n: int):
    x[1:n] = 5.0

def ends(x: 'float[:]') -> float:
    return x[0] + x[-2]

def triple(x: 'float[:]'):
    for i in range(N):
        x[i] = 1.0

def local(x: 'float[:]', n: int):
    t = np.zeros(n)
    x[:] = t + 1.0

def calls(y: 'float[:]', x: 'float[:]'):
    fill(y[1:], x)

def optional(x: 'float[:]', y: 'float[:]' = None):
    x[0] = 1.0
    if y is not None:
        x[:] = y[:]

def each(y: 'float[:]', x: 'float[:]'):
    for i, v in enumerate(x):
        y[i] = v
"""


def _of(*shape: int) -> Any:
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


# The kernel, arguments that fit, and arguments that do not with what is refused of them.
CASES: list[tuple[str, tuple[Any, ...], list[tuple[tuple[Any, ...], str]]]] = [
    ("scale", ((5,), (5,)), [(((3,), (5,)), "b"), (((5,), (3,)), "b"), (((5,), (1,)), "b")]),
    ("add", ((5,), (5,)), [(((3,), (5,)), "b"), (((5,), (1,)), "b")]),
    (
        "plane",
        ((3, 4), (3, 4), (4,)),
        [
            (((3, 4), (3, 4), (3,)), "a"),
            (((3, 4), (1, 4), (4,)), "b"),
            (((3, 4), (3, 4), (1,)), "a"),
            (((3, 4), (3, 5), (5,)), "b"),
        ],
    ),
    ("plane_f", ((3, 4), (3, 4)), [(((3, 4), (4, 3)), "b"), (((3, 4), (3, 1)), "b")]),
    (
        "stencil",
        ((6,), (6,)),
        [(((6,), (5,)), "b"), (((4,), (6,)), "b"), (((6,), (2,)), "b"), (((2,), (6,)), "b")],
    ),
    ("row", ((3, 4), (4,), 2), [(((3, 4), (5,), 2), "m"), (((3, 4), (4,), 3), "m")]),
    ("row", ((3, 4), (4,), 0), [(((3, 4), (4,), -1), "i")]),
    ("dot", ((4,), (4,)), [(((4,), (3,)), "a"), (((1,), (4,)), "a")]),
    (
        "product",
        ((3, 4), (3, 2), (2, 4)),
        [(((3, 4), (3, 2), (3, 4)), "a"), (((2, 4), (3, 2), (2, 4)), "c")],
    ),
    ("total", ((4,), (4,)), [(((4,), (1,)), "a"), (((3,), (4,)), "a")]),
    ("fill", ((5,), (5,)), [(((4,), (5,)), "y")]),
    ("fill", ((7,), (5,)), []),
    ("differences", ((4,), (5,)), [(((3,), (5,)), "y")]),
    ("backward", ((5,), (4,)), [(((4,), (5,)), "y")]),
    ("triangle", ((4, 4), (4,)), [(((4, 3), (4,)), "m"), (((3, 4), (4,)), "m")]),
    ("chosen", ((4,), 4), [(((4,), 0), "i"), (((4,), 5), "x")]),
    ("wrapped", ((4,), -2), [(((4,), -4), "x"), (((4,), 5), "x")]),
    ("part", ((4,), 4), [(((4,), 5), "x")]),
    ("part", ((4,), 0), [(((4,), -1), "n")]),
    ("ends", ((2,),), [(((1,),), "x")]),
    ("triple", ((3,),), [(((2,),), "x")]),
    ("local", ((3,), 3), [(((3,), 4), "x"), (((3,), 1), "x")]),
    ("calls", ((5,), (4,)), [(((5,), (5,)), "y")]),
    ("optional", ((3,), (3,)), []),
    ("optional", ((3,), None), []),
    ("each", ((5,), (5,)), [(((4,), (5,)), "y")]),
]


@pytest.fixture(scope="module")
def kernels() -> Callable[[Language], KernelNamespace]:
    """The cell, compiled once in each language."""
    made: dict[Language, KernelNamespace] = {}

    def get(language: Language) -> KernelNamespace:
        if language not in made:
            made[language] = pyccel_kernel(CELL, language=language)
        return made[language]

    return get


def _arguments(kernel: Any, shapes: tuple[Any, ...]) -> list[Any]:
    orders: list[Any] = [one.types[0].order or "C" for one in kernel.signature.parameters]
    return [
        np.array(_of(*one), order=order) if isinstance(one, tuple) else one
        for one, order in zip(shapes, orders, strict=True)
    ]


@pytest.mark.parametrize("language", ["fortran", "c"])
@pytest.mark.parametrize(("name", "fits", "others"), CASES)
def test_extents_that_fit_give_what_python_gives(
    name: str,
    fits: tuple[Any, ...],
    others: object,
    language: Language,
    kernels: Callable[[Language], KernelNamespace],
) -> None:
    kernel = kernels(language)[name]
    given, expected = _arguments(kernel, fits), _arguments(kernel, fits)
    result = kernel.python(*expected)
    assert kernel(*given) == result
    for one, other in zip(given, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("target", ["host", "python"])
@pytest.mark.parametrize("language", ["fortran", "c"])
@pytest.mark.parametrize(
    ("name", "shapes", "argument"),
    [(name, shapes, argument) for name, _, bad in CASES for shapes, argument in bad],
)
def test_extents_that_do_not_fit_are_refused_before_anything_is_written(
    name: str,
    shapes: tuple[Any, ...],
    argument: str,
    language: Language,
    target: str,
    kernels: Callable[[Language], KernelNamespace],
) -> None:
    kernel = kernels(language)[name]
    given, before = _arguments(kernel, shapes), _arguments(kernel, shapes)
    with pytest.raises(ArgumentRefused) as caught:
        (kernel if target == "host" else kernel.python)(*given)
    assert isinstance(caught.value, ValueError)
    assert caught.value.argument == argument
    assert re.search(r", because of line \d+: \S", caught.value.need)
    for one, other in zip(given, before, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("name", "shapes"), [(name, shapes) for name, _, bad in CASES for shapes, _ in bad]
)
def test_the_fix_works_when_pasted(
    name: str, shapes: tuple[Any, ...], kernels: Callable[[Language], KernelNamespace]
) -> None:
    kernel = kernels("fortran")[name]
    names = [one.name for one in kernel.signature.parameters]
    scope = dict(zip(names, _arguments(kernel, shapes), strict=True))
    scope |= {"np": np, name: kernel}
    plan = kernel.plan(*(scope[one] for one in names))
    assert plan.refused is not None
    exec(plan.refused.fix, scope)
    if f"{name}(" not in plan.refused.fix:
        exec(f"{name}({', '.join(names)})", scope)


# Functions of tests/unit/extent_programs.py that Pyccel compiles and of which every place is seen.
SEEDS = (8, 51, 117, 156, 333)


@pytest.mark.parametrize("language", ["fortran", "c"])
def test_random_functions_are_right_or_refused(language: Language) -> None:
    functions = [HEADER.replace(" f(", f" f{one}(") + random_body(one) for one in SEEDS]
    cell = "\n".join(["import numpy as np", HELPERS, *functions])
    random_kernels = pyccel_kernel(cell, language=language)
    outcomes: set[bool] = set()
    for seed in SEEDS:
        kernel = random_kernels[f"f{seed}"]
        for call in range(25):
            checked, given, expected = (random_arguments(1000 * seed + call) for _ in range(3))
            wrong, _ = run_checked(HELPERS + HEADER + random_body(seed), checked)
            outcomes.add(bool(wrong))
            given, expected = (
                [np.array(one) if isinstance(one, np.ndarray) else one for one in arguments]
                for arguments in (given, expected)
            )
            if wrong:
                with pytest.raises(ArgumentRefused):
                    kernel(*given)
                continue
            kernel.python(*expected)
            kernel(*given)
            for one, other in zip(given, expected, strict=True):
                np.testing.assert_array_equal(one, other)
    assert outcomes == {True, False}


def test_the_line_of_a_rule_of_a_decorated_function_is_that_of_its_file() -> None:
    @pyccel_kernel
    def doubled(b: "float[:]", a: "float[:]"):
        b[:] = 2.0 * a

    (rule,) = doubled.signature.rules
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert lines[rule.line - 1].strip() == rule.text == "b[:] = 2.0 * a"


EMPTY = """
import numpy as np
def part(x: 'float[:]', n: int) -> float:
    return np.sum(x[:n])
def table(x: 'float[:]', n: int) -> float:
    t = np.zeros((n, 3))
    return x[0] + np.sum(t)
def doubled(x: 'float[:]', n: int) -> float:
    t = x[:n] * 2.0
    return np.sum(t)
"""


def test_arrays_without_elements_are_right_or_refused_in_c_and_right_in_fortran() -> None:
    in_c, in_fortran = (pyccel_kernel(EMPTY, language=one) for one in ("c", "fortran"))
    for name in ("part", "table", "doubled"):
        for n in (0, 2):
            expected = in_fortran[name].python(_of(4), n)
            assert in_fortran[name](_of(4), n) == expected
            if n == 0 and name != "doubled":
                with pytest.raises(ArgumentRefused, match="need:  n >= 1"):
                    in_c[name](_of(4), n)
            else:
                assert in_c[name](_of(4), n) == expected


def test_a_kernel_keeps_the_rules_of_one_of_another_cell(
    kernels: Callable[[Language], KernelNamespace],
) -> None:
    fill = kernels("fortran")["fill"]
    assert fill.signature.rules
    text = "def twice(y: 'float[:]', x: 'float[:]'):\n    fill(y, x)\n    fill(y, x)"
    built = build_cell(text, namespace={"fill": fill}).kernels["twice"]
    with pytest.raises(ArgumentRefused, match=r"line 2: fill\(y, x\)"):
        built(_of(3), _of(4))
    again = pickle.loads(pickle.dumps(built))
    assert [one.need for one in again.signature.rules] == [
        one.need for one in built.signature.rules
    ]

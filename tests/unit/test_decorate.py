"""`kit.pyccel_kernel` on functions and on text."""

# ruff: noqa: F821, UP037  # annotations are Pyccel's, which are strings of another language
# pyright: reportUndefinedVariable=false, reportInvalidTypeForm=false, reportIndexIssue=false
# pyright: reportAttributeAccessIssue=false, reportGeneralTypeIssues=false

from __future__ import annotations

import math
from typing import Final, TypeVar

import numpy as np
import pytest
from numpy import cos

import kit
from kit.build import BuildOptions, build_cell

GRAVITY = 9.81
LIMIT = float("inf")
T = TypeVar("T", "float64[:]", "int64[:]")


def _helper(x: float):
    return GRAVITY * x


@pytest.fixture(scope="module", name="weigh")
def _weigh() -> kit.PyccelKernel:
    @kit.pyccel_kernel
    def weigh(mass: "Final[float64[:]]", out: "float64[:]"):
        for i in range(mass.shape[0]):
            out[i] = _helper(mass[i])

    return weigh


def test_a_decorated_function_takes_constants_and_functions_of_its_module(
    weigh: kit.PyccelKernel,
) -> None:
    out = np.zeros(2)
    weigh(np.array([1.0, 2.0]), out)
    np.testing.assert_allclose(out, [9.81, 19.62], rtol=1e-15)
    assert isinstance(weigh, kit.PyccelKernel)


def test_the_decorator_takes_options_and_imports_of_the_module() -> None:
    @kit.pyccel_kernel(language="c", policy="strict", flags="-O2 -ffp-contract=off")
    def wave(x: "float64[:]"):
        for i in range(x.shape[0]):
            x[i] = cos(x[i]) + math.sin(x[i]) + np.exp(0.0)

    x = np.array([0.0])
    wave(x)
    assert x[0] == 2.0
    assert wave.language == "c"
    assert wave.build is not None
    assert wave.build.flags == ("-O2", "-ffp-contract=off")
    assert wave.policy == "strict"


def test_a_decorated_function_may_call_a_kernel(weigh: kit.PyccelKernel) -> None:
    @kit.pyccel_kernel
    def weigh_twice(mass: "float64[:]", out: "float64[:]"):
        weigh(mass, out)
        weigh(out, out)

    out = np.zeros(1)
    weigh_twice(np.ones(1), out)
    assert out[0] == pytest.approx(9.81**2)


def test_variables_around_an_inner_function_are_compiled_in() -> None:
    factor = 2.5

    @kit.pyccel_kernel
    def scaled(x: float):
        return factor * x

    assert scaled(2.0) == 5.0


def test_a_type_variable_of_the_module_gives_both_types() -> None:
    @kit.pyccel_kernel
    def first(x: "T"):
        return x[0]

    assert first(np.array([1.5])) == 1.5
    assert first(np.array([3])) == 3


def test_what_has_no_text_is_refused_with_the_line_in_the_file() -> None:
    def bounded(x: float):
        return x + LIMIT

    with pytest.raises(kit.CellError, match="LIMIT") as caught:
        kit.pyccel_kernel(bounded)
    assert caught.value.cell == "test_decorate.py"
    assert caught.value.source_line == "    return x + LIMIT"
    assert caught.value.line == bounded.__code__.co_firstlineno + 1


def test_an_unannotated_function_is_refused_with_the_line_in_the_file() -> None:
    def plain(x):
        return x

    with pytest.raises(kit.CellError) as caught:
        kit.pyccel_kernel(plain)
    assert caught.value.line == plain.__code__.co_firstlineno
    assert "test_decorate.py" in str(caught.value)


def test_a_lambda_is_refused() -> None:
    with pytest.raises(kit.CellError):
        kit.pyccel_kernel(lambda x: x)


def test_a_function_without_source_is_refused_with_a_way_out() -> None:
    namespace: dict[str, object] = {}
    exec("def f(x: float):\n    return x\n", namespace)
    with pytest.raises(kit.CellError, match="cannot be read") as caught:
        kit.pyccel_kernel(namespace["f"])  # type: ignore[call-overload]
    assert "kit.pyccel_kernel('''" in str(caught.value.fix)


def test_text_with_several_functions_gives_a_namespace() -> None:
    names = kit.pyccel_kernel(
        "def a(x: float):\n    return x\n\n\ndef b(x: float):\n    return -x\n"
    )
    assert names.a(1.0) == names["a"](1.0) == 1.0
    assert names.b(1.0) == -1.0
    assert list(names) == ["a", "b"]
    assert "a: fortran" in repr(names)
    with pytest.raises(AttributeError, match="there are: a, b"):
        names.c  # noqa: B018


def test_text_may_use_kernels_of_the_module_that_calls(
    weigh: kit.PyccelKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "weigh", weigh)
    kernel = kit.pyccel_kernel(
        "def both(mass: 'float64[:]', out: 'float64[:]'):\n    weigh(mass, out)\n"
    )
    out = np.zeros(1)
    kernel(np.ones(1), out)
    assert out[0] == 9.81


@pytest.mark.parametrize("outputs", ["out", ["out"], {"weigh_": ["out"]}])
def test_outputs_may_be_text_a_list_or_by_function(outputs: object) -> None:
    source = "def weigh_(m: 'float64[:]', out: 'float64[:]'):\n    out[0] = m[0]\n"
    assert kit.pyccel_kernel(source, outputs=outputs).outputs == ("out",)  # type: ignore[call-overload]


@pytest.mark.parametrize("outputs", ["m", "m,out", ()])
def test_outputs_that_the_source_contradicts_are_refused(outputs: object) -> None:
    source = "def weigh_(m: 'float64[:]', out: 'float64[:]'):\n    out[0] = m[0]\n"
    with pytest.raises(kit.CellError):
        kit.pyccel_kernel(source, outputs=outputs)  # type: ignore[call-overload]


def test_an_output_that_is_overwritten_is_declared_and_stays_so() -> None:
    source = "def fill(out: 'float64[:]'):\n    out[:] = 1.0\n"
    kernel = kit.pyccel_kernel(source, overwrites="out")
    assert kernel.signature.parameters[0].intent == "out"
    assert kernel != kit.pyccel_kernel(source)
    assert build_cell(source, options=BuildOptions()).kernels["fill"] == kit.pyccel_kernel(source)


@pytest.mark.parametrize("option", ["debug", "isolate"])
def test_what_is_not_there_yet_says_so(option: str) -> None:
    with pytest.raises(kit.KitError, match=f"{option}=True is not in this version"):
        kit.pyccel_kernel("def f(x: float):\n    return x\n", **{option: True})  # type: ignore[call-overload]


def test_a_wrong_language_or_policy_names_the_choices() -> None:
    with pytest.raises(ValueError, match="'fortran' or 'c'"):
        kit.pyccel_kernel("", language="rust")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="'copy', 'warn' or 'strict'"):
        kit.pyccel_kernel("", policy="never")  # type: ignore[call-overload]

"""The names under which wrappers take keyword-only parameters."""

from __future__ import annotations

from typing import Any

import pytest

from kit.boundary.keywords import keyword_names
from kit.errors import KitError
from tests.unit.signatures import read

# What Pyccel 2.2.3 writes, shortened: `end` was renamed, and then `end_0001` had to be, too.
WRAPPER = """
static PyObject* bind_c_other_wrapper(PyObject* self, PyObject* args, PyObject* kwargs)
{
    static char *kwlist[] = {
        (char*)"wrong",
        NULL
    };
}
static PyObject* bind_c_f_wrapper(PyObject* self, PyObject* args, PyObject* kwargs)
{
    static char *kwlist[] = {
        (char*)"x",
        (char*)"end_0001",
        (char*)"end_0001_0001",
        NULL
    };
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OO", kwlist, &x_obj, &end_0001_obj))
}
static PyMethodDef methods[] = {
    {
        "other",
        (PyCFunction)bind_c_other_wrapper,
        METH_VARARGS | METH_KEYWORDS,
        ""
    },
    {
        "f",
        (PyCFunction)bind_c_f_wrapper,
        METH_VARARGS | METH_KEYWORDS,
        ""
    },
};
"""
SIGNATURE = read("def f(x: 'int', *, end_: 'int' = 1, end_0001: 'int' = 2): ...")


def never(*args: Any, **kwargs: Any) -> None:
    raise AssertionError("the generated source says it all")


def test_names_are_read_from_the_generated_wrapper() -> None:
    names = keyword_names(never, SIGNATURE, {"m.f90": "", "m_wrapper.c": WRAPPER})
    assert names == {"end_": "end_0001", "end_0001": "end_0001_0001"}


def test_positional_only_parameters_have_empty_names_in_the_wrapper() -> None:
    signature = read("def f(x: 'int', /, *, end_: 'int' = 1, end_0001: 'int' = 2): ...")
    wrapper = WRAPPER.replace('(char*)"x"', '(char*)""')
    names = keyword_names(never, signature, {"m_wrapper.c": wrapper})
    assert names == {"end_": "end_0001", "end_0001": "end_0001_0001"}


def test_no_keyword_only_parameter_needs_no_look() -> None:
    assert keyword_names(never, read("def f(x: 'int', y: 'int' = 2): ..."), {}) == {}


def test_names_that_cannot_be_told_apart_are_an_error() -> None:
    def ambiguous(x: Any, *, end__0001: int = 1, end_0001: int = 1, end_: int = 2) -> None:
        raise TypeError("not for you")

    with pytest.raises(KitError, match="cannot be told apart"):
        keyword_names(ambiguous, SIGNATURE, {})


def test_a_wrapper_of_another_function_is_not_read() -> None:
    other = read("def other(*, a: 'int', b: 'int'): ...")

    def function(*, a: Any, b: Any) -> None:
        raise TypeError("not for you")

    text = WRAPPER.replace('"other"', '"another"')
    with pytest.raises(KitError):
        keyword_names(function, other, {"m_wrapper.c": text})

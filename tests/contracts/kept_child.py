"""Runs in a child process, since what it guards against ends processes: one case in one language.

``python -m tests.contracts.kept_child LANGUAGE CASE``
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from kit.build import build_cell
from kit.building.options import BuildOptions
from kit.copying import pool
from kit.errors import ArgumentRefused
from kit.terms import Language

SOURCE = """
class Store:
    def __init__(self: 'Store', x: 'float64[:]'):
        self.x = x
    def keep(self: 'Store', x: 'float64[:]'):
        self.x = x

def put(s: Store, x: 'float64[:]'):
    s.x = x

def put_view(s: Store, x: 'float64[:]'):
    s.x = x[1:]

def put_by_method(s: Store, x: 'float64[:]'):
    s.keep(x)

def put_by_function(s: Store, x: 'float64[:]'):
    v = x[1:]
    put(s, v)

def make(x: 'float64[:]'):
    return Store(x)

def move(a: Store, b: Store):
    b.x = a.x

def put_and_write(s: Store, x: 'float64[:]', y: 'float64[:]'):
    s.x = x
    y[0] = 1.0

def first(s: Store) -> float:
    return s.x[0]

def add(s: Store, x: 'float64[:]') -> float:
    t = Store(x)
    s.x[:] = s.x + t.x
    return t.x[0]
"""

TABLES = """
class Table:
    def __init__(self: 'Table', x: 'float64[:,:](order=F)'):
        self.x = x

def put(s: Table, x: 'float64[:,:](order=F)'):
    s.x = x

def corner(s: Table) -> float:
    return s.x[0, 1]
"""

NESTED = """
class Store:
    def __init__(self: 'Store', x: 'float64[:]'):
        self.x = x

class Outer:
    def __init__(self: 'Outer', s: Store):
        self.s = s

def put(s: Store, x: 'float64[:]'):
    s.x = x

def put_inside(o: Outer, x: 'float64[:]'):
    o.s.x = x

def first(s: Store) -> float:
    return s.x[0]
"""

PUTS = ("put", "put_view", "put_by_method", "put_by_function")
CUT = ("put_view", "put_by_function")
N = 1000


def build(source: str, language: Language) -> tuple[Any, Any]:
    built = build_cell(source, options=BuildOptions(language=language, policy="copy"))
    return built.kernels, built.classes


def overwrite_what_is_free() -> None:
    """Give memory that nothing refers to other numbers."""
    taken = [np.full(N, -1.0) for _ in range(50)]
    assert len(taken) == 50


def layouts() -> dict[str, Any]:
    """What is copied for other kernels."""
    packed = np.zeros(N, [("flag", "i1"), ("x", "f8")])
    packed["x"] = np.arange(3.0, N + 3.0)
    return {
        "reversed": np.arange(float(N))[::-1],
        "big-endian": np.arange(5.0, N + 5.0).astype(">f8"),
        "in packed records": packed["x"],
    }


def check_refused(call: Callable[..., Any], *values: Any, fix: dict[str, Any]) -> dict[str, Any]:
    """The refusal names the keeper, and its fix works when pasted; gives the pasted names."""
    with pytest.raises(ArgumentRefused, match="keeps x after the call") as caught:
        call(*values)
    assert isinstance(caught.value, ValueError)
    assert caught.value.argument == "x"
    scope = {"np": np, **fix}
    exec(caught.value.fix, scope)
    return scope


def refuses_copies(language: Language) -> None:
    kernels, classes = build(SOURCE, language)
    for name in PUTS:
        for x in layouts().values():
            s = classes["Store"](np.zeros(N))
            kernel = kernels[name]
            for call in (kernel, kernel.host, kernel.python):
                check_refused(call, s, x, fix={"s": s, "x": x, name: kernel})
            assert kernels["first"](s) == 0.0
            scope = check_refused(kernel, s, x, fix={"s": s, "x": x, name: kernel})
            kernel(s, scope["x"])
            del scope
            overwrite_what_is_free()
            assert kernels["first"](s) == x[1 if name in CUT else 0]
    x = layouts()["reversed"]
    check_refused(kernels["make"], x, fix={"x": x, "make": kernels["make"]})


def refuses_copies_of_tables(language: Language) -> None:
    kernels, classes = build(TABLES, language)
    x = np.arange(12.0).reshape(3, 4)
    s = classes["Table"](np.zeros((2, 2), order="F"))
    scope = check_refused(kernels["put"], s, x, fix={"s": s, "x": x})
    kernels["put"](s, scope["x"])
    assert scope["x"].flags.f_contiguous
    del scope
    overwrite_what_is_free()
    assert kernels["corner"](s) == 1.0


def refuses_snapshots(language: Language) -> None:
    kernels, classes = build(SOURCE, language)
    memory = np.zeros(N)
    s = classes["Store"](np.zeros(3))
    with pytest.raises(ArgumentRefused):
        kernels["put_and_write"](s, memory[1:], memory[:-1])
    assert memory[0] == 0.0


def passes_what_is_not_kept(language: Language) -> None:
    kernels, classes = build(SOURCE, language)
    for x in layouts().values():
        s = classes["Store"](np.ones(N))
        assert kernels["add"](s, x) == x[0]
        assert kernels["first"](s) == x[0] + 1.0


def keeps_the_callers_array(language: Language) -> None:
    kernels, classes = build(SOURCE, language)
    for name in PUTS:
        x = np.arange(float(N))
        s = classes["Store"](np.zeros(N))
        assert kernels[name].plan(s, x).passes
        kernels[name](s, x)
        x[:] = 5.0
        assert kernels["first"](s) == 5.0


def keeps_arrays_alive(language: Language) -> None:
    kernels, classes = build(SOURCE, language)
    s = classes["Store"](np.zeros(N))
    for name in PUTS:
        kernels[name](s, np.full(N, 3.0))
        gc.collect()
        overwrite_what_is_free()
        assert kernels["first"](s) == 3.0
        kernels["put"](s, np.zeros(N))
    made = kernels["make"](np.full(N, 4.0))
    gc.collect()
    overwrite_what_is_free()
    assert kernels["first"](made) == 4.0
    kernels["move"](made, s)
    del made
    gc.collect()
    overwrite_what_is_free()
    assert kernels["first"](s) == 4.0


def keeps_arrays_of_inner_objects_alive(language: Language) -> None:
    kernels, classes = build(NESTED, language)
    store = classes["Store"](np.zeros(3))
    outer = classes["Outer"](store)
    kernels["put"](outer.s, np.full(N, 3.0))
    gc.collect()
    overwrite_what_is_free()
    assert kernels["first"](store) == 3.0
    kernels["put_inside"](outer, np.full(N, 4.0))
    del outer
    gc.collect()
    overwrite_what_is_free()
    assert kernels["first"](store) == 4.0


def lets_arrays_go_with_the_object(language: Language) -> None:
    kernels, classes = build(SOURCE, language)
    x = np.zeros(N)
    before = sys.getrefcount(x)
    s = classes["Store"](np.zeros(3))
    kernels["put"](s, x)
    assert sys.getrefcount(x) > before
    del s
    gc.collect()
    assert sys.getrefcount(x) == before


CASES = {
    one.__name__: one
    for one in (
        refuses_copies,
        refuses_copies_of_tables,
        refuses_snapshots,
        passes_what_is_not_kept,
        keeps_the_callers_array,
        keeps_arrays_alive,
        keeps_arrays_of_inner_objects_alive,
        lets_arrays_go_with_the_object,
    )
}

if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        # Every copy would come from a buffer that is used again.
        patch.setattr(pool, "LEAST_BYTES", 1)
        CASES[sys.argv[2]](cast(Language, sys.argv[1]))

"""Random functions over arrays, and Python arrays that do only what compiled code does right."""

from __future__ import annotations

import ast
import random
import sys
from types import CodeType, FrameType
from typing import Any

import numpy as np

__all__ = [
    "HEADER",
    "HELPERS",
    "Checked",
    "OutsideError",
    "random_arguments",
    "random_body",
    "run_checked",
]

HELPERS = """\
def put(u: 'float[:]', v: 'float[:]', k: int):
    for i in range(len(u)):
        v[i + k] = u[i]
def add(u: 'float[:]', v: 'float[:]'):
    v[:] += u[:]
"""
HEADER = "def f(x: 'float[:]', y: 'float[:]', a: 'float[:,:]', n: int, m: int):\n"


class OutsideError(Exception):
    """What compiled code would do wrong."""


class _FromEnd(int):
    """A literal negative index, which counts from the end also when compiled."""


class Checked(np.ndarray[Any, Any]):
    """An array without broadcast of extents of 1, clipped slices and computed negative indices."""

    def __getitem__(self, key: Any) -> Any:
        self._check(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check(key)
        _check_equal([np.shape(super().__getitem__(key)), np.shape(value)])
        super().__setitem__(key, value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        _check_equal([np.shape(one) for one in (*inputs, *kwargs.get("out", ()))])
        plain = [np.asarray(one) if isinstance(one, np.ndarray) else one for one in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(one.view(np.ndarray) for one in kwargs["out"])
        result = getattr(ufunc, method)(*plain, **kwargs)
        return result.view(Checked) if isinstance(result, np.ndarray) else result

    def _check(self, key: Any) -> None:
        items = key if isinstance(key, tuple) else (key,)
        for item, extent in zip(items, self.shape, strict=False):
            if isinstance(item, slice):
                _check_slice(item, extent)
            elif not 0 <= _place(item, extent) < extent:
                raise OutsideError(f"{key} of {self.shape}")


def _place(item: int, extent: int) -> int:
    return extent + item if isinstance(item, _FromEnd) else item


def _check_slice(item: slice, extent: int) -> None:
    start = 0 if item.start is None else _place(item.start, extent)
    stop = extent if item.stop is None else _place(item.stop, extent)
    if stop > start and (start < 0 or stop > extent):
        raise OutsideError(f"{item} of {extent}")
    if max(0, stop - start) != len(range(extent)[item]):
        raise OutsideError(f"{item} of {extent} counts from the end")


def _check_equal(shapes: list[tuple[int, ...]]) -> None:
    for index, one in enumerate(shapes):
        for other in shapes[index + 1 :]:
            for first, second in zip(reversed(one), reversed(other), strict=False):
                if first != second:
                    raise OutsideError(f"{one} and {other}")


class _Literals(ast.NodeTransformer):
    """Marks the literal negative indices."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        node.slice = _Negatives().visit(node.slice)
        return node


class _Negatives(ast.NodeTransformer):
    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        return ast.Call(func=ast.Name(id="_FromEnd", ctx=ast.Load()), args=[node], keywords=[])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return node


def run_checked(source: str, arguments: tuple[Any, ...]) -> tuple[str, set[int]]:
    """Run `f`: what went wrong, empty where nothing did; and the lines that ran."""
    tree = ast.fix_missing_locations(_Literals().visit(ast.parse(source)))
    namespace: dict[str, Any] = {"_FromEnd": _FromEnd, "np": _Numpy}
    exec(compile(tree, "<f>", "exec"), namespace)
    lines: set[int] = set()
    code: CodeType = namespace["f"].__code__

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line" and frame.f_code.co_filename == code.co_filename:
            lines.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        namespace["f"](*arguments)
    except (OutsideError, ValueError) as error:  # np.zeros(-1)
        return repr(error), lines
    finally:
        sys.settrace(before)
    return "", lines


class _Numpy:
    @staticmethod
    def zeros(shape: Any) -> Any:
        return np.zeros(shape).view(Checked)


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.vectors = ["x", "y"]
        self.integers = ["n", "m"]
        self.count = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def extent(self) -> str:
        text = self.pick("n", "m", "len(x)", "x.shape[0]", "a.shape[0]", "a.shape[1]", "y.size")
        if self.random.random() < 0.2:
            text = f"len({self.random.choice(self.vectors)})"  # perhaps of a slice
        return text + self.pick("", "", " - 1", " + 1", " - 2")

    def index(self) -> str:
        if self.random.random() < 0.2:
            return self.pick("0", "1", "-1", "-2", "2", "n - 1", "len(x) - 1")
        name = self.random.choice(self.integers)
        return self.pick(name, name, f"{name} - 1", f"{name} + 1", f"m - {name}", f"2 * {name}")

    def slice(self) -> str:
        low = self.pick("", "", "1", "2", "4", "-2", self.random.choice(self.integers))
        high = self.pick("", "", "-1", "-2", "3", "n", self.random.choice(self.integers) + " + 1")
        return f"{low}:{high}"

    def vector(self) -> str:
        name = self.random.choice(self.vectors)
        return self.pick(name, f"{name}[{self.slice()}]", f"a[{self.index()}, {self.slice()}]")

    def element(self) -> str:
        if self.random.random() < 0.4:
            return f"a[{self.index()}, {self.index()}]"
        return f"{self.random.choice(self.vectors)}[{self.index()}]"

    def block(self, depth: int, in_loop: bool) -> list[str]:
        """Statements; what they define is gone after them."""
        vectors, integers = list(self.vectors), list(self.integers)
        lines = [
            line
            for _ in range(self.random.randint(1, 3))
            for line in self.statement(depth, in_loop)
        ]
        self.vectors, self.integers = vectors, integers
        return ["    " + line for line in lines]

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        kind = self.random.randint(0, 13 if depth < 3 else 7)
        if kind <= 2:
            return [f"{self.element()} = {self.element()} + 1.0"]
        if kind <= 4:
            whole = f"{self.random.choice(self.vectors)}[{self.slice()}]"
            target = self.pick(whole, f"a[{self.index()}, {self.slice()}]")
            added = self.pick("1.0", self.vector())
            return [f"{target} {self.pick('=', '+=')} {self.vector()} + {added}"]
        if kind == 5:
            every = f"s = sum({self.element()} for i in range(n))"
            return [self.pick(f"a[:, :] = {self.vector()}", every)]
        if kind == 6:
            called = self.pick(
                f"put({self.vector()}, {self.vector()}, {self.pick('0', '1', 'm')})",
                f"add({self.vector()}, {self.vector()})",
            )
            return [called] if self.random.random() < 0.4 else self.definition()
        if kind == 7:
            return [f"if n {self.pick('>', '<')} m:", "    " + self.way_out(in_loop)]
        if kind == 8:
            test = self.pick("n > 1", "m > n", f"{self.element()} > 0.0")
            return [f"if {test}:", *self.block(depth + 1, in_loop)]
        return self.loop(depth)

    def way_out(self, in_loop: bool) -> str:
        return self.pick("break", "continue", "return") if in_loop else "return"

    def definition(self) -> list[str]:
        self.count += 1
        name = f"v{self.count}"
        if self.random.random() < 0.5:
            self.integers = [*self.integers, name]
            return [f"{name} = {self.extent()}"]
        made = self.pick(f"np.zeros({self.extent()})", self.vector(), f"{self.vector()} + 1.0")
        self.vectors = [*self.vectors, name]
        return [f"{name} = {made}"]

    def loop(self, depth: int) -> list[str]:
        self.count += 1
        name = f"i{self.count}"
        low = self.pick("0", "1", "2", self.random.choice(self.integers))
        over = self.pick(
            f"range({self.extent()})",
            f"range({self.extent()})",
            f"range({low}, {self.extent()})",
            f"range({self.extent()}, {low}, -1)",
            f"range({low}, {self.extent()}, 2)",
        )
        integers = self.integers
        self.integers = [*integers, name, name]
        body = self.block(depth + 1, True)
        self.integers = integers
        return [f"for {name} in {over}:", *body]


def random_body(seed: int) -> str:
    """The body of a function with the parameters of `HEADER`."""
    writer = _Writer(seed)
    return "\n".join(writer.block(0, False) + writer.block(0, False)) + "\n"


def random_arguments(seed: int) -> tuple[Any, ...]:
    """Arguments for such a function, some of equal extents."""
    pick = random.Random(seed)
    base = pick.randint(1, 5)

    def some(low: int) -> int:
        return base if pick.random() < 0.5 else pick.randint(low, 5)

    shapes = [(some(0),), (some(0),), (some(0), some(0))]
    return (*(np.ones(one).view(Checked) for one in shapes), some(-1), some(-1))

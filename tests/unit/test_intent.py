"""Which parameters may be written: conservative where it must be, precise on usual code."""

from __future__ import annotations

import ast
import textwrap

import pytest

from kit.cell import parse_cell
from kit.source.intent import find_writes, written_parameters

X = "x: 'float[:]'"
Y = "y: 'float[:]'"
M = "m: 'float[:,:]'"


def functions_of(code: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(textwrap.dedent(code))
    return {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}


def written(body: str, parameters: str = f"{X}, {Y}, {M}, n: int", before: str = "") -> set[str]:
    inside = textwrap.indent(textwrap.dedent(body), "    ")
    code = f"{textwrap.dedent(before)}\ndef f({parameters}):\n{inside}\n"
    functions = functions_of(code)
    return set(written_parameters(functions["f"], functions))


READS = {
    "an element": "s = x[n]\nreturn s",
    "an element of two axes": "return m[n, 0]",
    "several elements": "return x[0], m[0, n], 3",
    "a row's element": "return m[n][0]",
    "attributes": "a, b = m.shape\nreturn a + b + x.size",
    "counts made from attributes": "k = x.size\nk += 1\na = m.shape[0]\na -= 1\nreturn k + a",
    "an extent in a loop": "for k in m.shape:\n    k += 1",
    "len": "return len(x)",
    "a library function": "return np.sqrt(x[0]) + np.sum(x) + np.max(m)",
    "a whole-array function": "y[:] = np.sqrt(x)",
    "slices in an expression": "y[:] = x[1:] - x[:-1]",
    "a transposed read": "return m.T[0, 1]",
    "real and imaginary parts": "return x.real[0] + x.imag[0]",
    "methods": "return x.sum() + x.min() + m.max()",
    "a copy that is written": "z = x.copy()\nz[0] = 1.0",
    "a copy by an expression": "z = x + 0.0\nz[0] = 1.0",
    "a copy by np.array": "z = np.array(x)\nz[0] = 1.0",
    "a scalar from an element": "s = x[0]\ns += 1.0\nreturn s",
    "a scalar from two indices": "s = m[0, n]\ns *= 2.0\nreturn s",
    "a running sum": "s = 0.0\nfor v in x:\n    s += v\nreturn s",
    "rows that are read": "s = 0.0\nfor row in m:\n    s += row[0]\nreturn s",
    "enumerate": "s = 0.0\nfor i, v in enumerate(x):\n    s += i * v\nreturn s",
    "zip": "s = 0.0\nfor a, b in zip(x, y):\n    s += a * b\nreturn s",
    "a view that is read": "z = x[1:]\nreturn z[0]",
    "a choice of elements": "s = x[0] if n > 0 else x[1]\ns += 1.0\nreturn s",
    "a comparison": "return x[0] > 0.0 and x[1] < 1.0",
    "a generator": "return sum(x[i] for i in range(n))",
    "a mapped function of elements": "return sum(map(abs, x))",
    "a comprehension": "z = [v * 2 for v in x]\nz[0] = 1.0\nreturn z[0]",
    "a scalar parameter that is assigned": "n = n + 1\nn += 1\nreturn n",
    "a local of a loop": "for n in range(3):\n    pass\nreturn n",
    "a matrix product": "return x @ y",
    "an output argument's inputs": "np.matmul(m, m, out=m2)",
    "print": "print(x[0], n)",
    "a default of where": "return np.where(x > 0.0, x, y)",
    "an index that is an element": "return y[int(x[0])]",
}


@pytest.mark.parametrize("body", READS.values(), ids=READS)
def test_what_is_only_read_is_not_written(body: str) -> None:
    parameters = f"{X}, {Y}, {M}, n: int, m2: 'float[:,:]'"
    assert written(body, parameters) & {"x", "m", "n"} == set()


WRITES = {
    "an element": ("x[0] = 1.0", "x"),
    "a whole slice": ("x[:] = 0.0", "x"),
    "an ellipsis": ("x[...] = 0.0", "x"),
    "an augmented element": ("x[n] += 1.0", "x"),
    "an augmented array": ("x += 1.0", "x"),
    "two indices one by one": ("m[0][1] = 1.0", "m"),
    "an annotated target": ("x[0]: float = 1.0", "x"),
    "a swap": ("x[0], x[1] = x[1], x[0]", "x"),
    "a tuple target": ("s, x[0] = 1.0, 2.0", "x"),
    "a starred target": ("a, *x[0] = 1.0, 2.0", "x"),
    "an alias": ("z = x\nz[0] = 1.0", "x"),
    "an alias of an alias": ("a = x\nb = a\nc = b\nc[0] = 1.0", "x"),
    "an alias that is written before it is made": (
        "for i in range(2):\n    z[0] = 1.0\n    z = x",
        "x",
    ),
    "a view": ("z = x[1:]\nz[0] = 1.0", "x"),
    "a row": ("z = m[0]\nz[1] = 1.0", "m"),
    "a transposed view": ("z = m.T\nz[0, 1] = 1.0", "m"),
    "an augmented view": ("z = x[1:]\nz += 1.0", "x"),
    "an augmented row": ("z = m[0]\nz += 1.0", "m"),
    "a real part": ("x.real[0] = 1.0", "x"),
    "a reshaped view": ("z = np.reshape(x, (2, 2))\nrow = z[0]\nrow[0] = 1.0", "x"),
    "a flat view": ("z = m.ravel()\nz[0] = 1.0", "m"),
    "np.asarray": ("z = np.asarray(x)\nz[0] = 1.0", "x"),
    "np.array without a copy": ("z = np.array(x, copy=False)\nz[0] = 1.0", "x"),
    "rows in a loop": ("for row in m:\n    row[0] = 1.0", "m"),
    "rows of enumerate": ("for i, row in enumerate(m):\n    row[0] = 1.0", "m"),
    "rows of zip": ("for a, row in zip(x, m):\n    row[0] = 1.0", "m"),
    "nested unpacking": ("for i, (a, row) in enumerate(zip(x, m)):\n    row[0] = 1.0", "m"),
    "unpacked rows": ("a, b = m\na[0] = 1.0", "m"),
    "unpacked names": ("a, b = x, n\na[0] = 1.0", "x"),
    "a tuple that is indexed": ("t = (x, n)\nt[0][1] = 1.0", "x"),
    "a list that is indexed": ("t = [x]\nz = t[0]\nz[0] = 1.0", "x"),
    "a tuple of tuples": ("t = ((x, n), n)\na, b = t\nc, d = a\nc[0] = 1.0", "x"),
    "a choice": ("z = x if n > 0 else y\nz[0] = 1.0", "x"),
    "an or": ("z = x or y\nz[0] = 1.0", "x"),
    "a walrus": ("if (z := x)[0] > 0.0:\n    z[0] = 1.0", "x"),
    "a with": ("with x as z:\n    z[0] = 1.0", "x"),
    "a fill": ("x.fill(0.0)", "x"),
    "a sort": ("x.sort()", "x"),
    "a method of a view": ("m[0].sort()", "m"),
    "an out argument": ("np.add(y, y, out=x)", "x"),
    "a positional out of one operand": ("np.sqrt(y, x)", "x"),
    "a positional out of two operands": ("np.multiply(y, y, x)", "x"),
    "an out argument of a method": ("y.sum(out=x)", "x"),
    "np.copyto": ("np.copyto(x, y)", "x"),
    "an unknown function": ("helper(x)", "x"),
    "an unknown function with a keyword": ("helper(out=x)", "x"),
    "an unknown function with a view": ("helper(m[0])", "m"),
    "an unknown function with a star": ("helper(*(x, n))", "x"),
    "an unknown method": ("thing.run(x)", "x"),
    "a method that is named like an array's": ("thing.sum(x)", "x"),
    "a method that is named like an array's view": ("thing.transpose(x)", "x"),
    "a keyword of a method that is named like an array's": ("thing.copy(to=x)", "x"),
    "an unknown function that is mapped": ("s = sum(map(helper, m))", "m"),
    "a method that is mapped": ("s = sum(map(thing.run, m))", "m"),
    "a lambda that is mapped": ("s = sum(map(lambda z: helper(z), m))", "m"),
    "a nested function that is mapped": ("def g(z):\n    z[0] = 1.0\nlist(map(g, m))", "m"),
    "a dict's value": ("t = {n: x}\nt[n][0] = 1.0", "x"),
    "an attribute": ("thing.data = x", "x"),
    "a return": ("return x", "x"),
    "a returned view": ("return x[1:]", "x"),
    "a returned tuple": ("return n, x", "x"),
    "a returned alias": ("z = x\nreturn z", "x"),
    "another value": ("x = x + 1.0", "x"),
    "another value in a loop": ("for x in m:\n    pass", "x"),
    "a delete": ("del x", "x"),
    "inside if": ("if n > 0:\n    x[0] = 1.0", "x"),
    "inside else": ("if n > 0:\n    pass\nelse:\n    x[0] = 1.0", "x"),
    "inside while": ("while n > 0:\n    x[n] = 1.0\n    n -= 1", "x"),
    "inside a try": ("try:\n    x[0] = 1.0\nexcept ValueError:\n    pass", "x"),
    "inside a match": ("match n:\n    case 1:\n        x[0] = 1.0", "x"),
    "a nested function that closes over it": ("def g():\n    x[0] = 1.0\ng()", "x"),
    "a nested function that is given it": ("def g(z):\n    z[0] = 1.0\ng(x)", "x"),
    "a nested function that is given a keyword": ("def g(z):\n    z[0] = 1.0\ng(z=x)", "x"),
    "a nested function that is given a row": ("def g(z):\n    z[0] = 1.0\ng(m[0])", "m"),
    "a nested function that returns it": ("def g():\n    return x\nz = g()\nz[0] = 1.0", "x"),
    "a nested function in a nested function": (
        "def g(z):\n    def h(w):\n        w[0] = 1.0\n    h(z)\ng(x)",
        "x",
    ),
    "a lambda that returns it": ("g = lambda z: z\nw = g(x)\nw[0] = 1.0", "x"),
    "a lambda that calls": ("g = lambda z: helper(z)\ng(x)", "x"),
    "a comprehension's rows": ("rows = [row for row in m]\nrows[0][0] = 1.0", "m"),
    "a comprehension that calls": ("s = [helper(row) for row in m]", "m"),
}


@pytest.mark.parametrize(("body", "name"), WRITES.values(), ids=WRITES)
def test_what_may_be_written_is_found(body: str, name: str) -> None:
    assert name in written(body)


@pytest.mark.parametrize(("body", "name"), WRITES.values(), ids=WRITES)
def test_what_another_parameter_does_is_not_blamed_on_a_third(body: str, name: str) -> None:
    assert "unused" not in written(body, f"{X}, {Y}, {M}, n: int, unused: 'float[:]'")


def test_a_name_of_a_nested_function_is_its_own() -> None:
    body = """
        def g(x):
            x[0] = 1.0
        g(y)
    """
    assert written(body) == {"y"}


def test_a_local_of_a_nested_function_is_its_own() -> None:
    body = """
        def g():
            y = np.zeros(3)
            y[0] = 1.0
        g()
    """
    assert written(body) == set()


# ---- calls between functions ------------------------------------------------------------------

HELPERS = f"""
    def reads({X}):
        return x[0]
    def writes(a: int, {X}):
        x[0] = 1.0
    def passes({X}):
        writes(1, x)
    def gives({X}):
        return x
    def gives_row({M}):
        return m[0]
    def gives_two({X}, {Y}):
        return x, y
    def gives_element({M}):
        return m[0, 0]
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("reads(x)", set()),
        ("s = reads(x)\ns += 1.0", set()),
        ("writes(n, x)", {"x"}),
        ("writes(x=x, a=n)", {"x"}),
        ("writes(*(n, x))", {"x"}),
        ("writes(n, m[0])", {"m"}),
        ("writes(n, x[1:])", {"x"}),
        ("passes(x)", {"x"}),
        ("z = x\npasses(z)", {"x"}),
        ("z = gives(x)\nreturn z[0]", set()),
        ("z = gives(x)\nz[0] = 1.0", {"x"}),
        ("z = gives_row(m)\nz[0] = 1.0", {"m"}),
        ("a, b = gives_two(x, y)\nb[0] = 1.0", {"x", "y"}),
        ("a = gives_two(x, y)[0]\na += 1.0", {"x", "y"}),
        ("a = gives_element(m)\na += 1.0", set()),
        ("s = sum(map(reads, m))", set()),
        ("s = sum(map(gives_row, m3))", set()),
        ("list(map(passes, m))", {"m"}),
        ("list(map(gives, m))[0][0] = 1.0", {"m"}),
        ("writes(n, gives(x))", {"x"}),
        ("reads(x)\nwrites(n, y)", {"y"}),
    ],
)
def test_a_function_of_the_cell_is_followed(body: str, expected: set[str]) -> None:
    assert written(body, before=HELPERS) == expected


def test_a_function_of_another_cell_is_followed_where_its_body_is_known() -> None:
    functions = functions_of(f"def f({X}):\n    other(x)\n")
    other = functions_of(f"def other({X}):\n    return x[0]\n")
    assert written_parameters(functions["f"], functions) == {"x"}
    assert written_parameters(functions["f"], other) == frozenset()


def test_recursion_ends_and_finds_the_write() -> None:
    functions = functions_of(f"""
        def f({X}, n: int):
            if n > 0:
                x[n] = 1.0
                f(x, n - 1)
    """)
    assert written_parameters(functions["f"], functions) == {"x"}


def test_recursion_that_only_reads_stays_read() -> None:
    functions = functions_of(f"""
        def f({X}, n: int) -> float:
            if n == 0:
                return x[0]
            return x[n] + f(x, n - 1)
    """)
    assert written_parameters(functions["f"], functions) == frozenset()


def test_mutual_recursion_swaps_arguments_until_all_writes_are_known() -> None:
    functions = functions_of(f"""
        def f({X}, {Y}, z: 'float[:]', n: int):
            if n > 0:
                g(y, z, x, n)
        def g(a: 'float[:]', b: 'float[:]', c: 'float[:]', n: int):
            a[0] = 1.0
            f(b, c, a, n - 1)
        def h({X}, {Y}):
            f(x, y, x, 3)
    """)
    writes = find_writes(functions)
    assert set(writes["f"]) == {"x", "y", "z"}
    assert set(writes["g"]) == {"a", "b", "c"}
    assert set(writes["h"]) == {"x", "y"}


def test_a_container_that_grows_for_ever_ends() -> None:
    assert written("t = (x, n)\nfor i in range(n):\n    t = (t, n)\nreturn n") <= {"x"}


# ---- what a cell adds -------------------------------------------------------------------------


def intents(code: str) -> dict[str, str]:
    signature = parse_cell(textwrap.dedent(code)).functions["f"].signature
    return {one.name: one.intent for one in signature.parameters}


def test_a_typevar_array_that_gives_a_scalar_is_only_read() -> None:
    found = intents("""
        from typing import TypeVar
        T = TypeVar('T', 'float64[:]', 'float32[:]')
        def f(x: T, y: T):
            s = x[0]
            s += 1.0
            y[0] = s
    """)
    assert found == {"x": "in", "y": "inout"}


def test_modules_are_known_by_their_import_and_not_by_their_name() -> None:
    found = intents("""
        import numpy as xp
        from numpy import sqrt as root
        def f(x: 'float[:]', y: 'float[:]'):
            y[:] = root(x) + xp.sum(x)
    """)
    assert found == {"x": "in", "y": "inout"}


def test_an_import_inside_the_function_is_known() -> None:
    found = intents("""
        def f(x: 'float[:]'):
            import numpy as xp
            return xp.sum(x)
    """)
    assert found == {"x": "in"}


def test_a_function_of_the_cell_that_is_called_like_a_builtin_is_followed() -> None:
    found = intents("""
        def sum(z: 'float[:]'):
            z[0] = 1.0
        def f(x: 'float[:]'):
            sum(x)
    """)
    assert found == {"x": "inout"}


def test_an_object_that_keeps_an_array_counts_as_writing_it() -> None:
    found = intents("""
        class Keeper:
            def __init__(self, data: 'float[:]'):
                self.data = data
            def clear(self):
                self.data[0] = 0.0
        def f(x: 'float[:]', k: Keeper):
            one = Keeper(x)
            one.clear()
            return k.data[0]
    """)
    assert found["x"] == "inout"


OPERATORS = {
    "+": ("__add__", "k + x"),
    "+=": ("__iadd__", "k += x"),
    "in": ("__contains__", "x in k"),
    "a nested operation": ("__mul__", "s = 1.0 + k * x[1:]"),
}


@pytest.mark.parametrize(("method", "use"), OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize(
    ("body", "intent"),
    [
        ("other[0] = 1.0\n        return self.n", "inout"),
        ("helper(other)\n        return self.n", "inout"),
        ("return other", "inout"),
        ("return int(other[0])", "in"),
    ],
)
def test_an_operator_of_a_class_counts_as_writing_what_its_method_writes(
    method: str, use: str, body: str, intent: str
) -> None:
    found = intents(f"""
        def helper(z: 'float[:]'):
            z[0] = 1.0
        class Counter:
            def __init__(self, n: int):
                self.n = n
            def {method}(self, other: 'float[:]'):
                {body.replace("        ", "                ")}
        def f(x: 'float[:]', y: 'float[:]'):
            k = Counter(3)
            {use}
            y[0] = 1.0
    """)
    assert found == {"x": intent, "y": "inout"}


def test_a_list_that_is_appended_to_is_written() -> None:
    cell = parse_cell("def f(a: 'list[int]', b: 'list[int]'):\n    a.append(b[0])", language="c")
    found = {one.name: one.intent for one in cell.functions["f"].signature.parameters}
    assert found == {"a": "inout", "b": "in"}


def test_the_first_write_is_where_the_error_points() -> None:
    functions = functions_of(f"def f({X}):\n    y = x[0]\n    x[1] = y\n    x[2] = y\n")
    write = find_writes(functions)["f"]["x"]
    assert (write.how, write.node.lineno) == ("assigned", 3)


def test_a_real_write_is_named_before_a_mere_return() -> None:
    functions = functions_of(
        f"def f({X}):\n    if x[0] > 0.0:\n        return x\n    x[0] = 1.0\n    return x\n"
    )
    assert find_writes(functions)["f"]["x"].how == "assigned"


@pytest.mark.parametrize("returned", ["x, 3", "(m[0], 3)", "3, (x, m[0])", "*(x, 1), 2"])
def test_an_array_in_a_returned_tuple_may_be_written_by_whoever_gets_it(returned: str) -> None:
    assert written(f"return {returned}") >= ({"m"} if returned.startswith("(m") else {"x"})


def test_an_array_that_comes_back_in_a_tuple_is_still_the_array() -> None:
    before = "def both(a: 'float[:]', k: int):\n    return a, k\n"
    assert written("z, k = both(x, n)\nz[0] = 1.0", before=before) == {"x"}
    assert written("z, k = both(x, n)\nreturn z[0]", before=before) == set()

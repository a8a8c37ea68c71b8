"""What a cell says: its functions, what it takes from elsewhere, and its declared outputs."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
import timeit
from collections.abc import Mapping, Sequence

import pytest

from kit.cell import Cell, parse_cell
from kit.errors import CellError


def parse(code: str, **options) -> Cell:
    return parse_cell(textwrap.dedent(code).lstrip("\n"), **options)


def refusal(code: str, **options) -> CellError:
    with pytest.raises(CellError) as caught:
        parse(code, **options)
    return caught.value


BOTH = """
    import numpy as np
    from pyccel.decorators import private, pure

    SCALE = 2.0
    N = 3

    class Grid:
        def __init__(self, n: int):
            self.n = n

    @pure
    def scale(x: 'float[:]', y: 'float[:]'):
        \"\"\"Scale.

            Twice.
        \"\"\"
        y[:] = SCALE * x[:]

    @private
    def hidden(n: int):
        return n

    def _helper(z: 'float[:]'):
        z[0] = 1.0

    def use(x: 'float[:]', g: Grid):
        _helper(x)
        return other(g) + hidden(N)
"""


def test_functions_come_in_the_order_of_the_text_and_know_their_line() -> None:
    cell = parse(BOTH, known=frozenset({"other"}))
    assert [(one.name, one.line) for one in cell.functions.values()] == [
        ("scale", 12),
        ("hidden", 20),
        ("_helper", 23),
        ("use", 26),
    ]


def test_public_functions_have_no_underscore_and_are_not_private() -> None:
    cell = parse(BOTH, known=frozenset({"other"}))
    assert [one.name for one in cell.public] == ["scale", "use"]


def test_a_function_brings_its_text_with_decorators_and_its_cleaned_docstring() -> None:
    facts = parse(BOTH, known=frozenset({"other"})).functions["scale"]
    assert facts.source.startswith("@pure\ndef scale(")
    assert facts.source.endswith("y[:] = SCALE * x[:]\n")
    assert facts.doc == "Scale.\n\nTwice."
    compile(facts.source, "cell", "exec")


def test_a_cell_knows_its_imports_classes_constants_and_free_names() -> None:
    cell = parse(BOTH, known=frozenset({"other", "unused"}))
    assert dict(cell.imports)["np"] == "numpy"
    assert cell.classes == {"Grid"}
    assert dict(cell.constants) == {"SCALE": 2.0, "N": 3}
    assert cell.free_names == {"other"}
    assert cell.source == textwrap.dedent(BOTH).lstrip("\n")


def test_intents_come_from_the_body_through_private_functions() -> None:
    cell = parse(BOTH, known=frozenset({"other"}))
    assert cell.functions["scale"].signature.outputs == ("y",)
    assert cell.functions["use"].signature.outputs == ("x", "g")
    assert cell.functions["_helper"].signature.outputs == ("z",)


def test_a_cell_cannot_be_changed_by_who_reads_it() -> None:
    cell = parse(BOTH, known=frozenset({"other"}))
    with pytest.raises(TypeError):
        cell.functions["new"] = cell.functions["use"]  # type: ignore[index]


def test_an_empty_first_line_stands_for_the_magic() -> None:
    error = refusal("\n" + "def f(x: 'uint8[:]'):\n    return x[0]\n")
    plain = parse_cell("\ndef f(x: 'float[:]'):\n    return x[0]\n")
    assert plain.functions["f"].line == 2
    assert error.line == 1  # dedent took the empty line: the text starts at the def
    with pytest.raises(CellError) as caught:
        parse_cell("\ndef f(x: 'uint8[:]'):\n    return x[0]\n")
    assert caught.value.line == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_gives_the_same_places(end: str) -> None:
    code = end.join(["import numpy as np", "", "def f(x: 'uint8[:]'):", "    return x[0]", ""])
    with pytest.raises(CellError) as caught:
        parse_cell(code)
    assert (caught.value.line, caught.value.column) == (3, 10)
    assert caught.value.source_line == "def f(x: 'uint8[:]'):"


@pytest.mark.parametrize(
    "code", ["def f(x: float):\n    return '\0'\n", "def f():\n    return '\ud800'\n", "(" * 500]
)
def test_text_that_python_cannot_read_is_a_cell_error(code: str) -> None:
    with pytest.raises(CellError):
        parse_cell(code)


def test_the_error_shows_line_column_source_and_caret() -> None:
    error = refusal("""
        def f(x: 'float64[:]'):
            return np.sum(x)
    """)
    assert str(error).split("\n") == [
        (
            "cell line 2, column 12: 'np' is not imported in this cell; "
            "a cell sees no import of the notebook"
        ),
        "      return np.sum(x)",
        "             ^",
        "  fix: import numpy as np  # at the top of this cell",
    ]


# ---- declared outputs -------------------------------------------------------------------------

ONE = """
    from typing import Final
    def f(x: 'float[:]', y: 'float[:]', w: Final['float[:]'], n: int, z: 'float[:]' = None):
        y[0] = x[0] + w[0] + n
"""
TWO = """
    def f(x: 'float[:]', out: 'float[:]'):
        out[0] = x[0]
    def g(y: 'float[:]', out: 'float[:]', rest: 'float[:]'):
        out[0] = y[0]
        rest[0] = y[0]
"""

Declared = Mapping[str | None, Sequence[str]]


def intents(cell: Cell, name: str = "f") -> dict[str, str]:
    return {one.name: one.intent for one in cell.functions[name].signature.parameters}


def test_declared_outputs_that_agree_with_the_source_are_taken() -> None:
    cell = parse(ONE, outputs={None: ["y"]})
    assert intents(cell) == {"x": "in", "y": "inout", "w": "in", "n": "in", "z": "in"}


def test_an_overwritten_output_has_the_intent_out() -> None:
    assert intents(parse(ONE, overwrites={None: ["y"]}))["y"] == "out"
    assert intents(parse(ONE, outputs={"f": ["y"]}, overwrites={"f": ["y"]}))["y"] == "out"


@pytest.mark.parametrize(
    ("options", "says", "fix"),
    [
        ({"outputs": {None: ["x", "y"]}}, "'x' is declared an output, and f never writes it", "y"),
        ({"outputs": {"f": ["x"]}}, "'x' is declared an output", "y"),
        ({"outputs": {"f": ["w", "y"]}}, "'w' is declared an output", "y"),
        ({"outputs": {"f": ["n", "y"]}}, "'n' is a scalar", None),
        ({"outputs": {"f": ["yy"]}}, "did you mean 'y'?", "y"),
        ({"outputs": {"f": ["foo"]}}, "no parameter 'foo'", "y"),
        ({"overwrites": {"f": ["x"]}}, "'x' is declared overwritten, and f never writes it", None),
        ({"overwrites": {"f": ["n"]}}, "'n' is declared overwritten", None),
        ({"overwrites": {None: ["yy"]}}, "did you mean 'y'?", None),
        ({"outputs": {"g": ["y"]}}, "names the function 'g'", None),
        ({"overwrites": {"ff": ["y"]}}, "names the function 'ff'", None),
    ],
)
def test_a_declaration_that_the_source_contradicts_is_refused(
    options: Mapping[str, Declared], says: str, fix: str | None
) -> None:
    error = refusal(ONE, **options)
    assert says in error.message
    assert error.line == 2
    if fix is not None:
        assert error.fix == f"%%pyccel_kernel --outputs {fix}"


def test_a_written_array_that_is_not_declared_is_refused_where_it_is_written() -> None:
    error = refusal(
        """
        def f(x: 'float[:]', y: 'float[:]'):
            y[0] = 1.0
            x[0] = 2.0
        """,
        outputs={"f": ["y"]},
    )
    assert "'x' is written here" in error.message
    assert (error.line, error.column) == (3, 5)
    assert error.fix == "%%pyccel_kernel --outputs y,x"


def test_no_outputs_at_all_are_refused_where_an_array_is_written() -> None:
    assert "'y' is written here" in refusal(ONE, outputs={"f": []}).message


def test_the_suggested_option_is_accepted() -> None:
    error = refusal(TWO, outputs={"f": ["out"], "g": ["out"]})
    assert error.fix == "%%pyccel_kernel --outputs g:out,rest"
    parse(TWO, outputs={"f": ["out"], "g": ["out", "rest"]})


def test_an_overwritten_one_must_be_among_the_declared_outputs() -> None:
    code = """
        def f(x: 'float[:]', y: 'float[:]'):
            x[0] = 1.0
            y[0] = 1.0
    """
    error = refusal(code, outputs={"f": ["x"]}, overwrites={"f": ["y"]})
    assert "not among the outputs" in error.message


def test_outputs_without_a_function_go_to_all_that_have_them() -> None:
    cell = parse(TWO, outputs={None: ["out", "rest"]})
    assert intents(cell) == {"x": "in", "out": "inout"}
    assert intents(cell, "g") == {"y": "in", "out": "inout", "rest": "inout"}


def test_outputs_of_one_function_come_before_those_of_all() -> None:
    cell = parse(TWO, outputs={None: ["out"], "g": ["out", "rest"]})
    assert intents(cell, "g")["rest"] == "inout"


def test_an_output_that_no_function_has_is_refused() -> None:
    assert (
        "no parameter 'outt'; did you mean 'out'?" in refusal(TWO, outputs={None: ["outt"]}).message
    )


def test_a_private_function_needs_no_declaration() -> None:
    code = """
        def _g(x: 'float[:]'):
            x[0] = 1.0
        def f(y: 'float[:]'):
            _g(y)
    """
    assert intents(parse(code, outputs={None: ["y"]}))["y"] == "inout"


def test_an_array_that_is_only_returned_need_not_be_declared() -> None:
    code = """
        def f(x: 'float[:]', y: 'float[:]'):
            y[0] = 1.0
            return x
    """
    assert intents(parse(code)) == {"x": "inout", "y": "inout"}
    assert intents(parse(code, outputs={"f": ["y"]})) == {"x": "in", "y": "inout"}


# ---- writes that are refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "body", "line"),
    [
        ("Final['float[:]']", "x[0] = 1.0", 3),
        ("'Final[float[:]]'", "y = x\n    y[0] = 1.0", 4),
        ("'Final[float[:,:]](order=F)'", "x[0, 0] = 1.0", 3),
        ("Final[int]", "x = 1", 3),
        ("Final[int]", "x += 1", 3),
        ("Final[int]", "for x in range(3):\n        pass", 3),
    ],
)
def test_a_final_parameter_that_is_assigned_is_refused_there(
    annotation: str, body: str, line: int
) -> None:
    code = f"from typing import Final\ndef f(x: {annotation}):\n    {body}\n"
    with pytest.raises(CellError, match="'x' is Final, and is written here") as caught:
        parse_cell(code)
    assert caught.value.line == line


def test_a_final_parameter_that_a_private_function_writes_is_refused() -> None:
    error = refusal("""
        from typing import Final
        def _g(x: 'float[:]'):
            x[0] = 1.0
        def f(x: Final['float[:]']):
            _g(x)
    """)
    assert (error.line, error.column) == (5, 5)


def test_a_final_array_may_be_returned() -> None:
    code = "from typing import Final\ndef f(x: Final['float[:]']):\n    return x\n"
    assert intents(parse_cell(code)) == {"x": "in"}


@pytest.mark.parametrize("body", ["x = x + 1.0", "x = y", "x = x[1:]", "for x in m:\n        pass"])
def test_another_value_for_an_array_is_refused_because_pyccel_would_write_it(body: str) -> None:
    code = f"def f(x: 'float[:]', y: 'float[:]', m: 'float[:,:]'):\n    {body}\n"
    with pytest.raises(CellError, match="Pyccel would write into it") as caught:
        parse_cell(code)
    assert caught.value.line == 2
    assert caught.value.fix is not None
    compile(caught.value.fix, "fix", "exec")


def test_another_value_for_a_scalar_is_fine() -> None:
    parse_cell("def f(n: int, x: float):\n    n = n + 1\n    x = 2.0 * x\n    return n * x\n")


# ---- cost -------------------------------------------------------------------------------------

FIFTY_LINES = '''
import numpy as np
from typing import Final

DX = 0.5

def laplace(u: 'float64[:,:]', out: 'float64[:,:]', dx: float):
    """Five points."""
    n, m = u.shape
    c = 1.0 / (dx * dx)
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            out[i, j] = c * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])

def _flux(a: float, b: float) -> float:
    if a > b:
        return a * a
    return b * b - np.sqrt(abs(a))

def advance(u: 'float64[:,:]', v: 'float64[:,:]', w: 'Final[float64[:,:]]', steps: int):
    n = u.shape[0]
    m = u.shape[1]
    total = 0.0
    for k in range(steps):
        laplace(u, v, DX)
        for i in range(n):
            for j in range(m):
                u[i, j] += DX * (v[i, j] + w[i, j])
                total += _flux(u[i, j], w[i, j])
    return total

def norms(x: 'float64[:]', y: 'float64[:](order=C)'):
    s = 0.0
    t = 0.0
    for i in range(x.shape[0]):
        d = x[i] - y[i]
        s += d * d
        if abs(d) > t:
            t = abs(d)
    return np.sqrt(s), t

def histogram(x: 'float64[:]', bins: 'int64[:]', low: float, high: float):
    k = bins.shape[0]
    scale = k / (high - low)
    bins[:] = 0
    for i in range(x.shape[0]):
        if low <= x[i] and x[i] < high:
            b = int((x[i] - low) * scale)
            bins[b] += 1
'''


def test_fifty_lines_are_read_within_twelve_times_what_python_takes() -> None:
    cell = parse_cell(FIFTY_LINES)
    assert cell.functions["advance"].signature.outputs == ("u", "v")
    assert cell.functions["histogram"].signature.outputs == ("bins",)
    # 8 times, 2 ms; by the clock alone, a slower or busier machine fails this.
    rounds = range(60)
    ours = min(timeit.timeit(lambda: parse_cell(FIFTY_LINES), number=1) for _ in rounds)
    pythons = min(timeit.timeit(lambda: ast.parse(FIFTY_LINES), number=1) for _ in rounds)
    assert ours < 12 * pythons


def test_reading_a_cell_loads_no_toolchain() -> None:
    code = (
        "import sys\n"
        "from kit.cell import parse_cell\n"
        "parse_cell(\"def f(x: 'float[:]'):\\n    x[0] = 1.0\")\n"
        "print(sorted({'pyccel', 'IPython', 'cupy', 'inspect'} & set(sys.modules) - {'inspect'}))\n"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "[]"


def test_a_required_keyword_before_one_with_a_default_is_refused_in_an_order_that_works() -> None:
    head = "def f(x: 'int', *, m: int, n: int = 2, k: int, p: int = 3) -> int:"
    with pytest.raises(CellError, match="'n' has a default") as caught:
        parse_cell(f"{head}\n    return 1\n")
    assert caught.value.fix == "def f(x: 'int', *, n: int=2, p: int=3, m: int, k: int) -> int:"
    parse_cell(f"{caught.value.fix}\n    return 1\n")
    # Functions of the cell may be called in any way.
    parse_cell(f"{head.replace('f(', '_f(')}\n    return 1\ndef g() -> int:\n    return 1\n")

"""What newcomers paste is answered in its line; what Pyccel compiles is never refused."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import textwrap
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from kit.backends.protocol import CompileRequest
from kit.backends.pyccel import compile_unit
from kit.cell import parse_cell
from kit.errors import CellError
from kit.terms import Language
from tests.unit.valid_cells import CORPUS, OPENMP


@dataclass(frozen=True, kw_only=True)
class Pasted:
    """One thing that newcomers paste, where the answer points, and a part of what it says."""

    cell: str
    line: int
    column: int | None = None
    says: str
    fix: str | None = None
    language: str = "fortran"


PASTED: dict[str, Pasted] = {}


def pasted(name: str, cell: str, line: int, says: str, fix: str | None = None, **more) -> None:
    PASTED[name] = Pasted(
        cell=textwrap.dedent(cell).lstrip("\n"), line=line, says=says, fix=fix, **more
    )


# ---- compiled to something else ---------------------------------------------------------------

WHOLE = "import numpy as np\ndef f(x: 'float64[:]', m: 'float64[:,:]', y: 'float64[:]', n: int):\n"
READS_WHAT_IT_WRITES = [
    "x[:] = x / x[0]",
    "x /= x[0]",
    "x[:] -= x[n]",
    "x[1:] = x[:-1]",
    "x[1:-1] = 0.5 * (x[:-2] + x[2:])",
    "x[::2] = x[1:]",
    "x[::2] = x[1::3]",
    "x[-1:] = x[0:]",
    "x[n:] = x[n + 1]",
    "x[n - 1:] = x[n]",
    "x[:n] = x[n - 1] + x[:n]",
    "x[::2] = x[::-2]",
    "x[:3] = x[4:1:-1]",
    "x[::2] = x[-1::2]",
    "x[1:n] = x[2:n + 1]",
    "x[0:] = x[m.shape[0]:]",
    "x[0] = np.sum(x)",
    "x[0] = np.sum(x[0] * y)",
    "x[n] = np.sum(x[:n + 1])",
    "x[0] = np.sum(x[1:int(x[0])])",
    "x[n] = x.sum()",
    "m[n, :] = m[n, :] - m[n, 1] * m[0, :]",
    "m[0] = m[0] / m[0, 0]",
    "m[0] = m[0] / m[0][0]",
    "m[:, 1] = m[1, :]",
    "m[n, 1:] = m[2 - n, :-1]",
    "m[:] = m @ m",
    "m[:] = np.matmul(m, m)",
    "m[:] = y[0] + m.T",
]
for _statement in READS_WHAT_IT_WRITES:
    pasted(
        f"a statement that reads what it writes: {_statement}",
        f"{WHOLE}    {_statement}\n",
        3,
        "is read here while",
        f"{_statement[0]}_old = {_statement[0]}.copy()",
        language="c",
    )
for _statement in ("m[:] = m.T", "m[:] = m + np.transpose(m)"):
    pasted(
        f"a transposed view of what is written: {_statement}",
        f"{WHOLE}    {_statement}\n",
        3,
        "is read here while",
        "m_old = m.copy()",
    )

COUNTED = "def f(x: 'float64[:]', n: int) -> int:\n    k = 0\n"

pasted(
    "a counter read after its loop",
    f"{COUNTED}    for i in range(n):\n        k += i\n    return i\n",
    5,
    "one step further",
    "last_i = i",
    column=12,
)
pasted(
    "a counter read and assigned after its loop",
    f"{COUNTED}    for i in range(n):\n        k += i\n    i = i + 1\n    return k\n",
    5,
    "one step further",
    column=9,
)
pasted(
    "a counter that goes on after its loop",
    f"{COUNTED}    for i in range(n):\n        k += i\n    i += 1\n    return k\n",
    5,
    "one step further",
)
pasted(
    "a counter assigned in its loop",
    f"{COUNTED}    for i in range(n):\n        i += 1\n        k += i\n    return k\n",
    4,
    "'i' counts this loop",
    "i_new = i + 1",
)
pasted(
    "one counter for two nested loops",
    f"{COUNTED}    for i in range(n):\n        for i in range(2):\n            k += i\n",
    4,
    "'i' counts this loop",
)
pasted(
    "a bound assigned in its loop",
    f"{COUNTED}    for i in range(1, n):\n        n -= 1\n        k += 1\n    return k\n",
    4,
    "'n' bounds this loop",
    "stop = n",
    language="c",
)
pasted(
    "an element that is a bound assigned in its loop",
    f"{COUNTED}    for i in range(int(x[0])):\n        x[i] = 1.0\n    return k\n",
    4,
    "'x' bounds this loop",
    language="c",
)
pasted(
    "an element that may be a bound assigned in its loop",
    f"{COUNTED}    for i in range(int(x[n])):\n        x[0] = 1.0\n    return k\n",
    4,
    "'x' bounds this loop",
    language="c",
)
pasted(
    "a counter read in the bounds of a generator after its loop",
    f"{COUNTED}    for i in range(n):\n        k += i\n"
    "    x[0] = sum(x[i] for i in range(i))\n    return k\n",
    5,
    "one step further",
)
pasted(
    "a counter read in the other branch, and both in a loop",
    f"{COUNTED}    i = 0\n    while k < 9:\n        if n > k:\n            for i in range(n):\n"
    "                k += i\n        else:\n            k += i\n    return k\n",
    9,
    "one step further",
)
pasted(
    "a counter read after the branches that count",
    f"{COUNTED}    if n > 3:\n        for i in range(n):\n            k += i\n    else:\n"
    "        k += 1\n    k += i\n    return k\n",
    8,
    "one step further",
)
pasted(
    "a variable that counts in a function inside, which shares it when compiled",
    f"{COUNTED}    def g(m: int):\n        for n in range(m):\n            pass\n"
    "    g(3)\n    return n\n",
    7,
    "one step further",
)
pasted(
    "a counter of a function inside, read after its loop",
    f"{COUNTED}    def g(m: int):\n        for i in range(m):\n            pass\n"
    "        return i\n    return g(n)\n",
    6,
    "one step further",
)
pasted(
    "the names of a module as a tuple",
    "__all__ = ('f',)\ndef f(n: int):\n    return n\n",
    1,
    "a list only",
    "# remove this line",
)
for _statement, _fix in {
    "y[:] = x[::-1]": "x[x.shape[0] - 1::-1]",
    "x[:1:-2] = y": "x[x.shape[0] - 1:1:-2]",
    "y[:] = m[1, ::-1]": "m[1, m.shape[1] - 1::-1]",
    "y[0] = np.sum(m[::-1, :])": "m[m.shape[0] - 1::-1, :]",
}.items():
    pasted(
        f"a slice that goes backward from the end: {_statement}",
        f"{WHOLE}    {_statement}\n",
        3,
        "begins at 0 in C",
        _fix,
        language="c",
    )
pasted(
    "a list as a target",
    "def f(x: 'float64[:]'):\n    [x[0], x[1]] = [x[1], x[0]]\n",
    2,
    "another meaning",
    "x[0], x[1] =",
)
pasted(
    "a format in print",
    "def f(n: int):\n    print('100 %s', n)\n",
    2,
    "takes the text for a format",
    "text = '100 %s'\nprint(text)",
    column=11,
    language="c",
)
pasted(
    "a format at the end of print",
    "def f(n: int):\n    print(n, end='%n')\n",
    2,
    "takes the text for a format",
    language="c",
)
pasted(
    "an integer beyond int64",
    "def f(n: int) -> int:\n    return n + 9223372036854775808\n",
    2,
    "integers end at",
    "9.223372036854776e+18",
    language="c",
)


@pytest.mark.parametrize(
    ("body", "languages"),
    [
        ("for i in range(n):\n    k += i\nfor i in range(2):\n    k += i", "fortran c"),
        ("for i in range(n):\n    k += i\ni = 3\nk += i", "fortran c"),
        ("i = 7\nk += i\nfor i in range(n):\n    k += i", "fortran c"),
        ("for i in range(x.shape[0]):\n    x[i] = 1.0", "fortran c"),
        ("for i in range(len(x)):\n    x[i] = 1.0", "fortran c"),
        ("for i in range(n):\n    n = 2", "fortran"),
        ("for i in range(n):\n    k += i\nx[0] = sum(x[i] for i in range(n))", "fortran c"),
        ("for i in range(n):\n    k += i\ny = [x[i] for i in range(n)]", "fortran c"),
        (
            "i = 0\nif n > 3:\n    for i in range(n):\n        k += i\nelse:\n    k += i + i",
            "fortran c",
        ),
        ("for i in range(int(x[0])):\n    x[1] = 2.0\n    x[n + i] = x[1]", "fortran"),
        ("for i in range(int(x[0])):\n    x[1] = 2.0", "fortran c"),
        ("for i in range(int(x[n])):\n    x[n + 1] = 2.0", "fortran c"),
        ("print('100 %')", "fortran"),
        ("k = 9223372036854775807", "fortran c"),
        ("while n > 0:\n    n -= 1\nk = n", "fortran c"),
    ],
)
def test_what_means_the_same_is_not_refused(body: str, languages: str) -> None:
    code = f"{COUNTED}{textwrap.indent(body, '    ')}\n    return k\n"
    for language in languages.split():
        parse_cell(code, language=language)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "statement",
    [
        "x[:] = x * 2.0 + y",
        "x[:] = np.sqrt(x[:])",
        "x[:] = x / np.sum(x)",
        "x[1:] = x[1:] / np.sum(x[:3])",
        "x[:] = x / x.shape[0]",
        "x[1:] = y[:-1]",
        "x[1:4] *= x[1:4]",
        "x[:3] = x[3:]",
        "x[n:] = x[:n]",
        "x[1:] = x[0]",
        "x[n + 1:] = x[n]",
        "x[:-1] = x[-1]",
        "x[0] = x[1] + x[0]",
        "x[0] = np.max(x)",
        "x[0] += np.sum(x)",
        "x[n] = y.sum()",
        "x[0] = np.sum(x[1:])",
        "x[n] = np.sum(x[:n] * y[:n])",
        "x[n - 1] = x[n:].sum()",
        "x[::2] = x[1::2]",
        "x[1:n - 1:2] = 0.5 * (x[0:n - 2:2] + x[2:n:2])",
        "x[2 * n::2] = x[2 * n + 1]",
        "x[2 * n::2] = x[1::2]",
        "x[::3] = x[2::3]",
        "x[2::3] = x[::3]",
        "x[0:n] = 2.0 * x[:n]",
        "x[1:n:1] = 2.0 * x[1:n]",
        "x[1 + n:] = 2.0 * x[n + 1:]",
        "x[n:] = x[n - 1]",
        "x[n:n + 2] = x[n - 2:n] + x[n + 3:n + 5]",
        "m[n, 1:-1] = m[n - 1, 2:] + m[n + 1, :-2] + m[n, 1:-1]",
        "m[n, 1:] = m[1 - n, :-1]",
        "m[1:, n] = m[:-1, n - 2]",
        "m[0, :] = m[1, :]",
        "m[n, :] -= 2.0 * m[n - 1, :]",
        "m[2:, 2:] -= m[1, 2:]",
        "m[1, :] -= m[0, 0] * m[0, :]",
        "m[0] = m[1]",
        "m[0, 1] = m[1, 0]",
        "x[:] = m @ y",
    ],
)
def test_a_statement_that_reads_only_what_it_leaves_alone_is_not_refused(statement: str) -> None:
    parse_cell(f"{WHOLE}    {statement}\n", language="c")


def test_a_slice_that_goes_backward_is_right_in_fortran_and_from_a_start_in_c() -> None:
    parse_cell(f"{WHOLE}    y[:] = x[::-1]\n", language="fortran")
    parse_cell(f"{WHOLE}    y[:] = x[n - 1::-1] + m[0, 3:0:-1]\n", language="c")


@pytest.mark.parametrize("statement", READS_WHAT_IT_WRITES[:-1])
def test_fortran_computes_the_whole_right_side_first(statement: str) -> None:
    parse_cell(f"{WHOLE}    {statement}\n", language="fortran")


# ---- parameters -----------------------------------------------------------------------------

pasted(
    "no annotation, one index",
    "def f(x):\n    return x[0]\n",
    1,
    "'x' has no annotation",
    "def f(x: 'float64[:]'):",
    column=7,
)
pasted(
    "no annotation, two indices and a count",
    "def f(u, n):\n    for i in range(n):\n        u[i, 0] = 1.0\n",
    1,
    "'u' has no annotation",
    "def f(u: 'float64[:,:]', n: int):",
)
pasted(
    "no annotation, a scalar and an index",
    "def f(x: 'float[:]', i, a):\n    x[i] = a\n",
    1,
    "'i' has no annotation",
    "def f(x: 'float[:]', i: int, a: float):",
)
pasted(
    "no annotation, len and attributes",
    "def f(x, y):\n    return len(x) + y.size\n",
    1,
    "'x' has no annotation",
    "def f(x: 'float64[:]', y: 'float64[:]'):",
)
pasted(
    "no annotation in a nested function",
    "def f(n: int):\n    def g(x):\n        return x + 1\n    return g(n)\n",
    2,
    "'x' has no annotation",
    "def g(x: float):",
)
pasted(
    "no annotation in a method",
    "class A:\n    def __init__(self, n):\n        self.n = n\ndef f(a: A):\n    return a.n\n",
    2,
    "'n' has no annotation",
    "def __init__(self, n: float):",
)
pasted(
    "self outside a class",
    "def f(self, x: int):\n    return x\n",
    1,
    "a method belongs into a class",
    "def f(x: int):",
)
pasted(
    "a function as an argument, no annotation",
    "def f(g, x: float):\n    return g(x)\n",
    1,
    "'g' is called",
    "def g(x: float):",
)
pasted("star arguments", "def f(*args: int):\n    return args[0]\n", 1, "*args", column=8)
pasted("star keywords", "def f(n: int, **rest: int):\n    return n\n", 1, "**rest")
pasted(
    "the types decorator",
    "from pyccel.decorators import types\n@types('float[:]', int)\ndef f(x, n):\n    return x[n]\n",
    2,
    "@types decorator is gone",
    "def f(x: 'float[:]', n: int):",
)
pasted(
    "an array annotation of NumPy",
    "import numpy as np\ndef f(x: np.ndarray):\n    return x[0]\n",
    2,
    "neither the dtype",
    "x: 'float64[:]'",
)
pasted(
    "numpy.typing",
    "from numpy.typing import NDArray\ndef f(x: 'float[:]'):\n    return x[0]\n",
    1,
    "numpy.typing",
    "x: 'float64[:]'",
)
pasted(
    "a parameter called like its function",
    "def f(f: int):\n    return f\n",
    1,
    "both the function and its parameter",
)
pasted(
    "None in quotes",
    "def f(n: int) -> 'None':\n    pass\n",
    1,
    "'None' in quotes",
    "def f(n: int) -> None:",
)

# ---- decorators -----------------------------------------------------------------------------

pasted("njit", "@njit\ndef f(x: int):\n    return x\n", 1, "Numba", column=2)
pasted("njit with options", "@njit(parallel=True)\ndef f(x: int):\n    return x\n", 1, "Numba")
pasted("jit with a dot", "@nb.jit\ndef f(x: int):\n    return x\n", 1, "Numba")
pasted("cuda.jit", "@cuda.jit\ndef f(x: int):\n    return x\n", 1, "Numba")
pasted("an unknown decorator", "@timed\ndef f(x: int):\n    return x\n", 1, "@timed")
pasted(
    "a decorator with a dot",
    "@decorators.pure\ndef f(x: int):\n    return x\n",
    1,
    "with a dot",
    "from pyccel.decorators import pure\n@pure\ndef f(x: int):",
)
pasted(
    "elemental with two parameters",
    "@elemental\ndef f(x: float, y: float):\n    return x + y\n",
    1,
    "one parameter",
)

# ---- imports --------------------------------------------------------------------------------

F = "def f(x: float):\n    return x\n"
for module, line in {
    "matplotlib": "import matplotlib.pyplot as plt",
    "pandas": "import pandas as pd",
    "numba": "from numba import njit",
    "jax": "import jax.numpy as jnp",
    "cupy": "import cupy as cp",
    "IPython": "from IPython.display import display",
    "tqdm": "from tqdm import tqdm",
    "kit": "import kit",
}.items():
    pasted(f"import of {module}", f"{line}\n{F}", 1, module, f"{line}  # in another cell", column=1)
pasted("scipy.special", f"from scipy.special import erf\n{F}", 1, "SciPy")
pasted("import scipy.linalg", f"import scipy.linalg as la\n{F}", 1, "SciPy")
pasted("time", f"import time\n{F}", 1, "cannot compile time", "import time  # in another cell")
pasted("dataclasses", f"from dataclasses import dataclass\n{F}", 1, "cannot compile dataclasses")
pasted(
    "a relative import", f"from .tools import g\n{F}", 1, "relative import", "from tools import g"
)
pasted("a relative package", f"from . import tools\n{F}", 1, "relative import", "import tools")
pasted("a star import", f"from numpy import *\n{F}", 1, "import *", "import numpy as np")
pasted("future annotations", f"from __future__ import annotations\n{F}", 1, "__future__")
pasted(
    "two modules a line", f"import math, cmath\n{F}", 1, "one module", "import math\nimport cmath"
)
pasted(
    "a submodule",
    "import numpy.linalg as la\ndef f(x: 'float[:]'):\n    return la.norm(x)\n",
    1,
    "numpy.linalg",
    "from numpy.linalg import norm",
)
pasted("a name that NumPy has", f"from numpy import std\n{F}", 1, "numpy.std", column=19)
pasted("a name of typing", f"from typing import Optional\n{F}", 1, "typing.Optional")
pasted(
    "an import inside if",
    "def f(x: float):\n    if x > 0.0:\n        import math\n    return x\n",
    3,
    "an import inside if",
    "import math  # at the top of this cell",
)

# ---- names ----------------------------------------------------------------------------------

pasted(
    "np of the notebook",
    "def f(x: 'float[:]'):\n    return np.sum(x)\n",
    2,
    "'np' is not imported in this cell",
    "import numpy as np  # at the top of this cell",
    column=12,
)
pasted(
    "math of the notebook", "def f(x: float):\n    return math.sin(x)\n", 2, "'math'", "import math"
)
pasted(
    "plt of the notebook",
    "def f(x: float):\n    plt.plot(x)\n",
    2,
    "cannot be used in compiled code",
)
pasted("an unknown name", "def f(x: float):\n    return x + offset\n", 2, "'offset'", column=16)
pasted(
    "a typing error in a name",
    "def f(velocity: float):\n    return velocty\n",
    2,
    "'velocty'",
    "# did you mean velocity?",
)
for call, fix in {
    "sorted(x)": "# sort before",
    "input()": "# pass the value",
    "open('a')": "# read the file",
    "pow(2, 3)": "# write a ** b",
    "divmod(5, 2)": "# write a // b",
    "any(x)": "# write a loop",
    "eval('1')": "# compute it",
}.items():
    pasted(
        f"the builtin {call}", f"def f(x: 'float[:]'):\n    a = {call}\n", 2, "()", fix, column=9
    )
pasted(
    "reversed", "def f(n: int):\n    for i in reversed(range(n)):\n        pass\n", 2, "reversed()"
)
for member, fix in {
    "np.std(x)": "# write np.sqrt",
    "np.mean(x)": "# write np.sum(x) / x.size",
    "np.dot(x, x)": "# write a @ b",
    "np.inf": "# write math.inf",
    "np.maximum(x, x)": "# write max(a, b)",
    "np.fft.fft(x)": "# write it as a loop",
    "np.linalg.inv(x)": "# write it as a loop",
    "np.add(x, x)": "# write a + b",
    "np.arcsine(x)": "# write np.arcsin",
    "math.comb(3, 2)": "# write it as a loop",
}.items():
    pasted(
        f"the member {member}",
        f"import numpy as np\nimport math\ndef f(x: 'float[:]'):\n    a = {member}\n",
        4,
        "none of the functions",
        fix,
        column=9,
    )
for member, fix in {
    "x.fill(0.0)": "# write x[:] = value",
    "x.sort()": "# write a sorting loop",
    "x.mean()": "# write x.sum() / x.size",
    "x.ndim": "# write the number of axes",
    "x.astype(int)": "# write a second array",
}.items():
    pasted(
        f"the method {member}", f"def f(x: 'float[:]'):\n    {member}\n", 2, "is not compiled", fix
    )
pasted(
    "sys.exit", "import sys\ndef f(n: int):\n    sys.exit(n)\n", 3, "notebook's process", "return"
)
pasted(
    "exit of sys", "from sys import exit\ndef f(n: int):\n    exit(n)\n", 3, "notebook's process"
)
pasted(
    "a letter that fortran lacks",
    "def f(ü: float):\n    return ü\n",
    1,
    "'ü'",
    "%%pyccel_kernel --language c",
)
pasted("a function's letter", "def é(x: float):\n    return x\n", 1, "'é'")

# ---- statements and expressions ---------------------------------------------------------------

for name, body, says in (
    ("try", "try:\n        n = 1\n    except ValueError:\n        pass", "try"),
    ("raise", "raise ValueError('n')", "raise"),
    ("with", "with open('a') as g:\n        pass", "with"),
    ("yield", "yield n", "yield"),
    ("global", "global M\n    M = n", "global"),
    ("match", "match n:\n        case 1:\n            return 2", "match"),
    ("an f-string", 'print(f"n = {n}")', "f-string"),
    ("format", 'print("n = {}".format(n))', "str.format"),
    ("percent", 'print("n = %d" % n)', "'%' on text"),
    ("walrus", "m = (k := n) + 1", ":="),
    ("a dict comprehension", "d = {i: i for i in range(n)}", "dict comprehension"),
    ("a set comprehension", "d = {i for i in range(n)}", "set comprehension"),
    ("a list comprehension in a sum", "return sum([i for i in range(n)])", "list comprehension"),
    ("a generator elsewhere", "return list(i for i in range(n))", "generator"),
    ("a lambda as an argument", "return map(lambda i: i, range(n))", "lambda"),
    ("two targets", "a = b = n", "one '=' a line"),
    ("a starred target", "a, *b = 1, 2, 3", "'*' in an assignment"),
    ("a power in place", "n **= 2", "'**='"),
    ("not in", "return n not in (1, 2)", "'not in'"),
    ("in a tuple", "return n in (1, 2)", "'in' with a tuple"),
    ("None as an index", "return x[:, None]", "None as an index"),
    ("a mask", "x[x > 0.0] = 1.0", "a mask as an index"),
    ("the shape", "x.shape = (2, 2)", "assigning to x.shape"),
    ("a real part", "x.real[0] = 1.0", "writes nothing"),
    ("an imaginary part of all", "x.imag = 1.0", "writes nothing"),
    ("a part of a matrix product", "return (m @ m).real[0, 0]", "attribute of an expression"),
    ("an attribute of an expression", "return (x + 1.0).sum()", "attribute of an expression"),
    (
        "nested tuples in for",
        "for i, (a, b) in enumerate(zip(x, x)):\n        pass",
        "nested tuples",
    ),
    ("a class in a function", "class A:\n        pass", "a class inside"),
    (
        "a function in if",
        "if n > 0:\n        def g(i: int):\n            return i",
        "a function inside",
    ),
):
    pasted(
        name,
        f"def f(x: 'float[:]', n: int):\n    {body}\n",
        3 if name == "a function in if" else 2,
        says,
    )
pasted(
    "for and else",
    "def f(n: int):\n    for i in range(n):\n        pass\n    else:\n        n = 1\n",
    5,
    "'else' of a 'for'",
)
pasted(
    "while and else",
    "def f(n: int):\n    while n > 0:\n        n -= 1\n    else:\n        n = 1\n",
    5,
    "'else' of a 'while'",
)
pasted("async", "async def g(n: int):\n    return n\ndef f(n: int):\n    return n\n", 1, "async")
pasted(
    "two arguments of log",
    "import math\ndef f(x: float):\n    return math.log(x, 2.0)\n",
    3,
    "math.log",
    "math.log(x) / math.log(2.0)",
)

# ---- the top level ----------------------------------------------------------------------------

pasted("two functions of a name", f"{F}{F}", 3, "defined twice", "def f_2(x: float):")
pasted(
    "a class and a function",
    f"class f:\n    def __init__(self, n: int):\n        self.n = n\n{F}",
    4,
    "defined twice",
)
pasted("no function", "x = 3\n", 1, "no function to compile")
pasted("nothing", "", 1, "no function to compile")
pasted(
    "private functions only",
    "def _f(x: float):\n    return x\n",
    1,
    "leading underscore",
    "def f(x: float):",
)
pasted("a private decorator", "@private\ndef f(x: float):\n    return x\n", 2, "@private")
pasted(
    "a class only",
    "class A:\n    def __init__(self, n: int):\n        self.n = n\n",
    1,
    "classes only",
)
pasted(
    "a tuple of constants",
    f"W = (1.0, 2.0)\n{F}",
    1,
    "tuple or list",
    "import numpy as np\nW = np.array([1.0, 2.0])",
)
pasted("a text", f"S = 'a'\n{F}", 1, "only numbers and arrays")
pasted("a dict", f"D = {{1: 2}}\n{F}", 1, "only numbers and arrays")
pasted(
    "a lambda",
    f"g = lambda x: x + 1\n{F}",
    1,
    "a lambda at the top level",
    "def g(x: float):\n    return x + 1",
)
pasted(
    "a function in if at the top",
    f"if True:\n    def g(n: int):\n        return n\n{F}",
    2,
    "a function inside if",
)
pasted(
    "a class attribute",
    f"class A:\n    n = 3\n    def __init__(self, k: int):\n        self.k = k\n{F}",
    2,
    "class attribute",
)
pasted(
    "import in try", f"try:\n    import numpy as np\nexcept ImportError:\n    pass\n{F}", 1, "try"
)

for name in ("STEP", "GAMMA", "y0", "kill", "errno"):
    pasted(f"the constant {name}", f"{name} = 0.5\n{F}", 1, "C library", f"{name}_0 = ", column=1)
pasted("an annotated constant", f"GAMMA: float = 1.4\n{F}", 1, "C library", column=1)
pasted("a C name in a loop", f"for index in range(3):\n    pass\n{F}", 1, "C library", column=5)

# ---- text: syntax, magics, pragmas --------------------------------------------------------------

pasted(
    "a line magic",
    f"\n{F}\n%timeit f(1.0)\n",
    4,
    "a magic inside a cell",
    "%timeit f(1.0)  # in a cell of its own",
    column=1,
)
pasted("a shell command", f"!ls\n{F}", 1, "a shell command", "!ls  # in a cell of its own")
pasted("a question mark", f"{F}f?\n", 3, "a magic")
pasted("a syntax error", "def f(x: float):\n    return x +\n", 2, "Python syntax error", column=15)
pasted("a missing colon", "def f(x: float)\n    return x\n", 1, "expected ':'")
pasted("an open bracket", "def f(x: float):\n    return (x\n", 2, "never closed", column=12)
pasted("a wrong indent", "def f(x: float):\nreturn x\n", 2, "indented block")
LOOP = "def f(n: int):\n    s = 0\n    {}\n    for i in range(n):\n        s += i\n    return s\n"
pasted(
    "a pragma without OpenMP",
    LOOP.format("#$ omp parallel for"),
    3,
    "without OpenMP",
    "%%pyccel_kernel --openmp",
    column=5,
)
pasted(
    "a pragma as black writes it",
    LOOP.format("# $ omp parallel for"),
    3,
    "no pragma",
    "#$ omp parallel for",
)
pasted(
    "a pragma in capitals",
    LOOP.format("#$ OMP parallel for"),
    3,
    "no pragma",
    "#$ omp parallel for",
)
pasted(
    "a pragma as C writes it",
    LOOP.format("#pragma omp parallel for"),
    3,
    "no pragma",
    "#$ omp parallel for",
)
pasted(
    "a pragma behind code",
    LOOP.format("n = n  #$ omp parallel for"),
    3,
    "behind code",
    "#$ omp parallel for",
    column=12,
)
pasted("an unknown pragma", LOOP.format("#$ simd"), 3, "Pyccel knows the pragmas")
pasted(
    "a misspelt directive",
    LOOP.format("#$ omp paralel for"),
    3,
    "no directive 'paralel'",
    "#$ omp parallel for",
)


@pytest.mark.parametrize("case", PASTED.values(), ids=PASTED)
def test_what_newcomers_paste_is_answered_in_its_line(case: Pasted) -> None:
    with pytest.raises(CellError) as caught:
        parse_cell(case.cell, language=case.language)  # type: ignore[arg-type]
    error = caught.value
    assert case.says in error.message
    assert error.line == case.line
    if case.column is not None:
        assert error.column == case.column
    if case.cell:
        assert error.source_line == case.cell.split("\n")[case.line - 1]
    if case.fix is not None:
        assert error.fix is not None
        assert error.fix.startswith(case.fix)


@pytest.mark.parametrize("case", PASTED.values(), ids=PASTED)
def test_a_fix_is_something_that_can_be_pasted(case: Pasted) -> None:
    with pytest.raises(CellError) as caught:
        parse_cell(case.cell, language=case.language)  # type: ignore[arg-type]
    fix = caught.value.fix
    if fix is None:
        assert "syntax error" in caught.value.message
        return
    if fix.startswith(("%", "!")) or "in a cell of its own" in fix:
        return
    lines = fix.split("\n")
    if lines[-1].partition("  #")[0].endswith(":"):
        fix += "\n    pass"
    ast.parse(f"def around():\n{textwrap.indent(fix, '    ')}\n    pass")


# ---- what is said about names of the notebook ---------------------------------------------------


@pytest.mark.parametrize(
    ("value", "says", "fix"),
    [
        (3, "defined in the notebook", "c = 3  # in this cell"),
        (0.25, "defined in the notebook", "c = 0.25  # in this cell"),
        (True, "defined in the notebook", "c = True  # in this cell"),
        (np.float64(0.5), "defined in the notebook", "c = 0.5  # in this cell"),
        (np.int32(7), "defined in the notebook", "c = 7  # in this cell"),
        (float("inf"), "defined in the notebook", "c = float('inf')"),
        (np.zeros((2, 3), dtype=np.float32), "array of the notebook", "c: 'float32[:,:]'"),
        (np, "not imported in this cell", "import numpy as c  # at the top of this cell"),
        (types, "cannot be used", "import types as c  # in another cell"),
        (print, "builtin_function", "# define c in this cell"),
    ],
)
def test_a_name_of_the_notebook_is_answered_by_what_it_is(
    value: object, says: str, fix: str
) -> None:
    with pytest.raises(CellError) as caught:
        parse_cell("def f(x: float):\n    return x + c\n", namespace={"c": value})
    assert says in caught.value.message
    assert caught.value.fix is not None
    assert caught.value.fix.startswith(fix)


def test_a_cuda_kernel_is_launched_from_python_alone() -> None:
    class CudaKernel:
        pass

    with pytest.raises(CellError, match="'c' is a CUDA kernel") as caught:
        parse_cell("def f(x: float):\n    c(x)\n", namespace={"c": CudaKernel()})
    assert (caught.value.line, caught.value.column) == (2, 5)
    assert "--pair" in (caught.value.fix or "")


def test_a_name_that_another_cell_supplies_is_free_and_no_error() -> None:
    cell = parse_cell("def f(x: float):\n    return g(x)\n", known=frozenset({"g", "h"}))
    assert cell.free_names == {"g"}


# ---- what is fine -----------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["fortran", "c"])
def test_no_valid_kernel_is_refused(language: str) -> None:
    cell = parse_cell(CORPUS, language=language)  # type: ignore[arg-type]
    assert len(cell.public) > 50
    parse_cell(OPENMP, language=language, openmp=True)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["fortran", "c"])
def test_the_valid_kernels_are_what_pyccel_compiles(language: Language, tmp_path: Path) -> None:
    reply = compile_unit(
        CompileRequest(
            source=CORPUS, module_name="corpus_cell", language=language, scratch=str(tmp_path)
        )
    )
    assert reply.artifact is not None, reply.log[-3000:]
    names = "import corpus_cell, json; print(json.dumps(dir(corpus_cell)))"
    folder = (tmp_path / reply.artifact).parent
    built = subprocess.run(
        [sys.executable, "-c", names], cwd=folder, capture_output=True, text=True, check=True
    )
    public = {one.name for one in parse_cell(CORPUS).public}
    assert public <= set(json.loads(built.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "comment",
    [
        "# $ is the currency of this model",
        "# $ omp",
        "# omp parallel is used below",
        "# pragma: no cover",
        "#pragma once is C",
        "# costs 3 $ omp",
        "#: sphinx",
        "#$ acc parallel",
    ],
)
def test_a_comment_that_is_no_pragma_stays_a_comment(comment: str) -> None:
    parse_cell(LOOP.format(comment))


def test_a_pragma_in_a_text_is_text() -> None:
    parse_cell(
        'def f(n: int):\n    """Like\n\n        # $ omp parallel for\n    """\n    return n\n'
    )


@pytest.mark.parametrize("language", ["fortran", "c"])
def test_pragmas_are_fine_with_openmp(language: str) -> None:
    parse_cell(LOOP.format("#$ omp parallel for reduction(+:s)"), openmp=True, language=language)  # type: ignore[arg-type]
    parse_cell(LOOP.format("#$omp parallel for"), openmp=True)


def test_c_has_letters_that_fortran_lacks() -> None:
    parse_cell("def f(ü: float):\n    return ü\n", language="c")


@pytest.mark.parametrize("line", ["STEP = 0.5", "GAMMA = 1.4"])
def test_c_keeps_constants_apart_from_the_c_library(line: str) -> None:
    parse_cell(f"{line}\n{F}", language="c")


@pytest.mark.parametrize("line", ["DX = 0.5", "EXP = 2.0", "N = 3", "beta = 0.1"])
def test_other_constants_are_fine_in_fortran(line: str) -> None:
    parse_cell(f"{line}\n{F}")


def test_a_local_variable_may_be_called_like_a_c_function() -> None:
    parse_cell("def f(time: float):\n    step = time\n    return step\n")


def test_text_may_hold_any_letters() -> None:
    parse_cell('def f(x: float):\n    """Größe."""\n    # ü\n    return x\n')


def test_a_local_name_hides_the_module_of_that_name() -> None:
    parse_cell("import numpy as np\ndef f(np: 'float[:,:]'):\n    return np.T[0, 0]\n")


def test_a_nested_function_may_have_a_parameter_called_like_an_array() -> None:
    parse_cell("""
class A:
    def __init__(self, n: int):
        self.n = n
    def mean(self):
        return self.n
def f(x: 'float[:]', a: A):
    def g(x: A):
        return x.mean()
    return g(a) + x[0]
""")


# ---- the tables are those of the installed Pyccel -----------------------------------------------

TABLES = """
import json
import pyccel.ast.utilities as utilities
import pyccel.decorators as decorators
from pyccel.ast.class_defs import NumpyArrayClass
from pyccel.ast.numpyext import numpy_linalg_mod, numpy_random_mod
from pyccel.naming import name_clash_checkers
registry = utilities.builtin_import_registry
print(json.dumps({
    "modules": {name: sorted(map(str, registry[name].keys())) for name in
                ("math", "cmath", "numpy", "scipy", "itertools", "sys", "typing")},
    "linalg": sorted(map(str, numpy_linalg_mod.keys())),
    "random": sorted(map(str, numpy_random_mod.keys())),
    "builtins": sorted({str(k) for k in utilities.builtin_functions_dict} - {"not"}),
    "array": sorted(str(m.name) for m in NumpyArrayClass.methods),
    "decorators": sorted(decorators.__all__),
    "reserved": {name: sorted(name_clash_checkers[name].keywords) for name in ("fortran", "c")},
}))
"""


def test_the_vocabulary_is_that_of_the_installed_pyccel() -> None:
    from kit.source import vocabulary

    child = subprocess.run(
        [sys.executable, "-c", TABLES], capture_output=True, text=True, check=True, timeout=120
    )
    tables = json.loads(child.stdout.splitlines()[-1])
    for name, names in tables["modules"].items():
        assert sorted(vocabulary.MODULES[name]) == names, name
    assert sorted(vocabulary.MODULES["numpy.linalg"]) == tables["linalg"]
    assert sorted(vocabulary.MODULES["numpy.random"]) == tables["random"]
    # Pyccel reads print before it looks functions up.
    assert sorted(vocabulary.BUILTINS - {"print"}) == tables["builtins"]
    assert sorted(vocabulary.ARRAY_ATTRIBUTES) == sorted(set(tables["array"]))
    assert sorted(vocabulary.DECORATORS | {"types"}) == tables["decorators"]
    for language, words in tables["reserved"].items():
        assert sorted(vocabulary.RESERVED[language]) == words


def test_what_is_written_instead_is_not_itself_refused() -> None:
    from kit.source import vocabulary

    for name, instead in vocabulary.INSTEAD.items():
        module, _, member = name.rpartition(".")
        assert member not in vocabulary.MODULES[module], name
        for used in re.findall(r"np\.(\w+)\(", instead):
            assert used in vocabulary.MODULES["numpy"], name


ONE_WAY_WITHOUT = {
    "a missing else": ("if n > 3:\n    return 1.0", 3),
    "a loop that may not run": ("for i in range(n):\n    return 1.0", 3),
    "a branch that falls through": ("if n > 3:\n    return 1.0\nelse:\n    n = 2", 3),
    "a bare return": ("if n > 3:\n    return\nreturn 1.0", 4),
    "None": ("if n > 3:\n    return None\nreturn 1.0", 4),
    "a loop that is left": ("while True:\n    if n > 3:\n        break\n    return 1.0", 3),
}


@pytest.mark.parametrize(("body", "line"), ONE_WAY_WITHOUT.values(), ids=ONE_WAY_WITHOUT)
def test_a_function_that_returns_a_value_on_some_ways_only_is_refused(body: str, line: int) -> None:
    with pytest.raises(CellError, match="returns a value in line") as caught:
        parse_cell("\ndef f(n: int):\n" + textwrap.indent(body, "    "))
    assert caught.value.line == line
    assert str(caught.value.fix).startswith("return 1.0")


@pytest.mark.parametrize(
    "body",
    [
        "if n > 3:\n    return 1.0\nreturn 2.0",
        "if n > 3:\n    return 1.0\nelse:\n    return 2.0",
        "if n > 3:\n    return 1.0\nelif n > 2:\n    return 2.0\nelse:\n    return 3.0",
        "while True:\n    n += 1\n    if n > 9:\n        return 1.0",
        "if n > 3:\n    return\nn = 1",
        "n = 1",
    ],
)
def test_a_function_that_returns_a_value_on_all_ways_or_on_none_is_accepted(body: str) -> None:
    parse_cell("def f(n: int):\n" + textwrap.indent(body, "    "))


def test_an_assert_at_the_top_level_is_refused_because_it_would_end_the_process() -> None:
    with pytest.raises(CellError, match="ends the notebook process") as caught:
        parse_cell("\nassert 1 == 1\ndef f(n: int):\n    return n\n")
    assert caught.value.line == 2


INFINITE = {
    "attribute": "import math\ndef f(n: int):\n    y = math.inf\n    return y\n",
    "alias": "import math as m\ndef f(n: int):\n    y = -m.inf\n    return y\n",
    "name": "from math import inf\ndef f(n: int):\n    y = inf\n    return y\n",
}


@pytest.mark.parametrize("cell", INFINITE.values(), ids=INFINITE)
def test_an_infinity_that_fortran_makes_finite_is_refused_there_only(cell: str) -> None:
    with pytest.raises(CellError, match="not infinite in Fortran") as caught:
        parse_cell(cell)
    assert caught.value.line == 3
    parse_cell(cell, language="c")


def test_a_local_variable_called_inf_is_no_infinity_of_a_module() -> None:
    parse_cell("def f(n: int):\n    inf = 1e308\n    inf = inf * 10.0\n    return inf\n")

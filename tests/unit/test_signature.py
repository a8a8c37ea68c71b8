"""Parameters as Pyccel reads them, their variants, defaults, and calls that bind or do not."""

from __future__ import annotations

import ast
import inspect
import json
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kit.cell import parse_cell
from kit.errors import CellError
from kit.signature import (
    MAX_VARIANTS,
    NO_DEFAULT,
    ArgumentType,
    Parameter,
    Signature,
    parse_signature,
)
from kit.terms import Intent

TYPING = "from typing import Annotated, Final, TypeAlias, TypeVar\nimport typing as t\n"
NUMPY = "import numpy as np\nimport numpy\nfrom numpy import float32 as f32, int32\n"


def signature_of(code: str, name: str = "f", **options) -> Signature:
    return parse_cell(textwrap.dedent(code), **options).functions[name].signature


def types_of(annotation: str, before: str = "") -> list[str]:
    signature = signature_of(f"{TYPING}{NUMPY}{before}\ndef f(x: {annotation}):\n    return 1\n")
    return [one.text for one in signature.parameters[0].types]


def refusal_of(annotation: str, before: str = "") -> CellError:
    with pytest.raises(CellError) as caught:
        types_of(annotation, before)
    return caught.value


# ---- one annotation -------------------------------------------------------------------------

FORMS = [
    ("int", ["int"]),
    ("float", ["float"]),
    ("bool", ["bool"]),
    ("complex", ["complex"]),
    ("str", ["str"]),
    ("'int'", ["int"]),
    ("'float64'", ["float64"]),
    ("float64", ["float64"]),
    ("np.int32", ["int32"]),
    ("numpy.complex64", ["complex64"]),
    ("f32", ["float32"]),
    ("'f32[:]'", ["float32[:]"]),
    ("int32", ["int32"]),
    ("np.double", ["float64"]),
    ("np.bool", ["bool"]),
    ("'double[:]'", ["float64[:]"]),
    ("'float[:]'", ["float64[:]"]),
    ("'int[:]'", ["int64[:]"]),
    ("'bool[:]'", ["bool[:]"]),
    ("'complex[:,:]'", ["complex128[:,:]"]),
    ("float[:, :]", ["float64[:,:]"]),
    ("np.float32[:]", ["float32[:]"]),
    ("'int8[:]'", ["int8[:]"]),
    ("'int16[:]'", ["int16[:]"]),
    ('"  float64[ : , : ] ( order = F ) "', ["float64[:,:](order=F)"]),
    ("'float64[:,:](order=f)'", ["float64[:,:](order=F)"]),
    ("'float64[:,:](order=C)'", ["float64[:,:]"]),
    ("'float64[:](order=F)'", ["float64[:]"]),
    ("'Final[float64[:]]'", ["float64[:]"]),
    ("Final['float64[:,:](order=F)']", ["float64[:,:](order=F)"]),
    ("'Final[float64[:,:]](order=F)'", ["float64[:,:](order=F)"]),
    ("t.Final['float64[:]']", ["float64[:]"]),
    ("Final[Final[int]]", ["int"]),
    ("Annotated['float64[:]', 'anything']", ["float64[:]"]),
    ("\"'float64[:]'\"", ["float64[:]"]),
    ("'float64[:] | float32[:]'", ["float64[:]", "float32[:]"]),
    ("'float64[:]' | 'float32[:]'", ["float64[:]", "float32[:]"]),
    ("int | float", ["int", "float"]),
    ("'float[:] | float64[:]'", ["float64[:]"]),
    ("'int | int64'", ["int", "int64"]),
    ("Final['float64[:] | float32[:]']", ["float64[:]", "float32[:]"]),
    ("'int[:,:](order=F) | float[:,:](order=C)'", ["int64[:,:](order=F)", "float64[:,:]"]),
    ("tuple[int, ...]", ["tuple[int, ...]"]),
    ("'tuple[float, ...]'", ["tuple[float, ...]"]),
    ("list[int]", ["list[int]"]),
    ("list['int']", ["list[int]"]),
    ("'set[int]'", ["set[int]"]),
]


@pytest.mark.parametrize(("annotation", "texts"), FORMS)
def test_an_annotation_is_read_into_its_types(annotation: str, texts: list[str]) -> None:
    assert types_of(annotation) == texts


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (
            "float",
            ArgumentType(dtype="float64", rank=0, order=None, python_scalar=True, text="float"),
        ),
        ("np.float64", ArgumentType(dtype="float64", rank=0, order=None, text="float64")),
        ("'double'", ArgumentType(dtype="float64", rank=0, order=None, text="float64")),
        (
            "np.bool",
            ArgumentType(dtype="bool", rank=0, order=None, python_scalar=True, text="bool"),
        ),
        ("str", ArgumentType(dtype="str", rank=0, order=None, text="str")),
        ("'int[:]'", ArgumentType(dtype="int64", rank=1, order="C", text="int64[:]")),
        (
            "'int32[:,:,:](order=F)'",
            ArgumentType(dtype="int32", rank=3, order="F", text="int32[:,:,:](order=F)"),
        ),
        (
            "list[int]",
            ArgumentType(
                dtype="int64",
                rank=1,
                order=None,
                container="list",
                elements=ArgumentType(
                    dtype="int64", rank=0, order=None, python_scalar=True, text="int"
                ),
                text="list[int]",
            ),
        ),
    ],
)
def test_every_field_of_a_type_is_filled(annotation: str, expected: ArgumentType) -> None:
    signature = signature_of(f"{TYPING}{NUMPY}\ndef f(x: {annotation}):\n    return 1\n")
    assert signature.parameters[0].types == (expected,)


@pytest.mark.parametrize(
    ("annotation", "final"),
    [
        ("'float64[:]'", False),
        ("'Final[float64[:]]'", True),
        ("Final['float64[:] | int64[:]']", True),
        ("'Final[float64[:]] | int64[:]'", False),
        ("'Final[T[:]]'", True),
        ("Final[T]", True),
        ("T", False),
    ],
)
def test_a_parameter_is_final_when_all_its_types_are(annotation: str, final: bool) -> None:
    before = "T = TypeVar('T', int, float)\n"
    code = f"{TYPING}{before}\ndef f(x: {annotation}):\n    return 1\n"
    assert signature_of(code).parameters[0].final is final


def test_a_class_of_the_cell_is_a_type_with_and_without_quotes() -> None:
    signature = signature_of("""
        class Grid:
            def __init__(self, n: int):
                self.n = n
        def f(a: Grid, b: 'Grid'):
            return a.n + b.n
    """)
    assert [one.types[0].container for one in signature.parameters] == ["class", "class"]
    assert [one.types[0].dtype for one in signature.parameters] == ["Grid", "Grid"]


# ---- annotations that Pyccel does not read ----------------------------------------------------

REFUSED = [
    ("'np.float64[:]'", "without their module", "x: 'float64[:]'"),
    ("'float64[n]'", "no extents", "x: 'float64[:]'"),
    ("'float64[10, 3]'", "no extents", "x: 'float64[:,:]'"),
    ("'float64[]'", "no extents", "x: 'float64[:]'"),
    ("'float64[...]'", "no extents", "x: 'float64[:]'"),
    ("'float64[::]'", "no extents", "x: 'float64[:]'"),
    ("'float64[:,:,]'", "no extents", "x: 'float64[:,:]'"),
    ("''", "no annotation", "x: 'float64[:]'"),
    ("3", "no annotation", "x: 'float64[:]'"),
    ("'const float64[:]'", "const", "from typing import Final\nx: 'Final[float64[:]]'"),
    ("'uint8[:]'", "unsigned", "x: 'int16[:]'"),
    ("np.uint32", "unsigned", "x: 'int64'"),
    ("'float16[:]'", "float16", "x: 'float32[:]'"),
    ("'f8[:]'", "f8", "x: 'float64[:]'"),
    ("np.bool_", "bool_", "x: 'bool'"),
    ("np.ndarray", "neither the dtype", "x: 'float64[:]'"),
    ("NDArray[np.float64]", "neither the dtype", "x: 'float64[:]'"),
    ("'flaot64[:]'", "flaot64", "x: 'float64[:]'"),
    ("object", "object", "x: "),
    ("Optional[float]", "Optional", "x: 'float' = None"),
    ("Union[float, int]", "Union", "x: 'float | int'"),
    ("List[int]", "List", "x: 'list[int]'"),
    ("list", "of what", "x: 'list[int]'"),
    ("tuple", "of what", "x: 'tuple[int, ...]'"),
    ("float | None", "None", "x: float = None"),
    ("'float64[:,:](order=X)'", "order=X", "x: 'float64[:,:](order=F)'"),
    ("'Final[float64[:] | float32[:]]'", "inside Final", "x: Final['float64[:] | float32[:]']"),
    ("'str[:]'", "numbers", "x: 'float64[:]'"),
    ("sp.float64", "not imported", "import sp"),
    ("dict[int, float]", "cannot be passed", "x: 'float64[:]'"),
    ("list[list[int]]", "cannot be passed", "x: 'float64[:]'"),
    ("tuple[int, int]", "fixed length", "x: 'tuple[int64, ...]'"),
    ("'(float)(float)'", "takes a function", "def _f(x: '(float)(float)'):"),
]


@pytest.mark.parametrize(("annotation", "said", "fix"), REFUSED)
def test_an_annotation_that_pyccel_cannot_read_is_refused_in_its_line(
    annotation: str, said: str, fix: str
) -> None:
    error = refusal_of(annotation)
    assert said in error.message
    assert error.fix is not None
    assert error.fix.startswith(fix)
    assert error.line == 7
    assert error.source_line == f"def f(x: {annotation}):"


@pytest.mark.parametrize(
    "annotation", [one for one, said, _ in REFUSED if said not in {"takes a function", "order=X"}]
)
def test_the_fix_for_an_annotation_is_accepted_when_pasted(annotation: str) -> None:
    fix = refusal_of(annotation).fix
    assert fix is not None
    *before, parameter = fix.split("\n")
    if parameter.startswith("import"):
        return
    parameter = parameter.partition("  #")[0]
    signature_of("\n".join([*before, TYPING, f"def f({parameter}):\n    return 1\n"]))


def test_an_order_behind_a_union_alias_is_refused_because_pyccel_drops_it() -> None:
    error = refusal_of("'T[:,:](order=F)'", "T: TypeAlias = 'int | float'\n")
    assert "ignored" in error.message
    assert error.fix == "x: 'int64[:,:](order=F) | float64[:,:](order=F)'"


def test_final_without_its_import_is_refused_with_the_import() -> None:
    with pytest.raises(CellError, match="not imported") as caught:
        signature_of("def f(x: 'Final[float64[:]]'):\n    return x[0]\n")
    assert caught.value.fix == "from typing import Final"


def test_a_column_counts_characters_and_not_bytes() -> None:
    with pytest.raises(CellError) as caught:
        signature_of("def f(é: float, x: 'uint8[:]'):\n    return é\n", language="c")
    assert caught.value.column == 20


# ---- variants -------------------------------------------------------------------------------


def variants(code: str) -> list[list[str]]:
    return [[one.text for one in variant] for variant in signature_of(code).variants]


def test_a_plain_function_has_one_variant() -> None:
    assert variants("def f(x: 'float[:]', n: int):\n    return x[n]\n") == [["float64[:]", "int"]]


def test_unions_of_two_parameters_make_their_product() -> None:
    found = variants("def f(x: 'float | int', y: 'float | int'):\n    return x + y\n")
    assert found == [["float", "float"], ["float", "int"], ["int", "float"], ["int", "int"]]


def test_a_typevar_links_the_parameters_that_use_it() -> None:
    found = variants(f"""{TYPING}
T = TypeVar('T', 'float64[:]', 'float32[:]')
def f(x: T, y: 'T'):
    return x[0] + y[0]
""")
    assert found == [["float64[:]", "float64[:]"], ["float32[:]", "float32[:]"]]


def test_a_typevar_of_elements_makes_arrays_and_scalars_of_one_type() -> None:
    found = variants(f"""{TYPING}
T = TypeVar('T', float, int)
def f(x: 'T[:,:](order=F)', y: T):
    return x[0, 0] + y
""")
    assert found == [["float64[:,:](order=F)", "float"], ["int64[:,:](order=F)", "int"]]


def test_a_typealias_of_a_union_does_not_link() -> None:
    found = variants(f"""{TYPING}
T: TypeAlias = 'float64[:] | float32[:]'
def f(x: T, y: T):
    return x[0] + y[0]
""")
    assert len(found) == 4


def test_a_union_inside_a_constraint_multiplies() -> None:
    found = variants(f"""{TYPING}
T = TypeVar('T', 'float64[:] | float32[:]', 'int64[:]')
def f(x: T, y: T):
    return x[0] + y[0]
""")
    assert len(found) == 5


def test_final_inside_a_constraint_is_refused_because_pyccel_does_not_find_it() -> None:
    error = refusal_of("T", "T = TypeVar('T', 'Final[float64[:]]', 'float32[:]')\n")
    assert "inside the TypeVar" in error.message


def test_too_many_variants_are_refused() -> None:
    parameters = ", ".join(f"x{i}: 'float | int'" for i in range(7))
    with pytest.raises(CellError, match=f"more than {MAX_VARIANTS}"):
        signature_of(f"def f({parameters}):\n    return x0\n")


def test_as_many_variants_as_are_allowed_are_read() -> None:
    parameters = ", ".join(f"x{i}: 'float | int'" for i in range(6))
    assert len(signature_of(f"def f({parameters}):\n    return x0\n").variants) == MAX_VARIANTS


# ---- Pyccel itself is the oracle --------------------------------------------------------------

ORACLE = """
import contextlib, io, json, os, sys
from pyccel.ast.datatypes import FinalType
from pyccel.naming import name_clash_checkers
from pyccel.parser.parser import Parser
from pyccel.parser.scope import Scope

def element(kind):
    text = str(getattr(kind, "element_type", kind)) if kind.rank else str(kind)
    return text.replace("numpy.", "")

def describe(variable):
    kind = variable.class_type
    kind = kind.underlying_type if isinstance(kind, FinalType) else kind
    return [element(kind), variable.rank, variable.order]

answers = {}
for name, code in json.load(sys.stdin).items():
    folder = os.path.join(os.getcwd(), name)
    os.mkdir(folder)
    path = os.path.join(folder, "cell.py")
    open(path, "w").write(code)
    with contextlib.redirect_stdout(io.StringIO()):
        Scope.name_clash_checker = name_clash_checkers["c"]
        parser = Parser(path, output_folder=folder)
        parser.parse(verbose=0)
        parser.annotate(verbose=0)
    module = parser.semantic_parser.ast
    functions = [*module.funcs, *(one for i in module.interfaces for one in i.functions)]
    answers[name] = sorted({
        json.dumps([describe(a.var) for a in one.arguments])
        for one in functions if one.name.startswith(("cell__f", "f")) and one.arguments
    })
json.dump(answers, sys.stdout)
"""


@pytest.mark.slow
def test_types_and_variants_agree_with_what_pyccel_itself_reads(tmp_path: Path) -> None:
    before = f"{TYPING}{NUMPY}"
    before = before.replace("import numpy\n", "").replace("int32\n", "int32 as i32\n")
    codes = {
        f"form{index}": f"{before}\ndef f(x: {annotation}):\n    return 1\n"
        for index, (annotation, _) in enumerate(FORMS)
        # No elements to compare: str has rank 1 for Pyccel, containers have none.
        if not any(word in annotation for word in ("tuple", "list", "set", "str", "numpy."))
    }
    linked = f"{TYPING}T = TypeVar('T', float, int)\nS = TypeVar('S', 'int32[:]', 'float[:,:]')\n"
    codes["linked"] = linked + "def f(x: 'T[:]', y: T, z: S, w: 'S'):\n    return 1\n"
    codes["product"] = "def f(x: 'int | float', y: 'int8[:] | int16[:]'):\n    return 1\n"
    child = subprocess.run(
        [sys.executable, "-c", ORACLE],
        input=json.dumps(codes),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=True,
    )
    answers = json.loads(child.stdout)
    for name, code in codes.items():
        own = {
            json.dumps(
                [
                    [
                        one.text if one.python_scalar else one.dtype,
                        one.rank,
                        one.order if one.rank > 1 else None,
                    ]
                    for one in variant
                ]
            )
            for variant in signature_of(code).variants
        }
        assert sorted(own) == answers[name], code


# ---- defaults -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("default", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("2 * 3 + 1", 7),
        ("7 // 2", 3),
        ("2 ** 3", 8),
        ("1.0 / 4", 0.25),
        ("+2.5", 2.5),
        ("True", True),
        ("not True", False),
        ("~1", -2),
        ("1 + 2j", 1 + 2j),
        ("None", None),
        ("np.pi", np.pi),
        ("-np.pi / 2", -np.pi / 2),
        ("math.sqrt(2.0)", 2.0**0.5),
        ("np.sqrt(2.0)", 2.0**0.5),
        ("np.arctan2(1.0, 2.0)", np.arctan2(1.0, 2.0)),
        ("float(3)", 3.0),
    ],
)
def test_a_default_is_evaluated_without_running_the_cell(default: str, value: object) -> None:
    code = f"import math\nimport numpy as np\ndef f(x: float = {default}):\n    return 1\n"
    found = signature_of(code).parameters[0].default
    assert found == value
    assert type(found) is type(value) or isinstance(value, np.floating)


def test_a_default_may_name_a_constant_of_the_cell_in_c() -> None:
    code = "N = 2 * 4\ndef f(x: int = N + 1):\n    return x\n"
    assert signature_of(code, language="c").parameters[0].default == 9


def test_fortran_needs_the_value_where_a_default_names_a_constant() -> None:
    with pytest.raises(CellError, match="fortran does not see") as caught:
        signature_of("N = 4\ndef f(x: int = N + 1):\n    return x\n")
    assert caught.value.fix == "x: int = 5"


@pytest.mark.parametrize(
    "parameter",
    ["x: str = 'abc'", "x: 'tuple[int, ...]' = (1, 2)", "x: 'float[:]' = 3.0"],
)
def test_a_default_that_does_not_arrive_is_refused(parameter: str) -> None:
    with pytest.raises(CellError, match="does not arrive"):
        signature_of(f"def f({parameter}):\n    return 1\n")


@pytest.mark.parametrize("default", ["h()", "2 ** 10 ** 9", "1 / 0", "[1, 2]", "'a' * 10 ** 9"])
def test_a_default_that_is_no_constant_is_refused(default: str) -> None:
    code = f"def h() -> float:\n    return 3.0\ndef f(x: float = {default}):\n    return x\n"
    with pytest.raises(CellError, match="not a constant"):
        signature_of(code)


def test_an_optional_array_has_the_default_none_and_says_so() -> None:
    signature = signature_of("""
        def f(x: 'float[:]' = None, n: int = 3, m: int = 4):
            if x is None:
                return 1.0
            return x[0]
    """)
    assert [one.optional for one in signature.parameters] == [True, False, False]


# ---- limits ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "most"), [("fortran", 15), ("c", 8)])
def test_more_axes_than_a_language_has_are_refused(language: str, most: int) -> None:
    def code(rank: int) -> str:
        return f"def f(x: 'float64[{','.join(':' * rank)}]'):\n    return x.size\n"

    assert signature_of(code(most), language=language).parameters[0].types[0].rank == most
    with pytest.raises(CellError, match=f"at most {most}"):
        signature_of(code(most + 1), language=language)


def test_nine_axes_in_c_are_told_that_fortran_has_them() -> None:
    with pytest.raises(CellError) as caught:
        signature_of("def f(x: 'int[:,:,:,:,:,:,:,:,:]'):\n    return x.size\n", language="c")
    assert caught.value.fix is not None
    assert "--language fortran" in caught.value.fix


@pytest.mark.parametrize(
    ("parameters", "language"),
    [("x: int, *, end: int", "fortran"), ("A: int, *, a: int", "fortran"), ("*, double: int", "c")],
)
def test_a_keyword_only_name_that_pyccel_renames_is_refused(parameters: str, language: str) -> None:
    with pytest.raises(CellError, match="keyword-only"):
        signature_of(f"def f({parameters}):\n    return 1\n", language=language)


def test_a_positional_name_that_pyccel_renames_is_fine() -> None:
    names = [
        one.name
        for one in signature_of("def f(end: int, A: int, a: int):\n    return 1\n").parameters
    ]
    assert names == ["end", "A", "a"]


def test_a_function_for_the_cell_alone_may_take_functions_and_dicts() -> None:
    cell = parse_cell("""
def _apply(g: '(float)(float)', x: float):
    return g(x)
def _look(d: 'dict[int, float]'):
    return d[1]
def f(x: float):
    return x
""")
    kinds = [
        cell.functions[name].signature.parameters[0].types[0].container
        for name in ("_apply", "_look")
    ]
    assert kinds == ["function", "dict"]


# ---- binding: Python is the oracle ------------------------------------------------------------

BINDING = "def f(a, b, /, c, d=4, *, g=7, e):\n    return (a, b, c, d, g, e)\n"
TYPED = "def f(a: int, b: int, /, c: int, d: int = 4, *, g: int = 7, e: int):\n    return a\n"
CALLS = [
    ((1, 2, 3), {"e": 5}),
    ((1, 2, 3, 9), {"e": 5, "g": 6}),
    ((1, 2), {"c": 3, "d": 8, "e": 5}),
    ((1, 2), {}),
    ((), {}),
    ((1,), {"b": 2, "c": 3, "e": 5}),
    ((1, 2, 3, 4, 5), {"e": 5}),
    ((1, 2, 3, 4, 5, 6), {}),
    ((1, 2, 3), {}),
    ((1, 2, 3), {"e": 5, "z": 1}),
    ((1, 2, 3), {"c": 3, "e": 5}),
]


@pytest.mark.parametrize(("args", "kwargs"), CALLS)
def test_a_call_binds_or_fails_exactly_as_python_says(
    args: tuple[int, ...], kwargs: dict[str, int]
) -> None:
    namespace: dict[str, object] = {}
    exec(BINDING, namespace)
    function = namespace["f"]
    assert callable(function)
    signature = signature_of(TYPED)
    expected = _outcome(lambda: function(*args, **kwargs))
    assert _outcome(lambda: signature.bind(args, kwargs)) == expected


def _outcome(call: Callable[[], object]) -> object:
    try:
        return call()
    except TypeError as error:
        return str(error)


def test_binding_fills_none_as_a_default() -> None:
    signature = signature_of("def f(n: int, x: 'float[:]' = None):\n    return n\n")
    assert signature.bind((1,), {}) == (1, None)


def test_binding_does_not_compare_the_values_that_it_is_given() -> None:
    signature = signature_of("def f(x: 'float[:]', n: int = 3):\n    return x[n]\n")
    array = np.zeros(3)
    bound = signature.bind((array,), {})
    assert bound[0] is array
    assert bound[1] == 3


def test_a_function_without_parameters_binds_nothing() -> None:
    signature = signature_of("def f():\n    return 1\n")
    assert signature.bind((), {}) == ()
    assert signature.variants == ((),)
    with pytest.raises(TypeError, match="takes 0 positional arguments but 1 was given"):
        signature.bind((1,), {})


# ---- the rest -------------------------------------------------------------------------------


def test_the_inspect_signature_shows_kinds_defaults_and_types() -> None:
    signature = signature_of(
        "def f(a: 'float[:]', /, b: 'int | float' = 3, *, c: bool = True) -> 'float64[:]':\n"
        "    return a\n"
    )
    shown = signature.to_inspect()
    kinds = [one.kind for one in shown.parameters.values()]
    assert kinds == [
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    ]
    assert shown.parameters["a"].annotation == "float64[:]"
    assert shown.parameters["b"].annotation == "int | float"
    assert shown.parameters["b"].default == 3
    assert shown.return_annotation == "'float64[:]'"


def test_a_signature_survives_pickling_with_its_missing_defaults() -> None:
    signature = signature_of("def f(x: 'float[:]', n: int = 3):\n    x[0] = n\n")
    again = pickle.loads(pickle.dumps(signature))
    assert again == signature
    assert again.parameters[0].default is NO_DEFAULT


def test_a_parameter_knows_where_it_stands() -> None:
    signature = signature_of("\ndef f(\n    x: 'float[:]',\n    n: int,\n):\n    return x[n]\n")
    places = [(one.line, one.column) for one in signature.parameters]
    assert places == [(3, 5), (4, 5)]


def test_outputs_are_the_parameters_that_are_not_only_read() -> None:
    def parameter(name: str, intent: Intent) -> Parameter:
        return Parameter(name=name, types=(), intent=intent, annotation="", line=1, column=1)

    parameters = (parameter("a", "in"), parameter("b", "inout"), parameter("c", "out"))
    assert Signature(name="f", parameters=parameters, variants=()).outputs == ("b", "c")


def test_a_signature_can_be_read_from_a_node_alone() -> None:
    node = ast.parse("def f(x: 'float[:]', n: int): pass").body[0]
    assert isinstance(node, ast.FunctionDef)
    signature = parse_signature(node, typevars={}, classes=frozenset())
    assert [one.intent for one in signature.parameters] == ["in", "in"]

"""Whether a Pyccel kernel and a CUDA kernel of one name can be one object."""

from __future__ import annotations

from typing import Any

import pytest

from kit.cell import parse_cell
from kit.cuda.pairing import check_pair, find_differences
from kit.cuda.signature import CudaParameter, CudaSignature, Element
from kit.errors import CellError
from kit.signature import Signature

DOUBLE = Element("float64", 1, 8, 8, "double")
FLOAT = Element("float32", 1, 4, 4, "float")
INT = Element("int32", 1, 4, 4, "int")
FLOAT4 = Element("float32", 4, 16, 16, "float4")


def parameter(name: str, text: str, **facts: Any) -> CudaParameter:
    values = {
        "name": name,
        "kind": "pointer",
        "element": DOUBLE,
        "ndim": None,
        "intent": "inout",
        "restrict": False,
        "size": 8,
        "alignment": 8,
        "offset": 0,
        "text": text,
        "line": 4,
        "column": 10,
    }
    return CudaParameter(**{**values, **facts})


def array(name: str, *, written: bool = True, **facts: Any) -> CudaParameter:
    text = "double*" if written else "const double*"
    facts.setdefault("intent", "inout" if written else "in")
    return parameter(name, facts.pop("text", text), **facts)


def view(name: str, ndim: int, *, kind: str = "view", **facts: Any) -> CudaParameter:
    return array(name, text=f"Array{ndim}D<double>", kind=kind, ndim=ndim, **facts)


def value(name: str, element: Element = INT, kind: str = "scalar") -> CudaParameter:
    return parameter(name, element.text, kind=kind, element=element, intent="in")


def cuda(*parameters: CudaParameter) -> CudaSignature:
    return CudaSignature("f", "f", "_Z1f", parameters, 8, None, None, "", 3, "")


def host(parameters: str, body: str = "    out[0] = 0.0\n", name: str = "f") -> Signature:
    cell = f"from typing import Final\n\ndef {name}({parameters}):\n{body}"
    return parse_cell(cell).functions[name].signature


def texts(one: Signature, other: CudaSignature, **options: Any) -> list[str]:
    return [difference.text for difference in find_differences(one, other, **options)]


ONE = host("z: 'Final[float64[:]]', out: 'float64[:]', n: int", "    out[0] = z[n]\n")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ONE, cuda(array("z", written=False), array("out"), value("n"))),
        (ONE, cuda(view("z", 1, written=False), view("out", 1), value("n"))),
        (ONE, cuda(view("z", 1, kind="cview", written=False), array("out"), value("n"))),
        (host("out: 'float64[:,:]'", "    out[0, 0] = 1.0\n"), cuda(view("out", 2))),
        (host("out: 'float64[:,:](order=F)'", "    out[0, 0] = 1.0\n"), cuda(view("out", 2))),
        (host("out: 'float64[:,:]'", "    out[0, 0] = 1.0\n"), cuda(array("out"))),
        (
            host("a: float, n: bool", "    pass\n"),
            cuda(value("a", DOUBLE), value("n", INT._replace(dtype="bool"))),
        ),
        (
            host("v: 'Final[float32[:,:]]'", "    pass\n"),
            cuda(array("v", written=False, element=FLOAT4, text="const float4*")),
        ),
        (
            host("v: 'Final[float32[:,:]]'", "    pass\n"),
            cuda(view("v", 1, written=False, element=FLOAT4)),
        ),
        (host("", "    pass\n"), cuda()),
    ],
)
def test_versions_that_one_call_can_serve_agree(one: Signature, other: CudaSignature) -> None:
    assert texts(one, other) == []
    check_pair(one, other)


Z = array("z", written=False)
OUT = array("out")


@pytest.mark.parametrize(
    ("other", "text", "fix"),
    [
        ((Z, OUT), "n: only the Pyccel version takes it", "take n in both"),
        (
            (Z, OUT, value("n"), value("m")),
            "m: only the CUDA version takes `int`",
            "add `m: int` to the Pyccel version",
        ),
        (
            (OUT, Z, value("n")),
            "the order is (z, out, n) in Pyccel and (out, z, n) in CUDA",
            "take (z, out, n)",
        ),
        (
            (Z, array("out", element=FLOAT, text="float*"), value("n")),
            "`float*` in CUDA",
            "is `double`",
        ),
        ((Z, view("out", 2), value("n")), "1-D in Pyccel", "Array1D<...>"),
        ((array("z"), OUT, value("n")), "z: only read in Pyccel, not const", "declare z const"),
        (
            (Z, array("out", written=False), value("n")),
            "out: written in Pyccel, const",
            "leave out the const",
        ),
        ((Z, OUT, value("n", DOUBLE)), "n: int in Pyccel, `double` in CUDA", "long long"),
        ((Z, OUT, value("n", FLOAT4, "vector")), "`float4` in CUDA", "declare n"),
        ((Z, OUT, array("n")), "n: a value in Pyccel (int), an array in CUDA", "alike"),
    ],
)
def test_each_difference_is_named_with_its_fix(
    other: tuple[CudaParameter, ...], text: str, fix: str
) -> None:
    (found,) = find_differences(ONE, cuda(*other))
    assert text in found.text
    assert fix in found.fix


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ("out: 'float64[:,:](order=F)'", array("out"), "F order in Pyccel"),
        ("out: 'float64[:,:](order=F)'", view("out", 2, kind="cview"), "F order in Pyccel"),
        ("out: 'float64[:] | float32[:]'", array("out"), "several types in Pyccel"),
        ("out: 'list[float]'", array("out"), "which no CUDA kernel takes"),
        ("out: str", array("out"), "which no CUDA kernel takes"),
        ("out: float = 1.0", value("out", DOUBLE), "has a default in Pyccel"),
        ("out: float", value("out", FLOAT), "float in Pyccel, `float` in CUDA"),
        ("out: bool", value("out"), "bool in Pyccel"),
    ],
)
def test_what_only_python_has_is_a_difference(one: str, other: CudaParameter, text: str) -> None:
    body = "    out[0, 0] = 1.0\n" if ":,:" in one else "    out[0] = 1.0\n"
    if "[" not in one or "list" in one:
        body = "    pass\n"
    found = texts(host(one, body), cuda(other))
    assert any(text in line for line in found)


def test_a_returned_value_is_a_difference() -> None:
    (found,) = texts(host("", "    pass\n"), cuda(), returns=True)
    assert "returns a value" in found


def test_the_error_names_all_differences_and_stands_at_the_first_parameter() -> None:
    other = cuda(array("z", line=3, column=7), array("out", written=False, line=4), value("n"))
    with pytest.raises(CellError) as caught:
        check_pair(ONE, other, cell="\n\nvoid f(double* z,\n       const double* out) {}\n")
    assert (caught.value.line, caught.value.column) == (3, 7)
    assert caught.value.source_line == "void f(double* z,"
    assert "z: only read in Pyccel" in caught.value.message
    assert "out: written in Pyccel" in caught.value.message
    assert caught.value.fix is not None
    assert len(caught.value.fix.splitlines()) == 2


def test_an_error_of_the_whole_kernel_stands_in_its_first_line() -> None:
    with pytest.raises(CellError) as caught:
        check_pair(host("n: int", "    pass\n"), cuda())
    assert (caught.value.line, caught.value.column) == (3, None)

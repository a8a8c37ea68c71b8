"""A kernel's signature in words."""

from __future__ import annotations

from dataclasses import replace

from kit.boundary.describe import describe_kernel
from kit.cell import parse_cell
from tests.unit.signatures import read


def test_a_repr_shows_defaults_and_how_parameters_may_be_passed() -> None:
    source = (
        "def f(x: 'float64[:]', /, y: 'float64[:]', a: float = 2.5, *, n: int = 3) -> float: ..."
    )
    shown = describe_kernel(read(source, ["y"]), {})
    assert shown == (
        "<PyccelKernel f(x: 'float64[:]', /, y: 'float64[:]' [inout], a: float = 2.5, *, "
        "n: int = 3) -> float>"
    )


def test_a_repr_says_which_outputs_are_overwritten() -> None:
    signature = read("def f(x: 'float64[:]'): ...", ["x"])
    only = replace(signature.parameters[0], intent="out")
    assert describe_kernel(replace(signature, parameters=(only,)), {}).endswith("[out])>")


def test_a_repr_tells_what_a_kernel_needs_of_extents_and_where_the_rest_is() -> None:
    names = ", ".join(f"x{one}: 'float[:]'" for one in range(6))
    body = "".join(f"    x{one}[2] = x{one}[int(x0[0])]\n" for one in range(6))
    signature = parse_cell(f"def f({names}):\n{body}").functions["f"].signature
    assert (
        describe_kernel(signature, {"language": "c"}).partition("\n")[2]
        == """\
  language  c
  needs     x0.shape[0] >= 3 (line 2)
            x1.shape[0] >= 3 (line 3)
            x2.shape[0] >= 3 (line 4)
            x3.shape[0] >= 3 (line 5)
            ... and 2 more in .signature.rules
  unseen    x0[int(x0[0])], line 2
            x1[int(x0[0])], line 3
            x2[int(x0[0])], line 4
            x3[int(x0[0])], line 5
            ... and 2 more in .signature.unseen>"""
    )

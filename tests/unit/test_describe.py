"""A kernel's signature in words."""

from __future__ import annotations

from dataclasses import replace

from kit.boundary.describe import describe_kernel
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

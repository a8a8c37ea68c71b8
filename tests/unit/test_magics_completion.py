"""Tab on a magic line: options, values, parameters, kernels."""

from __future__ import annotations

import jedi
import numpy as np
import pytest

import kit
from kit import PyccelKernel
from kit.magics.completion import complete_line
from kit.magics.specs import MagicSpec, Option, Positional

SPEC = MagicSpec(
    name="make",
    is_cell=True,
    summary="Make.",
    options=(
        Option(name="language", short="l", metavar="L", choices=("fortran", "c"), help=""),
        Option(
            name="outputs",
            short="o",
            metavar="A",
            repeatable=True,
            completes="parameters",
            help="",
        ),
        Option(name="flags", metavar="F", help=""),
        Option(name="force", help=""),
        Option(name="debug", help="", later="wait"),
    ),
    example="",
)
CELL = "%%make -o \ndef f(z: 'float[:]',\n      out: float, *, n: int) -> int:\n    re turn\n"
OPTIONS = ["--language", "--outputs", "--flags", "--force"]


@pytest.mark.parametrize(
    ("before", "fragment", "found"),
    [
        ("", "", OPTIONS),
        ("-", "-", OPTIONS),
        ("--", "--", OPTIONS),
        ("--la", "--la", ["--language"]),
        ("--f", "--f", ["--flags", "--force"]),
        ("-l", "-l", ["-l"]),
        ("-l ", "", ["fortran", "c"]),
        ("--language f", "f", ["fortran"]),
        ("--language=", "", ["fortran", "c"]),
        ("--language=c", "c", ["c"]),
        ("--language c ", "", ["--outputs", "--flags", "--force"]),
        ("--language=c -", "-", ["--outputs", "--flags", "--force"]),
        ("-o z ", "", OPTIONS),  # may be given again
        ("-o ", "", ["z", "out", "n"]),
        ("-o z,o", "o", ["out"]),
        ("-o f:z", "z", ["z"]),
        ("--outputs=", "", ["z", "out", "n"]),
        ("--flags ", "", []),
        ("--de", "--de", []),  # not there yet
    ],
)
def test_completion_of_a_cell_magic(before: str, fragment: str, found: list[str]) -> None:
    assert complete_line(SPEC, before, cell=CELL) == (fragment, found)


def test_completion_of_a_word_and_of_kernels() -> None:
    cache = MagicSpec(
        name="c",
        is_cell=False,
        summary="",
        positional=Positional(metavar="A", choices=("list", "size")),
        example="",
    )
    log = MagicSpec(
        name="l",
        is_cell=False,
        summary="",
        options=(Option(name="all", help=""),),
        positional=Positional(metavar="NAME", completes="kernels"),
        example="",
    )
    assert complete_line(cache, "l") == ("l", ["list"])
    assert complete_line(cache, "list ")[1] == []
    assert complete_line(log, "", kernels=["f", "g"]) == ("", ["f", "g"])
    assert complete_line(log, "--all g", kernels=["f", "g"]) == ("g", ["g"])
    assert complete_line(log, "-", kernels=["f"])[1] == ["--all"]


def test_completion_of_a_call_names_kernels_and_leaves_arguments_to_python() -> None:
    plan = MagicSpec(name="p", is_cell=False, summary="", takes_expression=True, example="")
    assert complete_line(plan, "sl", kernels=["slope", "f"]) == ("sl", ["slope"])
    assert complete_line(plan, "slope(z", kernels=["zebra"])[1] == []


def test_a_cell_that_is_no_python_yet_still_completes() -> None:
    cell = "%%make -o \ndef f(a: int):\n  pass\ndef g(b: 'float[:]', (:\n"
    assert complete_line(SPEC, "-o ", cell=cell)[1] == ["a"]


def test_tab_after_a_kernels_dot_finds_its_attributes() -> None:
    # IPython asks Jedi, which raises on a property whose evaluated type is a Literal.
    kernel = PyccelKernel(lambda x: None, signature="def scale(x: 'float64[:]'): ...")
    found = {one.name for one in jedi.Interpreter("scale.", [{"scale": kernel}]).complete()}
    assert {"python", "plan", "outputs", "language", "policy", "log"} <= found


def test_tab_after_a_results_dot_finds_its_attributes() -> None:
    kernel = PyccelKernel(lambda x: None, signature="def scale(x: 'float64[:]'): ...")
    plan = kernel.plan(np.zeros(3))
    facts = kit.inspect_layout(np.zeros(3))
    names = {"plan": plan, "argument": plan.arguments[0], "facts": facts}
    for name in names:
        found = [one.name for one in jedi.Interpreter(f"{name}.", [names]).complete()]
        assert any(not one.startswith("_") for one in found), name

"""Lists, sets, tuples and objects: what passes, what gets a list of its own, what is refused."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kit.kernel import PyccelKernel
from kit.plan import CallPlan, plan_call
from kit.signature import Signature
from kit.terms import Language
from kit.transfer import prepare_argument
from tests.unit.signatures import read

TWO = "def two(a: 'list[int]', b: 'list[int]'): ..."


def plan(
    source: str | Signature,
    *values: Any,
    outputs: Any = (),
    language: Language = "c",
    module: Any = None,
) -> CallPlan:
    signature = read(source, outputs) if isinstance(source, str) else source
    return plan_call(
        signature.name, signature, values, policy="warn", language=language, module=module
    )


def as_final(signature: Signature) -> Signature:
    """The same with every parameter Final."""
    parameters = tuple(replace(one, final=True) for one in signature.parameters)
    return replace(signature, parameters=parameters)


def one_list(kind: str, value: Any, **rest: Any) -> CallPlan:
    return plan(f"def f(l: '{kind}'): ...", value, **rest)


FITTING = [
    ("list[int]", [1, -(2**63), 2**63 - 1]),
    ("list[int]", []),
    ("list[float]", [1.0, float("nan")]),
    ("list[bool]", [True]),
    ("list[int32]", [np.int32(3)]),
    ("set[complex]", {1j}),
    ("tuple[float, ...]", (1.0, np.float64(2))),
    ("tuple[str, ...]", ("abc",)),
]

BAD = [
    ("list[bool]", [True, np.True_], "l[1] is np.True_", [True, True]),
    ("set[bool]", {np.True_}, "an element of l is np.True_", {True}),
    ("tuple[bool, ...]", (np.False_,), "l[0] is np.False_", (False,)),
    ("list[int]", [np.int64(3)], "l[0] is np.int64(3)", [3]),
    ("list[int]", [1, True], "l[1] is the bool True", [1, 1]),
    ("list[int]", [1, 1.5], "l[1] is the float 1.5", [1, 1]),
    ("list[int]", [0, 2**63], f"l[1] is the int {2**63}", [0, 2**63 - 1]),
    ("list[int]", [2j, -(2**70)], "l[0] is the complex 2j", [0, -(2**63)]),
    ("list[int]", [1, "a"], "l[1] is the str 'a'", [0, 0]),
    ("list[int8]", [np.int16(300)], "l[0] is np.int16(300)", [np.int8(127)]),
    ("list[int32]", [1], "l[0] is the int 1", [np.int32(1)]),
    ("list[float]", [1.0, 1], "l[1] is the int 1", [1.0, 1.0]),
    ("list[float]", [2j], "l[0] is the complex 2j", [0.0]),
    ("list[complex]", [1.0], "l[0] is the float 1.0", [1 + 0j]),
    ("list[str]", ["a\0é"], "l[0] is the str", ["a?"]),
]


@pytest.mark.parametrize("language", ["fortran", "c"])
@pytest.mark.parametrize(("kind", "value"), FITTING)
def test_elements_of_the_declared_type_pass(kind: str, value: Any, language: Language) -> None:
    assert one_list(kind, value, language=language).refused is None


@pytest.mark.parametrize("language", ["fortran", "c"])
@pytest.mark.parametrize(("kind", "value", "found", "fixed"), BAD)
def test_an_element_of_another_type_is_refused_by_its_index_with_a_fix_that_works(
    kind: str, value: Any, found: str, fixed: Any, language: Language
) -> None:
    refused = one_list(kind, value, language=language).refused
    assert refused is not None
    assert refused.found.startswith(found)
    assert kind in refused.need
    scope = {"l": value, "np": np}
    exec(refused.fix, scope)
    assert scope["l"] == fixed
    assert one_list(kind, scope["l"], language=language).passes


def test_the_fix_says_when_it_changes_numbers() -> None:
    exact, cut = one_list("list[int]", [np.int8(3)]), one_list("list[int]", [1.5])
    assert exact["l"].fix == "l = [int(one) for one in l]"
    assert cut["l"].fix == "l = [int(one) for one in l]  # not all exact"


def test_a_list_that_is_written_is_mended_in_place() -> None:
    refused = one_list("list[int]", [True], outputs=("l",))["l"]
    assert refused.fix == "l[:] = [int(one) for one in l]"


def test_elements_that_pyccel_would_replace_are_kept_by_a_list_of_its_own() -> None:
    value = [np.float64(1), 2.0]
    planned = one_list("list[float]", value)["l"]
    assert planned.action == "CONVERT"
    prepared = prepare_argument(value, planned)
    assert prepared == value
    assert prepared is not value
    assert one_list("list[float]", value, language="fortran").passes
    assert plan(as_final(read("def f(l: 'list[float]'): ...")), value).passes
    assert one_list("list[float]", value, outputs=("l",)).passes


@pytest.mark.parametrize(("output", "read_only"), [("a", "b"), ("b", "a")])
def test_a_list_that_is_also_written_under_another_name_is_read_as_it_was(
    output: str, read_only: str
) -> None:
    value = [1, 2]
    planned = plan(TWO, value, value, outputs=(output,))
    assert planned[output].action == "PASS"
    assert planned[read_only].action == "CONVERT"
    assert planned[read_only].shares_with == output
    assert prepare_argument(value, planned[read_only]) is not value


def test_a_list_that_is_written_under_two_names_is_refused() -> None:
    value = [1, 2]
    refused = plan(TWO, value, value, outputs=("a", "b")).refused
    assert refused is not None
    assert refused.parameter.name == "b"
    assert refused.fix == "b_copy = b.copy()\ntwo(a, b_copy)"


def test_equal_lists_and_lists_that_are_only_read_pass() -> None:
    value = [1, 2]
    assert plan(TWO, value, [1, 2], outputs=("a", "b")).passes
    assert plan(TWO, value, value).passes


def test_an_object_has_to_be_of_the_class_in_the_kernels_own_module() -> None:
    signature = read("def f(b: 'float'): ...")
    box = replace(signature.variants[0][0], container="class", dtype="Box", text="Box")
    (parameter,) = signature.parameters
    signature = replace(
        signature, parameters=(replace(parameter, types=(box,)),), variants=((box,),)
    )
    old, new = type("Box", (), {}), type("Box", (), {})

    module = SimpleNamespace(Box=new)
    assert plan(signature, new(), module=module).passes
    assert plan(signature, type("Sub", (new,), {})(), module=module).passes
    refused = plan(signature, old(), module=module).refused
    assert refused is not None
    assert "another build" in refused.found
    assert plan(signature, old(), module=None).passes


def test_lists_of_a_function_without_a_body_count_as_written_unless_final() -> None:
    def compiled(a: Any, b: Any, c: Any, d: Any) -> None: ...

    text = (
        "from typing import Final\n"
        "def f(a: 'list[int]', b: 'set[int]', c: 'Final[list[int]]', d: 'tuple[int, ...]'): ..."
    )
    assert PyccelKernel(compiled, signature=text).outputs == ("a", "b")

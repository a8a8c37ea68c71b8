"""Plans: decisions without any copy, and how they read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.boundary.array_fit import judge_layout
from kit.boundary.strides import beyond_c_index, why_not_in_place
from kit.layout import LayoutFacts
from kit.plan import CallPlan, plan_call
from kit.terms import Language, Order, Policy
from tests.unit.signatures import read

SMOOTH = (
    "def smooth(u: 'float64[:,:]', v: 'float64[:,:](order=F)', n: 'int', w: 'float' = 1.0): ..."
)


def plan(
    *values: Any, policy: Policy = "warn", source: str = SMOOTH, outputs: Any = ("v",)
) -> CallPlan:
    signature = read(source, outputs)
    return plan_call(signature.name, signature, values, policy=policy, language="fortran")


def facts(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int = 8) -> LayoutFacts:
    return LayoutFacts(
        shape=shape, strides_bytes=strides, itemsize=itemsize, place="host", dtype="float64"
    )


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("list[complex]", [1j, complex(2, np.inf)]),
        ("tuple[complex, ...]", (complex(1, np.nan), 1j)),
        ("set[complex]", {complex(1, -np.inf)}),
    ],
)
def test_complex_elements_that_the_wrapper_would_change_are_refused(kind: str, value: Any) -> None:
    source = f"def f(z: '{kind}'): ..."
    refused = plan(value, source=source, outputs=()).refused
    assert refused is not None
    assert "imaginary" in refused.need
    scope: dict[str, Any] = {"z": value, "np": np}
    exec(refused.fix, scope)
    assert plan(scope["z"], source=source, outputs=()).passes


def test_first_refused_argument_is_the_one_that_is_raised() -> None:
    two = plan([1.0], "text", 2.5, 1.0)
    assert [one.action for one in two.arguments] == ["REFUSE", "REFUSE", "REFUSE", "PASS"]
    refusal = two.refusal()
    assert refusal is not None
    assert refusal.argument == "u"


def test_nothing_is_planned_to_be_copied_where_something_is_refused() -> None:
    refused = plan(np.zeros((3, 3)).T, np.zeros((3, 3), dtype="int32"), 1, 1.0)
    assert refused["u"].action == "COPY"
    assert refused["v"].action == "REFUSE"
    assert refused["v"].bytes_in == refused["v"].bytes_out == 0


def test_fix_of_an_output_calls_with_the_other_arguments_and_leaves_out_defaults() -> None:
    signature = read(SMOOTH, ("v",))
    u, v = np.zeros((3, 3)), np.zeros((3, 3), "int32")

    def fix(w: float) -> list[str]:
        made = plan_call("smooth", signature, (u, v, 1, w), policy="warn", language="c")
        return made["v"].fix.splitlines()

    lines = fix(signature.parameters[3].default)  # type: ignore[arg-type]
    assert lines == [
        'v_buffer = v.astype(np.float64, order="F")',
        "smooth(u, v_buffer, n)",
        "v[...] = v_buffer",
        "# or annotate v: 'int32[:,:](order=F)'",
    ]
    assert fix(2.0)[1] == "smooth(u, v_buffer, n, w)"


def test_error_reads_as_found_need_fix() -> None:
    refusal = plan(np.zeros((3, 3)), np.broadcast_to(0.0, (3, 3)), 1, 1.0).refusal()
    assert isinstance(refusal, ValueError)
    assert str(refusal) == (
        "smooth(v): argument refused\n"
        "  found: a read-only array of shape (3, 3): it is not writeable\n"
        "  need:  a writeable array, because the kernel writes v\n"
        '  fix:   v = v.copy(order="F")'
    )


def test_plan_reads_as_a_table() -> None:
    shown = repr(plan(np.zeros((2, 3)).T.copy(order="F"), np.zeros((3, 2))[::-1], np.int32(1), 1.0))
    assert shown == (
        "smooth: would run on the host, copies 96 B in and 48 B back\n"
        "  argument  intent  declared               passed                         action   copies"
        "              reason\n"
        "  u         in      float64[:,:]           float64 array of shape (3, 2)  COPY     48 B in"
        "             F order, and the kernel declares C order\n"
        "  v         inout   float64[:,:](order=F)  float64 array of shape (3, 2)  COPY     48 B in"
        ", 48 B back  axis 0 has a negative stride\n"
        "  n         in      int                    the scalar np.int32(1)         CONVERT"
        "                      int32 to int, exact\n"
        "  w         in      float                  the scalar 1.0                 PASS"
    )


def test_html_is_escaped() -> None:
    class Odd:
        pass

    Odd.__name__ = "<script>"
    html = plan(Odd(), np.zeros((3, 3), order="F"), 1, 1.0)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "REFUSE" in html


def test_plan_holds_no_array() -> None:
    import gc

    u = np.zeros((3, 3)).T
    made = plan(u, np.zeros((3, 3), order="F"), 1, 1.0)
    assert made["u"].action == "COPY"
    assert not any(isinstance(one, np.ndarray) for one in gc.get_referents(*made.arguments))


def test_strict_turns_copies_into_refusals_before_anything_else_is_decided() -> None:
    strict = plan(
        np.zeros((3, 3)).T, np.zeros((3, 3), order="F"), np.int32(1), 1.0, policy="strict"
    )
    assert [one.action for one in strict.arguments] == ["REFUSE", "PASS", "CONVERT", "PASS"]
    assert strict["u"].error == "value"


def test_variants_are_tried_in_order_and_the_closest_refusal_is_told() -> None:
    source = "def f(x: 'float64[:] | int32[:]', n: 'int | float'): ..."
    assert plan(np.zeros(3, "int32"), 2.5, source=source, outputs=()).passes
    assert plan(np.zeros(3), 2, source=source, outputs=()).passes
    swapped = np.zeros(3, ">i4")
    converted = plan(swapped, 2, source=source, outputs=())
    assert converted["x"].action == "COPY"
    assert converted["x"].type.dtype == "int32"
    closest = plan(np.zeros(3, "int32"), "text", source=source, outputs=())
    assert closest["x"].action == "PASS"
    assert closest["n"].action == "REFUSE"


@pytest.mark.parametrize(
    ("shape", "strides", "language", "action"),
    [
        ((2**31,), (8,), "c", "REFUSE"),
        ((2**31,), (8,), "fortran", "PASS"),
        ((2**31 - 1,), (8,), "c", "PASS"),
        ((2**30,), (16,), "c", "COPY"),  # the step reaches beyond what C can index
        ((2**30,), (16,), "fortran", "PASS"),
        ((2, 2**16, 2**16), (2**35, 2**19, 8), "c", "REFUSE"),  # a stride of 2**32 elements
        ((3, 5), (2**34, 8), "c", "COPY"),
        ((3, 5), (2**34, 8), "fortran", "PASS"),
    ],
)
def test_axes_beyond_the_index_of_c(
    shape: tuple[int, ...], strides: tuple[int, ...], language: Language, action: str
) -> None:
    expected = (
        read(f"def f(x: 'float64[{','.join(':' * len(shape))}]'): ...").parameters[0].types[0]
    )
    verdict = judge_layout(
        "x", facts(shape, strides), expected, written=False, language=language, has_base=True
    )
    assert verdict.action == action


def test_writeable_is_asked_before_the_layout_is() -> None:
    expected = read("def f(x: 'float64[:]'): ...").parameters[0].types[0]
    locked = replace(facts((3,), (0,)), writeable=False)
    verdict = judge_layout("x", locked, expected, written=True, language="c", has_base=True)
    assert verdict.refusal is not None
    assert "not writeable" in verdict.refusal.found


def rebuilt(
    shape: tuple[int, ...], strides: tuple[int, ...], order: Order
) -> dict[tuple[int, ...], int]:
    """Where Pyccel's wrapper finds each element (cwrapper.c, 2.2.3), in elements."""
    axes = list(range(len(shape)))[:: -1 if order == "C" else 1]
    offsets = {(): 0}
    size = 1
    for position, axis in enumerate(axes):
        extent, step = shape[axis], strides[axis] // 8 if position == 0 else 1
        offsets = {
            (*index, i): offset + i * step * size
            for index, offset in offsets.items()
            for i in range(extent)
        }
        if position + 1 < len(axes):
            base = strides[axes[position + 1]] // (8 * size)
            size *= base
    return offsets


@given(data=st.data(), rank=st.integers(1, 4), order=st.sampled_from(["C", "F"]))
def test_rule_accepts_only_what_the_wrapper_rebuilds_rightly(
    data: st.DataObject, rank: int, order: Order
) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank)))
    steps = st.lists(st.integers(-2, 24), min_size=rank, max_size=rank)
    strides = tuple(8 * one for one in data.draw(steps))
    if data.draw(st.booleans()):
        strides = np.zeros(shape, order=order).strides
    reason = why_not_in_place(shape, strides, 8, order, has_base=True, language="fortran")
    if reason is not None:
        return
    axes = list(range(rank))[:: -1 if order == "C" else 1]
    for index, offset in rebuilt(shape, strides, order).items():
        assert offset * 8 == sum(i * strides[axis] for i, axis in zip(index, axes, strict=True))


def test_rule_accepts_what_slicing_gives_without_a_middle_step() -> None:
    whole = np.zeros((6, 7, 8))
    for view in (whole, whole[1:3], whole[:, 1:4], whole[..., 2:5], whole[::2, :, ::3]):
        shape, strides = view.shape, view.strides
        assert why_not_in_place(shape, strides, 8, "C", has_base=True, language="c") is None
    assert beyond_c_index((6, 7, 8), "C") is None


def test_steps_of_an_array_without_a_base_are_refused() -> None:
    """The wrapper ignores them; NumPy itself makes no such array, an extension module can."""
    for has_base, fits in ((True, True), (False, False)):
        reason = why_not_in_place((3,), (16,), 8, "C", has_base=has_base, language="c")
        assert (reason is None) is fits


def test_input_after_the_output_that_it_shares_is_the_one_that_is_copied() -> None:
    source = "def f(y: 'float64[:]', x: 'float64[:]', z: 'float64[:]'): ..."
    array = np.zeros(5)
    made = plan(array, array[1:], np.zeros(5), source=source, outputs=("y",))
    assert [one.action for one in made.arguments] == ["PASS", "COPY", "PASS"]
    assert made["x"].shares_with == "y"
    assert made["x"].bytes_in == 32


def test_the_annotation_that_a_fix_offers_keeps_final() -> None:
    signature = read("def f(x: 'float64[:]'): ...")
    signature = replace(signature, parameters=(replace(signature.parameters[0], final=True),))
    made = plan_call("f", signature, [np.zeros(3, "i4")], policy="warn", language="fortran")
    assert made["x"].fix.endswith("# or annotate x: 'Final[int32[:]]'")


def test_a_refusal_in_a_table_does_not_repeat_what_was_passed() -> None:
    made = plan(np.zeros((2, 2), "f4"), np.zeros((2, 2), order="F"), 1, 1.0)
    lines = repr(made).splitlines()
    refused = next(line for line in lines if "REFUSE" in line)
    assert refused.split("REFUSE")[1].strip() == "not float64[:,:]"

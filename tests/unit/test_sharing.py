"""Which arrays share elements: against brute force, and for every kind of view."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from kit.boundary import sharing
from kit.boundary.sharing import inspect_sharing, share_elements
from kit.plan import CallPlan, plan_call
from kit.terms import Policy
from tests.unit.signatures import read
from tests.unit.strided_arrays import AnyArray, used_bytes

# ---- two arrays -----------------------------------------------------------------------------

MEMORY = np.zeros(600, np.uint8)
PARENT = np.zeros((3, 4, 3), "f4")


@st.composite
def arrays_in_memory(draw: st.DrawFn) -> AnyArray:
    """An array anywhere in MEMORY: strides negative, zero, odd, overlapping."""
    dtype = np.dtype(draw(st.sampled_from(["u1", "<i2", "f4", "f8", "c16", "V3"])))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    strides = tuple(draw(st.lists(st.integers(-40, 40), min_size=len(shape), max_size=len(shape))))
    ends = [(extent - 1) * one for extent, one in zip(shape, strides, strict=True)]
    low = sum(min(end, 0) for end in ends if 0 not in shape)
    high = sum(max(end, 0) for end in ends if 0 not in shape)
    first = draw(st.integers(-low, MEMORY.size - dtype.itemsize - high))
    return np.ndarray(shape, dtype, buffer=MEMORY, offset=first, strides=strides)


@st.composite
def views(draw: st.DrawFn) -> AnyArray:
    """What users pass: PARENT cut, stepped, reversed, transposed."""
    steps = st.builds(slice, st.none() | st.integers(-4, 4), st.none(), st.sampled_from([1, 2, -1]))
    cut = PARENT[tuple(draw(steps) for _ in range(3))]
    return cut.transpose(draw(st.permutations(range(3))))


@given(st.tuples(arrays_in_memory(), arrays_in_memory()) | st.tuples(views(), views()))
@settings(max_examples=400)
def test_sharing_agrees_with_brute_force(pair: tuple[AnyArray, AnyArray]) -> None:
    a, b = pair
    truly = bool(set(used_bytes(a)) & set(used_bytes(b)))
    assert inspect_sharing(a, b) == inspect_sharing(b, a) == ("shared" if truly else "apart")
    assert share_elements(a, b) is truly


@given(arrays_in_memory(), arrays_in_memory())
@settings(max_examples=400)
def test_a_search_that_is_cut_short_never_says_apart_of_arrays_that_share(
    a: AnyArray, b: AnyArray
) -> None:
    truly = bool(set(used_bytes(a)) & set(used_bytes(b)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharing, "MAX_WORK", 1)
        found = inspect_sharing(a, b)
    assert found in ("undecided", "shared" if truly else "apart")


def hard_pair(offset: int) -> tuple[AnyArray, AnyArray]:
    """Two arrays of float64 whose strides have nothing in common, the second from `offset` on."""
    memory = np.zeros(450_000)
    a = np.ndarray((13, 14, 12), "f8", memory, 0, (8 * 40, 8 * 32691, 8 * 14))
    b = np.ndarray((18, 3, 11), "f8", memory, 8 * offset, (8 * 129, 8 * 121052, 8 * 230))
    return a, b


@pytest.mark.parametrize(("offset", "truly"), [(396, False), (400, True)])
def test_what_takes_too_long_to_decide_counts_as_shared(offset: int, truly: bool) -> None:
    a, b = hard_pair(offset)
    assert bool(set(used_bytes(a)) & set(used_bytes(b))) is truly
    assert inspect_sharing(a, b) == "undecided"
    assert share_elements(a, b)


def test_strides_beyond_any_memory_are_undecided() -> None:
    """NumPy raises OverflowError; nobody may read such an array, but a plan may be asked."""
    far = as_strided(np.zeros(16), (2,) * 4, (2**61,) * 4, writeable=False)
    found = ""
    try:
        found = inspect_sharing(far, far)
    except OverflowError:  # caught, because pytest would read the array to show it, and die
        found = "OverflowError"
    assert found == "undecided"


# ---- every way to come by two arrays on one memory -------------------------------------------

RECORD = np.dtype([("a", "f8"), ("b", "f8"), ("n", "i4")])


def mapped_twice(path: Path) -> tuple[AnyArray, AnyArray]:
    """One file at two addresses."""
    path.write_bytes(bytes(80))
    with path.open("r+b") as file:
        return tuple(np.frombuffer(mmap.mmap(file.fileno(), 80)) for _ in range(2))  # type: ignore[return-value]


def cases(memory: AnyArray, path: Path) -> dict[str, tuple[AnyArray, AnyArray, bool]]:
    values: Any = np.zeros(10, "c16")
    records = np.zeros(10, RECORD)
    one_map = np.memmap(path / "map", dtype="f8", mode="w+", shape=(10,))
    read_only = memory[:4]
    read_only.flags.writeable = False
    plane = memory.reshape(4, 5)
    buffer = bytearray(80)
    return {
        "itself": (memory, memory, True),
        "shifted": (memory[1:], memory[:-1], True),
        "reversed": (memory, memory[::-1], True),
        "transposed": (plane, plane.T, True),
        "interleaved": (memory[::2], memory[1::2], False),
        "strided onto": (memory[::3], memory[1::2], True),
        "halves": (memory[:10], memory[10:], False),
        "crops side by side": (plane[:, :2], plane[:, 2:], False),
        "crops that meet": (plane[:, :3], plane[:, 2:], True),
        "a column and its row": (plane[:, 1], plane[2], True),
        "a column beside a crop": (plane[:, 1], plane[:, 2:], False),
        "other elements over the same bytes": (memory.view("i4"), memory, True),
        "upper halves of the words": (memory.view("i4")[1::2], memory.view("i4")[::2], False),
        "real parts": (values.real, values, True),
        "real and imaginary parts": (values.real, values.imag, False),
        "a field and its records": (records["a"], records, True),
        "two fields": (records["a"], records["b"], False),
        "two views of one map": (one_map[:6], one_map[5:], True),
        "halves of one map": (one_map[:5], one_map[5:], False),
        "two memoryviews": (np.asarray(memory.data), np.asarray(memory.data), True),
        "one buffer": (np.frombuffer(buffer), np.frombuffer(buffer, offset=72), True),
        "two ends of one buffer": (
            np.frombuffer(buffer, count=9),
            np.frombuffer(buffer, offset=72),
            False,
        ),
        "DLPack": (np.from_dlpack(memory), memory[:1], True),
        "a read-only view": (read_only, memory, True),
        "a subclass": (memory.view(np.recarray), memory, True),
        "a masked array": (np.ma.masked_array(memory), memory[:1], True),
        "windows": (np.lib.stride_tricks.sliding_window_view(memory, 3), memory[-1:], True),
        "a broadcast element": (np.broadcast_to(memory[3:4], (7,)), memory[3:], True),
        "beside a broadcast element": (np.broadcast_to(memory[3:4], (7,)), memory[4:], False),
        "nothing of it": (memory[3:3], memory, False),
        "a copy": (memory.copy(), memory, False),
    }


def test_every_kind_of_view_is_told_from_its_neighbour(tmp_path: Path) -> None:
    for kind, (a, b, expected) in cases(np.zeros(20), tmp_path).items():
        assert share_elements(a, b) is expected, kind
        assert share_elements(b, a) is expected, kind


def test_a_file_that_is_mapped_twice_is_not_seen(tmp_path: Path) -> None:
    """Two addresses, one memory: the documents say that kit cannot know."""
    a, b = mapped_twice(tmp_path / "twice")
    a[0] = 5.0
    assert b[0] == 5.0
    assert not share_elements(a, b)


# ---- what a plan makes of it ----------------------------------------------------------------

SOURCE = "def f(x: 'float64[:]', y: 'float64[:]', z: 'float64[:]'): ..."
CUBES = "def f(x: 'float64[:,:,:]', y: 'float64[:,:,:]'): ..."


def plan(
    *values: Any, outputs: tuple[str, ...], source: str = SOURCE, policy: Policy = "warn"
) -> CallPlan:
    signature = read(source, outputs)
    return plan_call("f", signature, values, policy=policy, language="fortran")


def actions(made: CallPlan) -> list[str]:
    return [one.action for one in made.arguments]


def test_an_input_that_shares_with_two_outputs_is_copied_once() -> None:
    x = np.zeros(20)
    made = plan(x, x[:10], x[10:], outputs=("y", "z"))
    assert actions(made) == ["COPY", "PASS", "PASS"]
    assert made.bytes_copied == x.nbytes


def test_two_inputs_that_share_with_one_output_are_both_copied() -> None:
    x = np.zeros(20)
    assert actions(plan(x[1:], x, x[:-1], outputs=("y",))) == ["COPY", "PASS", "COPY"]


def test_in_a_chain_only_what_touches_an_output_is_copied() -> None:
    x = np.zeros(20)
    assert actions(plan(x[:10], x[5:15], x[10:], outputs=("z",))) == ["PASS", "COPY", "PASS"]
    assert actions(plan(x[:10], x[5:15], x[10:], outputs=("y",))) == ["COPY", "PASS", "COPY"]


def test_inputs_may_share_with_each_other() -> None:
    x = np.zeros(20)
    assert plan(x, x, np.zeros(20), outputs=("z",)).passes


def test_an_input_is_not_copied_for_an_output_that_is_copied_itself() -> None:
    """The kernel writes the copy, and the caller's memory changes only when it has ended."""
    memory = np.zeros(20)
    made = plan(memory, memory[::-1], np.zeros(20), outputs=("y",))
    assert actions(made) == ["PASS", "COPY", "PASS"]
    assert made["x"].shares_with == "y"
    assert made.bytes_copied == 2 * memory.nbytes
    assert actions(plan(memory, memory[::-1], memory, outputs=("y",))) == ["PASS", "COPY", "PASS"]


def paste(fix: str, values: dict[str, AnyArray], **how: Any) -> list[CallPlan]:
    """The plans of the calls that a fix makes, among the caller's variables."""
    made: list[CallPlan] = []
    exec(fix, {"np": np, "f": lambda *given: made.append(plan(*given, **how)), **values})
    return made


def test_an_input_that_is_copied_anyway_keeps_its_reason() -> None:
    memory = np.zeros(20)
    x = memory.view(">f8")
    assert "order" in plan(x, memory, memory.copy(), outputs=("y",))["x"].reason


@pytest.mark.parametrize("dtype", ["<f8", ">f8"])
def test_a_strict_refusal_of_an_input_on_an_output_can_be_mended(dtype: str) -> None:
    memory = np.zeros(20)
    values = {"x": memory.view(dtype), "y": memory, "z": np.zeros(20)}
    how: dict[str, Any] = {"outputs": ("y",), "policy": "strict"}
    refused = plan(*values.values(), **how)["x"]
    assert refused.action == "REFUSE"
    assert [one.passes for one in paste(refused.fix, values, **how)] == [True]


def test_two_outputs_on_one_memory_are_refused_and_can_be_mended() -> None:
    memory = np.zeros(20)
    values = {"x": memory, "y": memory[1:], "z": np.zeros(20)}
    refused = plan(*values.values(), outputs=("x", "y"))["y"]
    assert refused.found == "y shares elements with x, and the kernel writes both"
    assert [one.passes for one in paste(refused.fix, values, outputs=("x", "y"))] == [True]


@pytest.mark.parametrize("offset", [396, 400])
def test_a_refusal_for_want_of_proof_does_not_claim_that_outputs_share(offset: int) -> None:
    a, b = hard_pair(offset)
    made = plan(a, b.transpose(1, 0, 2), outputs=("x", "y"), source=CUBES)
    assert "may share elements" in made["y"].found
    assert "shares" not in made["y"].found


def test_an_input_that_may_share_is_copied_and_the_reason_says_may() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kit.boundary.shared_arguments.inspect_sharing", lambda a, b: "undecided")
        made = plan(np.zeros(3), np.zeros(3), np.zeros(3), outputs=("y",))
    assert actions(made) == ["COPY", "PASS", "COPY"]
    assert made["x"].reason.startswith("may share elements")

"""grid, block, n_threads and shared_bytes of a call as one launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kit.cuda.configuration import LaunchOptions, LaunchPlanner, plan_launch
from kit.errors import LaunchError
from kit.launch import Launch, LaunchLimits


def plan(
    *,
    grid: object = None,
    block: object = None,
    n_threads: object = None,
    shared_bytes: object = 0,
    shape: Any = None,
    limits: LaunchLimits = LaunchLimits(),  # noqa: B008 -- an immutable tuple
    axes: int = 1,
) -> Launch | None:
    return plan_launch(
        "f",
        grid=grid,
        block=block,
        n_threads=n_threads,
        shared_bytes=shared_bytes,
        shape=shape,
        limits=limits,
        axes=axes,
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # Nothing said: the first array's first axis.
        ({"shape": (1000,)}, Launch((4, 1, 1), (256, 1, 1))),
        ({"shape": (257, 9)}, Launch((2, 1, 1), (256, 1, 1))),
        ({"shape": ()}, Launch((1, 1, 1), (256, 1, 1))),
        # As many axes as the block has.
        ({"shape": (100, 40), "block": (8, 4)}, Launch((13, 10, 1), (8, 4, 1))),
        ({"shape": (100, 40, 3), "block": (8, 4, 2)}, Launch((13, 10, 2), (8, 4, 2))),
        ({"shape": (100,), "block": (8, 4)}, Launch((13, 1, 1), (8, 4, 1))),
        ({"shape": (100, 40), "block": 32}, Launch((4, 1, 1), (32, 1, 1))),
        # No fewer than the kernel reads, whatever the block has.
        ({"shape": (100, 40), "axes": 2}, Launch((7, 3, 1), (16, 16, 1))),
        ({"shape": (100, 40, 3), "axes": 3}, Launch((13, 5, 1), (8, 8, 4))),
        ({"shape": (100, 40), "axes": 2, "block": 32}, Launch((4, 40, 1), (32, 1, 1))),
        ({"shape": (), "axes": 1}, Launch((1, 1, 1), (256, 1, 1))),
        ({"n_threads": 9, "axes": 2}, Launch((1, 1, 1), (256, 1, 1))),
        # n_threads names the axes.
        ({"n_threads": 1}, Launch((1, 1, 1), (256, 1, 1))),
        ({"n_threads": (100, 40)}, Launch((7, 3, 1), (16, 16, 1))),
        ({"n_threads": (9, 9, 9)}, Launch((2, 2, 3), (8, 8, 4))),
        ({"n_threads": [9, 9], "block": [4, 4]}, Launch((3, 3, 1), (4, 4, 1))),
        ({"n_threads": 10, "block": (2, 2)}, Launch((5, 1, 1), (2, 2, 1))),
        ({"n_threads": 7, "shape": (1000,)}, Launch((1, 1, 1), (256, 1, 1))),
        # grid as it is.
        ({"grid": 3}, Launch((3, 1, 1), (256, 1, 1))),
        ({"grid": (3, 2)}, Launch((3, 2, 1), (16, 16, 1))),
        ({"grid": (3, 2), "block": 64, "shared_bytes": 8}, Launch((3, 2, 1), (64, 1, 1), 8)),
        ({"grid": np.int64(3), "block": np.uint8(32)}, Launch((3, 1, 1), (32, 1, 1))),
        # Left to the check.
        ({"grid": 0}, Launch((0, 1, 1), (256, 1, 1))),
        ({"n_threads": 10, "block": 0}, Launch((10, 1, 1), (0, 1, 1))),
    ],
)
def test_a_call_asks_for_this_launch(given: dict[str, Any], expected: Launch) -> None:
    assert plan(**given) == expected


@pytest.mark.parametrize("given", [{"n_threads": 0}, {"n_threads": (4, 0)}, {"shape": (0, 3)}])
def test_no_threads_are_nothing_to_launch(given: dict[str, Any]) -> None:
    assert plan(**given) is None


def test_a_block_that_nobody_gave_keeps_to_the_limit() -> None:
    few = LaunchLimits(threads=128)
    assert plan(n_threads=1000, limits=few) == Launch((8, 1, 1), (128, 1, 1))
    assert plan(n_threads=(16, 16), limits=few) == Launch((1, 2, 1), (16, 8, 1))
    assert plan(n_threads=1000, block=256, limits=few) == Launch((4, 1, 1), (256, 1, 1))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"grid": 1, "n_threads": 1}, "grid= and n_threads="),
        ({}, "no array to take the number of threads from"),
        ({"grid": 1.0}, "grid=1.0"),
        ({"grid": "12"}, "grid='12'"),
        ({"grid": True}, "grid=True"),
        ({"block": (1, 2, 3, 4), "shape": (9,)}, "4 extents"),
        ({"block": (), "shape": (9,)}, "0 extents"),
        ({"n_threads": (4, None)}, "n_threads=None"),
        ({"n_threads": -1}, "n_threads=-1"),
        ({"shared_bytes": 1.5, "shape": (9,)}, "shared_bytes=1.5"),
        ({"shared_bytes": (1,), "shape": (9,)}, "shared_bytes=(1,)"),
    ],
)
def test_what_is_no_configuration_is_refused_with_a_fix(given: dict[str, Any], words: str) -> None:
    with pytest.raises(LaunchError) as caught:
        plan(**given)
    assert caught.value.kind == "limit"
    assert words in str(caught.value)
    pasted = eval(f"dict({caught.value.fix})")
    fixed = {name: value for name, value in given.items() if name == "shape"} | pasted
    plan(
        **fixed
        if "shared_bytes" in pasted
        else {"n_threads": 9, **fixed}
        if "block" in pasted
        else fixed
    )


@pytest.mark.parametrize(("shape", "axes"), [((9,), 2), ((), 2), ((9, 9), 3)])
def test_an_array_with_fewer_axes_than_the_kernel_reads_says_no_number_of_threads(
    shape: tuple[int, ...], axes: int
) -> None:
    with pytest.raises(LaunchError, match="n_threads=") as caught:
        plan(shape=shape, axes=axes)
    assert caught.value.kind == "limit"


class Counter:
    """An index that can change, as an array without axes can."""

    value = 10

    def __index__(self) -> int:
        return self.value


@pytest.mark.parametrize("inside", [lambda n: n, lambda n: (n,), lambda n: [n]])
@pytest.mark.parametrize("option", ["n_threads", "grid", "block", "shared_bytes"])
def test_an_option_that_is_the_same_object_is_read_anew_where_it_can_change(
    option: str, inside: Callable[[object], object]
) -> None:
    planner, limits, n = LaunchPlanner("f", (1,)), LaunchLimits(), Counter()
    value = n if option == "shared_bytes" else inside(n)
    options = LaunchOptions(**{option: value})
    first = planner.plan(options, (10,), limits)
    n.value = 20
    assert planner.plan(options, (10,), limits) != first


def test_a_tuple_of_integers_is_planned_once() -> None:
    planner, limits = LaunchPlanner("f", None), LaunchLimits()
    options = LaunchOptions(n_threads=(10, 20), block=(8, 4))
    first = planner.plan(options, None, limits)
    assert planner.plan(options, None, limits) is first

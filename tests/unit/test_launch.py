"""What limits a launch, and what is said before anything is launched."""

from __future__ import annotations

from math import prod

import pytest

from kit.architectures import ARCHITECTURES
from kit.errors import LaunchError
from kit.launch import (
    Launch,
    LaunchLimits,
    check_launch,
    inspect_limits,
    shrunk_block,
    widest_limits,
)

ANY = LaunchLimits()


def refusal(launch: Launch, limits: LaunchLimits = ANY) -> LaunchError:
    with pytest.raises(LaunchError) as caught:
        check_launch("f", launch, limits)
    assert caught.value.kernel == "f"
    assert caught.value.kind == "limit"
    assert caught.value.block is None
    assert caught.value.fix
    return caught.value


def test_a_launch_at_the_limits_passes() -> None:
    check_launch("f", Launch((2**31 - 1, 65535, 65535), (1024, 1, 1)), ANY)
    check_launch("f", Launch((1, 1, 1), (1, 1024, 1)), ANY)
    check_launch("f", Launch((1, 1, 1), (4, 4, 64)), ANY)
    limits = inspect_limits(ARCHITECTURES["sm_90"], static_bytes=448)
    check_launch("f", Launch((1, 1, 1), (1, 1, 1), 227 * 1024 - 448), limits)


@pytest.mark.parametrize(
    ("launch", "found", "need", "fix"),
    [
        (Launch((0, 1, 1), (32, 1, 1)), "an empty grid (0, 1, 1)", "1 block", "n_threads="),
        (Launch((-1, 1, 1), (32, 1, 1)), "an empty grid (-1, 1, 1)", "1 block", "n_threads="),
        (
            Launch((2**31, 1, 1), (32, 1, 1)),
            "along x",
            "1 to 2147483647",
            "grid=(2147483647, 1, 1)",
        ),
        (Launch((1, 65536, 1), (32, 1, 1)), "65536 along y", "1 to 65535", "grid=(1, 65535, 1)"),
        (Launch((1, 1, 65536), (32, 1, 1)), "65536 along z", "1 to 65535", "grid=(1, 1, 65535)"),
        (Launch((1, 1, 1), (1025, 1, 1)), "1025 along x", "1 to 1024", "block=(1024, 1, 1)"),
        (Launch((1, 1, 1), (1, 1, 65)), "65 along z", "1 to 64 along z", "block=(1, 1, 64)"),
        (Launch((1, 1, 1), (0, 1, 1)), "0 along x", "1 to 1024 along x", "block=(1, 1, 1)"),
        (Launch((1, 1, 1), (64, 32, 1)), "2048 threads", "at most 1024", "block=(32, 32, 1)"),
        (Launch((1, 1, 1), (32, 1, 1), -1), "-1 bytes", "0 bytes or more", "shared_bytes=0"),
    ],
)
def test_what_no_gpu_can_launch_is_refused_with_what_to_write(
    launch: Launch, found: str, need: str, fix: str
) -> None:
    error = refusal(launch)
    assert found in str(error).split("need:")[0]
    assert need in str(error).split("need:")[1]
    assert fix in str(error.fix)


def test_the_fix_of_a_block_is_one_that_passes() -> None:
    for block in ((64, 32, 1), (1024, 2, 1), (32, 32, 32), (1000, 3, 1), (7, 11, 60)):
        fix = refusal(Launch((1, 1, 1), block)).fix
        assert fix is not None
        scope: dict[str, tuple[int, int, int]] = {}
        exec(fix, scope)
        check_launch("f", Launch((1, 1, 1), scope["block"]), ANY)


def test_launch_bounds_are_respected_and_named() -> None:
    limits = inspect_limits(ARCHITECTURES["sm_80"], max_threads=128)
    check_launch("f", Launch((1, 1, 1), (128, 1, 1)), limits)
    error = refusal(Launch((1, 1, 1), (129, 1, 1)), limits)
    assert "__launch_bounds__(128)" in str(error)
    assert error.fix == "block=(128, 1, 1)"


def test_a_block_whose_registers_do_not_fit_is_refused_with_the_number_of_registers() -> None:
    limits = inspect_limits(ARCHITECTURES["sm_80"], registers=128)
    check_launch("f", Launch((1, 1, 1), (512, 1, 1)), limits)
    assert "128 registers a thread" in str(refusal(Launch((1, 1, 1), (513, 1, 1)), limits))


def test_static_shared_memory_leaves_less_for_dynamic() -> None:
    limits = inspect_limits(ARCHITECTURES["sm_75"], static_bytes=1024)
    check_launch("f", Launch((1, 1, 1), (1, 1, 1), 64512), limits)
    error = refusal(Launch((1, 1, 1), (1, 1, 1), 64513), limits)
    assert "sm_75" in str(error)
    assert "takes 1024" in str(error)
    assert error.fix == "shared_bytes=64512"


def test_what_one_of_several_architectures_can_do_passes() -> None:
    both = [
        inspect_limits(ARCHITECTURES["sm_75"], registers=64),
        inspect_limits(ARCHITECTURES["sm_90"], registers=128),
    ]
    limits = widest_limits(both)
    check_launch("f", Launch((1, 1, 1), (1024, 1, 1), 200_000), limits)
    assert "sm_90" in str(refusal(Launch((1, 1, 1), (1, 1, 1), 300_000), limits))
    unknown = widest_limits([*both, inspect_limits(None)])
    check_launch("f", Launch((1, 1, 1), (1024, 1, 1), 300_000), unknown)


def test_an_unknown_architecture_leaves_shared_memory_to_the_driver() -> None:
    check_launch("f", Launch((1, 1, 1), (1, 1, 1), 10**9), inspect_limits(None))


def test_a_shrunk_block_has_at_most_so_many_threads_and_never_more() -> None:
    for block in ((256,), (16, 16), (8, 8, 4), (1024, 1, 1)):
        for most in (1, 31, 32, 96, 128, 255, 1024):
            smaller = shrunk_block(block, most)
            assert prod(smaller) <= max(most, 1)
            assert all(1 <= one <= was for one, was in zip(smaller, block, strict=True))
    assert shrunk_block((16, 16), 256) == (16, 16)
    assert shrunk_block((16, 16), 128) == (16, 8)

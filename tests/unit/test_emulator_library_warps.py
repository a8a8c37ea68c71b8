"""What lanes do together: shuffles, votes, groups, as CUDA defines them, lane by lane."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kit.build_cuda import build_cuda_cell
from kit.cuda.options import CudaOptions
from kit.kernel_cuda import CudaKernel

Array = npt.NDArray[Any]

CELL = Path(__file__).parent / "emulator_cells" / "warps.cu"
LANES = np.arange(32)


@cache
def kernels() -> Mapping[str, CudaKernel]:
    options = CudaOptions(architectures=("sm_80",))  # __reduce_add_sync is 8.0's
    return build_cuda_cell("\n" + CELL.read_text(encoding="utf-8"), options=options).kernels


def run(kernel: str, *args: object, grid: int = 1, block: int = 32) -> None:
    kernels()[kernel].emulator(*args, grid=grid, block=block)


@pytest.fixture
def x() -> Array:
    return np.random.default_rng(3).integers(-8, 9, 32, np.int32)


def mask_of(lanes: Array) -> int:
    return sum(1 << int(lane) for lane in lanes)


@pytest.mark.parametrize("width", [32, 16, 8, 2])
def test_a_shuffle_stays_in_its_part_of_the_warp(x: Array, width: int) -> None:
    out = np.zeros((4, 32), np.int32)
    run("shuffles", x, out, width, 32)
    first = LANES // width * width
    np.testing.assert_array_equal(out[0], x[first + (LANES + 3) % width])
    np.testing.assert_array_equal(out[1], x[np.where(first + 3 <= LANES, LANES - 3, LANES)])
    np.testing.assert_array_equal(out[2], x[np.where(first + width - 3 > LANES, LANES + 3, LANES)])
    source = LANES ^ 5
    np.testing.assert_array_equal(out[3], x[np.where(source < first + width, source, LANES)])


def test_values_of_sixteen_bytes_are_shuffled() -> None:
    first, second = np.zeros(32), np.zeros(32, np.int64)
    run("wide_shuffle", first, second)
    np.testing.assert_array_equal(first, 31.5 - LANES)
    np.testing.assert_array_equal(second, LANES - 31)


def test_votes_and_matches(x: Array) -> None:
    out = np.zeros((8, 32), np.uint32)
    run("votes", x, out, 32)
    alike = [mask_of(LANES[x == one]) for one in x]
    expected = [
        mask_of(LANES[x > 0]), (x > 7).any(), True, alike, 0xFFFFFFFF, 1,
        (x > 0).sum(), 2 + (x > 7).any(),
    ]  # fmt: skip
    for row, value in zip(out, expected, strict=True):
        np.testing.assert_array_equal(row, value)


def test_reductions_of_a_warp(x: Array) -> None:
    out = np.zeros((5, 32), np.int32)
    run("reductions", x, out, 32)
    bits = x.view(np.uint32)
    expected = [
        x.sum(), x.min(), x.max(),
        np.bitwise_xor.reduce(bits).view(np.int32), bits.max().view(np.int32),
    ]  # fmt: skip
    np.testing.assert_array_equal(out, np.repeat(expected, 32).reshape(5, 32))


def test_lanes_with_masks_of_their_own_do_not_wait_for_each_other() -> None:
    out = np.zeros(32, np.int32)
    run("divergent", out)
    np.testing.assert_array_equal(out[::2], 30)
    np.testing.assert_array_equal(out[1::2], LANES[1::2].sum())


def test_lanes_that_have_returned_do_not_vote() -> None:
    out = np.zeros(64, np.int32)
    run("some_return", out, block=64)
    np.testing.assert_array_equal(out.reshape(2, 32)[:, :20], 20 + 100 * 20)
    assert not out.reshape(2, 32)[:, 20:].any()


def test_lanes_of_one_branch_are_active_together() -> None:
    out = np.zeros(32, np.uint32)
    run("active", out)
    odd, even = LANES[11::2], LANES[10::2]
    np.testing.assert_array_equal(out[:10], 0x3FF)
    np.testing.assert_array_equal(out[odd], mask_of(odd))
    np.testing.assert_array_equal(out[even], even.size)


def test_groups_know_their_ranks_and_combine(x: Array) -> None:
    out = np.zeros((10, 32), np.int32)
    run("groups", x, out, 32)
    tiles = x.reshape(4, 8)
    rank = LANES % 8
    np.testing.assert_array_equal(out[0], LANES // 8 * 1000 + 40 + rank)
    np.testing.assert_array_equal(out[1], rank // 4 * 1000 + 20 + LANES % 4)
    any_all = 1000 * (tiles > 5).any(axis=1) + 2000 * (tiles > -3).all(axis=1)
    np.testing.assert_array_equal(out[2], x[LANES ^ 3] + np.repeat(any_all, 8))
    np.testing.assert_array_equal(out[3], np.repeat([mask_of(rank[:8][t > 0]) for t in tiles], 8))
    np.testing.assert_array_equal(out[4], np.repeat(tiles.max(axis=1), 8))
    np.testing.assert_array_equal(out[5], tiles.cumsum(axis=1).ravel())
    np.testing.assert_array_equal(out[6], (tiles.cumsum(axis=1) - tiles).ravel())


def test_groups_are_divided_by_labels_and_conditions(x: Array) -> None:
    out = np.zeros((10, 32), np.int32)
    run("groups", x, out, 32)
    for tile in range(4):
        lanes = LANES[tile * 8 : tile * 8 + 8]
        labels = list(dict.fromkeys(x[lanes].tolist()))  # in the order of their first lanes
        for lane in lanes:
            alike = lanes[x[lanes] == x[lane]]
            place = labels.index(int(x[lane]))
            assert out[7, lane] == place * 1000 + len(labels) * 10 + alike.size
            same = lanes[(x[lanes] > 0) == (x[lane] > 0)]
            rank = int((same < lane).sum())
            assert out[8, lane] == same.size * 10 + rank
            assert out[9, lane] == x[same[-1]] * 10 + min(rank + 1, same.size - 1)


def test_a_tile_is_passed_without_its_parents_type() -> None:
    out = np.zeros(48, np.int32)
    run("tile_as_argument", out, block=48)
    expected = np.repeat(np.arange(48).reshape(3, 16).sum(axis=1), 16)
    np.testing.assert_array_equal(out, expected)


def test_a_lock_lets_every_thread_through() -> None:
    out = np.zeros(1, np.int32)
    run("locked", out, grid=4, block=64)
    assert out[0] == 256


def test_threads_that_ask_again_and_again_let_each_other_answer() -> None:
    out = np.zeros(2, np.int32)
    run("answered", out, block=64)
    assert out.tolist() == [1, 1]

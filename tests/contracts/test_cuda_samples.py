"""Kernels in the style of NVIDIA's samples and of HeCBench give NumPy's numbers on the CPU.

`samples/*.cu` are the cells. NVRTC compiles each for all five architectures: what the emulator
takes there is CUDA.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from kit.build_cuda import build_cuda_cell
from kit.cuda.options import CI_ARCHITECTURES, CudaOptions
from kit.kernel_cuda import CudaKernel

SAMPLES = Path(__file__).parent / "samples"

Array = npt.NDArray[Any]


@cache
def kernels(name: str) -> Mapping[str, CudaKernel]:
    """The kernels of one cell, compiled once in a session for every architecture."""
    text = "\n" + (SAMPLES / f"{name}.cu").read_text(encoding="utf-8")
    template = {"R": "2"} if name == "tiles" else {}
    options = CudaOptions(architectures=CI_ARCHITECTURES, template=template)
    return build_cuda_cell(text, options=options).kernels


def run(cell: str, kernel: str, *args: object, **launch: Any) -> None:
    kernels(cell)[kernel].emulator(*args, **launch)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


# ---- reductions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 500, 4096])
def test_a_tree_in_shared_memory_sums(rng: np.random.Generator, n: int) -> None:
    x, total = rng.standard_normal(n), np.zeros(1)
    grid = -(-n // 256)
    run("reductions", "sum_by_tree", x, total, n, grid=grid, block=128, shared_bytes=1024)
    np.testing.assert_allclose(total[0], x.sum(), rtol=1e-12)


@pytest.mark.parametrize("block", [64, 256])
def test_shuffles_sum(rng: np.random.Generator, block: int) -> None:
    x, total = rng.random(10_000, np.float32), np.zeros(1, np.float32)
    run("reductions", "sum_by_shuffles", x, total, x.size, grid=5, block=block)
    np.testing.assert_allclose(total[0], x.sum(dtype=np.float64), rtol=1e-5)


def test_tiles_sum_integers_exactly(rng: np.random.Generator) -> None:
    x, total = rng.integers(-99, 99, 1000, np.int32), np.zeros(1, np.int32)
    run("reductions", "sum_by_tiles", x, total, x.size, grid=8, block=128)
    assert total[0] == x.sum()


def test_a_group_whose_size_is_known_at_run_time_sums(rng: np.random.Generator) -> None:
    x, sums = rng.integers(0, 9, 256, np.int32), np.zeros(32, np.int32)
    run("reductions", "sum_by_groups", x, sums, grid=2, block=128, shared_bytes=512)
    np.testing.assert_array_equal(sums, x.reshape(-1, 8).sum(axis=1))


def test_the_last_block_adds_what_the_others_left(rng: np.random.Generator) -> None:
    x, parts, total = rng.standard_normal(5000), np.zeros(6), np.zeros(1)
    for _ in range(2):  # the ticket counter starts again
        run("reductions", "sum_in_one_launch", x, parts, total, x.size, grid=6, block=256)
        np.testing.assert_allclose(total[0], x.sum(), rtol=1e-12)


def test_the_largest_number_is_found_by_atomic_operations(rng: np.random.Generator) -> None:
    x = rng.standard_normal(3000).astype(np.float32)
    by_bits, by_exchange = np.zeros(1, np.float32), np.full(1, -1e300)
    run("reductions", "largest", x, by_bits, by_exchange, x.size, grid=12, block=256)
    assert by_bits[0] == x.max()
    assert by_exchange[0] == x.max()


def test_prefix_sums_agree_with_cumsum(rng: np.random.Generator) -> None:
    x, y = rng.integers(0, 99, 384, np.int32), np.zeros(384, np.int32)
    run("reductions", "scan_in_block", x, y, grid=3, block=128)
    np.testing.assert_array_equal(y.reshape(3, 128), x.reshape(3, 128).cumsum(axis=1))


def test_a_scan_by_a_tree_is_exclusive(rng: np.random.Generator) -> None:
    x, y = rng.integers(0, 9, 256).astype(np.float32), np.zeros(256, np.float32)
    run("reductions", "scan_by_tree", x, y, 256, grid=1, block=128, shared_bytes=1024)
    np.testing.assert_array_equal(y, np.concatenate([[0], x.cumsum()[:-1]]))


def test_a_scan_by_shuffles_is_a_scan_of_each_warp(rng: np.random.Generator) -> None:
    x = rng.integers(-(2**40), 2**40, 192)
    inclusive, exclusive = np.zeros_like(x), np.zeros_like(x)
    run("reductions", "scan_by_shuffles", x, inclusive, exclusive, grid=2, block=96)
    np.testing.assert_array_equal(inclusive, x.reshape(-1, 32).cumsum(axis=1).ravel())
    np.testing.assert_array_equal(exclusive, inclusive - x)


def test_lanes_of_one_branch_reserve_places_together(rng: np.random.Generator) -> None:
    x = rng.standard_normal(1000).astype(np.float32)
    kept, count = np.zeros(1000, np.float32), np.zeros(1, np.int32)
    run("reductions", "keep_positive", x, kept, count, x.size, grid=8, block=128)
    assert count[0] == (x > 0).sum()
    np.testing.assert_array_equal(np.sort(kept[: count[0]]), np.sort(x[x > 0]))


def test_votes_compact(rng: np.random.Generator) -> None:
    x, kept, count = (
        rng.integers(0, 99, 256, np.int32),
        np.zeros(256, np.int32),
        np.zeros(1, np.int32),
    )
    run("reductions", "keep_even", x, kept, count, grid=2, block=128)
    np.testing.assert_array_equal(np.sort(kept[: count[0]]), np.sort(x[x % 2 == 0]))


def test_histograms_agree_with_bincount(rng: np.random.Generator) -> None:
    x, counts = rng.integers(0, 256, 5000, np.uint8), np.zeros(256, np.uint32)
    run("reductions", "histogram", x, counts, x.size, grid=4, block=192)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=256))
    keys, matched = rng.integers(0, 10, 700, np.int32), np.zeros(10, np.uint64)
    run("reductions", "count_by_match", keys, matched, keys.size, grid=6, block=128)
    np.testing.assert_array_equal(matched, np.bincount(keys, minlength=10).astype(np.uint64))


# ---- tiles --------------------------------------------------------------------------------------


def test_a_transpose_by_tiles_is_a_transpose(rng: np.random.Generator) -> None:
    x, y = rng.random((70, 45)), np.zeros((45, 70))
    run("tiles", "transpose", x, y, 45, 70, grid=(2, 3), block=(32, 8))
    np.testing.assert_array_equal(y, x.T)


def test_a_product_of_matrices_by_tiles(rng: np.random.Generator) -> None:
    a, b = rng.random((37, 50), np.float32), rng.random((50, 21), np.float32)
    c = np.zeros((37, 21), np.float32)
    run("tiles", "matmul", a, b, c, 37, 50, 21, grid=(2, 3), block=(16, 16))
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_jacobis_method_moves_as_numpy_says(rng: np.random.Generator) -> None:
    u = rng.random((41, 37))
    v, change = u.copy(), np.zeros(1, np.uint64)
    run("tiles", "jacobi", u, v, change, 37, 41, grid=(3, 3), block=(16, 16))
    expected = u.copy()
    expected[1:-1, 1:-1] = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])
    np.testing.assert_allclose(v, expected, rtol=1e-14)
    np.testing.assert_allclose(change.view(np.float64)[0], abs(expected - u).max(), rtol=1e-14)


def test_a_filter_with_constant_weights(rng: np.random.Generator) -> None:
    radius, x = 4, rng.random((5, 300), np.float32)
    weights, y = rng.random(2 * radius + 1, np.float32), np.zeros_like(x)
    kernel = kernels("tiles")["filter_rows"]
    kernel.symbols["filter"][: weights.size] = weights
    run("tiles", "filter_rows", x, y, 300, radius, grid=(3, 5), block=128, shared_bytes=4 * 136)
    padded = np.pad(x, ((0, 0), (radius, radius)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * radius + 1, axis=1)
    np.testing.assert_allclose(y, windows @ weights, rtol=1e-5)


def test_a_stencil_that_walks_along_z(rng: np.random.Generator) -> None:
    u = rng.random((9, 14, 21), np.float32)
    v = np.zeros_like(u)
    run("tiles", "laplace", u, v, 21, 14, 9, grid=(2, 2), block=(16, 8))
    core = (slice(2, -2),) * 3
    expected = -12 * u[core].astype(np.float64)
    for axis in range(3):
        for r in (-2, -1, 1, 2):
            expected += np.roll(u, r, axis)[core]
    np.testing.assert_allclose(v[core], expected, atol=2e-5)
    assert not v[0].any()


def test_all_pairs_of_particles(rng: np.random.Generator) -> None:
    body, acceleration = rng.random((128, 4), np.float32), np.zeros((128, 3), np.float32)
    run("tiles", "n_body", body, acceleration, 128, grid=2, block=64)
    place, mass = body[:, :3].astype(np.float64), body[:, 3].astype(np.float64)
    d = place[None] - place[:, None]
    r2 = (d**2).sum(axis=2) + 1e-3
    expected = (d * (mass / r2**1.5)[..., None]).sum(axis=1)
    np.testing.assert_allclose(acceleration, expected, rtol=2e-4, atol=2e-4)


def test_shortest_paths_by_floyd_and_warshall(rng: np.random.Generator) -> None:
    n = 40
    distance = rng.integers(1, 1000, (n, n), np.int32)
    expected = distance.copy()
    for k in range(n):
        run("tiles", "shorten_paths", distance, n, k, grid=(1, n), block=64)
        expected = np.minimum(expected, expected[:, [k]] + expected[[k]])
    np.testing.assert_array_equal(distance, expected)


def test_the_game_of_life(rng: np.random.Generator) -> None:
    now = rng.integers(0, 2, (23, 31), np.uint8)
    after = np.zeros_like(now)
    run("tiles", "live", now, after, 31, 23, grid=(4, 3), block=(8, 8))
    shifts = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
    around = sum(np.roll(now, shift, (0, 1)) for shift in shifts)
    np.testing.assert_array_equal(after, (around == 3) | ((around == 2) & (now == 1)))


# ---- sorting and transforms ---------------------------------------------------------------------


def test_a_bitonic_sort_sorts_keys_with_their_values(rng: np.random.Generator) -> None:
    n = 512
    keys, values = rng.integers(0, 2**32, n, np.uint32), np.arange(n, dtype=np.uint32)
    before = keys.copy()
    run("transforms", "bitonic_sort", keys, values, n, 1, grid=1, block=128, shared_bytes=8 * n)
    np.testing.assert_array_equal(keys, np.sort(before))
    np.testing.assert_array_equal(before[values], keys)


def test_a_radix_sort_by_votes(rng: np.random.Generator) -> None:
    x = rng.integers(0, 2**16, 128, np.uint16)
    expected = np.sort(x.reshape(4, 32), axis=1)
    run("transforms", "radix_sort", x, grid=4, block=32)
    np.testing.assert_array_equal(x.reshape(4, 32), expected)


def test_walshs_transform_is_its_own_inverse_up_to_n(rng: np.random.Generator) -> None:
    x = rng.integers(-9, 9, (3, 64)).astype(np.float32)
    y = x.copy()
    run("transforms", "walsh", y, 6, grid=3, block=16, shared_bytes=256)
    np.testing.assert_array_equal(y[:, 0], x.sum(axis=1))
    run("transforms", "walsh", y, 6, grid=3, block=16, shared_bytes=256)
    np.testing.assert_array_equal(y, 64 * x)


def test_fouriers_transform_with_float2(rng: np.random.Generator) -> None:
    x = rng.standard_normal((256, 2)).astype(np.float32)
    expected = np.fft.fft(x.view(np.complex64).ravel())
    run("transforms", "fourier", x, 8, grid=1, block=64, shared_bytes=2048)
    np.testing.assert_allclose(x.view(np.complex64).ravel(), expected, atol=2e-4)


def test_fouriers_transform_with_complex_numbers(rng: np.random.Generator) -> None:
    x = rng.standard_normal(50) + 1j * rng.standard_normal(50)
    y = np.zeros_like(x)
    run("transforms", "fourier_sum", x, y, 50)
    np.testing.assert_allclose(y, np.fft.fft(x), atol=1e-11)


def test_newtons_method_finds_cube_roots_of_one() -> None:
    axis = np.linspace(-2, 2, 21) + 0.01
    start = (axis[:, None] + 1j * axis).ravel()
    found = np.zeros(start.size, np.int32)
    run("transforms", "newton", start, found, start.size)
    z = start.copy()
    for _ in range(60):
        z -= (z**3 - 1) / (3 * z**2)
    roots = np.exp(2j * np.pi * np.array([0, 1, 2]) / 3)
    np.testing.assert_array_equal(found, abs(z[:, None] - roots).argmin(axis=1))


# ---- numbers ------------------------------------------------------------------------------------


def test_options_are_priced_by_black_and_scholes(rng: np.random.Generator) -> None:
    n = 500
    price, strike, years = (
        rng.uniform(low, high, n).astype(np.float32)
        for low, high in ((5, 30), (1, 100), (0.25, 10))
    )
    result = np.zeros((n, 2), np.float32)
    arguments = (result, price, strike, years, np.float32(0.02), np.float32(0.3), n)
    run("numbers", "black_scholes", *arguments)
    s, k, t = (one.astype(np.float64) for one in (price, strike, years))
    # Put-call parity, which holds whatever the distribution is.
    parity = s - k * np.exp(-np.float64(np.float32(0.02)) * t)
    np.testing.assert_allclose(result[:, 0] - result[:, 1], parity, atol=2e-4)
    assert ((result[:, 0] > -1e-4) & (result[:, 0] < price)).all()


def test_mandelbrots_set_counts_as_python_counts() -> None:
    width, height, scale = 24, 16, 0.12
    image = np.zeros((height, width, 4), np.uint8)
    run("numbers", "mandelbrot", image, width, height, scale, grid=(2, 2), block=(16, 8))
    for iy in range(height):
        for ix in range(width):
            cx, cy = (ix - width * 0.5) * scale - 0.5, (iy - height * 0.5) * scale
            x = y = 0.0
            m = 0
            while m < 255 and x * x + y * y <= 4:
                x, y, m = (x * x - y * y) + cx, 2 * x * y + cy, m + 1
            assert tuple(image[iy, ix]) == (m, 255 - m, 3 * m % 256, 0)


def test_monte_carlo_hits_what_the_same_generator_hits_in_numpy() -> None:
    hits = np.zeros(1, np.uint64)
    run("numbers", "monte_carlo", hits, 50, grid=2, block=64)
    state = np.arange(128, dtype=np.uint32) + np.uint32(12345)
    expected = 0
    for _ in range(50):
        coordinates: list[Array] = []
        for _ in range(2):
            state = np.uint32(1664525) * state + np.uint32(1013904223)
            coordinates.append((state >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24))
        x, y = coordinates
        expected += int((x * x + y * y < 1).sum())
    assert hits[0] == expected


def test_sparse_matrices_times_vectors(rng: np.random.Generator) -> None:
    dense = rng.standard_normal((60, 80)) * (rng.random((60, 80)) < 0.3)
    x = rng.standard_normal(80)
    rows, columns = np.nonzero(dense)
    start = np.searchsorted(rows, np.arange(61)).astype(np.int32)
    column, value = columns.astype(np.int32), dense[rows, columns]
    for kernel, grid in (("spmv", 1), ("spmv_by_warps", 30)):
        y = np.zeros(60)
        run("numbers", kernel, start, column, value, x, y, 60, grid=grid, block=64)
        np.testing.assert_allclose(y, dense @ x, atol=1e-13)


def test_dot_products_of_packed_bytes(rng: np.random.Generator) -> None:
    a, b = (rng.integers(-128, 128, (100, 4), np.int8) for _ in range(2))
    c = rng.integers(0, 256, (100, 4), np.uint8)
    signed, unsigned = np.zeros(1, np.int32), np.zeros(1, np.uint32)
    run("numbers", "quantised_dot", a.view(np.int32).ravel(), b, c, signed, unsigned, 100)
    assert signed[0] == (a.astype(int) * b).sum()
    assert unsigned[0] == (c.astype(int) ** 2).sum()


def test_pairs_of_half_numbers(rng: np.random.Generator) -> None:
    x, y = (rng.standard_normal((200, 2)).astype(np.float16) for _ in range(2))
    a, norm = np.float16(1.5), np.zeros(200, np.float32)
    # The product of two halves is exact in double: one rounding, as __hfma2 has.
    expected = (a.astype(np.float64) * x + y).astype(np.float16)
    run("numbers", "half2_axpy", a, x, y, norm, 200)
    np.testing.assert_array_equal(y, expected)
    wide = expected.astype(np.float32)
    np.testing.assert_allclose(norm, np.hypot(wide[:, 0], wide[:, 1]), rtol=1e-6)


def test_bfloat16_rounds_to_nearest(rng: np.random.Generator) -> None:
    x = rng.standard_normal(300).astype(ml_dtypes.bfloat16)
    y = np.zeros_like(x)
    run("numbers", "bfloat_scale", x, y, np.float32(0.3), 300)
    expected = (x.astype(np.float32) * np.float32(0.3)).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(y, expected)


def test_bytes_text_and_bits(rng: np.random.Generator) -> None:
    rgba, out = rng.integers(0, 256, (90, 4), np.uint8), np.zeros(90, np.uint8)
    run("numbers", "grey", rgba, out, 90)
    weighted = rgba[:, :3].astype(np.int64) @ np.array([77, 151, 28])
    np.testing.assert_array_equal(out, weighted // 256)
    text = np.frombuffer(b"kernel {z} A`", np.int8).copy()
    run("numbers", "capitals", text, text.size)
    assert text.tobytes() == b"KERNEL {Z} A`"
    a, b = (rng.integers(0, 2**62, 50).astype(np.uint64) for _ in range(2))
    a[0] = b[0] = 0
    found = np.zeros(50, np.int32)
    run("numbers", "hamming", a, b, found, 50)
    pairs = [(int(one), int(other)) for one, other in zip(a, b, strict=True)]
    expected = [
        (p ^ q).bit_count() + 1000 * (64 - p.bit_length()) + 100000 * (q & -q).bit_length()
        for p, q in pairs
    ]
    np.testing.assert_array_equal(found, expected)


def test_code_for_devices_is_alive() -> None:
    out = np.zeros(1, np.int32)
    run("numbers", "compiled_for", out, grid=1, block=1)
    assert out[0] == 701

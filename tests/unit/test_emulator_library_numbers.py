"""Numbers in device code: exact where CUDA is exact, as close as the C library elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from kit.build_cuda import build_cuda_cell
from kit.cuda.options import CudaOptions
from kit.kernel_cuda import CudaKernel

Array = npt.NDArray[Any]

CELL = Path(__file__).parent / "emulator_cells" / "numbers.cu"


@cache
def kernels() -> Mapping[str, CudaKernel]:
    options = CudaOptions(architectures=("sm_80",))
    return build_cuda_cell("\n" + CELL.read_text(encoding="utf-8"), options=options).kernels


def run(kernel: str, *args: object, **launch: Any) -> None:
    kernels()[kernel].emulator(*args, **launch)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (value >> (bits - 1) << bits)


def reversed_bits(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def permuted(a: int, b: int, selector: int) -> int:
    """Bytes of (b, a); bit 3 of a choice spreads the byte's sign."""
    pool = (a | b << 32).to_bytes(8, "little")
    choices = [selector >> 4 * k & 15 for k in range(4)]
    chosen = [(255 if pool[c & 7] & 128 else 0) if c & 8 else pool[c & 7] for c in choices]
    return int.from_bytes(bytes(chosen), "little")


def packed_dot(a: int, b: int, kind: str) -> int:
    left, right = (np.frombuffer(one.to_bytes(4, "little"), kind).astype(int) for one in (a, b))
    return int((left * right).sum()) + 5


def integer_results(a: int, b: int) -> list[int]:
    """What CUDA's manual says of each, in the order of the cell."""
    s, t, pair = signed(a), signed(b), a | b << 32
    clamped = min(b % 40, 32)
    return [
        a.bit_count(), 32 - a.bit_length(), (a & -a).bit_length(), reversed_bits(a, 32),
        permuted(a, b, 0x7A31), pair << b % 32 >> 32, pair >> clamped,
        s * t >> 32, a * b >> 32, signed(a, 24) * signed(b, 24), (a % 2**24) * (b % 2**24),
        (s + t) >> 1, (a + b + 1) >> 1, abs(s - t) + 7, abs(a - b) + 7,
        packed_dot(a, b, "i1"), packed_dot(a, b, "u1"), min(s, -3), min(a, b), max(a, b),
    ]  # fmt: skip


def test_integer_intrinsics_are_exact(rng: np.random.Generator) -> None:
    x, y = (rng.integers(0, 2**32, 200, np.uint32) for _ in range(2))
    x[:4], y[:4] = [0, 2**31, 2**32 - 1, 1], [2**31, 2**31, 0, 31]
    out = np.zeros((20, 200), np.uint32)
    run("integers", x, y, out, 200)
    for i in range(200):
        expected = [one % 2**32 for one in integer_results(int(x[i]), int(y[i]))]
        assert out[:, i].tolist() == expected, (hex(x[i]), hex(y[i]))


def test_integer_intrinsics_of_64_bits_are_exact(rng: np.random.Generator) -> None:
    x = rng.integers(0, 2**64, 100, np.uint64)
    x[0] = 0
    out = np.zeros((4, 100), np.uint64)
    run("wide_integers", x, out, 100)
    for i, a in enumerate(map(int, x)):
        counts = a.bit_count() + 100 * (64 - a.bit_length()) + 10000 * (a & -a).bit_length()
        high = (a * ((a + 3) % 2**64)) >> 64
        expected = [reversed_bits(a, 64), high, (signed(a, 64) * -5 >> 64) % 2**64, counts]
        assert out[:, i].tolist() == expected


def test_rounding_modes_enclose_the_exact_result(rng: np.random.Generator) -> None:
    x, y = rng.standard_normal(100), rng.standard_normal(100)
    out = np.zeros((8, 100))
    run("rounded_sums", x, y, out, 100)
    for i in range(100):
        a, b = Fraction(float(x[i])), Fraction(float(y[i]))
        for k, exact in enumerate([a + b, a * b, a / b, a * b + a]):
            low, high = out[2 * k, i], out[2 * k + 1, i]
            assert Fraction(low) <= exact <= Fraction(high)
            is_exact = Fraction(low) == exact
            assert high == (low if is_exact else np.nextafter(low, np.inf))


def test_a_rounded_product_is_not_fused_with_the_sum_behind_it(rng: np.random.Generator) -> None:
    x, y = (rng.standard_normal(256).astype(np.float32) for _ in range(2))
    out = np.zeros(256, np.float32)
    run("not_fused", x, y, out, grid=1, block=256)
    np.testing.assert_array_equal(out, x * y + x)


def test_conversions_to_integers_are_clamped() -> None:
    x = np.array([0.5, 1.5, -1.5, 2.7, -2.7, 3e9, -3e9, 1e20, -1e20, np.nan, np.inf], np.float32)
    n = x.size
    out, u, wide = np.zeros((3, n), np.int32), np.zeros(n, np.uint32), np.zeros(n, np.int64)
    run("to_integers", x, out, u, wide, n, grid=1, block=32)
    low, high = -(2**31), 2**31 - 1
    assert out[0].tolist() == [0, 2, -2, 3, -3, high, low, high, low, 0, high]
    assert out[1].tolist() == [0, 1, -2, 2, -3, high, low, high, low, 0, high]
    assert out[2].tolist() == [0, 1, -1, 2, -2, high, low, high, low, 0, high]
    assert u.tolist() == [0, 1, 0, 2, 0, 3_000_000_000, 0, 2**32 - 1, 0, 0, 2**32 - 1]
    most = 2**63 - 1
    assert wide.tolist() == [1, 2, -1, 3, -2, 3 * 10**9, -3 * 10**9, most, -(2**63), -(2**63), most]


def bessel_i0(x: float) -> float:
    return math.fsum((x / 2) ** (2 * k) / math.factorial(k) ** 2 for k in range(40))


NORMAL = NormalDist()
FUNCTIONS: list[Callable[[float], float]] = [
    lambda x: x**-0.5,
    lambda x: 1 / math.cbrt(x),
    lambda x: 10.0**x,
    lambda x: math.sin(math.pi * math.remainder(x, 2)),
    lambda x: math.cos(math.pi * math.remainder(x, 2)),
    lambda x: math.hypot(x, 2, 3),
    lambda x: 1 / math.hypot(x, 1),
    lambda x: NORMAL.inv_cdf((x / 5 + 1) / 2) / math.sqrt(2),
    lambda x: -NORMAL.inv_cdf(x / 4) / math.sqrt(2),
    NORMAL.cdf,
    lambda x: NORMAL.inv_cdf(x / 5),
    lambda x: math.exp(x * x) * math.erfc(x),
    bessel_i0,
    lambda x: x,
    lambda x: float(np.exp(np.float32(x))),
    lambda x: min(max(float(np.float32(x) - np.float32(1)), 0.0), 1.0),
]


def test_functions_are_as_close_as_pythons() -> None:
    x = np.array([0.1, 0.3, 0.77, 1.0, 1.25, 1.9])
    out = np.zeros((len(FUNCTIONS), x.size))
    run("functions", x, out, x.size)
    for row, function in zip(out, FUNCTIONS, strict=True):
        expected = [function(float(one)) for one in x]
        np.testing.assert_allclose(
            row, expected, rtol=5e-7 if function is FUNCTIONS[14] else 4e-15, atol=4e-16
        )


def test_half_numbers_are_rounded_once(rng: np.random.Generator) -> None:
    n = 20_000
    x, y, z = (rng.integers(0, 2**16, n, np.uint16).view(np.float16) for _ in range(3))
    out = np.zeros((6, n), np.float16)
    run("halves", x, y, z, out, n)
    a, b, c = (one.astype(np.float64) for one in (x, y, z))
    with np.errstate(all="ignore"):
        # Of doubles: sums, products and quotients of halves round to half as the exact values do.
        expected = [(a + b), (a * b), (a / b), None, np.sqrt(a), np.fmax(a, b)]
        for k, one in enumerate(expected):
            if one is not None:
                np.testing.assert_array_equal(out[k], one.astype(np.float16))
        finite = np.flatnonzero(np.isfinite(a) & np.isfinite(b) & np.isfinite(c))[:2000]
    for i in finite:
        exact = Fraction(float(a[i])) * Fraction(float(b[i])) + Fraction(float(c[i]))
        assert nearest_half(exact) == float(out[3, i]), (x[i], y[i], z[i])


def test_a_fused_product_of_bfloats_is_rounded_once() -> None:
    """259 and 261 lie between two bfloats: what is far below their last bit decides."""
    tiny = 2.0**-60
    x, y = (np.array(one, ml_dtypes.bfloat16) for one in ([7, 7, 9, 9, -7], [37, 37, 29, 29, 37]))
    z = np.array([-tiny, tiny, tiny, -tiny, tiny], ml_dtypes.bfloat16)
    out = np.zeros(5, ml_dtypes.bfloat16)
    run("fused_bfloats", x, y, z, out, grid=1, block=5)
    assert out.astype(float).tolist() == [258, 260, 262, 260, -258]


def nearest_half(exact: Fraction) -> float:
    """The half next to a number; of two, the one whose last bit is 0."""
    if abs(exact) >= 65520:
        return math.copysign(math.inf, exact)
    exponent = max(math.frexp(float(abs(exact)))[1] - 11, -24) if exact else -24
    step = Fraction(2) ** exponent
    return float(round(exact / step) * step)


def test_floats_become_small_floats_as_numpy_rounds_them(rng: np.random.Generator) -> None:
    bits = rng.integers(0, 2**32, 20_000, np.uint64).astype(np.uint32)
    x = bits.view(np.float32).copy()
    x[:10_000] = rng.standard_normal(10_000) * 10.0 ** rng.integers(-9, 6, 10_000)
    x[-4:] = 65519.99, 65520, 2.9802322e-8, -0.0
    h, down, up = (np.zeros(x.size, np.float16) for _ in range(3))
    b = np.zeros(x.size, ml_dtypes.bfloat16)
    run("from_float", x, h, b, down, up, x.size)
    number = ~np.isnan(x)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(h[number], x[number].astype(np.float16))
        np.testing.assert_array_equal(b[number], x[number].astype(ml_dtypes.bfloat16))
    assert np.isnan(h[~number]).all()
    wide = x[number].astype(np.float64)
    assert (down[number].astype(np.float64) <= wide).all()
    assert (up[number].astype(np.float64) >= wide).all()
    with np.errstate(over="ignore"):
        above = np.where(down == up, up, np.nextafter(down, np.float16(np.inf)))
    np.testing.assert_array_equal(above[number], up[number])


def test_atomic_operations_lose_nothing_between_blocks() -> None:
    i32 = np.array([0, 0, 0, 0], np.int32)
    u32 = np.array([0, 127, 0, 0, 0, 0], np.uint32)
    u64, u16 = np.zeros(2, np.uint64), np.zeros(1, np.uint16)
    f32, f64, h2 = np.zeros(1, np.float32), np.zeros(2), np.zeros((1, 2), np.float16)
    n = 1024
    run("atomics", i32, u32, u64, f32, f64, h2, u16, grid=16, block=64)
    assert i32.tolist() == [-n, -2 * n, -100, n - 1]
    expected = [2**32 - 1, 0, 0, n % 10, (10 - n % 10) % 10, 3 * n]
    assert u32.tolist() == expected
    assert u64.tolist() == [n << 33, (n - 1) << 40]
    assert (f32[0], f64[0], f64[1]) == (n / 2, n / 4, n)
    assert h2.tolist() == [[n, n / 2]]
    assert u16[0] == 3 * n


def test_atomic_operations_of_many_threads_at_once_lose_nothing() -> None:
    f32, f64 = np.zeros(1, np.float32), np.zeros(1)
    u64, u16 = np.zeros(1, np.uint64), np.zeros(1, np.uint16)
    run("contended", f32, f64, u64, u16, grid=64, block=128)
    n = 64 * 128 * 100
    assert (f32[0], f64[0], u64[0], u16[0]) == (n, n, n, n % 2**16)


def test_memory_may_be_looked_at_as_another_type() -> None:
    x = np.zeros(2, np.float32)
    run("punned", x, grid=1, block=1)
    assert x.tolist() == [2, 2]


def test_printf_writes_as_cudas(capsys: pytest.CaptureFixture[str]) -> None:
    run("prints", np.zeros(1, np.int8), 2, grid=1, block=2)
    lines = capsys.readouterr().out.splitlines()
    expected = [f"{t}| 1.50|text|x|1099511627776|%" for t in range(2)]
    assert sorted(lines) == sorted([*expected, "1 2", "1 2"])

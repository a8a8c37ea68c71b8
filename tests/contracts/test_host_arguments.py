"""Scalars, wrong arguments, overlap and sizes at the boundary, in both languages."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.errors import ArgumentRefused, CopyWarning
from kit.kernel import PyccelKernel
from tests.contracts.host_probes import Probes

ROOT = Path(__file__).resolve().parents[2]
BIG = 2**63


def same_scalar(a: Any, b: Any) -> bool:
    return bool(a == b) or (a != a and b != b)


def paste(kernel: PyccelKernel, error: ArgumentRefused, values: dict[str, Any]) -> dict[str, Any]:
    """Paste the fix among the caller's variables, and call again where it does not call itself."""
    scope = {"np": np, kernel.__name__: kernel, **values}
    exec(error.fix, scope)
    if f"{kernel.__name__}(" not in error.fix:
        scope["result"] = kernel(**{name: scope[name] for name in values})
    return scope


def refuse(
    kernel: PyccelKernel, kind: type[Exception], argument: str, /, **values: Any
) -> tuple[ArgumentRefused, dict[str, Any]]:
    """Check the refusal, that a plan says the same, and that the fix works when pasted."""
    with pytest.raises(ArgumentRefused) as caught:
        kernel(**values)
    error = caught.value
    assert isinstance(error, kind)
    assert (error.kernel, error.argument) == (kernel.__name__, argument)
    assert error.found
    assert error.need
    plan = kernel.plan(**values)
    assert plan[argument].action == "REFUSE"
    assert plan[argument].fix == error.fix
    return error, paste(kernel, error, values)


# ---- scalars --------------------------------------------------------------------------------

RIGHT = [
    ("echo_bool", "b", True, True),
    ("echo_bool", "b", np.True_, True),
    ("echo_bool", "b", np.False_, False),
    ("echo_int", "i", BIG - 1, BIG - 1),
    ("echo_int", "i", -BIG, -BIG),
    ("echo_int", "i", True, 1),
    ("echo_int", "i", np.True_, 1),
    ("echo_int", "i", np.int64(-5), -5),
    ("echo_int", "i", np.int32(-5), -5),
    ("echo_int", "i", np.uint64(BIG - 1), BIG - 1),
    ("echo_int", "i", np.longlong(7), 7),
    ("echo_int8", "i", -128, -128),
    ("echo_int32", "i", 2**31 - 1, 2**31 - 1),
    ("echo_int32", "i", np.int64(-(2**31)), -(2**31)),
    ("echo_int64", "i", 2**53 + 1, 2**53 + 1),
    ("echo_int64", "i", np.int8(3), 3),
    ("echo_float", "f", 1, 1.0),
    ("echo_float", "f", 2**53, 2.0**53),
    ("echo_float", "f", True, 1.0),
    ("echo_float", "f", np.float32(0.1), float(np.float32(0.1))),
    ("echo_float", "f", np.float16(0.1), float(np.float16(0.1))),
    ("echo_float", "f", np.float64(0.1), 0.1),
    ("echo_float", "f", np.longdouble(0.5), 0.5),
    ("echo_float", "f", np.int64(3), 3.0),
    ("echo_float", "f", math.nan, math.nan),
    ("echo_float", "f", np.float32("nan"), math.nan),
    ("echo_float", "f", -math.inf, -math.inf),
    ("echo_float32", "f", 0.5, np.float32(0.5)),
    ("echo_float32", "f", math.inf, math.inf),
    ("echo_float32", "f", math.nan, math.nan),
    ("echo_float32", "f", 2**24, 2.0**24),
    ("echo_float32", "f", np.float64(0.25), 0.25),
    ("echo_float64", "f", 0.1, 0.1),
    ("echo_float64", "f", np.float32(0.1), float(np.float32(0.1))),
    ("echo_float64", "f", 3, 3.0),
    ("echo_complex", "z", 1, 1 + 0j),
    ("echo_complex", "z", 1.5, 1.5 + 0j),
    ("echo_complex", "z", np.complex64(1 + 2j), 1 + 2j),
    ("echo_complex", "z", np.complex128(1 - 2j), 1 - 2j),
    ("echo_complex64", "z", 1 + 2j, np.complex64(1 + 2j)),
    ("echo_complex", "z", complex(math.inf, -3), complex(math.inf, -3)),
    ("echo_complex", "z", math.nan, complex(math.nan, 0)),
    ("text_length", "s", "abc ", 4),
    ("text_length", "s", "", 0),
    ("text_length", "s", np.str_("abc"), 3),
]


@pytest.mark.parametrize(("name", "parameter", "value", "expected"), RIGHT)
def test_scalar_arrives_exactly(
    name: str, parameter: str, value: Any, expected: Any, probes: Probes
) -> None:
    kernel = probes.kernel(name)
    assert same_scalar(kernel(value), expected)
    assert same_scalar(kernel(**{parameter: value}), expected)
    assert same_scalar(kernel.python(value), expected)


REFUSED = [
    ("echo_bool", "b", 1, TypeError, True),
    ("echo_bool", "b", 0.0, TypeError, False),
    ("echo_bool", "b", np.int64(2), TypeError, True),
    ("echo_int", "i", BIG, ValueError, BIG - 1),
    ("echo_int", "i", -BIG - 1, ValueError, -BIG),
    ("echo_int", "i", np.uint64(BIG), ValueError, BIG - 1),
    ("echo_int", "i", 2.0, TypeError, 2),
    ("echo_int", "i", np.float32(2.5), TypeError, 2),
    ("echo_int", "i", math.nan, TypeError, 0),
    ("echo_int", "i", "12", TypeError, 12),
    ("echo_int", "i", "x", TypeError, 0),
    ("echo_int", "i", None, TypeError, 0),
    ("echo_int", "i", 2 + 1j, TypeError, 2),
    ("echo_int", "i", np.timedelta64(3, "s"), TypeError, 0),
    ("echo_int", "i", np.timedelta64(3, "ns"), TypeError, 3),
    ("echo_int", "i", Fraction(7, 2), TypeError, 3),
    ("echo_int", "i", np.array(4), TypeError, 4),
    ("echo_int", "i", np.array([4]), TypeError, 4),
    ("echo_int", "i", np.array([4.0]), TypeError, 4),
    ("echo_int", "i", np.array([5, 6]), TypeError, 5),
    ("echo_int", "i", np.zeros(0), TypeError, 0),
    ("echo_int", "i", [1], TypeError, 0),
    ("echo_int8", "i", 128, ValueError, 127),
    ("echo_int32", "i", 2**31, ValueError, 2**31 - 1),
    ("echo_int32", "i", np.int64(-(2**31) - 1), ValueError, -(2**31)),
    ("echo_int32", "i", 1.0, TypeError, 1),
    ("echo_float", "f", 2**53 + 1, ValueError, 2.0**53),
    ("echo_float", "f", 10**400, ValueError, math.inf),
    ("echo_float", "f", np.longdouble(1) + np.finfo(np.longdouble).eps, ValueError, 1.0),
    ("echo_float", "f", 1 + 2j, TypeError, 1.0),
    ("echo_float", "f", np.complex64(1 + 2j), TypeError, 1.0),
    ("echo_float", "f", "0.5", TypeError, 0.5),
    ("echo_float", "f", Fraction(1, 2), TypeError, 0.5),
    ("echo_float", "f", np.array(0.5), TypeError, 0.5),
    ("echo_float", "f", np.array([0.5]), TypeError, 0.5),
    ("echo_float32", "f", 0.1, ValueError, np.float32(0.1)),
    ("echo_float32", "f", np.float64(0.1), ValueError, np.float32(0.1)),
    ("echo_float32", "f", 1e300, ValueError, math.inf),
    ("echo_float32", "f", 2**24 + 1, ValueError, 2.0**24),
    ("echo_float64", "f", 2**53 + 1, ValueError, 2.0**53),
    ("echo_float64", "f", None, TypeError, 0.0),
    ("echo_complex", "z", "1j", TypeError, 1j),
    # 2.2.3 gives the kernel nan + inf i.
    ("echo_complex", "z", complex(1, math.inf), ValueError, 1 + 0j),
    ("echo_complex", "z", np.complex128(complex(1, math.nan)), ValueError, 1 + 0j),
    ("echo_complex64", "z", np.complex64(complex(2, -math.inf)), ValueError, 2 + 0j),
    ("echo_complex64", "z", 0.1 + 1j, ValueError, np.complex64(0.1 + 1j)),
    ("text_length", "s", "é", ValueError, 1),
    ("text_length", "s", "a\0b", ValueError, 2),
    ("text_length", "s", "\ud800", ValueError, 1),
    ("text_length", "s", b"ab", TypeError, 2),
    ("text_length", "s", 12, TypeError, 2),
]


@pytest.mark.parametrize(("name", "parameter", "value", "kind", "fixed"), REFUSED)
def test_scalar_that_would_change_is_refused_and_the_fix_works(
    name: str, parameter: str, value: Any, kind: type[Exception], fixed: Any, probes: Probes
) -> None:
    kernel = probes.kernel(name)
    error, scope = refuse(kernel, kind, parameter, **{parameter: value})
    assert same_scalar(scope["result"], fixed)
    if name == "echo_float32" and value == 0.1:
        assert "np.float32(" in error.fix
        assert "annotate f: 'float64'" in error.fix


def test_every_typed_scalar_of_one_call_is_converted(probes: Probes) -> None:
    assert probes.kernel("typed_scalars")(1, 2, 3, 4, 5, 6, 7, 8j) == 28 + 8j
    assert probes.kernel("scalars")(np.True_, np.int32(2), 3, 4) == 1009


def test_an_int_that_does_not_fit_is_refused_before_the_kernel_writes(probes: Probes) -> None:
    """The bare function runs with -1, and raises SystemError afterwards."""
    x = np.zeros(2)
    with pytest.raises(ArgumentRefused):
        probes.kernel("fails_late")(x, 2**63)
    assert x[0] == 0


def test_defaults_are_filled_in_and_converted(probes: Probes) -> None:
    kernel = probes.kernel("defaults")
    x = np.array([10.0])
    assert kernel(x) == 23
    assert kernel(x, n=4) == 24
    assert kernel(x, 3) == 33
    assert kernel.python(x) == 23


def test_optional_array_may_be_absent(probes: Probes) -> None:
    kernel = probes.kernel("optional")
    assert kernel(2) == kernel(2, None) == kernel.python(2) == 2
    assert kernel(2, np.array([3.0, 4.0])) == 5
    assert kernel(2, x=np.array([3.0, 4.0])[::-1]) == 6
    refuse(kernel, TypeError, "x", n=2, x=[1.0])


def test_renamed_and_keyword_only_parameters_reach_their_places(probes: Probes) -> None:
    """Pyccel calls `end` and `A` beside `a` by other names."""
    end = np.array([1.0])
    assert probes.kernel("renamed")(end, 2, 3) == 43321
    assert probes.kernel("renamed")(end, 2, 3, t=5, T=6) == 56321
    assert probes.kernel("renamed")(end=end, A=np.int64(2), a=3, t=5) == 53321
    assert probes.kernel("required")(end, t=4, do=2, T=3) == 4321
    assert probes.kernel("required")(end=end, do=True, T=3, t=4) == 4311
    assert probes.kernel("only_one")() == 7
    assert probes.kernel("only_one")(end=np.int32(9)) == 9


def test_keyword_names_are_found_without_the_generated_source(probes: Probes) -> None:
    for name in ("required", "only_one"):
        kernel = PyccelKernel(getattr(probes.module, name), signature=probes.signatures[name])
        assert kernel._keywords == probes.kernel(name)._keywords
    wrapped = PyccelKernel(probes.module.required, signature=probes.signatures["required"])
    assert wrapped(np.array([1.0]), t=4, do=2, T=3) == 4321


def test_wrong_number_of_arguments_is_pythons_own_error(probes: Probes) -> None:
    kernel = probes.kernel("shift")
    x = np.zeros(3)
    with pytest.raises(TypeError, match=r"shift\(\) missing 1 required positional argument: 'y'"):
        kernel(x)
    with pytest.raises(TypeError, match=r"shift\(\) got an unexpected keyword argument 'z'"):
        kernel(x, x, z=1)
    with pytest.raises(TypeError, match=r"shift\(\) takes 2 positional arguments but 3 were given"):
        kernel(x, x, x)


# ---- arrays of the wrong kind ---------------------------------------------------------------


def structured() -> np.ndarray[Any, Any]:
    return np.array([(1, 2.0), (3, 4.0), (5, 6.0)], dtype=[("n", "i4"), ("v", "f8")])


WRONG_ARRAYS = [
    ("int32", lambda: np.arange(3, dtype="int32"), TypeError, [0, 1, 2]),
    ("float32", lambda: np.arange(3, dtype="float32"), TypeError, [0, 1, 2]),
    ("uint8", lambda: np.arange(3, dtype="uint8"), TypeError, [0, 1, 2]),
    ("big-endian int", lambda: np.arange(3, dtype=">i4"), TypeError, [0, 1, 2]),
    ("complex", lambda: np.arange(3) + 1j, TypeError, [0, 1, 2]),
    ("bool", lambda: np.array([True, False, True]), TypeError, [1, 0, 1]),
    ("longdouble", lambda: np.arange(3, dtype="longdouble"), TypeError, [0, 1, 2]),
    ("object", lambda: np.array([1, 2, 3], dtype=object), TypeError, [1, 2, 3]),
    ("text", lambda: np.array(["1", "2", "3"]), TypeError, [1, 2, 3]),
    ("records", structured, TypeError, [2, 4, 6]),
    ("0-d", lambda: np.array(5.0), TypeError, [5]),
    ("2-D", lambda: np.ones((2, 2)), TypeError, [1, 1, 1, 1]),
    ("2-D int32", lambda: np.ones((2, 2), "int32"), TypeError, [1, 1, 1, 1]),
    ("list", lambda: [1.0, 2.0, 3.0], TypeError, [1, 2, 3]),
    ("nested list", lambda: [[1.0, 2.0], [3.0, 4.0]], TypeError, [1, 2, 3, 4]),
    ("range", lambda: range(3), TypeError, [0, 1, 2]),
    ("tuple", lambda: (1, 2, 3), TypeError, [1, 2, 3]),
    ("scalar", lambda: 5.0, TypeError, [5]),
    ("NumPy scalar", lambda: np.float64(5.0), TypeError, [5]),
    ("None", lambda: None, TypeError, [0]),
]
WRONG_IDS = [one[0] for one in WRONG_ARRAYS]


@pytest.mark.parametrize(("_", "make", "kind", "elements"), WRONG_ARRAYS, ids=WRONG_IDS)
def test_wrong_array_that_is_read_is_refused_and_the_fix_works(
    _: str, make: Any, kind: type[Exception], elements: list[float], probes: Probes
) -> None:
    kernel = probes.kernel("fold_float64_1C")
    _error, scope = refuse(kernel, kind, "x", x=make())
    assert scope["result"] == sum(k * value for k, value in enumerate(elements, 1))


@pytest.mark.parametrize(("_", "make", "kind", "elements"), WRONG_ARRAYS, ids=WRONG_IDS)
def test_wrong_array_that_is_written_is_refused_and_the_fix_keeps_the_result(
    _: str, make: Any, kind: type[Exception], elements: list[float], probes: Probes
) -> None:
    kernel = probes.kernel("bump_float64_1C")
    value = make()
    if isinstance(value, np.ndarray) and value.dtype == bool:
        pytest.skip("no bool holds the result")
    error, scope = refuse(kernel, kind, "x", x=value)
    result = scope["x"]["v"] if _ == "records" else scope["x"]
    expected = [2 * one + k for k, one in enumerate(elements, 1)]
    assert np.array_equal(np.real(np.ravel(np.asarray(result, dtype=complex))), expected)
    if isinstance(value, np.ndarray | list):
        assert scope["x"] is value, "the caller's own object must hold the result"
        assert len(error.fix.splitlines()) >= 3


def test_refusal_of_a_dtype_offers_both_ways_out(probes: Probes) -> None:
    kernel = probes.kernel("fold_float64_2F")
    error, _scope = refuse(kernel, TypeError, "x", x=np.ones((2, 2), "int32"))
    assert 'x.astype(np.float64, order="F")' in error.fix
    assert "# or annotate x: 'int32[:,:](order=F)'" in error.fix
    error, _scope = refuse(kernel, TypeError, "x", x=np.ones(2, "uint8"))
    assert "annotate" not in error.fix  # no annotation can say uint8


class Quantity(np.ndarray[Any, Any]):
    """Numbers with a unit: arithmetic of its own."""

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("units do not agree")


@pytest.mark.parametrize("name", ["fold_float64_1C", "bump_float64_1C"])
def test_subclass_with_arithmetic_of_its_own_is_refused(name: str, probes: Probes) -> None:
    x = np.array([1.0, 2.0]).view(Quantity)
    error, _scope = refuse(probes.kernel(name), TypeError, "x", x=x)
    assert "np.asarray(x)" in error.fix
    if name.startswith("bump"):
        assert list(np.asarray(x)) == [3.0, 6.0]


class FakeDeviceArray:
    """What CuPy shows of an array, with the numbers on the host."""

    __module__ = "cupy"

    def __init__(self, numbers: np.ndarray[Any, Any]) -> None:
        self.numbers = numbers
        self.__cuda_array_interface__ = {
            "shape": numbers.shape,
            "typestr": numbers.dtype.str,
            "data": (numbers.ctypes.data, False),
            "version": 3,
        }

    def get(self, order: Any = "C") -> np.ndarray[Any, Any]:
        return np.array(self.numbers, order=order)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.numbers[index] = value


def test_device_array_is_refused_with_the_way_to_the_host(probes: Probes) -> None:
    x = FakeDeviceArray(np.array([1.0, 2.0]))
    kernel = probes.kernel("fold_float64_1C")
    error, scope = refuse(kernel, TypeError, "x", x=x)
    assert scope["result"] == 5
    assert "device" in error.found
    with pytest.raises(ArgumentRefused) as caught:
        probes.kernel("bump_float64_1C")(x)
    lines = caught.value.fix.splitlines()
    assert lines[0] == 'x_buffer = x.get(order="C")'
    assert lines[-1] == "x[...] = cupy.asarray(x_buffer)"


def test_containers_and_objects_pass_and_their_integers_are_checked(probes: Probes) -> None:
    accumulator = probes.module.Accumulator(5)
    assert probes.kernel("total_of")(accumulator) == 5
    with pytest.raises(ArgumentRefused, match="Accumulator"):
        probes.kernel("total_of")(type("a%sb%sc%s", (), {})())
    if probes.language == "c":
        kernel = probes.kernel("first_of")
        assert kernel([4, 5]) == 4
        _error, scope = refuse(kernel, ValueError, "a", a=[2**63, 1])
        assert scope["result"] == 2**63 - 1
        _error, scope = refuse(kernel, TypeError, "a", a=(3, 1))
        assert scope["result"] == 3
        _error, scope = refuse(kernel, TypeError, "a", a=[np.int64(3), 1])
        assert scope["result"] == 3


def test_variant_that_fits_as_it_is_comes_first(probes: Probes) -> None:
    kernel = probes.kernel("either")
    single, double = np.ones(3, "float32"), np.ones(3)
    kernel(single, 2)
    kernel(double[::-1], np.int64(3))
    assert list(single) == [2, 2, 2]
    assert list(double) == [3, 3, 3]
    assert kernel.plan(single, 2)["x"].type.dtype == "float32"
    refuse(kernel, TypeError, "x", x=np.ones(3, "int8"), n=2)
    number = probes.kernel("number")
    assert number(2) == 4
    assert number(2.5) == 5
    assert number(np.float32(0.5)) == 1


def test_returned_arrays_pass_through(probes: Probes) -> None:
    for name, order in (("returned", "F"), ("returned_c", "C")):
        x = np.arange(6.0).reshape(2, 3)
        result = probes.kernel(name)(x)
        assert np.array_equal(result, 2 * x)
        assert result.flags.f_contiguous if order == "F" else result.flags.c_contiguous


# ---- overlap --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 64, 100, 1000])
def test_input_that_shares_elements_with_an_output_is_read_as_it_was(
    n: int, probes: Probes
) -> None:
    kernel = probes.kernel("shift")
    for make in (
        lambda memory: (memory[:n], memory[:n]),
        lambda memory: (memory[:n], memory[1 : n + 1]),
        lambda memory: (memory[:n][::-1], memory[:n]),
        lambda memory: (memory[:n], memory[:n][::-1]),
    ):
        given, expected = np.arange(2.0 * n), np.arange(2.0 * n)
        x, y = make(expected)
        probes.python["shift"](x.copy(), y)
        kernel(*make(given))
        assert np.array_equal(given, expected)
        given = np.arange(2.0 * n)
        kernel.python(*make(given))
        assert np.array_equal(given, expected)


def test_overlap_is_a_snapshot_and_the_plan_says_so(probes: Probes) -> None:
    x = np.arange(5.0)
    plan = probes.kernel("shift").plan(x, x)
    assert plan["x"].action == "COPY"
    assert plan["x"].shares_with == "y"
    assert plan["y"].action == "PASS"
    assert plan.bytes_copied == 40


def test_interleaved_views_are_independent(probes: Probes) -> None:
    memory = np.arange(200.0)
    kernel = probes.kernel("shift")
    assert kernel.plan(memory[::2], memory[1::2]).passes
    assert probes.kernel("both").plan(memory[::2], memory[1::2]).passes
    expected = np.arange(200.0)
    probes.python["shift"](expected[::2].copy(), expected[1::2])
    kernel(memory[::2], memory[1::2])
    assert np.array_equal(memory, expected)


def test_two_outputs_that_share_elements_are_refused(probes: Probes) -> None:
    kernel = probes.kernel("both")
    x = np.arange(4.0)
    error, scope = refuse(kernel, ValueError, "y", x=x, y=x)
    assert "shares elements with x" in error.found
    assert list(scope["y_copy"]) == [2, 4, 6, 8]
    with pytest.raises(ArgumentRefused):
        kernel(x[1:], x[:-1])


def test_two_inputs_may_be_the_same_array(probes: Probes) -> None:
    kernel = probes.kernel("add_rows")
    x, y = np.ones((3, 3)), np.zeros((3, 3))
    assert kernel.plan(x, y, 1, 2.0, x[0]).passes
    kernel(x, y, 1, 2.0, x[0])
    assert (y == 4).all()


# ---- sizes ----------------------------------------------------------------------------------


def test_empty_array_beside_one_that_is_not(probes: Probes) -> None:
    """No void call is skipped: the kernel may write another argument."""
    kernel = probes.kernel("add_rows")
    y = np.full((2, 3), 9.0)
    kernel(np.zeros((0, 3)), y[:0], 1, 2.0, np.zeros(3))
    assert (y == 9).all()
    kernel = probes.kernel("optional")
    with pytest.raises((IndexError, ArgumentRefused)) if probes.language == "c" else _nothing():
        kernel(1, np.zeros(0))


class _nothing:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *details: object) -> None:
        return None


def test_empty_array_runs_uncompiled_in_c_or_is_refused(probes: Probes) -> None:
    kernel = probes.kernel("fold_float64_2C")
    assert kernel(np.zeros((0, 3))) == 0
    wrapped = probes.kernel("fold_float64_2C", uncompiled=False)
    if probes.language == "fortran":
        assert wrapped(np.zeros((0, 3))) == 0
        assert kernel.plan(np.zeros((0, 3))).target == "host"
    else:
        assert kernel.plan(np.zeros((0, 3))).target == "python"
        with pytest.raises(ArgumentRefused, match="at least one element"):
            wrapped(np.zeros((0, 3)))


def test_axis_beyond_int32_is_refused_in_c_only(probes: Probes) -> None:
    many = np.broadcast_to(np.int8(1), (2**31,))  # one byte of memory
    plan = probes.kernel("fold_int8_1C").plan(many)
    if probes.language == "c":
        assert plan["x"].action == "REFUSE"
        assert plan["x"].error == "value"
        assert "2147483648" in plan["x"].found
    else:
        assert plan["x"].action == "COPY"


# ---- policies, targets ----------------------------------------------------------------------


def test_copy_warns_once_per_argument_at_the_callers_line(probes: Probes) -> None:
    kernel = probes.kernel("shift", policy="warn")
    x, y = np.arange(5.0)[::-1], np.zeros(5)[::-1]
    with pytest.warns(CopyWarning) as caught:
        kernel(x, np.zeros(5))
    assert [Path(one.filename) for one in caught] == [Path(__file__)]
    assert "shift(x)" in str(caught[0].message)
    with pytest.warns(CopyWarning, match=r"shift\(y\)") as caught:
        kernel.host(x, y)
    assert [Path(one.filename) for one in caught] == [Path(__file__)]
    kernel(x, y)  # and now no warning, which would be an error


def test_warning_made_an_error_copies_nothing_and_comes_again(probes: Probes) -> None:
    kernel = probes.kernel("bump_float64_1C", policy="warn")
    x = np.ones(3)[::-1]
    for _ in range(2):
        with pytest.raises(CopyWarning):  # warnings are errors in these tests
            kernel(x)
    assert (x == 1).all()


def test_strict_refuses_copies_and_the_fix_keeps_the_result(probes: Probes) -> None:
    kernel = probes.kernel("fold_float64_2C", policy="strict")
    x = np.arange(6.0).reshape(3, 2).T
    _error, scope = refuse(kernel, ValueError, "x", x=x)
    assert scope["result"] == probes.python["fold_float64_2C"](x)
    kernel = probes.kernel("bump_float64_2C", policy="strict")
    expected = np.arange(6.0).reshape(3, 2).T.copy()
    probes.python["bump_float64_2C"](expected)
    error, scope = refuse(kernel, ValueError, "x", x=x)
    assert np.array_equal(x, expected)
    assert len(error.fix.splitlines()) == 3
    shift = probes.kernel("shift", policy="strict")
    y = np.arange(4.0)
    refuse(shift, ValueError, "x", x=y, y=y)


def test_output_that_is_overwritten_is_not_copied_in(probes: Probes) -> None:
    kernel = probes.kernel("into_2F", overwrites=("y",))
    x, y = np.ones((2, 3)), np.zeros((2, 3))
    plan = kernel.plan(x, y)
    assert (plan["y"].bytes_in, plan["y"].bytes_out) == (0, 48)
    kernel(x, y)
    expected = np.zeros((2, 3))
    probes.python["into_2F"](x, expected)
    assert np.array_equal(y, expected)


def test_unwritten_elements_of_a_copied_output_survive(probes: Probes) -> None:
    y = np.full(5, 7.0)[::-1]
    probes.kernel("shift")(np.zeros(5), y)
    assert y[0] == 7
    assert (y[1:] == 1).all()


def test_environment_chooses_the_python_target(probes: Probes, tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\nfrom tests.contracts.host_probes import Probes\n"
        f"probes = Probes(Path({str(probes.path)!r}), {probes.language!r})\n"
        "probes.python['number'] = lambda x: 'python'\nprint(probes.kernel('number')(1.0))"
    )
    for target, expected in (("python", "python"), ("host", "2.0"), ("emulator", "2.0")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PATH": "", "KIT_TARGET": target, "KIT_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.stdout.strip() == expected, done.stderr

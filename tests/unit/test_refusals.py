"""The lines to paste where an array is refused, for arrays that few people pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from kit.boundary.call_text import CallText
from kit.boundary.refusals import array_fix
from kit.signature import ArgumentType

CALL = CallText(kernel="f", arguments=[("x", False)])


def array(dtype: str, rank: int = 1) -> ArgumentType:
    return ArgumentType(dtype=dtype, rank=rank, order="C", text=f"{dtype}[:]")


def fix(value: object, expected: ArgumentType, *, written: bool = True) -> list[str]:
    text = array_fix("x", value, expected, written=written, call=CALL)
    return [line for line in text.splitlines() if not line.startswith("#")]


def paste(value: Any, expected: ArgumentType) -> None:
    """Run the fix; the kernel adds 1 to each element."""

    def kernel(x: Any) -> None:
        x += 1

    exec("\n".join(fix(value, expected)), {"np": np, "x": value, "f": kernel})


def test_a_class_in_place_of_an_array_is_described() -> None:
    assert fix(np.ndarray, array("float64")) == ["x = np.array(x, dtype=np.float64)"]


def test_imaginary_parts_are_left_out_without_a_warning_where_nothing_holds_them() -> None:
    x = np.arange(3)
    paste(x, array("complex128"))
    assert list(x) == [1, 2, 3]


def test_the_field_that_is_read_is_the_field_that_is_written() -> None:
    x = np.zeros(2, [("n", "i4"), ("z", "c16"), ("v", "f8")])
    paste(x, array("complex128"))
    assert list(x["z"]) == [1, 1]
    assert not x["n"].any()
    assert not x["v"].any()


def test_an_empty_array_of_higher_rank_can_be_reshaped_by_its_fix() -> None:
    for shape in ((0, 3, 2), (3, 0, 2), (2, 3, 0)):
        paste(np.zeros(shape), array("float64", 2))
    paste(np.zeros((0, 2)), array("float64", 1))


def test_what_broadcast_arrays_gave_is_asked_without_a_warning() -> None:
    x = np.broadcast_arrays(np.zeros(3, "int32"), np.zeros(3))[0]
    assert len(fix(x, array("float64"))) == 3


def test_nothing_is_assigned_back_where_elements_are_the_same() -> None:
    x = as_strided(np.zeros(4, "int32"), (2, 3), (4, 4))
    assert fix(x, array("float64", 2)) == ['x = x.astype(np.float64, order="C")']

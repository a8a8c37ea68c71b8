"""Device arrays as arguments of host kernels: what moves, in which order, and what is counted.

`DeviceArray` stands for CuPy's array where there is no GPU: memory that NumPy must not read, and
the few methods that moving uses, with CuPy's own limits.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import kit
from kit.errors import ArgumentRefused, KitError

pytestmark = pytest.mark.filterwarnings("error")


class DeviceArray:
    """An array that lies on a pretended device."""

    __module__ = "pretended_cupy"

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.memory = array
        self.moves: list[str] = []

    @property
    def shape(self) -> tuple[int, ...]:
        return self.memory.shape

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        interface = dict(self.memory.__array_interface__)
        interface["version"] = 3
        return interface

    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError("implicit conversion to a NumPy array is not allowed")

    def get(self, order: str = "C") -> np.ndarray[Any, Any]:
        self.moves.append(f"get {order}")
        if order == "A":
            order = "F" if self.memory.flags.fnc else "C"
        return np.array(self.memory, order=order)  # pyright: ignore[reportArgumentType, reportCallIssue]

    def set(self, array: np.ndarray[Any, Any]) -> None:
        flags = self.memory.flags
        if not (flags.c_contiguous or flags.f_contiguous):
            raise RuntimeError("Cannot set to non-contiguous array")
        self.moves.append("set")
        self.memory[...] = array

    def __setitem__(self, index: object, value: object) -> None:
        assert isinstance(value, DeviceArray)
        assert index is ...
        self.moves.append("assign")
        self.memory[...] = value.memory


@pytest.fixture(autouse=True)
def _library(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    library = ModuleType("pretended_cupy")
    library.asarray = DeviceArray  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "pretended_cupy", library)


@pytest.fixture(scope="module")
def kernels() -> Any:
    return kit.pyccel_kernel(
        """
def add_inside(x: 'float64[:,:](order=F)', y: 'float64[:,:](order=F)'):
    for j in range(1, x.shape[1] - 1):
        for i in range(1, x.shape[0] - 1):
            y[i, j] = x[i, j] + 1.0

def shift(x: 'float64[:]', y: 'float64[:]'):
    for i in range(x.shape[0] - 1):
        y[i + 1] = x[i]

def fill(y: 'float64[:]', value: 'float64'):
    for i in range(y.shape[0]):
        y[i] = value

def both(x: 'float64[:]', y: 'float64[:]'):
    x[0] = 1.0
    y[0] = 2.0
""",
        overwrites={"fill": ("y",)},
    )


def test_a_written_argument_moves_in_and_back_and_keeps_what_was_not_written(kernels: Any) -> None:
    x, y = (DeviceArray(np.full((4, 5), value, order="F")) for value in (2.0, 7.0))
    with kit.count_transfers() as moved:
        assert kernels.add_inside(x, y) is None
    wanted = np.full((4, 5), 7.0)
    wanted[1:-1, 1:-1] = 3.0
    np.testing.assert_array_equal(y.memory, wanted)
    assert (x.moves, y.moves) == (["get A"], ["get A", "set"])
    assert (moved.bytes_to_host, moved.bytes_to_device) == (2 * 160, 160)
    assert [(one.kernel, one.argument, one.direction) for one in moved.events] == [
        ("add_inside", "x", "to_host"),
        ("add_inside", "y", "to_host"),
        ("add_inside", "y", "to_device"),
    ]
    assert all(one.site.startswith("test_moves.py:") for one in moved.events)
    assert "480 bytes" not in moved.report()
    assert "320 bytes to the host, 160 bytes to devices" in moved.report()


def test_the_other_order_moves_in_the_declared_order(kernels: Any) -> None:
    x, y = DeviceArray(np.arange(20.0).reshape(4, 5)), DeviceArray(np.zeros((4, 5)))
    kernels.add_inside(x, y)
    np.testing.assert_array_equal(y.memory[1:-1, 1:-1], x.memory[1:-1, 1:-1] + 1.0)
    assert (x.moves, y.moves) == (["get F"], ["get F", "set"])


@pytest.mark.parametrize("step", [2, -1])
def test_strided_and_reversed_outputs_are_filled_in_place(kernels: Any, step: int) -> None:
    storage = np.zeros(9)
    kernels.fill(DeviceArray(storage[::step]), 5.0)
    wanted = np.zeros(9)
    wanted[::step] = 5.0
    np.testing.assert_array_equal(storage, wanted)


def test_what_is_overwritten_entirely_does_not_move_in(kernels: Any) -> None:
    y = DeviceArray(np.zeros(6))
    with kit.count_transfers() as moved:
        kernels.fill(y, 4.0)
    np.testing.assert_array_equal(y.memory, np.full(6, 4.0))
    assert (moved.bytes_to_host, moved.bytes_to_device) == (0, 48)
    assert y.moves == ["set"]


def test_an_array_that_is_input_and_output_moves_once_and_is_read_as_it_was(kernels: Any) -> None:
    x = DeviceArray(np.arange(5.0))
    with kit.count_transfers() as moved, pytest.warns(kit.CopyWarning, match="shares elements"):
        kernels.shift(x, x)
    np.testing.assert_array_equal(x.memory, [0.0, 0.0, 1.0, 2.0, 3.0])
    assert (moved.bytes_to_host, x.moves) == (40, ["get A", "set"])


def test_views_that_overlap_are_read_as_they_were(kernels: Any) -> None:
    storage = np.arange(8.0)
    kernels.shift(DeviceArray(storage[:6]), DeviceArray(storage[2:]))
    np.testing.assert_array_equal(storage, [0, 1, 2, 0, 1, 2, 3, 4])


def test_two_outputs_that_share_elements_are_refused_before_anything_moves(kernels: Any) -> None:
    storage = np.arange(8.0)
    x, y = DeviceArray(storage[:6]), DeviceArray(storage[5:])
    with pytest.raises(ArgumentRefused, match="shares elements with x"):
        kernels.both(x, y)
    assert x.moves == y.moves == []
    kernels.both(DeviceArray(storage[::2]), DeviceArray(storage[1::2]))
    np.testing.assert_array_equal(storage[:3], [1, 2, 2])


def test_host_and_device_arguments_may_be_mixed(kernels: Any) -> None:
    y = np.zeros(5)
    with kit.count_transfers() as moved:
        kernels.shift(DeviceArray(np.arange(5.0)), y)
    np.testing.assert_array_equal(y, [0, 0, 1, 2, 3])
    assert (moved.bytes_to_host, moved.bytes_to_device) == (40, 0)


def _read_only() -> np.ndarray[Any, Any]:
    array = np.zeros(3)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3, np.float32), "float32"),
        (np.zeros((3, 3)), "2-D|shape"),
        (np.broadcast_to(np.zeros(1), 3), "not writeable"),
        (_read_only(), "not writeable"),
    ],
    ids=["dtype", "rank", "broadcast", "read-only"],
)
def test_what_does_not_fit_is_refused_before_anything_moves(
    kernels: Any, array: np.ndarray[Any, Any], message: str
) -> None:
    y = DeviceArray(array)
    with pytest.raises(ArgumentRefused, match=message):
        kernels.fill(y, 1.0)
    assert y.moves == []


def test_a_fault_in_the_cell_leaves_the_device_arrays_as_they_were(kernels: Any) -> None:
    y = DeviceArray(np.zeros(3))
    with pytest.raises(ArgumentRefused, match="shape"):
        kernels.shift(DeviceArray(np.zeros(5)), y)  # y is too short for the loop over x
    assert y.moves == []


def test_arrays_without_elements_move(kernels: Any) -> None:
    y = DeviceArray(np.zeros(0))
    kernels.fill(y, 1.0)
    assert y.memory.size == 0


def test_the_plan_says_what_would_move_and_moves_nothing(kernels: Any) -> None:
    x, y = DeviceArray(np.zeros((4, 5))), DeviceArray(np.zeros((4, 5), order="F"))
    plan = kernels.add_inside.plan(x, y)
    assert [one.action for one in plan.arguments] == ["MOVE", "MOVE"]
    assert [(one.bytes_in, one.bytes_out) for one in plan.arguments] == [(160, 0), (160, 160)]
    assert "device" in repr(plan)
    assert x.moves == y.moves == []


class Far(DeviceArray):
    """Memory at an address of its own choice, which nothing here may read."""

    __module__ = "pretended_cupy"

    def __init__(self, pointer: int) -> None:
        super().__init__(np.zeros(4))
        self.pointer = pointer

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**super().__cuda_array_interface__, "data": (self.pointer, False)}


def test_planning_needs_no_memory_between_arrays_that_lie_far_apart(kernels: Any) -> None:
    plan = kernels.shift.plan(Far(1 << 46), Far(1 << 20))
    assert [one.action for one in plan.arguments] == ["MOVE", "MOVE"]


def test_the_uncompiled_cell_takes_device_arrays_alike(kernels: Any) -> None:
    y = DeviceArray(np.zeros(4))
    kernels.fill.python(y, 2.0)
    np.testing.assert_array_equal(y.memory, np.full(4, 2.0))


def test_a_block_without_transfers_says_what_moved(kernels: Any) -> None:
    with kit.assert_no_transfers():
        kernels.fill(np.zeros(4), 2.0)
    with pytest.raises(KitError, match=r"fill\(y\) to device: 32 bytes"), kit.assert_no_transfers():
        kernels.fill(DeviceArray(np.zeros(4)), 2.0)


def test_nested_blocks_count_alike(kernels: Any) -> None:
    with kit.count_transfers() as outer:
        kernels.fill(DeviceArray(np.zeros(4)), 2.0)
        with kit.count_transfers() as inner:
            kernels.fill(DeviceArray(np.zeros(2)), 2.0)
    assert (outer.bytes_to_device, inner.bytes_to_device) == (48, 16)

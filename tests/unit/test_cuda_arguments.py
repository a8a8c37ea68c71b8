"""Arguments that a CUDA kernel refuses: the reason, and a fix that works when it is pasted."""

from __future__ import annotations

import mmap
import sys
from array import array as plain_array
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from kit.arrayview import ArrayView
from kit.cuda import packing
from kit.cuda.packing import ArgumentPacker
from kit.cuda.signature import CudaParameter
from kit.errors import ArgumentRefused
from tests.unit.cuda_signatures import (
    ELEMENTS,
    PARTICLE,
    array,
    kernel,
    record,
    scalar,
    struct,
    vector,
)

GRID = np.arange(12.0).reshape(3, 4)
FLOAT2, FLOAT4 = vector("float32", 2), vector("float32", 4)
PACKED = [("alive", "?"), ("position", "f8", (3,)), ("charge", "i2")]
ALIGNED = np.dtype(PACKED, align=True)
UNPADDED = np.dtype(
    {"names": ["alive", "position", "charge"], "formats": ["?", ("f8", (3,)), "i2"],
     "offsets": [0, 8, 32], "itemsize": 34}
)  # fmt: skip
PATH = struct("Path", ("at", FLOAT4), ("n", ELEMENTS["int32"]))
SIGNALLING = np.array([0x7F812345], "u4").view("f4")[0]
OPAQUE = PARTICLE._replace(fields=None)


class Metres(np.ndarray[Any, Any]):
    """An array whose arithmetic knows a unit."""

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        return NotImplemented


def frozen(value: Any) -> Any:
    value.flags.writeable = False
    return value


def packed_field(dtype: str) -> Any:
    """Steps of one byte more than an element."""
    return np.zeros(3, [("flag", "i1"), ("value", dtype)])["value"]


ARRAYS: list[tuple[str, CudaParameter, Any, type, str]] = [
    ("F order", array("x", "float64"), GRID.T, ValueError, "F order"),
    ("gaps", array("x", "float64", written=True), GRID.copy()[:, ::2], ValueError, "with gaps"),
    ("backwards", array("x", "float64"), GRID[::-1], ValueError, "axis 0 runs backwards"),
    ("gaps, CArray", array("x", "float64", 2, kind="cview"), GRID[:, :2], ValueError, "gaps"),
    ("float32", array("x", "float64"), GRID.astype("f4"), TypeError, "float32 array"),
    ("float32 in F", array("x", "float64"), GRID.T.astype("f4"), TypeError, "float32 array"),
    ("written", array("x", "float64", written=True), GRID.astype("f4"), TypeError, "float32"),
    ("complex", array("x", "float64", 2, written=True), GRID + 0j, TypeError, "complex128"),
    ("ints", array("x", "int32"), np.arange(3), TypeError, "int64 array"),
    ("rank low", array("x", "float64", 2), GRID[0], TypeError, r"shape \(4,\)"),
    ("rank high", array("x", "float64", 1, written=True), GRID.copy(), TypeError, r"\(3, 4\)"),
    ("no axis", array("x", "float64", 1), np.array(1.0), TypeError, r"shape \(\)"),
    ("bytes", array("x", "float64"), GRID.astype(">f8"), TypeError, "a foreign byte order"),
    ("read-only", array("x", "float64", written=True), frozen(GRID.copy()), ValueError,
     "array is not writeable"),
    ("read-only float4", array("x", FLOAT4, written=True), frozen(np.zeros((2, 4), "f4")),
     ValueError, "array is not writeable"),
    ("read-only records", array("x", PARTICLE, written=True), frozen(np.zeros(2, ALIGNED)),
     ValueError, "array is not writeable"),
    ("zero stride", array("x", "float64", 2, written=True), as_strided(GRID, (3, 4), (0, 8)),
     ValueError, r"axis 0 has stride 0 \(3 indices, one element\)"),
    ("windows", array("x", "float64", 2, written=True), as_strided(GRID, (3, 4), (8, 8)),
     ValueError, "overlap in memory"),
    ("odd steps", array("x", "float64", 1), packed_field("f8"), ValueError, "9 bytes"),
    ("complex128 needs 16", array("x", "complex128"), np.zeros(9)[1:].view("c16"), ValueError,
     "8 bytes past a multiple of 16"),
    ("float4 needs 16", array("x", FLOAT4, written=True),
     np.zeros(9, "f4")[1:].reshape(2, 4), ValueError, "4 bytes past a multiple of 16"),
    ("mask", array("x", "float64"), np.ma.array([1.0, 2.0], mask=[False, True]), ValueError,
     "a mask"),
    ("own arithmetic", array("x", "float64"), np.zeros(3).view(Metres), TypeError, "Metres"),
    ("list", array("x", "float64"), [1.0, 2.0], TypeError, "a list"),
    ("written list", array("x", "float64", written=True), [1.0, 2.0], TypeError, "a list"),
    ("None", array("x", "float64", 2), None, TypeError, "None"),
    ("number", array("x", "float64"), 2.0, TypeError, "the scalar 2.0"),
    ("bytearray", array("x", "uint8"), bytearray(8), TypeError, "a bytearray"),
    ("array.array", array("x", "float64"), plain_array("d", [1.0]), TypeError, "an array"),
    ("ghosts", array("x", "float64"), ArrayView(array=np.zeros(5), nghost=1), ValueError,
     "with ghost layers"),
    ("view of float32", array("x", "float64", 1), ArrayView((5,), "f4"), TypeError, "ArrayView"),
    ("written view", array("x", "float64", 1, written=True), ArrayView((5,), "f4", value=1),
     TypeError, "float32 array"),
    ("bfloat16", array("x", "bfloat16"), np.zeros(3, "f4"), TypeError, "float32 array"),
    ("half", array("x", "float16"), np.zeros(3, ml_dtypes.bfloat16), TypeError, "bfloat16"),
    # vector types
    ("three of four", array("x", FLOAT4), np.zeros((3, 3), "f4"), TypeError, r"\(3, 3\)"),
    ("eight", array("x", FLOAT4), np.zeros((3, 8), "f4"), TypeError, r"\(3, 8\)"),
    ("flat", array("x", FLOAT4, written=True), np.zeros(8, "f4"), TypeError, r"\(8,\)"),
    ("flat view", array("x", FLOAT4, 1), np.zeros(8, "f4"), TypeError, r"\(8,\)"),
    ("float64 for float4", array("x", FLOAT4, written=True), np.zeros((3, 4)), TypeError, "64"),
    ("complex for float2", array("x", FLOAT2, 1, written=True), np.zeros(3, "c8"), TypeError,
     "complex64"),
    ("components apart", array("x", FLOAT4), np.zeros((4, 3), "f4").T, ValueError,
     "components 12 bytes apart"),
    ("components a field", array("x", FLOAT4, 1),
     np.zeros(3, [("a", "f4"), ("b", "f4", (4,))])["b"], ValueError, "a stride of 20 bytes"),
    ("ghost components", array("x", FLOAT2, 1),
     ArrayView(array=np.zeros((3, 4), "f4"), nghost=((0, 0), (2, 0))), ValueError,
     "ghost layers on the last axis"),
    ("ghosts around too many axes", array("x", FLOAT4, 1),
     ArrayView(array=np.zeros((5, 6, 2), "f4"), nghost=((1, 0), (2, 1), (0, 0))), TypeError,
     r"shape \(4, 3, 2\)"),
    ("ghosts of eight", array("x", FLOAT4, 1),
     ArrayView(array=np.zeros((4, 4), "f4"), nghost=((0, 0), (1, 1))), TypeError, r"\(4, 2\)"),
    # structs
    ("packed", array("x", PARTICLE), np.zeros(3, PACKED), TypeError,
     "field position lies at byte 1, and at byte 8 in Particle: the records are packed"),
    ("fewer fields", array("x", PARTICLE), np.zeros(3, PACKED[:2]), TypeError,
     "fields alive, position, and Particle has alive, position, charge"),
    ("other type", array("x", PARTICLE), np.zeros(3, [("alive", "?"), ("position", "f4", (3,)),
     ("charge", "i2")]), TypeError, "field position of Particle: float32, and double in the cell"),
    ("other shape", array("x", PARTICLE), np.zeros(3, [("alive", "?"), ("position", "f8", (2,)),
     ("charge", "i2")]), TypeError, r"shape \(2,\), and \(3,\) in the cell"),
    ("no padding at the end", array("x", PARTICLE), np.zeros(3, UNPADDED), TypeError,
     "records of 34 bytes, and Particle has 40"),
    ("three of float4", array("x", PATH), np.zeros(3, [("at", "f4", (3,)), ("n", "i4")]), TypeError,
     r"field at of Path: shape \(3,\), and \(4,\) in the cell"),
    ("no records", array("x", PARTICLE, 1), np.zeros(3), TypeError, "are no records"),
    ("unknown fields", array("x", OPAQUE), np.zeros(3, ALIGNED), TypeError, "not known"),
]  # fmt: skip

# What the fix is about cannot be pasted: a reading of the cell, or a number that has to be chosen.
NO_ARRAYS: list[tuple[str, CudaParameter, Any, type, str]] = [
    ("rounded", scalar("x", "float32"), 0.1, ValueError, "float 0.1"),
    ("too large", scalar("x", "float32"), 1e300, ValueError, r"float 1e\+300"),
    ("half", scalar("x", "float16"), 1e9, ValueError, "float 1000000000.0"),
    ("beyond", scalar("x", "int32"), 2**31, ValueError, "int 2147483648"),
    ("far beyond", scalar("x", "int64"), 2**70, ValueError, "int 1180591620717411303424"),
    ("negative", scalar("x", "uint8"), -1, ValueError, "int -1"),
    ("float for int", scalar("x", "int32"), 2.0, TypeError, "float 2.0"),
    ("int for bool", scalar("x", "bool"), 1, TypeError, "int 1"),
    ("complex for real", scalar("x", "float64"), 1j, TypeError, "complex 1j"),
    ("text", scalar("x", "float64"), "a", TypeError, "a str"),
    ("None", scalar("x", "float64"), None, TypeError, "None"),
    ("array", scalar("x", "int32"), np.array([1, 2]), TypeError, r"int64 array of shape \(2,\)"),
    ("empty", scalar("x", "int32"), np.array([]), TypeError, r"shape \(0,\)"),
    ("one element", scalar("x", "float32"), np.array([0.5]), TypeError, r"shape \(1,\)"),
    ("masked", scalar("x", "float64"), np.ma.masked, TypeError, "MaskedConstant"),
    ("duration", scalar("x", "int64"), np.timedelta64(3, "s"), TypeError, "timedelta64"),
    ("bfloat16", scalar("x", "bfloat16"), 0.1, ValueError, "float 0.1"),
    ("a digit more than bfloat16", scalar("x", "bfloat16"), 1 + 2**-9, ValueError, "1.00195"),
    ("bfloat16, complex", scalar("x", "bfloat16"), 1j, TypeError, "complex 1j"),
    ("three of four", record("x", FLOAT4), (1, 2, 3), TypeError, r"tuple \(1, 2, 3\)"),
    ("rounded component", record("x", FLOAT4), (0.1, 2, 3, 4), ValueError, "tuple"),
    ("float64 components", record("x", FLOAT4), np.array([0.1, 2, 3, 4]), ValueError, "float64"),
    ("number for vector", record("x", FLOAT4), 5.0, TypeError, "float 5.0"),
    ("tuple for struct", record("x", PARTICLE), (True, (1, 2, 3), 4), TypeError, "a tuple"),
    ("packed struct", record("x", PARTICLE), np.zeros((), PACKED), TypeError, "are packed"),
    ("other struct", record("x", PARTICLE), np.zeros((), PACKED[:1]), TypeError, "fields alive,"),
    ("number for struct", record("x", PARTICLE), 3, TypeError, "int 3"),
    ("records for struct", record("x", PARTICLE), np.zeros(1, ALIGNED), TypeError, "array of"),
    ("unknown struct", record("x", OPAQUE), np.zeros((), ALIGNED), TypeError, "not known"),
    ("bytes for struct", record("x", OPAQUE), np.void(bytes(8)), TypeError, "no records"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("parameter", "value", "kind", "found"),
    [one[1:] for one in (*ARRAYS, *NO_ARRAYS)],
    ids=[f"{one[1].kind}: {one[0]}" for one in (*ARRAYS, *NO_ARRAYS)],
)
def test_what_is_refused_passes_after_its_fix(
    parameter: CudaParameter, value: Any, kind: type, found: str
) -> None:
    packer = ArgumentPacker(kernel(parameter))
    with pytest.raises(ArgumentRefused, match=found) as caught:
        packer.pack((value,), "emulator")
    refusal = caught.value
    assert isinstance(refusal, kind)
    assert (refusal.kernel, refusal.argument) == ("f", "x")
    assert refusal.need
    called: list[object] = []

    def call(one: object) -> None:
        packer.pack((one,), "emulator")
        called.append(one)

    names = {"x": value, "np": np, "ml_dtypes": ml_dtypes, "f": call}
    exec(refusal.fix, names)
    if not called:
        call(names["x"])


def test_what_a_kernel_writes_comes_back_after_the_fix() -> None:
    cases = [
        (array("x", "float64", written=True), GRID.copy()[:, ::2]),
        (array("x", "float64", written=True), GRID.astype("f4")),
        (array("x", "float64", 1, written=True), GRID.copy()),
        (array("x", FLOAT2, 1, written=True), np.zeros(3, "c8")),
        (array("x", FLOAT4, written=True), np.zeros(8, "f4")),
        (array("x", "float64", 1, written=True), ArrayView((5,), "f4", value=1)),
    ]
    for parameter, value in cases:
        packer = ArgumentPacker(kernel(parameter))
        with pytest.raises(ArgumentRefused) as caught:
            packer.pack((value,), "emulator")

        def write(buffer: Any) -> None:
            buffer[...] = 7.0

        exec(caught.value.fix, {"x": value, "np": np, "f": write})
        expected = 7 + 7j if np.asarray(value).dtype.kind == "c" else 7.0
        assert (np.asarray(value) == expected).all(), caught.value.fix


@pytest.mark.parametrize(
    ("parameter", "value", "line"),
    [
        (array("x", "float64"), GRID.T, "Array2D<const double> x  // with #include <kit/"),
        (array("x", "float64", written=True), GRID[::2], "Array2D<double> x  // with #include"),
        (array("x", "float64", 1, kind="cview"), GRID[0, ::2], "Array1D<const double> x"),
        (
            array("x", "float64"),
            GRID.astype("i4"),
            "declare it in line 3 of the cell: const int* x",
        ),
        (array("x", "float64", 2), GRID.astype("c8"), "Array2D<const cuda::std::complex<float>> x"),
        (array("x", "float64", 1), GRID, "use Array2D<const double> in line 3 of the cell"),
        (scalar("x", "float32"), 0.1, "# or declare it in line 2 of the cell: double x"),
        (scalar("x", "int32"), 2**40, "# or declare it in line 2 of the cell: long long x"),
    ],
)
def test_the_fix_shows_the_line_of_the_cell_to_change(
    parameter: CudaParameter, value: Any, line: str
) -> None:
    with pytest.raises(ArgumentRefused) as caught:
        ArgumentPacker(kernel(parameter)).pack((value,), "emulator")
    assert line in caught.value.fix.splitlines()[-1]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (array("x", "float64"), np.ma.array([1.0, 2.0])),
        (array("x", "float64", 2), np.broadcast_to(np.zeros(4), (3, 4))),
        (array("x", "float64"), np.ma.array([1.0, 2.0], mask=[False, False])),
        (array("x", "int64"), np.zeros(3, np.longlong)),
        (array("x", "float64"), frozen(GRID.copy())),
        (array("x", PARTICLE, written=True), np.zeros(3, ALIGNED)),
        (array("x", PARTICLE, 1), np.zeros(6, ALIGNED)[::-2]),
        (array("x", OPAQUE), np.zeros(3, f"V{PARTICLE.size}")),
        (array("x", PARTICLE), np.zeros(3, f"V{PARTICLE.size}")),
        (array("x", FLOAT4), np.zeros(3, [(one, "f4") for one in "xyzw"])),
        (array("x", FLOAT4, 1), np.zeros((6, 4), "f4")[::2]),
        (array("x", vector("float32", 3)), np.zeros((2, 3), "f4")),
        (array("x", "bfloat16", 1), np.zeros(6, ml_dtypes.bfloat16)[::2]),
        (array("x", "bool"), np.zeros(3, bool)),
    ],
)  # fmt: skip
def test_arrays_that_fit_pass_as_they_lie(parameter: CudaParameter, value: Any) -> None:
    packer = ArgumentPacker(kernel(parameter))
    assert packer.plan((value,), "emulator").passes
    packed = packer.pack((value,), "emulator")
    assert packed.data[:8] == value.ctypes.data.to_bytes(8, "little")


def test_numpys_matrix_and_memory_maps_pass(tmp_path: Path) -> None:
    packer = ArgumentPacker(kernel(array("x", "float64", written=True)))
    np.arange(4.0).tofile(tmp_path / "x")
    mapped = np.memmap(tmp_path / "x", dtype="float64", mode="r+")
    packer.pack((mapped,), "emulator")
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1.0, 2.0]])
    packer.pack((matrix,), "emulator")
    readonly = np.memmap(tmp_path / "x", dtype="float64", mode="r")
    with pytest.raises(ArgumentRefused, match="array is not writeable"):
        packer.pack((readonly,), "emulator")


# ---- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "value", "expected", "action"),
    [
        (scalar("x", "float64"), 2.0, np.float64(2), "PASS"),
        (scalar("x", "float32"), 0.5, np.float32(0.5), "PASS"),
        (scalar("x", "float32"), np.float32(0.1), np.float32(0.1), "PASS"),
        (scalar("x", "float32"), SIGNALLING, SIGNALLING, "PASS"),
        (scalar("x", "float32"), np.float64(0.5), np.float32(0.5), "CONVERT"),
        (scalar("x", "float64"), 3, np.float64(3), "CONVERT"),
        (scalar("x", "float64"), np.array(1.5), np.float64(1.5), "PASS"),
        (scalar("x", "float64"), ArrayView(array=np.array(1.5)), np.float64(1.5), "PASS"),
        (scalar("x", "int32"), -7, np.int32(-7), "PASS"),
        (scalar("x", "int32"), np.uint64(7), np.int32(7), "CONVERT"),
        (scalar("x", "uint64"), 2**64 - 1, np.uint64(2**64 - 1), "PASS"),
        (scalar("x", "bool"), np.bool_(True), np.bool_(True), "PASS"),
        (scalar("x", "uint8"), True, np.uint8(1), "CONVERT"),
        (scalar("x", "complex64"), 1 - 2j, np.complex64(1 - 2j), "PASS"),
        (scalar("x", "complex128"), 1.5, np.complex128(1.5), "CONVERT"),
        (scalar("x", "float16"), np.float16(0.1), np.float16(0.1), "PASS"),
        (scalar("x", "float16"), 0.5, np.float16(0.5), "PASS"),
        (scalar("x", "float16"), ml_dtypes.bfloat16(2), np.float16(2), "CONVERT"),
        (scalar("x", "bfloat16"), ml_dtypes.bfloat16(0.1), ml_dtypes.bfloat16(0.1), "PASS"),
        (scalar("x", "bfloat16"), 1.5, ml_dtypes.bfloat16(1.5), "PASS"),
        (scalar("x", "bfloat16"), np.float16(1.5), ml_dtypes.bfloat16(1.5), "CONVERT"),
        (record("x", FLOAT4), np.arange(4, dtype="f4"), np.arange(4, dtype="f4"), "PASS"),
        (record("x", FLOAT4), ArrayView((4,), "f4", value=2), np.full(4, 2, "f4"), "CONVERT"),
        (record("x", FLOAT4), [0, 1, 2.5, np.int8(3)], np.array([0, 1, 2.5, 3], "f4"), "CONVERT"),
        (record("x", FLOAT4), np.zeros((), [(one, "f4") for one in "xyzw"])[()], np.zeros(4, "f4"),
         "PASS"),
        (record("x", vector("int32", 1)), (3,), np.array([3], "i4"), "CONVERT"),
        (record("x", PARTICLE), np.array((1, (1, 2, 3), 4), ALIGNED),
         np.array((1, (1, 2, 3), 4), ALIGNED), "PASS"),
        (record("x", OPAQUE), np.void(bytes(range(40))), np.void(bytes(range(40))), "PASS"),
    ],
)  # fmt: skip
def test_values_are_packed_exactly(
    parameter: CudaParameter, value: Any, expected: Any, action: str
) -> None:
    packer = ArgumentPacker(kernel(parameter))
    data = packer.pack((value,), "emulator").data
    if expected.dtype.names:  # what lies in padding is nobody's
        assert np.frombuffer(data, expected.dtype)[0] == expected
    else:
        assert data == expected.tobytes()
    plan = packer.plan((value,), "emulator")["x"]
    assert (plan.action, bool(plan.reason)) == (action, action == "CONVERT")


def test_the_twin_keeps_the_bits_of_a_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_native", None)
    packed = ArgumentPacker(kernel(scalar("x", "float32"))).pack((SIGNALLING,), "emulator")
    assert packed.data == SIGNALLING.tobytes()


def test_ml_dtypes_is_recognised_and_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    value = np.zeros(3, ml_dtypes.bfloat16)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    ArgumentPacker(kernel(array("x", "bfloat16"))).pack((value,), "emulator")
    ArgumentPacker(kernel(scalar("x", "bfloat16"))).pack((value[0],), "emulator")


# ---- memory that is gone ----------------------------------------------------------------------


def closed_map(path: Path) -> Any:
    np.arange(4.0).tofile(path)
    value = np.memmap(path, dtype="float64", mode="r+")
    value._mmap.close()  # pyright: ignore[reportAttributeAccessIssue]
    return value


def released_view(path: Path) -> Any:
    memory = memoryview(bytearray(32))
    value = np.frombuffer(memory)
    memory.release()
    base: Any = value.base
    base.release()
    return value


def grown(owner: Any) -> Any:
    value = np.ndarray((4,), buffer=owner)
    owner.extend(
        type(owner)(*([owner.typecode] if hasattr(owner, "typecode") else []), owner) * 9999
    )
    return value


def resized(path: Path) -> Any:
    owner = np.zeros(100_000)
    value = owner[-4:]
    owner.resize(8, refcheck=False)
    return value


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (closed_map, "its memory map was closed"),
        (released_view, "the memoryview that it was made of was released"),
        (lambda _: grown(bytearray(32)), "the bytearray that it was made of was resized"),
        (lambda _: grown(plain_array("d", [0.0] * 4)), "the array that it was made of was resized"),
        (resized, "the array that it is a view of was resized"),
        (lambda path: ArrayView(array=resized(path)), "the array that it is a view of was resized"),
    ],
)
def test_an_array_whose_memory_is_gone_is_refused(make: Any, found: str, tmp_path: Path) -> None:
    value = make(tmp_path / "x")
    for parameter in (array("x", "float64"), array("x", "float64", 1)):
        with pytest.raises(ArgumentRefused, match=f"memory is gone: {found}"):
            ArgumentPacker(kernel(parameter)).pack((value,), "emulator")


@pytest.mark.parametrize(
    ("parameter", "take"),
    [
        (scalar("x", "float64"), lambda value: value[:1].reshape(())),
        (scalar("x", "float64"), lambda value: value),  # refused, and not asked for an example
        (record("x", vector("float64", 4)), lambda value: value),
        (record("x", FLOAT4), lambda value: value.view("f4")[:4]),
        (record("x", FLOAT4), lambda value: value.view([(one, "f4") for one in "xyzw"])[0]),
    ],
)
def test_a_value_whose_memory_is_gone_is_refused(
    parameter: CudaParameter, take: Any, tmp_path: Path
) -> None:
    np.arange(4.0).tofile(tmp_path / "x")
    memory: Any = np.memmap(tmp_path / "x", dtype="float64", mode="r+")
    value = take(memory)
    memory._mmap.close()
    with pytest.raises(ArgumentRefused, match="memory is gone: its memory map was closed"):
        ArgumentPacker(kernel(parameter)).pack((value,), "emulator")


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.frombuffer(bytearray(32)),
        lambda: np.frombuffer(bytes(32)),
        lambda: np.frombuffer(mmap.mmap(-1, 32)),
        lambda: np.ndarray((4,), buffer=bytearray(32)),
        lambda: as_strided(np.zeros(8), (4,), (16,))[:0],
        lambda: np.zeros((4, 4)).T[::-1].T[1:, 1:].copy(),
        lambda: np.zeros((8, 4))[2:][1:].reshape(-1)[3:],
    ],
)
def test_an_array_whose_owner_is_as_it_was_passes(make: Any) -> None:
    ArgumentPacker(kernel(array("x", "float64"))).pack((make(),), "emulator")


# ---- arrays that share elements ---------------------------------------------------------------


def shared(promise: bool, **kwargs: Any) -> ArgumentPacker:
    x = array("x", "float64", 1, written=True, restrict=promise)
    return ArgumentPacker(kernel(x, array("y", "float64", 1, **kwargs)))


def test_a_written_restrict_array_has_its_elements_alone() -> None:
    memory = np.zeros(20)
    packer = shared(True)
    for x, y in [(memory[:11], memory[10:]), (memory, memory), (memory[::2], memory[2:3])]:
        with pytest.raises(ArgumentRefused, match="shares elements with y") as caught:
            packer.pack((x, y), "emulator")
        assert isinstance(caught.value, ValueError)
        assert caught.value.argument == "x"
        exec(caught.value.fix, {"x": x, "y": y, "f": lambda *a: packer.pack(a, "emulator")})


def test_interleaved_arrays_and_those_side_by_side_share_nothing() -> None:
    memory = np.zeros(20)
    for x, y in [(memory[::2], memory[1::2]), (memory[:10], memory[10:]), (memory[:0], memory)]:
        shared(True).pack((x, y), "emulator")


def test_arrays_without_that_promise_may_share_elements() -> None:
    memory = np.zeros(20)
    shared(False).pack((memory[:11], memory[10:]), "emulator")
    shared(False, restrict=True).pack((memory, memory), "emulator")


def test_ghosts_count_as_elements_of_their_array() -> None:
    memory = np.zeros(20)
    view = ArrayView(array=memory[:12], nghost=2)
    with pytest.raises(ArgumentRefused, match="shares elements with y"):
        shared(True).pack((view, memory[10:]), "emulator")
    shared(True).pack((view, memory[12:]), "emulator")
    with pytest.raises(ArgumentRefused, match=r"y_copy = y\.clone\(\)"):
        shared(True).pack((memory[10:], view), "emulator")


def test_where_both_are_written_a_copy_would_lose_one() -> None:
    memory = np.zeros(4)
    with pytest.raises(ArgumentRefused) as caught:
        shared(True, written=True).pack((memory, memory), "emulator")
    assert caught.value.fix == "# remove __restrict__ from x in line 3 of the cell"


# ---- the plan ---------------------------------------------------------------------------------


def test_the_plan_shows_each_argument_and_the_first_fix() -> None:
    packer = ArgumentPacker(
        kernel(scalar("a", "float32"), array("x", "float64", written=True), name="scale")
    )
    assert repr(packer.plan((np.float64(2), np.zeros(3)), "emulator")) == (
        "scale: would run in the emulator, no copy\n"
        "  argument  intent  declared  passed                       action   copies  reason\n"
        "  a         in      float     the scalar np.float64(2.0)   CONVERT          "
        "float64 to float32, exact\n"
        "  x         inout   double*   float64 array of shape (3,)  PASS"
    )
    refused = packer.plan((0.1, np.zeros(3, "f4")), "device")
    assert refused.refused is refused["a"]
    assert [one.action for one in refused.arguments] == ["REFUSE", "REFUSE"]
    assert "scale: the call would be refused" in repr(refused)
    assert "<b>a</b> is refused" in refused._repr_html_()
    assert refused.bytes_copied == 0
    error = refused.refusal()
    assert isinstance(error, ValueError)
    assert error.fix == refused["a"].fix
    with pytest.raises(KeyError):
        refused["b"]


def test_the_plan_is_what_packing_does() -> None:
    for _, parameter, value, _, _ in (*ARRAYS, *NO_ARRAYS):
        packer = ArgumentPacker(kernel(parameter))
        plan = packer.plan((value,), "emulator")
        with pytest.raises(ArgumentRefused) as caught:
            packer.pack((value,), "emulator")
        assert str(plan.refusal()) == str(caught.value)
        assert not plan.passes


@pytest.mark.parametrize("value", [object(), {}, "text", 1j, ELEMENTS, [[1], [1, 2]], np, type])
def test_the_plan_of_anything_raises_nothing(value: Any) -> None:
    parameters = [
        array("x", "float64"), array("x", FLOAT4, 1), array("x", PARTICLE, 2, kind="cview"),
        array("x", "bfloat16"), scalar("x", "bool"), scalar("x", "bfloat16"),
        record("x", FLOAT4), record("x", PARTICLE), record("x", OPAQUE),
    ]  # fmt: skip
    for parameter in parameters:
        for target in ("emulator", "device"):
            plan = ArgumentPacker(kernel(parameter)).plan((value,), target)
            assert plan["x"].action == "REFUSE"
            assert plan["x"].fix

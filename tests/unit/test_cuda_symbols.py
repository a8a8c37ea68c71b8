"""Variables of a CUDA cell, read and written."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import pytest

from kit.cuda.signature import CudaSymbol, Element, StructField
from kit.cuda.symbols import CudaSymbols, symbol_dtype
from kit.errors import ArgumentRefused
from tests.unit.cuda_cells import DOUBLE, FLOAT, FLOAT4, INT, RecordingCell, make_kernel

PAIR = Element(
    "", 1, 16, 8, "Pair", (StructField("n", INT, (), 0), StructField("v", DOUBLE, (), 8))
)
COMPLEX = Element("complex128", 1, 16, 8, "cuda::std::complex<double>")

SYMBOLS = (
    CudaSymbol("coef", "coef", FLOAT, (4,), "constant", 2),
    CudaSymbol("total", "total", DOUBLE, (), "device", 3),
    CudaSymbol("flag", "flag", Element("bool", 1, 1, 1, "bool"), (), "constant", 4),
    CudaSymbol("physics::table", "t", DOUBLE, (2, 3), "device", 5),
    CudaSymbol("points", "points", FLOAT4, (5,), "device", 6),
    CudaSymbol("pairs", "pairs", PAIR, (3,), "device", 7),
    CudaSymbol("root", "root", COMPLEX, (), "constant", 8),
    CudaSymbol("fixed", "fixed", DOUBLE, (3,), "constant", 9, const=True),
)


def make() -> tuple[CudaSymbols, RecordingCell]:
    kernel, emulator = make_kernel(symbols=SYMBOLS)
    return kernel.symbols, emulator


def test_a_variable_is_an_array_over_its_memory() -> None:
    symbols, emulator = make()
    symbols["coef"][1] = 0.5
    assert emulator.variables["coef"].tolist() == [0, 0.5, 0, 0]
    assert symbols["points"].shape == (5, 4)
    assert symbols["pairs"]["v"].dtype == np.float64


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coef", np.arange(4, dtype=np.float32)),
        ("coef", np.arange(8, dtype=np.float32)[::-2]),
        ("total", 0.1),
        ("total", 3),
        ("total", np.float32(0.5)),
        ("flag", True),
        ("flag", np.True_),
        ("root", 1 + 2j),
        ("physics::table", np.arange(6.0).reshape(3, 2).T),
        ("points", np.ones((5, 4), np.float32)),
        ("pairs", np.ones(3, symbol_dtype(PAIR))),
    ],
)
def test_a_variable_is_written_entirely(name: str, value: Any) -> None:
    symbols, emulator = make()
    symbols[name] = value
    expected: Any = value
    assert (emulator.variables[name] == expected).all()
    assert (symbols[name] == expected).all()


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("coef", np.arange(4.0), "float64 array of shape (4,)"),
        ("coef", np.arange(3, dtype=np.float32), "float32 array of shape (3,)"),
        ("coef", np.arange(4, dtype=">f4"), ">f4 array"),
        ("coef", 1.0, "float, which is no array"),
        ("coef", [1.0, 2.0, 3.0, 4.0], "list, which is no array"),
        ("total", "1", "str"),
        ("flag", 1, "int 1"),
        ("coef", np.ma.array(np.arange(4, dtype="f4"), mask=[False, True, False, False]), "a mask"),
        ("fixed", np.ones(3), "declares const"),
        ("points", np.ones(20, np.float32), "shape (20,)"),
        ("pairs", np.ones(3, [("n", "i4"), ("v", "f8")]), "packed"),
    ],
)
def test_what_is_not_exactly_the_variable_is_refused_and_nothing_is_written(
    name: str, value: Any, found: str
) -> None:
    symbols, emulator = make()
    with pytest.raises(ArgumentRefused) as caught:
        symbols[name] = value
    assert found in caught.value.found
    assert caught.value.argument == f"symbols[{name!r}]"
    assert caught.value.fix
    assert not emulator.variables


def test_a_value_whose_memory_is_gone_is_refused() -> None:
    symbols, emulator = make()
    with tempfile.TemporaryFile() as file:
        value: Any = np.memmap(file, np.float32, "w+", shape=(4,))
        single = value.view(np.float64)[:1].reshape(())
        value._mmap.close()
        for name, one in (("coef", value), ("total", single)):
            with pytest.raises(ArgumentRefused, match="memory map was closed"):
                symbols[name] = one
    assert not emulator.variables


@pytest.mark.parametrize(
    "value",
    [
        np.arange(4.0),
        np.arange(4, dtype=">f4"),
        np.ones((2, 2)),
        [1, 2, 3, 4],
        0.5,
        np.True_,
        None,
        np.ma.array(np.arange(4, dtype="f4"), mask=[False, True, False, False]),
    ],
)
def test_the_fix_of_a_refused_array_works(value: Any) -> None:
    symbols, emulator = make()
    with pytest.raises(ArgumentRefused) as caught:
        symbols["coef"] = value
    scope = {"value": value, "np": np}
    exec(caught.value.fix, scope)
    symbols["coef"] = scope["value"]
    expected = 0.0 if value is None else np.ma.filled(value, 0).ravel()
    assert (emulator.variables["coef"] == expected).all()


def test_names_without_their_namespace_are_found_where_they_are_unique() -> None:
    symbols, _ = make()
    assert symbols["table"].shape == (2, 3)
    twice = [SYMBOLS[3], SYMBOLS[3]._replace(name="other::table")]
    kernel, _ = make_kernel(symbols=twice)
    with pytest.raises(KeyError, match="physics::table, other::table"):
        kernel.symbols["table"]


def test_an_unknown_name_is_answered_with_what_there_is() -> None:
    symbols, emulator = make()
    with pytest.raises(KeyError, match=r"no variable 'coeff' .*coef, total.*did you mean 'coef'"):
        symbols["coeff"]
    with pytest.raises(KeyError, match="no variable 'nothing'"):
        symbols["nothing"] = 1.0
    kernel, _ = make_kernel()
    with pytest.raises(KeyError, match="has no __constant__ or __device__ variable"):
        kernel.symbols["coef"]
    assert not emulator.variables


def test_it_is_a_mapping_that_loads_nothing_until_a_variable_is_asked_for() -> None:
    def never(target: Any) -> Any:
        raise AssertionError("loaded")

    symbols = CudaSymbols("saxpy", SYMBOLS, "emulator", never)
    assert len(symbols) == 8
    assert list(symbols)[:2] == ["coef", "total"]
    assert "coef" in symbols
    assert "x" not in symbols
    assert symbols._ipython_key_completions_() == list(symbols)
    assert "coef: __constant__ float32 of shape (4,)" in repr(symbols)
    assert "as the emulator has them" in repr(symbols)


def test_each_target_has_its_own_copy() -> None:
    device = RecordingCell("device", "sm_90")
    kernel, emulator = make_kernel(symbols=SYMBOLS, device=device)
    symbols = kernel.symbols.on("emulator")
    symbols["total"] = 1.0
    symbols.on("device")["total"] = 2.0
    assert (emulator.variables["total"], device.variables["total"]) == (1.0, 2.0)
    assert symbols.on("device").target == "device"
    assert "as the device has them" in repr(symbols.on("device"))


def test_an_attribute_of_the_variables_name_is_no_variable() -> None:
    symbols = CudaSymbols("k", (), "emulator", lambda target: pytest.fail("loaded"))
    with pytest.raises(AttributeError, match=r'symbols\["coef"\] = '):
        symbols.coef = 3.0  # pyright: ignore[reportAttributeAccessIssue] -- what the test is about

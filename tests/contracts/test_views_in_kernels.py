"""Views as arguments: taken as their arrays, without a copy, written in place, refused by name."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from typing import Any, cast

import numpy as np
import pytest

import kit
from kit.kernel import PyccelKernel

SOURCE = """
from typing import Final

def smooth(x: 'Final[float64[:]]', out: 'float64[:]', weight: float):
    for i in range(1, x.shape[0] - 1):
        out[i] = (1.0 - weight) * x[i] + 0.5 * weight * (x[i - 1] + x[i + 1])
"""
GRID = """
def fill(u: 'float64[:,:]', value: float):
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            u[i, j] = value + i
"""


@pytest.fixture(scope="module", params=["fortran", "c"])
def smooth(request: pytest.FixtureRequest) -> PyccelKernel:
    return kit.pyccel_kernel(SOURCE, policy="strict", language=request.param)


@pytest.fixture(scope="module")
def fill() -> PyccelKernel:
    return kit.pyccel_kernel(GRID)


def expected(x: Any, weight: float) -> Any:
    out = np.zeros(len(x))
    out[1:-1] = (1 - weight) * x[1:-1] + 0.5 * weight * (x[:-2] + x[2:])
    return out


@pytest.mark.parametrize("weight", [0.5, 1, np.float32(0.5)])
@pytest.mark.parametrize("how", ["call", "keywords", "host", "python", "target"])
def test_a_kernel_reads_and_writes_the_memory_of_views(
    smooth: PyccelKernel, how: str, weight: Any
) -> None:
    x, out = np.arange(8.0) ** 2, np.zeros(16)
    views: Any = kit.ArrayView(array=x), kit.ArrayView(array=out[::2], dtype="float64")
    if how == "call":
        smooth(*views, weight)
    elif how == "keywords":
        smooth(weight=weight, out=views[1], x=x)
    elif how == "target":
        with kit.use_target("python"):
            smooth(*views, weight)
    else:
        getattr(smooth, how)(*views, weight)
    assert np.allclose(out[::2], expected(x, weight), rtol=1e-15)
    assert not out[1::2].any()


def test_the_plan_of_a_view_is_the_plan_of_its_array(smooth: PyccelKernel) -> None:
    x, out = np.arange(8.0), np.zeros(8)
    views = kit.ArrayView(array=x), kit.ArrayView(array=out)
    assert repr(smooth.plan(*views, 0.5)) == repr(smooth.plan(x, out, 0.5))
    assert smooth.plan(*views, 0.5).passes


def test_a_view_with_ghosts_is_all_of_its_storage(fill: PyccelKernel) -> None:
    view = kit.ArrayView((2, 3), value=0.0, nghost=[(1, 1), (1, 1)])
    fill(view, 1.0)
    assert view.ndarray.tolist() == [[i + 1.0] * 5 for i in range(4)]
    assert view[-1, -1] == 1
    fill(view.body, 7.0)  # a part with gaps, in place
    assert view.body.ndarray.tolist() == [[7.0] * 3, [8.0] * 3]
    assert view[-1, 0] == 1


def test_a_view_in_the_other_order_is_copied_and_written_back(fill: PyccelKernel) -> None:
    view = kit.ArrayView((3, 4), value=0.0, order="F")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kit.CopyWarning)
        fill(view, 2.0)
    assert view.ndarray.tolist() == [[2.0] * 4, [3.0] * 4, [4.0] * 4]
    assert fill.plan(view, 2.0)["u"].action == "COPY"


def test_views_that_share_elements_are_read_as_they_were(smooth: PyccelKernel) -> None:
    loose = kit.pyccel_kernel(SOURCE, policy="copy", language=cast(Any, smooth.language))
    memory = np.arange(9.0) ** 2
    before = memory.copy()
    loose(kit.ArrayView(array=memory[:-1]), kit.ArrayView(array=memory[1:]), 0.5)
    assert np.allclose(memory[2:-1], expected(before[:-1], 0.5)[1:-1], rtol=1e-15)
    one = kit.ArrayView(array=before)
    wanted = expected(before, 0.5)
    loose(one, one, 0.5)
    assert np.allclose(before[1:-1], wanted[1:-1], rtol=1e-15)


@pytest.mark.parametrize("run", ["call", "host", "python"])
def test_refusals_name_the_argument_and_their_fixes_speak_of_the_views_array(
    smooth: PyccelKernel, run: str
) -> None:
    call: Any = smooth if run == "call" else getattr(smooth, run)
    out = kit.ArrayView(array=np.zeros(8))
    short = kit.ArrayView(array=np.arange(8.0, dtype="float32"))
    with pytest.raises(kit.ArgumentRefused) as caught:
        call(short, out, 0.5)
    assert (caught.value.kernel, caught.value.argument) == ("smooth", "x")
    assert "float32 array of shape (8,)" in caught.value.found
    scope: dict[str, Any] = {"short": short, "out": out, "np": np, "smooth": smooth}
    exec(caught.value.fix, scope)
    assert np.allclose(out.ndarray, expected(np.arange(8.0), 0.5))


def test_the_fix_of_a_written_view_fills_its_memory(fill: PyccelKernel) -> None:
    memory = np.zeros((2, 3), "float32")
    view = kit.ArrayView(array=memory)
    with pytest.raises(kit.ArgumentRefused) as caught:
        fill(view, 1.0)
    exec(caught.value.fix, {"view": view, "np": np, "fill": fill})
    assert memory.tolist() == [[1.0] * 3, [2.0] * 3]
    # Where the call cannot be read, the parameter stands for the caller's variable.
    with pytest.raises(kit.ArgumentRefused, match=r"u\.ndarray") as caught:
        fill(*[view, 1.0])
    exec(caught.value.fix, {"u": view, "value": 5.0, "np": np, "fill": fill})
    assert memory.tolist() == [[5.0] * 3, [6.0] * 3]


def test_a_read_only_view_is_no_output(smooth: PyccelKernel) -> None:
    x = np.arange(8.0)
    smooth(kit.ArrayView(array=x, readonly=True), np.zeros(8), 0.5)
    with pytest.raises(ValueError, match="not writeable") as caught:
        smooth(x, kit.ArrayView(array=np.zeros(8), readonly=True), 0.5)
    assert caught.value.argument == "out"  # type: ignore[attr-defined]


def test_a_view_of_device_memory_is_refused_as_a_device_array_is(fill: PyccelKernel) -> None:
    class DeviceArray:
        __cuda_array_interface__ = {  # noqa: RUF012
            "shape": (2, 3), "typestr": "<f8", "data": (4096, False), "version": 3,
        }  # fmt: skip

    view = kit.ArrayView(array=DeviceArray())
    with pytest.raises(kit.ArgumentRefused, match="on a device") as caught:
        fill(view, 1.0)
    assert 'cupy.asarray(view).get(order="C")' in caught.value.fix
    assert "cupy.asarray(view)[...] = " in caught.value.fix


def test_a_view_for_a_number_is_refused_as_an_array(fill: PyccelKernel) -> None:
    with pytest.raises(kit.ArgumentRefused, match="an array of shape"):
        fill(np.zeros((2, 2)), kit.ArrayView(array=np.zeros(1)))


def test_either_base_type_goes_into_kernels_under_either_guard() -> None:
    code = (
        "import kit, numpy as np, warnings\n"
        "warnings.simplefilter('error')\n"
        f"k = kit.pyccel_kernel({GRID!r}, policy='strict')\n"
        "a = np.zeros((2, 2)); k(kit.ArrayView(array=a), 3.0)\n"
        "from kit.views.base import IS_COMPILED\n"
        "print(a.tolist(), IS_COMPILED, k.guard)\n"
    )
    for base in ("python", ""):
        for guard in ("python", ""):
            done = subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "KIT_ARRAYVIEW": base, "KIT_GUARD": guard},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.stdout.strip() == (
                f"[[3.0, 3.0], [4.0, 4.0]] {not base} {guard or 'compiled'}"
            ), done.stderr

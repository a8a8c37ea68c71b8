"""kit.testing: layouts are what they are called, differences are found and named, never nothing."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import kit
import kit.testing
from kit.build_cuda import build_cuda_cell
from kit.kernel import PyccelKernel
from kit.kernel_cuda import CudaKernel
from kit.paired_kernel import PairedKernel
from kit.testing import ArrayLayout, assert_kernels_agree, emulate, layouts
from kit.testing.differences import Tolerance, worst_difference

SHAPES = [(), (4,), (1,), (3, 5), (2, 3, 4), (2, 1, 3, 2), (0, 3), (2, 0)]
DTYPES = ["bool", "int8", "uint16", "int64", "float32", "float64", "complex64", "complex128"]

CELL = """
#include <kit/array_view.cuh>

struct Particle { bool alive; double position[2]; short charge; };

__global__ void smooth(Array2D<const double> x, Array2D<double> y, double w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < x.shape[0] - 1 && j < x.shape[1]) y(i, j) = w * (x(i - 1, j) + x(i + 1, j));
}
__global__ void careless(Array1D<double> y) {  // takes every stride for 1
    int i = threadIdx.x;
    if (i < y.shape[0]) y.data[i] = i;
}
__global__ void beyond(Array1D<double> y) {  // an element too many
    for (int i = 0; i <= y.shape[0]; ++i) y.data[i] = i;
}
__global__ void turn(const Particle* old, Particle* now, int n) {
    int i = threadIdx.x;
    if (i < n) { now[i] = old[i]; now[i].alive = !old[i].alive; }
}
__global__ void wide(Array1D<const float4> x, Array1D<float4> y) {
    int i = threadIdx.x;
    if (i < x.shape[0]) y(i) = make_float4(x(i).w, x(i).z, x(i).y, x(i).x);
}
__global__ void ghosts(Array1D<double> y) {
    if (threadIdx.x == 0)
        for (int i = 0; i < y.shape[0]; ++i) y(i) = y(i - 1) + i;
}
__global__ void both(Array1D<double> x, Array1D<double> y) {
    int i = threadIdx.x;
    if (i < x.shape[0]) { x(i) += 1.0; y(i) += 1.0; }
}
__global__ void nothing(const double* x, int n) {}
"""

PYCCEL = """
def smooth(x: 'float[:,:]', y: 'float[:,:]', w: 'float'):
    for i in range(1, x.shape[0] - 1):
        for j in range(x.shape[1]):
            y[i, j] = w * (x[i - 1, j] + x[i + 1, j])
"""

PARTICLE = np.dtype([("alive", "?"), ("position", "f8", (2,)), ("charge", "i2")], align=True)


@pytest.fixture(scope="module")
def cuda() -> dict[str, CudaKernel]:
    return dict(build_cuda_cell(CELL).kernels)


@pytest.fixture(scope="module")
def pyccel() -> PyccelKernel:
    return kit.pyccel_kernel(PYCCEL)  # pyright: ignore[reportReturnType] -- one function


def smooth(x: Any, y: Any, w: float) -> None:
    y[1:-1] = w * (x[:-2] + x[2:])


def arguments(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.normal(size=(6, 5)), rng.normal(size=(6, 5)), 0.25


THREADS = {"n_threads": (6, 5)}


# ---- layouts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_an_array_of_a_layout_has_its_shape_type_strides_and_values(
    shape: tuple[int, ...], dtype: str
) -> None:
    values = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    for layout in layouts(shape, dtype):
        array = layout.array(values)
        assert array.shape == shape
        assert array.dtype == layout.dtype
        assert array.dtype.newbyteorder("=") == dtype
        assert array.strides == layout.strides_bytes
        assert array.flags.writeable == layout.writeable
        repeated = tuple(slice(1) if step == 0 else slice(None) for step in array.strides)
        np.testing.assert_array_equal(array, np.broadcast_to(values[repeated], shape))
        # Address and strides decide; NumPy leaves out axes whose stride is never used.
        address = array.__array_interface__["data"][0]
        places = [address, *array.strides]
        assert layout.aligned == all(one % array.dtype.alignment == 0 for one in places)


def test_names_and_layouts_are_unique_and_the_same_every_time() -> None:
    for shape in SHAPES:
        found = layouts(shape)
        assert len({one.name for one in found}) == len(found)
        assert found[0].name == "C order"
        assert found == layouts(shape)
        places = {(one.offset, one.strides_bytes, one.writeable, one.dtype.str) for one in found}
        assert len(places) >= len(found) - 1  # a window of one axis differs in what is around it


def test_a_layout_that_is_another_one_for_this_shape_is_left_out() -> None:
    assert "F order" not in [one.name for one in layouts((1, 1))]
    assert [one.name for one in layouts((0, 3))] == ["C order", "read-only"]


def test_every_kind_of_layout_is_there() -> None:
    found = {one.name: one for one in layouts((4, 5, 6), "int32")}
    plain = found["C order"].array()
    assert plain.flags.c_contiguous
    assert found["F order"].array().flags.f_contiguous
    assert found["C order with gaps"].strides_bytes == (180, 36, 4)
    assert found["F order with gaps"].strides_bytes == (4, 28, 140)
    assert found["permuted"].strides_bytes == (4, 96, 16)
    assert found["reversed"].strides_bytes == tuple(-one for one in plain.strides)
    assert found["reversed axis 1"].strides_bytes == (120, -24, 4)
    assert found["stepped axis 2"].strides_bytes == (5 * 13 * 4, 13 * 4, 8)
    assert found["stepped axis 1"].strides_bytes == (11 * 24, 48, 4)
    assert found["repeated axis 0"].strides_bytes == (0, 24, 4)
    assert not found["repeated axis 0"].writeable
    assert not found["read-only"].writeable
    assert found["unaligned"].offset % 4 != 0
    assert found["odd strides"].strides_elements is None
    assert not found["byte-swapped"].native
    refused = {name for name, one in found.items() if not one.is_for_views}
    assert refused == {"unaligned", "odd strides", "byte-swapped"}


def test_arrayview_takes_exactly_the_layouts_that_say_so() -> None:
    for layout in layouts((3, 4), "complex128"):
        array = layout.array()
        try:
            kit.ArrayView(array=array, readonly=not layout.writeable)
        except kit.ArgumentRefused:
            assert not layout.is_for_views, layout
        else:
            assert layout.is_for_views, layout


def test_layouts_serve_as_parameters_of_tests() -> None:
    assert [str(one) for one in layouts(3, "int8")][:2] == ["C order", "window"]
    with pytest.raises(kit.KitError, match="is no shape"):
        layouts((2, -1))


# ---- differences --------------------------------------------------------------------------------


def apart(a: Any, b: Any, **tolerance: float) -> Any:
    return worst_difference("y", ("host", "emulator"), a, b, Tolerance(**tolerance))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ulps_are_the_steps_between_neighbours_also_across_zero(dtype: str) -> None:
    kind: Any = np.dtype(dtype).type
    one = kind(1.0)
    assert apart(one, np.nextafter(one, kind(2))).ulp == 1
    assert apart(one, np.nextafter(one, kind(0))).ulp == 1
    least = np.nextafter(kind(0), kind(1))
    assert apart(least, -least).ulp == 2
    assert apart(kind(0.0), kind(-0.0)) is None
    assert apart(kind(np.nan), kind(np.nan)) is None
    assert apart(kind(np.nan), -kind(np.nan)) is None  # other bits, and no number either
    assert apart(kind(np.nan), kind(1)).ulp == np.inf
    assert apart(np.array([one, -one]), np.array([one, one])).index == (1,)


def test_the_worst_element_is_named_with_both_values() -> None:
    a = np.zeros((2, 3)) + 1.0
    b = a.copy()
    b[0, 1] += 2**-52
    b[1, 2] += 2**-50
    found = apart(a, b)
    assert (found.index, found.ulp, found.n_different, found.n_elements) == ((1, 2), 4, 2, 6)
    assert str(found) == (
        "y[1, 2]: 1.0 on host, 1.0000000000000009 on emulator (4 ulp; 2 of 6 elements differ)"
    )
    assert apart(a, b, ulp=3).n_different == 1
    assert apart(a, b, ulp=4).n_different == 0
    assert apart(a, b, rtol=1e-12).n_different == 0
    assert apart(a, b, atol=1e-12).n_different == 0


def test_a_small_difference_does_not_hide_one_that_counts() -> None:
    a = np.array([1e-300, 1.0])
    b = np.array([2e-300, 1.0 + 1e-9])
    found = apart(a, b, atol=1e-12)
    assert found.index == (1,)


def test_integers_are_apart_by_their_difference_at_the_ends_of_their_range() -> None:
    ends = np.iinfo(np.int64)
    assert apart(np.array(ends.min), np.array(ends.max)).ulp == float(2**64 - 1)
    assert apart(np.uint64(2**64 - 1), np.uint64(2**64 - 3)).ulp == 2
    assert apart(np.array([True, False]), np.array([True, True])).index == (1,)


def test_complex_numbers_records_shapes_and_types_are_compared() -> None:
    assert apart(np.array([1 + 1j]), np.array([1 + (1 + 2**-52) * 1j])).ulp == 1
    a = np.zeros(3, PARTICLE)
    b = a.copy()
    b["position"][2, 1] = 1.0
    found = apart(a, b)
    assert (found.name, found.index) == ("y.position", (2, 1))
    assert apart(np.zeros(2), np.zeros(3)).ulp == np.inf
    assert apart(np.zeros(2), np.zeros(2, np.float32)).ulp == np.inf
    assert apart(None, 1.0).ulp == np.inf
    assert apart(np.zeros((0, 3)), np.zeros((0, 3))) is None


# ---- emulate ------------------------------------------------------------------------------------


def test_emulate_runs_a_kernel_or_a_source_whatever_target_is_chosen(
    cuda: dict[str, CudaKernel],
) -> None:
    x, y = np.arange(30.0).reshape(6, 5), np.zeros((6, 5))
    with kit.use_target("device"):
        emulate(cuda["smooth"], x, y, 0.5, **THREADS)
    expected = np.zeros((6, 5))
    smooth(x, expected, 0.5)
    np.testing.assert_array_equal(y, expected)
    out = np.zeros(3, np.int32)
    emulate("__global__ void f(int* out) { out[threadIdx.x] = blockDim.x; }", out, block=3)
    assert out.tolist() == [3, 3, 3]


def test_emulate_says_what_it_cannot_run(pyccel: PyccelKernel) -> None:
    with pytest.raises(kit.KitError, match=r"no CUDA source(.|\n)*smooth.host"):
        emulate(pyccel, *arguments(np.random.default_rng(0)))
    two = "__global__ void f() {}\n__global__ void g() {}"
    with pytest.raises(kit.KitError, match=r"2 kernels \(f, g\)"):
        emulate(two, grid=1)


# ---- agreement ----------------------------------------------------------------------------------


def test_every_version_of_a_pair_agrees_with_numpy_in_every_layout(
    cuda: dict[str, CudaKernel], pyccel: PyccelKernel
) -> None:
    pair = PairedKernel(pyccel, cuda["smooth"])
    found = assert_kernels_agree(pair, arguments, reference=smooth, launch=THREADS)
    assert found.targets[:4] == ("reference", "python", "host", "emulator")
    assert {"C order", "F order", "stepped axis 1", "reversed", "repeated axis 0", "read-only"} <= {
        *found.layouts
    }
    assert "byte-swapped" not in found.layouts  # compiled code cannot read it where it lies
    assert found.n_calls > 60
    assert str(found).startswith("smooth: reference, python, host, emulator")


def test_a_pyccel_kernel_is_tried_with_what_must_be_copied_too(pyccel: PyccelKernel) -> None:
    found = assert_kernels_agree(pyccel, arguments)
    assert found.targets == ("python", "host")
    assert {"byte-swapped", "unaligned", "odd strides"} <= {*found.layouts}


def test_without_layouts_every_seed_is_one_call(cuda: dict[str, CudaKernel]) -> None:
    found = assert_kernels_agree(
        cuda["smooth"], arguments, reference=smooth, layouts=False, launch=THREADS, seeds=range(5)
    )
    assert (found.n_calls, found.layouts) == (5, ("C order",))


def test_a_wrong_element_is_found_and_named_with_ulps_layout_and_targets(
    cuda: dict[str, CudaKernel],
) -> None:
    def wrong(x: Any, y: Any, w: float) -> None:
        smooth(x, y, w)
        y[2, 1] *= 1 + 2**-40

    with pytest.raises(AssertionError) as caught:
        assert_kernels_agree(cuda["smooth"], arguments, reference=wrong, launch=THREADS)
    text = str(caught.value)
    assert text.startswith("smooth: results differ (y)\n  y[2, 1]: ")
    assert "on reference" in text
    assert "on emulator" in text
    assert "ulp; 1 of 30 elements differ" in text
    assert "layout: all in C order" in text
    assert_kernels_agree(cuda["smooth"], arguments, reference=wrong, launch=THREADS, rtol=1e-11)


def test_a_difference_in_one_layout_alone_is_named_with_that_layout(
    cuda: dict[str, CudaKernel],
) -> None:
    def wrong(x: Any, y: Any, w: float) -> None:
        smooth(x, y, w)
        if x.strides[0] < 0:
            y[1, 0] = 99.0

    with pytest.raises(AssertionError, match=r"layout: x reversed axis 0"):
        assert_kernels_agree(cuda["smooth"], arguments, reference=wrong, launch=THREADS)


def test_an_argument_that_is_only_read_must_not_change(cuda: dict[str, CudaKernel]) -> None:
    def wrong(x: Any, y: Any, w: float) -> None:
        smooth(x, y, w)
        if x.flags.writeable:
            x[0, 0] = 1.0

    with pytest.raises(AssertionError, match=r"results differ \(x\)"):
        assert_kernels_agree(cuda["smooth"], arguments, reference=wrong, launch=THREADS)


def test_writing_between_the_elements_of_an_array_is_found(cuda: dict[str, CudaKernel]) -> None:
    def reference(y: Any) -> None:
        y[:] = np.arange(len(y))

    with pytest.raises(AssertionError) as caught:
        assert_kernels_agree(
            cuda["careless"], lambda rng: (rng.normal(size=9),), reference=reference
        )
    assert "y: emulator wrote memory between or around its elements" in str(caught.value)
    assert "y stepped axis 0" in str(caught.value)


def test_an_element_too_many_is_found_where_all_others_agree(cuda: dict[str, CudaKernel]) -> None:
    def reference(y: Any) -> None:
        y[:] = np.arange(len(y))

    with pytest.raises(AssertionError) as caught:
        assert_kernels_agree(
            cuda["beyond"],
            lambda rng: (rng.normal(size=9),),
            reference=reference,
            layouts=False,
            launch={"grid": 1, "block": 1},
        )
    assert str(caught.value) == (
        "beyond: results differ (y)\n"
        "  y: emulator wrote memory between or around its elements\n"
        "    layout: all in C order; seed 0\n"
        "  allowed: ulp=4"
    )


def test_records_and_vector_types_agree(cuda: dict[str, CudaKernel]) -> None:
    def particles(rng: np.random.Generator) -> dict[str, Any]:
        made = np.zeros(7, PARTICLE)
        made["position"] = rng.normal(size=(7, 2))
        return {"old": made, "now": np.zeros(7, PARTICLE), "n": 7}

    def turned(**given: Any) -> None:
        given["now"][...] = given["old"]
        given["now"]["alive"] = ~given["old"]["alive"]

    assert_kernels_agree(cuda["turn"], particles, reference=turned, launch={"block": 32})

    def backwards(x: Any, y: Any) -> None:
        y[...] = x[:, ::-1]

    def four(rng: np.random.Generator) -> list[Any]:
        return [rng.random((5, 4)).astype("f4"), np.zeros((5, 4), "f4")]

    found = assert_kernels_agree(cuda["wide"], four, reference=backwards)
    assert "reversed axis 0" in found.layouts


def test_ghosts_of_a_view_are_laid_out_and_compared_too(cuda: dict[str, CudaKernel]) -> None:
    def make(rng: np.random.Generator) -> tuple[Any]:
        return (kit.ArrayView(array=rng.normal(size=6), nghost=((1, 0),)),)

    def reference(y: Any) -> None:
        whole = y.ndarray
        for i in range(5):
            whole[i + 1] = whole[i] + i

    found = assert_kernels_agree(cuda["ghosts"], make, reference=reference)
    assert {"reversed axis 0", "stepped axis 0"} <= {*found.layouts}


def test_read_only_layouts_of_views_are_tried_too(cuda: dict[str, CudaKernel]) -> None:
    def make(rng: np.random.Generator) -> tuple[Any, ...]:
        return kit.ArrayView(array=rng.normal(size=(6, 5))), rng.normal(size=(6, 5)), 0.25

    def reference(x: Any, y: Any, w: float) -> None:
        smooth(x.ndarray, y, w)

    found = assert_kernels_agree(cuda["smooth"], make, reference=reference, launch=THREADS)
    assert {"read-only", "repeated axis 1"} <= {*found.layouts}


def test_a_view_is_tried_only_where_a_view_can_lie(pyccel: PyccelKernel) -> None:
    def make(rng: np.random.Generator) -> tuple[Any, ...]:
        x, y, w = arguments(rng)
        return kit.ArrayView(array=x), kit.ArrayView(array=y), w

    found = assert_kernels_agree(pyccel, make, seeds=(0,))
    assert "F order" in found.layouts
    assert "byte-swapped" not in found.layouts


def test_one_object_passed_twice_stays_one(cuda: dict[str, CudaKernel]) -> None:
    def make(rng: np.random.Generator) -> tuple[Any, Any]:
        x = rng.normal(size=8)
        return x, x

    def reference(x: Any, y: Any) -> None:
        assert x is y
        x += 1.0
        x += 1.0

    assert_kernels_agree(cuda["both"], make, reference=reference)


def test_results_are_compared_where_both_return_them() -> None:
    total: Any = kit.pyccel_kernel("""
def total(x: 'float[:]'):
    result = 0.0
    for i in range(x.shape[0]):
        result += x[i]
    return result
""")
    found = assert_kernels_agree(
        total, lambda rng: (rng.integers(0, 9, 20).astype(float),), reference=np.sum
    )
    assert found.worst is None
    with pytest.raises(AssertionError, match="the result"):
        assert_kernels_agree(
            total, lambda rng: (np.ones(5),), reference=lambda x: x.sum() + 1, layouts=False
        )
    with pytest.raises(AssertionError, match="the result: None on reference"):
        assert_kernels_agree(total, lambda rng: (np.ones(5),), reference=lambda x: None)


# ---- never nothing ------------------------------------------------------------------------------


def test_one_target_alone_is_no_comparison(cuda: dict[str, CudaKernel]) -> None:
    with pytest.raises(kit.KitError, match=r"only one result to compare \(emulator\)"):
        assert_kernels_agree(cuda["smooth"], arguments, targets=["emulator"], launch=THREADS)


def test_a_kernel_that_writes_and_returns_nothing_is_no_comparison(
    cuda: dict[str, CudaKernel],
) -> None:
    with pytest.raises(kit.KitError, match="nothing to compare"):
        assert_kernels_agree(
            cuda["nothing"], lambda rng: (np.ones(4), 4), reference=lambda x, n: None
        )


def test_arrays_without_elements_are_no_comparison(cuda: dict[str, CudaKernel]) -> None:
    with pytest.raises(kit.KitError, match="nothing to compare"):
        assert_kernels_agree(
            cuda["smooth"],
            lambda rng: (np.zeros((0, 3)), np.zeros((0, 3)), 1.0),
            reference=lambda x, y, w: None,
            launch=THREADS,
        )


def test_no_seeds_are_no_comparison(cuda: dict[str, CudaKernel]) -> None:
    with pytest.raises(kit.KitError, match="nothing to compare"):
        assert_kernels_agree(cuda["smooth"], arguments, reference=smooth, seeds=())


def test_what_one_target_refuses_is_no_agreement(cuda: dict[str, CudaKernel]) -> None:
    def wrong(rng: np.random.Generator) -> tuple[Any, ...]:
        return rng.normal(size=(6, 5)).astype("f4"), np.zeros((6, 5)), 0.25

    with pytest.raises(kit.ArgumentRefused) as caught:
        assert_kernels_agree(cuda["smooth"], wrong, reference=smooth, launch=THREADS)
    assert caught.value.__notes__ == [
        "assert_kernels_agree: on emulator; layout: all in C order; seed 0"
    ]


def test_make_args_is_told_what_it_must_return(cuda: dict[str, CudaKernel]) -> None:
    with pytest.raises(kit.KitError, match=r"returned ndarray(.|\n)*or \(x,\) for one"):
        assert_kernels_agree(cuda["careless"], lambda rng: np.ones(3), reference=smooth)  # type: ignore[arg-type,return-value]
    with pytest.raises(kit.KitError, match=r"made 2 arguments, and careless takes 1 \(y\)"):
        assert_kernels_agree(cuda["careless"], lambda rng: (1, 2), reference=smooth)


def test_generated_arguments_are_not_written(cuda: dict[str, CudaKernel]) -> None:
    kept: list[Any] = []

    def make(rng: np.random.Generator) -> tuple[Any, ...]:
        made = np.ones((6, 5)), np.zeros((6, 5)), 0.25
        kept.append(made)
        return made

    assert_kernels_agree(cuda["smooth"], make, reference=smooth, launch=THREADS)
    assert all((x == 1).all() and (y == 0).all() for x, y, _ in kept)


# ---- the package --------------------------------------------------------------------------------


def test_importing_kit_does_not_import_testing_and_using_it_does() -> None:
    script = (
        "import sys, kit\n"
        "assert 'kit.testing' not in sys.modules\n"
        "assert kit.testing.layouts(3)[0].name == 'C order'\n"
        "assert not {'cupy', 'pyccel', 'tree_sitter', 'IPython'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_layout_holds_no_array_and_can_be_compared() -> None:
    first, second = layouts(4)[:2]
    assert isinstance(first, ArrayLayout)
    assert first == layouts(4)[0] != second
    assert hash(first) == hash(layouts(4)[0])

"""The names that Pyccel 2.2.3 knows, and what to write instead of those that it does not.

Read from `pyccel.ast.utilities`, `pyccel.ast.class_defs` and `pyccel.naming`; a test compares
the tables with the installed Pyccel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = [
    "ARRAY_ATTRIBUTES",
    "BUILTINS",
    "DECORATORS",
    "DTYPES",
    "INSTEAD",
    "INSTEAD_OF_DTYPE",
    "INSTEAD_OF_METHOD",
    "MAX_RANK",
    "MODULES",
    "PYTHON_SCALARS",
    "RESERVED",
    "UNUSABLE_PACKAGES",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PYTHON_SCALARS: Final[Mapping[str, str]] = {
    "bool": "bool",
    "int": "int64",
    "float": "float64",
    "complex": "complex128",
}
"""Python's number types, and the dtype of an array of them."""

DTYPES: Final[Mapping[str, str]] = {
    **{
        one: one
        for one in sorted(_words("int8 int16 int32 int64 float32 float64 complex64 complex128"))
    },
    "double": "float64",
}
"""Dtype names that an annotation may use, beside Python's own, as NumPy names them."""

INSTEAD_OF_DTYPE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("uint8", "ubyte", "u1"), "int16"),
    **dict.fromkeys(("uint16", "ushort", "u2"), "int32"),
    **dict.fromkeys(("uint32", "uintc", "u4", "uint", "uint64", "ulong", "u8"), "int64"),
    **dict.fromkeys(("float16", "half", "f2"), "float32"),
    **dict.fromkeys(("float128", "longdouble", "f8", "d", "float_"), "float64"),
    **dict.fromkeys(("single", "f4", "f"), "float32"),
    **dict.fromkeys(("complex256", "clongdouble", "cdouble", "c16", "complex_"), "complex128"),
    **dict.fromkeys(("csingle", "c8"), "complex64"),
    **dict.fromkeys(("bool_", "bool8", "b1", "boolean"), "bool"),
    **dict.fromkeys(("intc", "i4"), "int32"),
    **dict.fromkeys(("short", "i2"), "int16"),
    **dict.fromkeys(("byte", "i1"), "int8"),
    **dict.fromkeys(("int_", "intp", "long", "longlong", "i8", "integer"), "int64"),
}
"""Other names of dtypes, and the nearest one that Pyccel has."""

MAX_RANK: Final[Mapping[str, int]] = {"fortran": 15, "c": 8}
"""Axes that a compiled array may have: gfortran's limit, and that of Pyccel's C library."""

BUILTINS: Final = _words(
    "abs bool complex dict enumerate float int isinstance len list map max min print range round "
    "set str sum tuple type zip"
)
"""Builtin functions that compile."""

DECORATORS: Final = _words(
    "allow_negative_index elemental inline low_level private pure stack_array"
)
"""Decorators that mean something to Pyccel; it ignores every other one."""

ARRAY_ATTRIBUTES: Final = _words(
    "shape size T transpose sum min max imag real conj conjugate dtype copy"
)
"""Attributes and methods of an array that compile."""

_MATH = (
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees e erf erfc exp expm1 "
    "fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan lcm "
    "ldexp lgamma log log10 log1p log2 modf nan pi pow radians remainder sin sinh sqrt tan tanh "
    "tau trunc"
)
_CMATH = (
    "acos acosh asin asinh atan atanh cos cosh e exp inf isclose isfinite isinf isnan nan phase "
    "pi polar rect sin sinh sqrt tan tanh tau"
)
_NUMPY = (
    "abs absolute amax amin arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh array "
    "bool complex complex128 complex64 conj conjugate copy cos cosh count_nonzero cross divide "
    "double dtype empty empty_like exp expm1 fabs float float32 float64 floor full full_like imag "
    "int int16 int32 int64 int8 isfinite isinf isnan linalg linspace log matmul max min mod "
    "ndarray nonzero norm ones ones_like pi prod product random real result_type shape sign sin "
    "sinh size sqrt sum tan tanh transpose true_divide vecdot where zeros zeros_like"
)

MODULES: Final[Mapping[str, frozenset[str]]] = {
    "math": _words(_MATH),
    "cmath": _words(_CMATH),
    "numpy": _words(_NUMPY),
    "numpy.linalg": _words("cross norm"),
    "numpy.random": _words("rand randint random"),
    "scipy": _words("constants pi"),
    "scipy.constants": _words("pi"),
    "itertools": _words("product"),
    "sys": _words("exit"),
    "typing": _words("Annotated Any Final TypeAlias TypeVar overload"),
    "pyccel": _words("decorators"),
    "pyccel.decorators": DECORATORS | {"types"},
}
"""Modules that Pyccel implements itself, and their names."""

UNUSABLE_PACKAGES: Final[Mapping[str, str]] = {
    **dict.fromkeys(_words("matplotlib pylab seaborn plotly bokeh altair pyvista"), "plot"),
    **dict.fromkeys(_words("IPython ipywidgets tqdm rich"), "display"),
    **dict.fromkeys(_words("pandas xarray polars dask h5py netCDF4 zarr PIL cv2 skimage"), "data"),
    **dict.fromkeys(_words("sklearn statsmodels sympy torch jax tensorflow networkx"), "library"),
    **dict.fromkeys(_words("numba cython Cython numexpr pythran transonic"), "compiler"),
    **dict.fromkeys(_words("cupy"), "device"),
    **dict.fromkeys(_words("kit"), "kit"),
}
"""Packages that newcomers import in a cell and that cannot be compiled, with what they are for."""

INSTEAD: Final[Mapping[str, str]] = {
    "numpy.inf": "math.inf, with `import math`",
    "numpy.nan": "math.nan, with `import math`",
    "numpy.e": "math.e, with `import math`",
    "numpy.newaxis": "a loop over the axis",
    "numpy.maximum": "max(a, b) on the elements, in a loop",
    "numpy.minimum": "min(a, b) on the elements, in a loop",
    "numpy.clip": "min(max(x, low), high) on the elements, in a loop",
    "numpy.dot": "a @ b",
    "numpy.inner": "a @ b",
    "numpy.power": "a ** b",
    "numpy.square": "a * a",
    "numpy.add": "a + b",
    "numpy.subtract": "a - b",
    "numpy.multiply": "a * b",
    "numpy.negative": "-a",
    "numpy.remainder": "a % b",
    "numpy.floor_divide": "a // b",
    "numpy.mean": "np.sum(x) / x.size",
    "numpy.average": "np.sum(x * w) / np.sum(w)",
    "numpy.var": "np.sum((x - m) * (x - m)) / x.size, where m = np.sum(x) / x.size",
    "numpy.std": "np.sqrt(np.sum((x - m) * (x - m)) / x.size), where m = np.sum(x) / x.size",
    "numpy.log2": "math.log2(x) on the elements, with `import math`",
    "numpy.log10": "math.log10(x) on the elements, with `import math`",
    "numpy.log1p": "math.log1p(x) on the elements, with `import math`",
    "numpy.hypot": "np.sqrt(a * a + b * b)",
    "numpy.ceil": "math.ceil(x) on the elements, with `import math`",
    "numpy.degrees": "x * (180.0 / np.pi)",
    "numpy.rad2deg": "x * (180.0 / np.pi)",
    "numpy.radians": "x * (np.pi / 180.0)",
    "numpy.deg2rad": "x * (np.pi / 180.0)",
    "numpy.asarray": "the array itself",
    "numpy.ascontiguousarray": "np.array(x)",
    "numpy.reshape": "an array made by np.zeros, filled in a loop",
    "numpy.concatenate": "an array made by np.zeros, filled by slices",
    "numpy.argmax": "a loop that keeps the index of the largest",
    "numpy.argmin": "a loop that keeps the index of the smallest",
    "numpy.cumsum": "a loop that adds up",
    "numpy.round": "round(x) on the elements",
    "numpy.copyto": "y[:] = x[:]",
    "numpy.random.uniform": "np.random.rand(n)",
}
"""What to write for names that the modules lack."""

INSTEAD_OF_METHOD: Final[Mapping[str, str]] = {
    "fill": "{x}[:] = value",
    "mean": "{x}.sum() / {x}.size",
    "flatten": "a loop over the axes of {x}",
    "ravel": "a loop over the axes of {x}",
    "reshape": "an array made by np.zeros, filled in a loop",
    "astype": "a second array with the other dtype, filled with y[:] = {x}[:]",
    "ndim": "the number of axes itself, since the annotation fixes it",
    "dot": "{x} @ y",
    "sort": "a sorting loop, or sort before the call",
    "prod": "np.prod({x})",
    "nbytes": "{x}.size times the size of an element",
}
"""What to write for methods that arrays lack; `{x}` is the array."""

RESERVED: Final[Mapping[str, frozenset[str]]] = {
    "fortran": _words(
        "abs abstract acos allocatable allocate asin assign associate asynchronous atan backspace "
        "bind block blockdata c_associated c_f_pointer c_loc c_malloc c_ptr c_size_t call case "
        "class close codimension common concurrent contains contiguous continue cos count critical "
        "cycle data deallocate deferred dimension do elemental else elseif elsewhere end endfile "
        "endfunction endif endmodule endprogram endsubroutine entry enum enumerator equivalence "
        "error exit exp extends external final floor flush forall format fraction function generic "
        "goto if implicit import include int intent interface intrinsic lock log max mod module "
        "namelist nint non_overridable nopass nullify numpy_sign only open operator optional pack "
        "parameter pass pause pointer print private procedure program protected public pure read "
        "real recursive result return rewind rewrite save select sequence sin sqrt stop "
        "storage_size submodule subroutine sync tan target test then unlock use value volatile "
        "wait where while write"
    ),
    "c": _words(
        "Decimal128 I STC_CSPAN_INDEX_TYPE _Alignas _Alignof _Atomic _Bool _Complex _Decimal32 "
        "_Decimal64 _Generic _Imaginary _Noreturn _Static_assert _Thread_local array_bool_1d "
        "array_bool_2d array_bool_3d array_double_1d array_double_2d array_double_3d "
        "array_double_complex_1d array_double_complex_2d array_double_complex_3d array_float_1d "
        "array_float_2d array_float_3d array_float_complex_1d array_float_complex_2d "
        "array_float_complex_3d array_int32_1d array_int32_2d array_int32_3d array_int64_1d "
        "array_int64_2d array_int64_3d auto break c_ALL c_COLMAJOR c_END c_ROWMAJOR c_foreach case "
        "char complex_expm1 complex_max complex_min const continue csign cspan_copy "
        "cspan_md_layout cspan_slice cspan_transpose default do double else enum expm1 extern "
        "float for fsign goto if inline int isign long main register restrict return short signed "
        "sizeof static struct switch typedef union unsigned using_cspan void volatile whie"
    ),
}
"""Names that Pyccel renames in the compiled function."""

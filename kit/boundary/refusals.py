"""What to paste where an array is refused: a new array, or three lines that keep an output."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np

from kit.boundary.call_text import CallText
from kit.layout import inspect_layout
from kit.signature import ArgumentType

__all__ = [
    "annotation_for",
    "array_fix",
    "array_lines",
    "describe_value",
    "is_masked",
    "reshape_text",
]

NdArray = np.ndarray[Any, Any]

# Element types that a Pyccel annotation can name (2.2.3: no unsigned integers, no float16).
_ANNOTATED: Final = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128")
)


def is_masked(value: NdArray) -> bool:
    """Whether an array has masked elements."""
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))


def describe_value(value: object) -> str:
    """What was passed, for the line "found".

    Examples
    --------
    >>> describe_value(np.zeros((2, 3), dtype="int32")), describe_value([1, 2])
    ('int32 array of shape (2, 3)', 'a list')
    """
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        array = cast(NdArray, value)
        kind = "" if type(array) is np.ndarray else f" ({type(array).__name__})"
        return f"{array.dtype} array of shape {array.shape}{kind}"
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return f"the scalar {value!r}"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def annotation_for(value: object, expected: ArgumentType) -> str | None:
    """The annotation that would take `value` as it is, or None where there is none."""
    if isinstance(value, np.ndarray):
        array = cast(NdArray, value)
        dtype, rank = array.dtype.name, array.ndim
    elif isinstance(value, np.generic):
        dtype, rank = cast("np.generic[Any]", value).dtype.name, 0
    else:
        return None
    if dtype not in _ANNOTATED:
        return None
    if rank == 0:
        return dtype
    order = "(order=F)" if rank > 1 and expected.order == "F" else ""
    return f"{dtype}[{','.join(':' * rank)}]{order}"


def array_fix(
    name: str, value: object, expected: ArgumentType, *, written: bool, call: CallText
) -> str:
    """Lines that make `value` an array that the kernel takes, and the annotation that would do.

    The parameters are those of `array_lines`.
    """
    lines = array_lines(name, value, expected, written=written, call=call)
    annotation = annotation_for(value, expected)
    if annotation is not None and annotation != expected.text:
        annotation = f"Final[{annotation}]" if name in call.final else annotation
        lines.append(f"# or annotate {name}: '{annotation}'")
    return "\n".join(lines)


def array_lines(
    name: str, value: object, expected: ArgumentType, *, written: bool, call: CallText
) -> list[str]:
    """Lines that make `value` an array that the kernel takes, without losing what it writes.

    Parameters
    ----------
    name : str
        The parameter, taken to be the caller's variable too.
    value : object
        What was passed.
    expected : ArgumentType
        The array that the kernel declares.
    written : bool
        Whether the kernel writes it: then a buffer is converted, passed and assigned back.
    call : CallText
        The call that is being made.
    """
    fresh = _fresh_array(name, value, expected)
    back = _assign_back(name, value, expected) if written else None
    if back is None:
        return [f"{name} = {fresh}"]
    buffer = f"{name}_buffer"
    return [f"{buffer} = {fresh}", call.replacing(name, buffer), back]


def _fresh_array(name: str, value: object, expected: ArgumentType) -> str:
    order = f'order="{expected.order}"' if expected.rank > 1 else ""
    dtype = f"np.{expected.dtype}"
    if value is None:
        shape = "(1,)" if expected.rank == 1 else f"({', '.join('1' * expected.rank)})"
        return f"np.zeros({shape}, dtype={dtype}{', ' + order if order else ''})  # your shape"
    if not isinstance(value, np.ndarray):
        rank = _rank_of(value)
        text = f"np.array({name}, dtype={dtype}{', ' + order if order else ''})"
        if rank is None:
            return text
        empty = 0 in np.shape(cast(Any, value))
        return text + reshape_text(rank, expected.rank, f"np.shape({name})", empty=empty)
    array = cast(NdArray, value)
    text, same = _elements(name, array, np.dtype(expected.dtype))
    if array.ndim != expected.rank:
        shape = f"{name}.shape"
        text += reshape_text(array.ndim, expected.rank, shape, empty=array.size == 0)
    if same:
        return f"{text}.copy({order})"
    return f"{text}.astype({dtype}{', ' + order if order else ''})"


def _elements(name: str, array: NdArray, dtype: np.dtype[Any]) -> tuple[str, bool]:
    """An expression for the elements alone, and whether their dtype is the right one."""
    found = array.dtype
    if is_masked(array):
        text = f"{name}.filled({'np.nan' if found.kind in 'fc' else '0'})"
    elif type(array) is np.ndarray or isinstance(array, np.memmap):
        text = name
    else:
        text = f"np.asarray({name})"
    if found.names:
        field = _fitting_field(found, dtype)
        text, found = f'{text}["{field}"]', found[field]
    if found.kind == "c" and dtype.kind != "c":
        text, found = f"{text}.real", np.dtype(f"f{found.itemsize // 2}")
    # Not `found == dtype`: long long equals int64 there, and another byte order must be converted.
    return text, found == dtype and found.isnative


def reshape_text(found: int, need: int, shape: str, *, empty: bool) -> str:
    """What to append to an array of rank `found` for one of rank `need`.

    Parameters
    ----------
    found, need : int
        Numbers of axes.
    shape : str
        The expression for the array's extents.
    empty : bool
        Whether it has no elements.

    Examples
    --------
    >>> reshape_text(1, 2, "x.shape", empty=False), reshape_text(2, 1, "x.shape", empty=False)
    ('.reshape((1,) + x.shape)', '.reshape(-1)')
    """
    if found == need:
        return ""
    if found < need:
        return f".reshape(({', '.join('1' * (need - found))},) + {shape})"
    if need == 1:
        return ".reshape(-1)"
    # Of no elements, NumPy cannot tell how long the last axis is.
    return f".reshape({shape}[:{need - 1}] + ({0 if empty else -1},))"


def _rank_of(value: object) -> int | None:
    try:
        rank = cast(object, np.ndim(cast(Any, value)))
    except Exception:  # ragged lists, and whatever __array__ of a stranger raises
        return None
    return rank if isinstance(rank, int) else None  # np.ndarray.ndim of a class is a descriptor


def _assign_back(name: str, value: object, expected: ArgumentType) -> str | None:
    """The line that takes a buffer's elements back, or None where nothing can take them."""
    buffer = f"{name}_buffer"
    if isinstance(value, list):
        return f"{name}[:] = {buffer}.tolist()"
    if not isinstance(value, np.ndarray):
        return None
    array = cast(NdArray, value)
    facts = inspect_layout(array)
    if not facts.writeable or facts.overlaps:
        return None
    back = buffer if array.ndim == expected.rank else f"{buffer}.reshape({name}.shape)"
    if is_masked(array):
        return f"np.copyto({name}.data, {back}, where=~np.ma.getmaskarray({name}))"
    target = name if type(array) is np.ndarray else f"np.asarray({name})"
    dtype = array.dtype
    if dtype.names:
        field = _fitting_field(dtype, np.dtype(expected.dtype))
        target, dtype = f'{target}["{field}"]', dtype[field]
    else:
        target = f"{target}[...]"
    if expected.dtype.startswith("complex") and dtype.kind in "biuf":
        back = f"{back}.real"  # said aloud: NumPy warns where imaginary parts are lost
    return f"{target} = {back}"


def _fitting_field(dtype: np.dtype[Any], wanted: np.dtype[Any]) -> str:
    """The field of records that holds the wanted elements, else the first."""
    names = cast("tuple[str, ...]", dtype.names)
    return next((one for one in names if dtype[one].newbyteorder("=") == wanted), names[0])

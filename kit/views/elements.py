"""The element types of a view, and their exact conversion from Python's numbers."""

from __future__ import annotations

import reprlib
from typing import Any, Final, cast

import numpy as np

from kit.errors import argument_refused
from kit.exact import (
    InexactError,
    cast_text,
    family_of_dtype,
    rounded_text,
    to_exact_number,
)

__all__ = [
    "ELEMENT_TYPES",
    "element_type",
    "exact_element",
    "named_element_type",
    "refuse_dtype",
    "refuse_option",
]

ELEMENT_TYPES: Final = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
    "complex64",
    "complex128",
)
"""NumPy's names of the types that compiled code has, too; complex is `cuda::std::complex`."""

# By dtype, not by name: that is composed anew each time it is asked for. Equal ones count as one:
# long long is int64, too.
_DTYPES: Final = {np.dtype(name): np.dtype(name) for name in ELEMENT_TYPES}


def element_type(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """The one of our dtypes that is equal to `dtype`; None for others, and for foreign bytes.

    Examples
    --------
    >>> element_type(np.dtype(np.longlong)) is np.dtype("int64"), element_type(np.dtype(">f8"))
    (True, None)
    """
    return _DTYPES.get(dtype)


def named_element_type(dtype: object) -> np.dtype[Any]:
    """The native dtype that `dtype` names.

    Raises
    ------
    ArgumentRefused
        It names none of `ELEMENT_TYPES`, or one in a foreign byte order; also a TypeError.

    Examples
    --------
    >>> named_element_type(float), named_element_type("c8")
    (dtype('float64'), dtype('complex64'))
    """
    try:
        found: np.dtype[Any] = np.dtype(cast(Any, dtype))
    except TypeError:
        raise _refuse_name(repr(dtype)) from None
    known = _DTYPES.get(found)
    if known is None:
        raise _refuse_name(_dtype_text(found))
    return known


def refuse_dtype(found: np.dtype[Any], need: np.dtype[Any] | None, name: str) -> Exception:
    """The refusal of a source whose elements are not what is asked for, or none of ours."""
    wanted = need if need is not None else _DTYPES.get(found.newbyteorder("="))
    if wanted is None:
        asked = "an element type of compiled code: " + ", ".join(ELEMENT_TYPES)
        fix = f'{name} = {name}.astype("float64")'
    else:
        asked = f"{wanted.name}, because dtype={wanted.name!r}" if need is not None else wanted.name
        asked += "" if found.isnative else ", in this machine's byte order"
        fix = f'{name} = {name}.astype("{wanted.name}")'
        if need is not None and found in _DTYPES:
            fix += f'\n# or ArrayView(array={name}, dtype="{found.name}")'
    return argument_refused(
        TypeError, "ArrayView", "array", found=f"{_dtype_text(found)} elements", need=asked, fix=fix
    )


def exact_element(value: object, dtype: np.dtype[Any], argument: str) -> Any:
    """`value` as a Python number that is an element of `dtype` with no loss.

    Raises
    ------
    ArgumentRefused
        Also a TypeError where the kind of number does not fit, a ValueError where it would be
        rounded or cut.
    """
    name = dtype.name
    try:
        return to_exact_number(value, name)
    except TypeError:
        kind: type[TypeError] | type[ValueError] = TypeError
    except InexactError:
        kind = ValueError
    raise _refuse_number(value, name, kind, argument) from None


def refuse_option(what: str, option: str) -> Exception:
    """The refusal of NumPy's `axis` and the like in a reduction of a view."""
    return argument_refused(
        TypeError,
        f"ArrayView.{what}",
        option,
        found=f"{option}=",
        need="none: all elements of the body become one number",
        fix=f"view.body.ndarray.{what}({option}=...)",
    )


def _refuse_number(
    value: Any, name: str, kind: type[TypeError] | type[ValueError], argument: str
) -> Exception:
    family = family_of_dtype(name)
    needs = {
        "bool": "a bool",
        "int": f"an integer that {name} holds; a float is not converted",
        "float": f"a real number that {name} holds exactly",
        "complex": f"a number that {name} holds exactly",
    }
    text, number = argument, value
    if isinstance(cast(object, value), np.ndarray) and value.size:
        text, number = f"{argument}.flat[0]", value.flat[0]
    to = "bool" if family == "bool" else f"np.{name}"
    fix = (cast_text if kind is TypeError else rounded_text)(text, number, name, to)
    found = f"{type(value).__name__} {reprlib.repr(value)}"
    fix = f"{argument} = {fix}"
    return argument_refused(kind, "ArrayView", argument, found=found, need=needs[family], fix=fix)


def _refuse_name(found: str) -> Exception:
    return argument_refused(
        TypeError,
        "ArrayView",
        "dtype",
        found=found,
        need="an element type of compiled code: " + ", ".join(ELEMENT_TYPES),
        fix='dtype = "float64"',
    )


def _dtype_text(dtype: np.dtype[Any]) -> str:
    return dtype.name if dtype.isnative else f"{dtype.name} ({dtype.str}, a foreign byte order)"

"""One argument by value: a number, a vector type, a struct."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from kit.boundary.refusals import is_masked
from kit.boundary.verdict import ErrorKind
from kit.cuda.dead_memory import dead_text, why_value_dead
from kit.cuda.element_types import dtype_text, holds_components, is_struct, why_not_element
from kit.cuda.judged import Judged, accepted, refused
from kit.cuda.number_arguments import judge_number, packed_number, value_text
from kit.cuda.signature import CudaParameter, Element
from kit.exact import InexactError
from kit.views.base import View, parts_of

__all__ = ["judge_value"]


def judge_value(parameter: CudaParameter, value: Any) -> Judged:
    """Whether `value` passes, converts exactly or is refused.

    Parameters
    ----------
    parameter : CudaParameter
        A number, a vector type or a struct.
    value : object
        What was passed.

    Examples
    --------
    >>> from kit.cuda.signature import Element
    >>> a = Element("float32", 1, 4, 4, "float")
    >>> a = CudaParameter("a", "scalar", a, None, "in", False, 4, 4, 0, "float", 2, 1)
    >>> judge_value(a, 0.5).data.hex(), judge_value(a, 0.1).verdict.refusal.fix.splitlines()[0]
    ('0000003f', 'a = np.float32(a)  # rounds')
    """
    dead = why_value_dead(parts_of(value)[0] if isinstance(value, View) else value)
    if dead is not None:
        found, need, fix = dead_text(parameter.name, dead)
        return refused("value", found=found, need=need, fix=fix)
    value = _of_no_axes(value)
    if parameter.kind == "struct":
        return _judge_record(parameter, value)
    if parameter.kind == "vector":
        return _judge_vector(parameter, value)
    return judge_number(parameter, value)


def _of_no_axes(value: Any) -> Any:
    """The element of an array without axes, which stands for a number."""
    if isinstance(value, View):
        array, rest = parts_of(value)
        return value if array is None or array.ndim or (rest and rest.ghosts) else array[()]
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        if array.ndim == 0 and not is_masked(array):
            return np.ndarray.view(array, np.ndarray)[()]
        return array
    return value


# ---- vector types -----------------------------------------------------------------------------


def _judge_vector(parameter: CudaParameter, value: Any) -> Judged:
    element = parameter.element
    if isinstance(value, np.void):
        return _judge_record(parameter, value)
    components = _components(value, element.width)
    if components is None:
        return _no_vector(parameter, value)
    try:
        data = b"".join(packed_number(one, element.dtype) for one in components)
    except (TypeError, InexactError):
        return _no_vector(parameter, value, "value")
    kind = cast("type[Any]", type(value))
    if issubclass(kind, np.ndarray) and holds_components(value.dtype, element):
        return accepted(data)
    reason = f"{kind.__name__} to {element.text}, exact"
    return accepted(data, action="CONVERT", reason=reason)


def _components(value: Any, width: int) -> Sequence[object] | None:
    """The numbers of a vector, or None where there are not `width` of them."""
    if isinstance(value, View):
        array, rest = parts_of(value)
        value = array if array is not None and not (rest and rest.ghosts) else value
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        if array.shape != (width,) or is_masked(array):
            return None
        plain = np.ndarray.view(array, np.ndarray)
        return [plain[k] for k in range(width)]
    if isinstance(value, (list, tuple)):
        listed = cast("Sequence[object]", value)
        return listed if len(listed) == width else None
    return None


def _no_vector(parameter: CudaParameter, value: object, error: ErrorKind = "type") -> Judged:
    element, name = parameter.element, parameter.name
    if hasattr(value, "__cuda_array_interface__"):
        fix = f"{name} = cupy.asarray({name}).get()"
    elif error == "value":
        fix = f"{name} = np.asarray({name}).astype({dtype_text(element)})  # rounds"
    else:
        fix = f"{name} = ({', '.join('0' * element.width)}{',' * (element.width == 1)})"
    return refused(
        error,
        found=_listed(value),
        need=f"{element.width} numbers that {element.dtype} holds exactly, as {parameter.text}",
        fix=fix,
    )


def _listed(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"{type(cast(object, value)).__name__} {reprlib.repr(cast(object, value))}"
    return value_text(value)


# ---- structs ----------------------------------------------------------------------------------


def _judge_record(parameter: CudaParameter, value: Any) -> Judged:
    element, name = parameter.element, parameter.name
    found = value_text(value)
    if isinstance(value, np.void):
        dtype: np.dtype[Any] = cast(Any, value).dtype
        problem = why_not_element(dtype, element)
        if problem is None:
            return accepted(cast(bytes, cast(Any, value).tobytes()))
        found = f"{found}: {problem}"
    empty = not isinstance(value, (tuple, np.void)) or _lacks_fields(value, element)
    array = f"np.{'zeros(()' if empty else f'array({name}'}, dtype={dtype_text(element)})[()]"
    if is_struct(element) and element.fields is None:
        same = getattr(cast(object, value), "itemsize", None) == element.size
        array = f"np.void(bytes({name if same else element.size}))  # the bytes of {element.text}"
    return refused(
        "type",
        found=found,
        need=f"a record (or an array of records without axes) of {dtype_text(element)}, "
        f"as {parameter.text}",
        fix=f"{name} = {array}",
    )


def _lacks_fields(value: Any, element: Element) -> bool:
    """Whether a record or tuple has not just the fields of the struct."""
    names = [one.name for one in element.fields or ()]
    if isinstance(value, tuple):
        return len(cast("tuple[object, ...]", value)) != len(names)
    return list(value.dtype.names or ()) != names

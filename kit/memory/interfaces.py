"""Read `__array_interface__` and `__cuda_array_interface__`, two spellings of one dictionary."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from kit.memory.foreign import ForeignMemory
from kit.terms import Place

__all__ = ["interface_dtype", "read_array_interface"]


def read_array_interface(
    interface: Mapping[str, Any], *, place: Place, owner: object = None
) -> ForeignMemory:
    """What an interface dictionary says; reads no element.

    Parameters
    ----------
    interface : mapping
        The value of ``__array_interface__`` (version 2 or 3) or ``__cuda_array_interface__``
        (version 0 to 3) [1]_ [2]_.
    place : {"host", "device"}
        Which of the two it is.
    owner : object, optional
        What carries the interface; its buffer holds the elements where `interface` gives no
        ``data``.

    Returns
    -------
    ForeignMemory
        The entries, with ``strides`` missing or None as None, the fields of ``descr`` where
        ``typestr`` is an opaque ``V``, and ``offset`` added where ``data`` is a buffer (as in
        NumPy it means nothing beside an address).

    Raises
    ------
    ValueError
        An entry is missing or contradicts another one.
    TypeError
        ``typestr`` names no type of whole bytes.

    Notes
    -----
    ``stream`` is not used: no element is read, so nothing has to be synchronised.

    References
    ----------
    .. [1] https://numpy.org/doc/stable/reference/arrays.interface.html
    .. [2] https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html

    Examples
    --------
    >>> memory = read_array_interface(
    ...     {"shape": (2, 3), "typestr": "<f4", "data": (4096, True), "version": 3}, place="device"
    ... )
    >>> memory.dtype, memory.strides_bytes, memory.pointer, memory.writeable
    ('float32', None, 4096, False)
    """
    shape = _integers(interface, "shape")
    dtype = interface_dtype(interface)
    pointer, read_only = _data(interface, owner, place)
    return ForeignMemory(
        shape=shape,
        strides_bytes=None if interface.get("strides") is None else _integers(interface, "strides"),
        itemsize=dtype.itemsize,
        alignment=dtype.alignment,
        place=place,
        dtype=dtype.name,
        pointer=pointer,
        native=dtype.isnative,
        writeable=not read_only,
        masked=interface.get("mask") is not None,
    )


def _integers(interface: Mapping[str, Any], key: str) -> tuple[int, ...]:
    try:
        return tuple(operator.index(entry) for entry in interface[key])
    except (KeyError, TypeError):
        raise ValueError(
            f"array interface: {key!r} should be a tuple of integers, "
            f"found {interface.get(key, 'nothing')!r}"
        ) from None


def interface_dtype(interface: Mapping[str, Any]) -> np.dtype[Any]:
    """The type of the elements, with its fields where the interface tells them.

    Raises
    ------
    ValueError
        ``typestr`` is missing, or ``descr`` contradicts it.
    TypeError
        ``typestr`` names no type of whole bytes.

    Examples
    --------
    >>> interface_dtype({"typestr": "|V8", "descr": [("a", "<i2"), ("", "|V2"), ("b", "<f4")]})
    dtype({'names': ['a', 'b'], 'formats': ['<i2', '<f4'], 'offsets': [0, 4], 'itemsize': 8})
    """
    if "typestr" not in interface:
        raise ValueError("array interface: 'typestr' is missing")
    typestr = interface["typestr"]
    dtype: np.dtype[Any] = np.dtype(typestr)
    descr = interface.get("descr")
    if dtype.kind != "V" or descr is None:
        return dtype
    # NumPy's own reader of such lists knows that what has no name is padding.
    fields: np.dtype[Any] = np.lib.format.descr_to_dtype(descr)
    if fields.itemsize != dtype.itemsize:
        # NumPy takes the fields' size; every address after the first would then be another one.
        raise ValueError(
            f"array interface: 'descr' has elements of {fields.itemsize} bytes, "
            f"'typestr' {typestr!r} of {dtype.itemsize}"
        )
    # The default [("", "|V8")] describes the same opaque element.
    return fields if fields.names else dtype


def _data(interface: Mapping[str, Any], owner: object, place: Place) -> tuple[int, bool]:
    data = interface.get("data")
    if isinstance(data, tuple):
        pair = cast("tuple[Any, ...]", data)
        if len(pair) == 2 and hasattr(pair[0], "__index__"):
            return operator.index(pair[0]), bool(pair[1])
    elif place == "host":
        offset = operator.index(interface.get("offset") or 0)
        pointer, read_only = _buffer(owner if data is None else data)
        return pointer + offset, read_only
    raise ValueError(
        f"array interface: 'data' should be a tuple (address, read-only), found {data!r}"
    )


def _buffer(source: Any) -> tuple[int, bool]:
    try:
        view = memoryview(source)
    except TypeError:
        raise ValueError(
            f"array interface: 'data' should be a tuple (address, read-only) or a buffer, "
            f"found {type(source).__name__}"
        ) from None
    if view.nbytes == 0:
        return 0, view.readonly
    if not view.c_contiguous:
        raise ValueError("array interface: the buffer of 'data' has gaps")
    return int(np.frombuffer(view, np.uint8).ctypes.data), view.readonly

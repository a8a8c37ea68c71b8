"""Read the head of a DLPack capsule in place, without its library and without consuming it."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

from kit.memory.foreign import ForeignMemory
from kit.terms import Place

__all__ = ["read_dlpack"]

# dlpack.h 1.1, DLDeviceType. Only memory whose `data` is an address: OpenCL, Vulkan, Metal and
# WebGPU put a handle there.
_PLACES: dict[int, Place] = {
    1: "host",  # kDLCPU
    2: "device",  # kDLCUDA
    3: "host",  # kDLCUDAHost, pinned
    10: "device",  # kDLROCM
    11: "host",  # kDLROCMHost
    13: "device",  # kDLCUDAManaged
}
# The devices whose `__dlpack__` takes a stream; -1 asks for no synchronisation.
_TAKES_STREAM = frozenset({2, 10, 13})

# dlpack.h 1.1, DLDataTypeCode.
_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
_PREFIXES = {_INT: "int", _UINT: "uint", _FLOAT: "float", _BFLOAT: "bfloat", _COMPLEX: "complex"}
_SMALL_FLOATS = {
    7: "float8_e3m4",
    8: "float8_e4m3",
    9: "float8_e4m3b11fnuz",
    10: "float8_e4m3fn",
    11: "float8_e4m3fnuz",
    12: "float8_e5m2",
    13: "float8_e5m2fnuz",
    14: "float8_e8m0fnu",
}

_READ_ONLY, _IS_COPY = 1, 2  # DLPACK_FLAG_BITMASK_READ_ONLY, _IS_COPIED


class _Tensor(ctypes.Structure):
    _fields_: ClassVar = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _VersionedTensor(ctypes.Structure):
    _fields_: ClassVar = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


# Prototypes of our own: setting argtypes on ctypes.pythonapi would change them for everybody.
_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def read_dlpack(array: Any) -> ForeignMemory:
    """What an array says about its memory by DLPack [1]_; reads no element.

    Parameters
    ----------
    array : object with ``__dlpack__`` and ``__dlpack_device__``
        An array of any library, on the host or on a CUDA or ROCm device.

    Returns
    -------
    ForeignMemory
        Strides converted from elements to bytes. An exporter older than DLPack 1.0 cannot say
        whether writing is allowed and counts as read-only, as in ``numpy.from_dlpack``.

    Raises
    ------
    TypeError
        The elements lie in memory without addresses, or are no whole number of bytes.
    BufferError, RuntimeError, ...
        Whatever the exporter raises where it refuses to export.
    ValueError
        The capsule is of an unknown version, or holds a copy.

    Notes
    -----
    The exporter is asked neither to copy nor to synchronise. The capsule is only looked at: it
    stays unconsumed, so its own destructor gives the memory back at once.

    References
    ----------
    .. [1] https://dmlc.github.io/dlpack/latest/c_api.html

    Examples
    --------
    >>> import numpy as np
    >>> memory = read_dlpack(np.zeros((2, 3), "float32", order="F"))
    >>> memory.dtype, memory.strides_bytes, memory.place
    ('float32', (4, 8), 'host')
    """
    device_type = int(array.__dlpack_device__()[0])
    if device_type not in _PLACES:
        raise TypeError(
            f"{type(array).__name__} lies on DLPack device type {device_type}; "
            "kit reads host, CUDA and ROCm memory"
        )
    capsule = _export(array, device_type)
    tensor, writeable = _tensor_of(capsule)
    # Everything is copied into Python values here, while `capsule` still holds the memory.
    return _memory_of(tensor, writeable)


def _export(array: Any, device_type: int) -> object:
    stream: dict[str, Any] = {"stream": -1} if device_type in _TAKES_STREAM else {}
    # Exporters refuse keywords that they do not know with TypeError, each its own subset.
    for extra in ({"max_version": (1, 1), "copy": False}, {"max_version": (1, 1)}):
        try:
            return array.__dlpack__(**stream, **extra)
        except TypeError:
            continue
    return array.__dlpack__(**stream)


def _tensor_of(capsule: object) -> tuple[_Tensor, bool]:
    name = _capsule_name(capsule)
    if name == b"dltensor":
        return _Tensor.from_address(_capsule_pointer(capsule, name)), False
    if name != b"dltensor_versioned":
        raise ValueError(f"__dlpack__ gave a capsule named {name!r}, not an unused DLPack one")
    managed = _VersionedTensor.from_address(_capsule_pointer(capsule, name))
    if managed.major != 1:
        # Another major version may place everything after the version elsewhere.
        raise ValueError(
            f"DLPack version {managed.major}.{managed.minor} is not known; kit reads 0 and 1"
        )
    if managed.flags & _IS_COPY:
        raise ValueError("__dlpack__ gave a copy, whose addresses say nothing about the array")
    return managed.tensor, not managed.flags & _READ_ONLY


def _memory_of(tensor: _Tensor, writeable: bool) -> ForeignMemory:
    dtype, scalar_bytes, itemsize = _element_of(tensor)
    axes = range(tensor.ndim)
    strides = tuple(tensor.strides[k] * itemsize for k in axes) if tensor.strides else None
    return ForeignMemory(
        shape=tuple(int(tensor.shape[k]) for k in axes),
        strides_bytes=strides,
        itemsize=itemsize,
        alignment=scalar_bytes,
        place=_PLACES[tensor.device_type],
        dtype=dtype,
        pointer=(tensor.data or 0) + tensor.byte_offset,
        native=True,  # DLPack has no other byte order
        writeable=writeable,
        masked=False,
    )


def _element_of(tensor: _Tensor) -> tuple[str, int, int]:
    """Name, alignment [bytes] and size [bytes] of one element."""
    code, bits, lanes = tensor.code, tensor.bits, tensor.lanes
    if bits == 0 or bits % 8:
        # Packed int4 and the like: an element has no address of its own.
        raise TypeError(f"elements of {bits} bits (DLPack type code {code}) have no byte address")
    if code == _BOOL:
        name = "bool" if bits == 8 else f"bool{bits}"
    elif code in _SMALL_FLOATS:
        name = _SMALL_FLOATS[code]
    elif code in _PREFIXES:
        name = f"{_PREFIXES[code]}{bits}"
    else:
        raise TypeError(f"DLPack type code {code} of {bits} bits is no number that kit knows")
    scalar_bytes = bits // 16 if code == _COMPLEX else bits // 8
    return name if lanes == 1 else f"{name}x{lanes}", scalar_bytes, bits // 8 * lanes

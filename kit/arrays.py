"""Recognise an array, and by which protocol to read it, without importing its library."""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np

__all__ = ["ArrayKind", "array_kind", "cupy_type", "plain_array"]

ArrayKind = Literal["numpy", "cuda", "array_interface", "dlpack"]
"""How an array is read: as a NumPy array, by one of the two array interfaces, or by DLPack."""

# Frequent arguments that are never arrays; NumPy's scalars carry `__array_interface__` all the
# same, and a class carries its instances' protocols as unbound attributes.
_NEVER_ARRAYS = (np.generic, type, int, float, complex, str, bytes, list, tuple, dict, type(None))


def array_kind(value: object) -> ArrayKind | None:
    """How `value` is read as an array, or None where it is none; imports no library.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    {"numpy", "cuda", "array_interface", "dlpack"} or None
        The first that fits: an instance of ``numpy.ndarray`` (a subclass counts), an object
        with ``__cuda_array_interface__``, with ``__array_interface__``, or with DLPack's
        ``__dlpack__`` and ``__dlpack_device__``. Scalars, NumPy's included, sequences and
        objects that only offer ``__array__`` or the buffer protocol are None.

    Notes
    -----
    Copies nothing and does not synchronise. A property that raises AttributeError says that the
    protocol does not apply (a PyTorch tensor on the CPU has no ``__cuda_array_interface__``);
    one that raises anything else has the protocol and refuses to serve it now (a tensor that
    requires a gradient), so its kind is still named and `kit.inspect_layout` shows the refusal.

    Examples
    --------
    >>> array_kind(np.zeros(3)), array_kind(np.float64(3)), array_kind([1.0, 2.0])
    ('numpy', None, None)
    """
    if isinstance(value, np.ndarray):
        return "numpy"
    if isinstance(value, _NEVER_ARRAYS):
        return None
    if _has_interface(value, "__cuda_array_interface__"):
        return "cuda"
    if _has_interface(value, "__array_interface__"):
        return "array_interface"
    if _has_method(value, "__dlpack__") and _has_method(value, "__dlpack_device__"):
        return "dlpack"
    return None


def _has_interface(value: object, name: str) -> bool:
    try:
        found: object = getattr(value, name)
    except AttributeError:
        return False
    except Exception:  # whatever a stranger's property raises: it has the protocol and refuses
        return True
    # A proxy that answers every attribute, a mock for one, answers with something else.
    return isinstance(found, dict)


def _has_method(value: object, name: str) -> bool:
    # Looked up on the class, as Python does for its own protocols: proxies that answer every
    # attribute of the instance are then no arrays.
    return callable(getattr(type(value), name, None))


def plain_array(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same elements as a plain NumPy array: no method or property of a subclass is asked.

    Examples
    --------
    >>> type(plain_array(np.ma.array([1, 2])))
    <class 'numpy.ndarray'>
    """
    return array if type(array) is np.ndarray else np.ndarray.view(array, np.ndarray)


def cupy_type() -> type[Any] | None:
    """The type of CuPy's arrays, or None where CuPy is not imported: then there are none."""
    kind: object = getattr(sys.modules.get("cupy"), "ndarray", None)
    return kind if isinstance(kind, type) else None

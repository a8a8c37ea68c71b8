"""What stands for a template parameter, in C++: ``float64`` is `double`, 3 is `3`."""

from __future__ import annotations

from kit.cuda.cpp_types import CPP_TYPES

__all__ = ["template_argument"]


def template_argument(value: object) -> str:
    """The C++ text of a template argument.

    Parameters
    ----------
    value : str, int, bool or anything that NumPy takes for a dtype
        A str that is no dtype's name is taken as C++: ``"Particle"``, ``"3"``.

    Raises
    ------
    TypeError
        Where it is neither a type nor an integer.

    Examples
    --------
    >>> template_argument("float64"), template_argument(3), template_argument(True)
    ('double', '3', 'true')
    >>> template_argument("float4")
    'float4'
    """
    if isinstance(value, str):
        return CPP_TYPES.get(value.strip(), value.strip())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    import numpy as np

    name = np.dtype(value).name  # pyright: ignore[reportArgumentType, reportCallIssue]
    if name not in CPP_TYPES:
        raise TypeError(f"a template argument is a type or an integer, not {value!r}")
    return CPP_TYPES[name]

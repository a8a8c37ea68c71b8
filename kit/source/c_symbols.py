"""Names that the C library of this process has taken."""

from __future__ import annotations

from typing import Final

__all__ = ["is_c_symbol"]

# Macros, and glibc's compatibility symbols, which the dynamic linker binds and dlsym hides.
_NOT_LISTED: Final = frozenset(
    {"advance", "assert", "errno", "linux", "loc1", "loc2", "locs", "re_comp", "re_exec", "step"}
    | {"stderr", "stdin", "stdout", "unix"}
)


def is_c_symbol(name: str) -> bool:
    """Whether a global variable of this name would meet one of the C library or of Python.

    Examples
    --------
    >>> is_c_symbol("gamma"), is_c_symbol("step"), is_c_symbol("dx")
    (True, True, False)
    """
    if name in _NOT_LISTED:
        return True
    import ctypes  # NumPy has loaded it

    try:
        ctypes.CDLL(None)[name]
    except (AttributeError, OSError, TypeError, ValueError):
        return False  # TypeError: Windows has no library of the process
    return True

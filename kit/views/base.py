"""The base type of `kit.ArrayView`: compiled where that can be, else its twin in Python.

`kit/arrayview.c` makes the usual wrap without a line of Python, and exports the buffer on every
Python. The twin here asks the class's `_make` always, and is a buffer from Python 3.12 on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self, cast

import numpy as np

from kit.native import find_native

if TYPE_CHECKING:
    from kit.views.rest import Rest

__all__ = ["IS_COMPILED", "PythonView", "View", "parts_of", "share"]

NdArray = np.ndarray[Any, Any]


class PythonView:
    """An array of its own, and what goes with it."""

    __slots__ = ("__weakref__", "_array", "_rest")
    _array: NdArray | None
    _rest: Rest | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """A view of what `_make` makes of the arguments."""
        return cls._of(*cls._make(*args, **kwargs))

    @classmethod
    def _of(cls, array: NdArray | None, rest: Rest | None) -> Self:
        """A view of an array that is its own, with what goes with it."""
        self = object.__new__(cls)
        self._array, self._rest = array, rest
        return self

    @classmethod
    def _make(cls, *args: Any, **kwargs: Any) -> tuple[NdArray | None, Rest | None]:
        raise NotImplementedError

    def __buffer__(self, flags: int) -> memoryview:
        """What PEP 688 asks for, which Python has looked for since 3.12."""
        if self._array is None:
            raise BufferError("the elements lie on a device, which has no buffer")
        return cast(Any, self._array).__buffer__(flags)


def _share(array: NdArray) -> NdArray:
    """A new view of an array's elements; NumPy lets it hold one of the bases of `array`."""
    return np.ndarray.view(array, np.ndarray)  # a subclass may have a view() of its own


def parts_of(view: View) -> tuple[NdArray | None, Rest | None]:
    """What a view holds: its own array, and what goes with it."""
    return view._array, view._rest  # pyright: ignore[reportPrivateUsage]


_compiled = find_native("arrayview")
IS_COMPILED: Final = _compiled is not None
"""Whether the compiled type serves; KIT_ARRAYVIEW=python asks for the other."""
if TYPE_CHECKING or _compiled is None:
    View = PythonView
    share = _share
else:
    View = _compiled.View
    share = _compiled.share

"""A view's layout: where its body lies in its storage, ghosts and devices included."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kit.layout import LayoutFacts, inspect_layout
from kit.views.base import View
from kit.views.device import body_facts, refuse_on_device
from kit.views.ghosts import body_slices
from kit.views.rest import PLAIN, DeviceMemory, Rest

if TYPE_CHECKING:
    # Not at run time: Jedi trips over properties that say Literal, see kit.kernel.
    from kit.terms import Order, Place
    from kit.views.ghosts import Ghosts

__all__ = ["LaidOut"]

NdArray = np.ndarray[Any, Any]


class LaidOut(View):
    """The properties of a view that say where its elements lie."""

    __slots__ = ()

    @property
    def _body(self) -> NdArray | LayoutFacts:
        array, rest = self._array, self._rest
        if array is None:
            device = self._device
            return body_facts(device.facts, self._extra.ghosts)
        if rest is None or rest.ghosts is None:
            return array
        return array[body_slices(array.shape, rest.ghosts)]

    @property
    def _extra(self) -> Rest:
        return self._rest or PLAIN

    @property
    def _device(self) -> DeviceMemory:
        return cast(DeviceMemory, self._extra.device)  # where there is no array

    def _storage(self, what: str) -> NdArray:
        """The array of the whole storage, on the host."""
        if self._array is None:
            raise refuse_on_device(what)
        return self._array

    def _elements(self, what: str) -> NdArray:
        """The array of the body, on the host."""
        self._storage(what)
        return cast(NdArray, self._body)

    @property
    def layout(self) -> LayoutFacts:
        """Where the body's elements lie: what an ``ArrayND<T>`` parameter is packed from.

        ``pointer`` is the address of index 0 on each axis, from which `nghost` layers below can
        be reached. Strides are 0 where there are no elements. Addresses are aligned as NumPy
        asks: `cuda::std::complex` needs twice as much, which packing has to check.
        """
        body = self._body
        facts = inspect_layout(body) if isinstance(body, np.ndarray) else body
        return facts if facts.size else replace(facts, strides_bytes=(0,) * facts.ndim)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the body."""
        return self._body.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._body.ndim

    @property
    def size(self) -> int:
        """Number of elements of the body."""
        return self._body.size

    @property
    def itemsize(self) -> int:
        """Size of one element [bytes]."""
        return self._body.itemsize

    @property
    def nbytes(self) -> int:
        """What the elements of the body take [bytes]."""
        return self._body.nbytes

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        body = self._body
        return np.dtype(body.dtype)

    @property
    def strides_bytes(self) -> tuple[int, ...]:
        """Step along each axis [bytes]; zeros where there are no elements."""
        body = self._body
        if body.size == 0:
            return (0,) * body.ndim
        return body.strides if isinstance(body, np.ndarray) else body.strides_bytes

    @property
    def strides_elements(self) -> tuple[int, ...]:
        """Step along each axis [elements]; zeros where there are no elements."""
        itemsize = self._body.itemsize
        return tuple(stride // itemsize for stride in self.strides_bytes)

    @property
    def is_c_contiguous(self) -> bool:
        """Whether the body is one gapless block in C order; True where it has no elements."""
        body = self._body
        if isinstance(body, np.ndarray):
            return body.flags.c_contiguous
        return body.is_contiguous("C")

    @property
    def is_f_contiguous(self) -> bool:
        """Whether the body is one gapless block in F order; True where it has no elements."""
        body = self._body
        if isinstance(body, np.ndarray):
            return body.flags.f_contiguous
        return body.is_contiguous("F")

    @property
    def nghost(self) -> Ghosts:
        """Layers below and above the body, for each axis."""
        return self._extra.ghosts or ((0, 0),) * self.ndim

    @property
    def alignment(self) -> int:
        """What the start of storage was asked to be a multiple of; 0: nothing [bytes]."""
        return self._extra.alignment

    @property
    def readonly(self) -> bool:
        """Whether writing through the view is refused."""
        array = self._array
        return not (self._device.facts.writeable if array is None else array.flags.writeable)

    @property
    def place(self) -> Place:
        """Memory that holds the elements."""
        return "device" if self._array is None else "host"

    @property
    def _order_of_clone(self) -> Order:
        """Order of a clone: "F" where the storage is in F and not in C order, else "C"."""
        array = self._array
        facts = self._device.facts if array is None else inspect_layout(array)
        return "F" if facts.order == "F" else "C"

"""`ArrayView`: the typed view of memory that compiled code and Python share, without a copy."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

import numpy as np

from kit.errors import argument_refused
from kit.views.allocated import allocate
from kit.views.device import copy_memory
from kit.views.elements import exact_element, refuse_option
from kit.views.exported import Exported
from kit.views.indices import storage_index
from kit.views.making import make_new, make_wrapped
from kit.views.rest import Rest
from kit.views.shaping import reshaped, transposed
from kit.views.sources import not_writeable

if TYPE_CHECKING:
    # Not at run time, as in kit.kernel: Jedi trips over what says Literal.
    from kit.terms import Order
    from kit.views.ghosts import Ghosts

__all__ = ["ArrayView"]

NdArray = np.ndarray[Any, Any]


class ArrayView(Exported):
    """A typed view of memory that compiled code and Python share.

    ``ArrayView(array=a)`` shares the memory of `a` exactly as it lies, or refuses; it never copies
    and never converts. ``ArrayView(shape)`` allocates.

    Parameters
    ----------
    shape : int or tuple of int, optional
        Extents of the body of new memory; not with `array`.
    dtype : data type, optional
        Of the elements: bool, int8 to int64, uint8 to uint64, float32, float64, complex64 or
        complex128. By default what `array` has, and float64 for new memory.
    array : array or buffer of any library, optional
        Whose memory to share; an ndarray, an array interface (of CUDA, too), DLPack, a buffer.
    value : number, optional
        What new memory is filled with; uninitialised without it.
    order : {"C", "F"}
        Of new memory: which axis is fastest.
    alignment : {0, 16, 32, 64, 128}
        What the start of new memory is a multiple of [bytes].
    nghost : int, (int, int) or sequence of (int, int)
        Ghost layers on both sides of the first axis, below and above it, or of each axis. They are
        part of `array`, and are added to `shape`.
    readonly : bool
        Whether writing through the view is refused; read-only memory needs it.

    Raises
    ------
    ArgumentRefused
        Also a TypeError or a ValueError: `array` has other elements, a stride that is no multiple
        of their size, or an address that is not aligned for them; a value or option cannot be.
    ValueError
        ``array is not writeable``.
    IndexError
        An extent is negative.

    Notes
    -----
    Indices, `shape`, strides and reductions are about the body. What other libraries are given
    (`ndarray`, ``np.asarray``, ``memoryview``, DLPack) is all of the storage, ghosts included. A
    copied or unpickled view is a `clone`. Views compare by identity.

    Examples
    --------
    >>> a = np.zeros((3, 4))
    >>> view = ArrayView(array=a[:, ::2], dtype="float64")
    >>> view
    ArrayView(float64 (3, 2) on host: C order with gaps; strides_elements (4, 2))
    >>> view[1, 1] = 5
    >>> a[1, 2]
    np.float64(5.0)
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            shape: SupportsIndex | Sequence[SupportsIndex] | None = None,
            dtype: object = None,
            *,
            array: object = None,
            value: object = None,
            order: Order = "C",
            alignment: int = 0,
            nghost: SupportsIndex | Sequence[SupportsIndex | Sequence[SupportsIndex]] = 0,
            readonly: bool = False,
        ) -> None: ...

    @classmethod
    def _make(  # pyright: ignore[reportIncompatibleMethodOverride]
        cls,
        shape: object = None,
        dtype: object = None,
        *,
        array: object = None,
        value: object = None,
        order: Order = "C",
        alignment: int = 0,
        nghost: Any = 0,
        readonly: bool = False,
    ) -> tuple[NdArray | None, Rest | None]:
        if array is None:
            return make_new(shape, dtype, value, order, alignment, nghost, readonly=readonly)
        if shape is not None or value is not None or order != "C" or alignment:
            raise argument_refused(
                TypeError,
                "ArrayView",
                "array",
                found="array= beside shape, value, order or alignment",
                need="array= alone: shared memory has its own",
                fix="ArrayView(array=array)",
            )
        return make_wrapped(array, dtype, nghost, readonly=readonly)

    # ---- elements ---------------------------------------------------------------------------

    def __getitem__(self, index: SupportsIndex | tuple[SupportsIndex, ...]) -> Any:
        array = self._storage("__getitem__")
        return array.item(storage_index(index, self.shape, self._extra.ghosts))

    def __setitem__(self, index: SupportsIndex | tuple[SupportsIndex, ...], value: object) -> None:
        array = self._storage("__setitem__")
        if not array.flags.writeable:
            raise not_writeable("view = view.clone()  # memory of its own")
        place = storage_index(index, self.shape, self._extra.ghosts)
        array[place] = exact_element(value, array.dtype, "value")

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("a view without axes has no len()")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        body = self._elements("__iter__")
        if body.ndim != 1:
            raise argument_refused(
                TypeError,
                "ArrayView.__iter__",
                "self",
                found=f"a view of {body.ndim} axes",
                need="one axis, whose elements are gone through",
                fix="for row in view.ndarray: ...  # from the start of storage",
            )
        return map(body.item, range(body.shape[0]))

    # `options` are those of np.sum(view) and the like, which calls the method with None for them.
    def sum(self, **options: object) -> Any:
        """The sum of the body's elements, as NumPy adds them: integers in int64 or uint64."""
        return self._reduced("sum", options).sum().item()

    def min(self, **options: object) -> Any:
        """The smallest element of the body; ValueError where there is none."""
        return self._reduced("min", options).min().item()

    def max(self, **options: object) -> Any:
        """The largest element of the body; ValueError where there is none."""
        return self._reduced("max", options).max().item()

    def mean(self, **options: object) -> Any:
        """The mean of the body's elements, as NumPy computes it."""
        return self._reduced("mean", options).mean().item()

    def _reduced(self, what: str, options: Mapping[str, object]) -> NdArray:
        for name, value in options.items():
            if value is not None:
                raise refuse_option(what, name)
        return self._elements(what)

    # ---- other views ------------------------------------------------------------------------

    @property
    def body(self) -> Self:
        """A view of the interior alone, which shares the memory."""
        rest = self._extra
        if rest.ghosts is None:
            return self._of(self._array, self._rest)
        if self._array is None:
            interior = replace(self._device, facts=self.layout, is_whole=False)
            return self._of(None, replace(rest, ghosts=None, device=interior))
        # Nothing is known of the alignment of the interior.
        return self._of(self._elements("body"), replace(rest, ghosts=None, alignment=0))

    def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex]) -> Self:
        """A view with its axes in another order, reversed by default; shares the memory."""
        return self._of(*transposed(self._array, self._rest, axes))

    def reshape(self, *shape: SupportsIndex | Sequence[SupportsIndex], order: Order = "C") -> Self:
        """A view of the same elements in another shape, or a refusal; shares the memory.

        Raises
        ------
        ArgumentRefused
            Also a ValueError: the elements would have to be copied, the view has ghosts, or the
            product of `shape` is not the number of elements.
        """
        return self._of(*reshaped(self._array, self._rest, shape, order))

    def clone(self) -> Self:
        """A view of new memory with the same elements, order, alignment and ghosts.

        Device memory is copied on the device, by CuPy, whose memory is aligned to 512 bytes.
        """
        order, alignment, ghosts = self._order_of_clone, self.alignment, self._extra.ghosts
        if self._array is None:
            made = copy_memory(self, self._device, order)
            rest = Rest(ghosts=ghosts, alignment=alignment, is_from_python=False, device=made)
            return self._of(None, rest)
        return self._cloned(self._array, order, alignment, ghosts)

    @classmethod
    def _cloned(cls, array: NdArray, order: Order, alignment: int, ghosts: Ghosts | None) -> Self:
        made = allocate(array.shape, array.dtype, order, alignment)
        made[...] = array
        return cls._of(made, Rest(ghosts=ghosts, alignment=alignment, is_from_python=False))

    def __copy__(self) -> Self:
        return self.clone()

    def __deepcopy__(self, memo: object) -> Self:
        return self.clone()

    def __reduce__(self) -> tuple[object, ...]:
        array = self._storage("__reduce__")
        return self._cloned, (array, self._order_of_clone, self.alignment, self._extra.ghosts)

    # ---- in words ---------------------------------------------------------------------------

    def __repr__(self) -> str:
        facts = self.layout
        words = [f"strides_elements {self.strides_elements}"]
        words += [f"nghost {self.nghost}"] if self._extra.ghosts else []
        words += ["read-only"] if self.readonly else []
        words += [f"aligned to {self.alignment}"] if self.alignment else []
        words += [] if self.is_from_python else ["memory of its own"]
        head = f"{self.dtype.name} {self.shape} on {self.place}: {facts.summary}"
        return f"ArrayView({'; '.join([head, *words])})"


# What help and a notebook's Shift+Tab show of the class: the base type's __new__ says nothing.
ArrayView.__signature__ = inspect.signature(  # pyright: ignore[reportAttributeAccessIssue]
    ArrayView._make  # pyright: ignore[reportPrivateUsage]
).replace(return_annotation=inspect.Signature.empty)

"""`LayoutFacts`: where an array's elements lie, and the arithmetic of its addresses."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, SupportsIndex

from kit.memory.arrangement import axis_order, describe_arrangement, fills_block, has_gaps
from kit.memory.indexing import (
    checked_index,
    checked_order,
    index_at_offset,
    linear_index,
    multi_index,
)
from kit.memory.overlap import elements_overlap, sums_hit
from kit.terms import Place

if TYPE_CHECKING:
    from kit.terms import Order  # see kit.kernel: Jedi trips over a property that says Literal

__all__ = ["LayoutFacts"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LayoutFacts:
    """Where an array's elements lie; holds no reference to the array.

    Parameters
    ----------
    shape : tuple of int
        Extents, in NumPy's index order [elements].
    strides_bytes : tuple of int
        Step along each axis; may be 0 or negative [bytes].
    itemsize : int
        Size of one element [bytes].
    place : {"host", "device"}
        Memory that holds the elements.
    dtype : str
        NumPy's name of the dtype without the byte order: ``"float64"``.
    pointer : int
        Address of the element of index 0; means nothing once the array is gone.
    native : bool
        Whether the bytes of an element have this machine's order.
    aligned : bool
        Whether every element lies at a multiple of its dtype's alignment, as NumPy's flag says.
    writeable : bool
        Whether the array's owner allows writing.
    masked : bool
        Whether a mask comes with the array (``numpy.ma``, or the ``mask`` of an interface). Its
        entries are not read, so it may mask nothing.

    Notes
    -----
    The arithmetic trusts its index of the shape: nothing here reads an element. The repr shows
    offsets from the first element and no address, so that notebooks stay the same from run to
    run.

    Examples
    --------
    >>> import numpy as np
    >>> from kit.layout import inspect_layout
    >>> grid = np.zeros((3, 4))
    >>> inspect_layout(grid[:, ::2])
    LayoutFacts(float64 (3, 2) on host: C order with gaps;
                strides_bytes (32, 16), bytes 0 .. 88)
    >>> inspect_layout(grid[::-1].T)
    LayoutFacts(float64 (4, 3) on host: axis 1 runs backwards;
                strides_bytes (8, -32), bytes -64 .. 32)
    """

    shape: tuple[int, ...]
    strides_bytes: tuple[int, ...]
    itemsize: int
    place: Place
    dtype: str = "void"
    pointer: int = 0
    native: bool = True
    aligned: bool = True
    writeable: bool = True
    masked: bool = False

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements; those that share memory count each."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """``size * itemsize``, what a contiguous copy takes [bytes]."""
        return prod(self.shape) * self.itemsize

    @property
    def strides_elements(self) -> tuple[int, ...] | None:
        """Step along each axis [elements]; None where a stride is no multiple of the itemsize.

        Axes of one index count as well: what receives the strides will not look at the shape.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> inspect_layout(np.zeros((3, 4))).strides_elements
        (4, 1)
        >>> record = np.zeros(3, dtype=[("flag", "i1"), ("value", "f8")])  # packed, 9 bytes each
        >>> inspect_layout(record["value"]).strides_elements is None
        True
        """
        if not self.itemsize or any(stride % self.itemsize for stride in self.strides_bytes):
            return None
        return tuple(stride // self.itemsize for stride in self.strides_bytes)

    @property
    def order(self) -> Order | None:
        """Which axis is fastest, gaps allowed: "C", "F", or None where neither describes it.

        "C" means positive strides, each at least what one index of its axis spans on the axes to
        its right; "F" the same to its left. Axes of one index play no part. Where both fit (one
        long axis, no elements) the answer is "C". A contiguous array has an order, but one with
        an order need not be contiguous: see `is_contiguous` and `has_gaps`. Elements of an array
        with an order do not overlap.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> a = np.zeros((4, 6), order="F")
        >>> [inspect_layout(x).order for x in (a, a[::2], a.T, a[::-1])]
        ['F', 'F', 'C', None]
        """
        return axis_order(self.shape, self.strides_bytes, self.itemsize)

    def is_contiguous(self, order: Order) -> bool:
        """Whether elements fill one gapless block in `order`, as NumPy's flags say.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> facts = inspect_layout(np.zeros((4, 6))[:, 2:3])
        >>> facts.is_contiguous("C"), facts.is_contiguous("F")
        (False, False)
        """
        return fills_block(self.shape, self.strides_bytes, self.itemsize, checked_order(order))

    @property
    def span_offsets(self) -> tuple[int, int]:
        """Lowest and one past the highest byte used, counted from `pointer` [bytes]."""
        if 0 in self.shape:
            return 0, 0
        low, high = 0, self.itemsize
        for extent, stride in zip(self.shape, self.strides_bytes, strict=True):
            if stride < 0:
                low += (extent - 1) * stride
            else:
                high += (extent - 1) * stride
        return low, high

    @property
    def byte_span(self) -> tuple[int, int]:
        """Lowest address used and the one past the highest; equal where there is no element.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> facts = inspect_layout(np.arange(5.0)[::-1])
        >>> [address - facts.pointer for address in facts.byte_span]
        [-32, 8]
        """
        low, high = self.span_offsets
        return self.pointer + low, self.pointer + high

    @property
    def has_gaps(self) -> bool:
        """Whether some byte between the lowest and the highest used belongs to no element.

        Exact, also where elements overlap or run backwards.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> a = np.zeros((4, 6))
        >>> [inspect_layout(x).has_gaps for x in (a, a[::-1], a[:, :5], a[0, ::2])]
        [False, False, True, True]
        """
        return has_gaps(self.shape, self.strides_bytes, self.itemsize)

    @property
    def overlaps(self) -> bool:
        """Whether two different indices share a byte of memory.

        Exact where each stride steps over what the smaller ones span, where there are no gaps,
        and for up to two axes of more than one index: slices, transposes and diagonals of a
        contiguous array among them. Others are searched exactly with bounded work; one that
        stays undecided answers True.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> windows = np.lib.stride_tricks.sliding_window_view(np.zeros(9), 3)
        >>> [inspect_layout(x).overlaps for x in (windows, windows[::3], windows[:0])]
        [True, False, False]
        """
        return elements_overlap(self.shape, self.strides_bytes, self.itemsize)

    def shares_bytes_with(self, other: LayoutFacts) -> bool:
        """Whether some element of `self` and some element of `other` share a byte.

        Exact with bounded work like `overlaps`, and True where undecided. Views that interleave
        without sharing an element are independent, as are arrays in different places.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> a = np.zeros(10)
        >>> even, odd, head = (inspect_layout(x) for x in (a[::2], a[1::2], a[:3]))
        >>> even.shares_bytes_with(odd), even.shares_bytes_with(head)
        (False, True)
        """
        if self.place != other.place or 0 in self.shape or 0 in other.shape:
            return False
        (low, high), (other_low, other_high) = self.byte_span, other.byte_span
        if high <= other_low or other_high <= low:
            return False
        # An element of `self` starts `base` + a sum of positive terms after one of `other`.
        base = low - (other_high - other.itemsize)
        axes = [
            (extent - 1, abs(stride))
            for facts in (self, other)
            for extent, stride in zip(facts.shape, facts.strides_bytes, strict=True)
            if extent > 1 and stride != 0
        ]
        return sums_hit(1 - self.itemsize - base, other.itemsize - 1 - base, axes)

    def linear_index(
        self, index: SupportsIndex | Sequence[SupportsIndex], order: Order = "C"
    ) -> int:
        """Position of `index` when all indices are counted in `order`, wherever elements lie.

        Parameters
        ----------
        index : tuple of int
            One entry per axis, from 0; a bare integer serves for one axis.
        order : {"C", "F"}
            Count with the last or with the first axis fastest.

        Returns
        -------
        int
            The sum over k of ``n_k * prod(d_m for m > k)`` in C order, ``m < k`` in F order,
            for an index n and a shape d.

        Raises
        ------
        IndexError
            An entry is negative or past its axis, or there are too few or too many.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> facts = inspect_layout(np.zeros((3, 4)))
        >>> facts.linear_index((1, 2)), facts.linear_index((1, 2), "F")
        (6, 7)
        """
        return linear_index(index, self.shape, order)

    def multi_index(self, n: SupportsIndex, order: Order = "C") -> tuple[int, ...]:
        """The index that `linear_index` counts as `n`; IndexError outside 0 .. size - 1.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> inspect_layout(np.zeros((3, 4))).multi_index(7, "F")
        (1, 2)
        """
        return multi_index(n, self.shape, order)

    def step_between(
        self,
        start: SupportsIndex | Sequence[SupportsIndex],
        stop: SupportsIndex | Sequence[SupportsIndex],
        order: Order = "C",
    ) -> int:
        """Steps from the element `start` to the element `stop`, counted in `order`.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> facts = inspect_layout(np.zeros((3, 4)))
        >>> facts.step_between((0, 0), (1, 0)), facts.step_between((0, 0), (1, 0), "F")
        (4, 1)
        """
        return self.linear_index(stop, order) - self.linear_index(start, order)

    def address(self, index: SupportsIndex | Sequence[SupportsIndex]) -> int:
        """Address of the first byte of the element at `index`; IndexError as `linear_index`.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> facts = inspect_layout(np.zeros((3, 4))[::-1])
        >>> facts.address((1, 2)) - facts.pointer
        -16
        """
        found = checked_index(index, self.shape)
        steps = zip(found, self.strides_bytes, strict=True)
        return self.pointer + sum(entry * stride for entry, stride in steps)

    def index_at(self, address: SupportsIndex) -> tuple[int, ...] | None:
        """The index of the element that starts at `address`, or None where none starts there.

        Where several elements start there (`overlaps`), the first of them in C order.

        Raises
        ------
        ValueError
            Elements interleave so that bounded work does not tell.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> facts = inspect_layout(np.zeros((3, 4))[::-1])
        >>> facts.index_at(facts.pointer - 16), facts.index_at(facts.pointer + 32)
        ((1, 2), None)
        """
        offset = operator.index(address) - self.pointer
        return index_at_offset(offset, self.shape, self.strides_bytes, self.itemsize)

    @property
    def summary(self) -> str:
        """The arrangement in words, as messages and tables show it.

        Examples
        --------
        >>> import numpy as np
        >>> from kit.layout import inspect_layout
        >>> a = np.zeros((3, 4, 5))
        >>> for x in (a[0], a.T[:2], a.transpose(1, 0, 2), np.broadcast_to(a[0, 0], (2, 5))):
        ...     print(inspect_layout(x).summary)
        C order
        F order with gaps
        axes permuted, slowest first (1, 0, 2)
        axis 0 has stride 0 (2 indices, one element)
        """
        return describe_arrangement(self.shape, self.strides_bytes, self.itemsize)

    def __repr__(self) -> str:
        low, high = self.span_offsets
        words = [f"strides_bytes {self.strides_bytes}", f"bytes {low} .. {high}"]
        words += [] if self.native else ["byte-swapped"]
        words += [] if self.aligned else ["misaligned"]
        words += [] if self.writeable else ["read-only"]
        words += ["masked"] if self.masked else []
        head = f"{self.dtype} {self.shape} on {self.place}: {self.summary}"
        return f"LayoutFacts({head};\n            {', '.join(words)})"

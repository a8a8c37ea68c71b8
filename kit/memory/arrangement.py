"""How the axes of one array lie in memory: their order, their gaps, and both in words."""

from __future__ import annotations

from kit.memory.overlap import elements_overlap, is_nested
from kit.terms import Order

__all__ = ["axis_order", "describe_arrangement", "fills_block", "has_gaps"]


def fills_block(
    shape: tuple[int, ...], strides_bytes: tuple[int, ...], itemsize: int, order: Order
) -> bool:
    """Whether elements fill one gapless block in `order`, as NumPy's flags say.

    Examples
    --------
    >>> fills_block((3, 4), (32, 8), 8, "C"), fills_block((3, 4), (32, 8), 8, "F")
    (True, False)
    """
    if 0 in shape:
        return True
    axes = list(zip(shape, strides_bytes, strict=True))
    step = itemsize
    for extent, stride in axes if order == "F" else reversed(axes):
        if extent > 1:  # the stride of a length-1 axis is never used
            if stride != step:
                return False
            step *= extent
    return True


def axis_order(
    shape: tuple[int, ...], strides_bytes: tuple[int, ...], itemsize: int
) -> Order | None:
    """Which axis is fastest, gaps allowed; None where the axes have neither order.

    Examples
    --------
    >>> axis_order((3, 2), (32, 16), 8), axis_order((3, 2), (8, 32), 8), axis_order((3,), (-8,), 8)
    ('C', 'F', None)
    """
    if 0 in shape:
        return "C"
    pairs = zip(shape, strides_bytes, strict=True)
    axes = [(extent - 1, stride) for extent, stride in pairs if extent > 1]
    if any(stride < 0 for _, stride in axes):
        return None
    if is_nested(reversed(axes), itemsize):
        return "C"
    return "F" if is_nested(axes, itemsize) else None


def has_gaps(shape: tuple[int, ...], strides_bytes: tuple[int, ...], itemsize: int) -> bool:
    """Whether some byte between the lowest and the highest used belongs to no element; exact.

    Examples
    --------
    >>> has_gaps((3, 2), (32, 16), 8), has_gaps((7, 3), (8, 8), 8), has_gaps((3,), (-8,), 8)
    (True, False, False)
    """
    if 0 in shape or itemsize == 0:
        return False
    pairs = zip(shape, strides_bytes, strict=True)
    filled = itemsize  # the lowest bytes, without a hole so far
    for stride, last in sorted((abs(stride), extent - 1) for extent, stride in pairs if extent > 1):
        if stride > filled:
            return True  # no smaller step is left, so nothing reaches the byte after `filled`
        filled += last * stride
    return False


def describe_arrangement(
    shape: tuple[int, ...], strides_bytes: tuple[int, ...], itemsize: int
) -> str:
    """The arrangement in words.

    Examples
    --------
    >>> describe_arrangement((3, 2), (32, 16), 8), describe_arrangement((3, 2), (8, -24), 8)
    ('C order with gaps', 'axis 1 runs backwards')
    """
    if 0 in shape:
        return "no elements"
    order = axis_order(shape, strides_bytes, itemsize)
    if order is None:
        return "; ".join(_oddities(shape, strides_bytes, itemsize))
    if has_gaps(shape, strides_bytes, itemsize):
        return f"{order} order with gaps"
    if len(shape) > 1 and fills_block(shape, strides_bytes, itemsize, "F") and order == "C":
        return "C and F order"
    return f"{order} order"


def _oddities(shape: tuple[int, ...], strides_bytes: tuple[int, ...], itemsize: int) -> list[str]:
    """Why the axes have neither order; at least one reason."""
    pairs = zip(shape, strides_bytes, strict=True)
    axes = [(k, extent, stride) for k, (extent, stride) in enumerate(pairs) if extent > 1]
    found: list[str] = []
    for k, extent, stride in axes:
        if stride == 0:
            found.append(f"axis {k} has stride 0 ({extent} indices, one element)")
        elif stride < 0:
            found.append(f"axis {k} runs backwards")
    moving = [(extent, stride) for _, extent, stride in axes if stride != 0]
    if elements_overlap([axis[0] for axis in moving], [axis[1] for axis in moving], itemsize):
        found.append("elements overlap")
    slowest_first = [k for k, _, _ in sorted(axes, key=lambda axis: -abs(axis[2]))]
    is_permuted = slowest_first not in (sorted(slowest_first), sorted(slowest_first)[::-1])
    if is_permuted and not found:
        found.append(f"axes permuted, slowest first ({', '.join(map(str, slowest_first))})")
    return found or ["axes interleave without overlap"]

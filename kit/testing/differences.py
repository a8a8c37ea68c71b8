"""How far two arrays are apart: in units in the last place, with the worst element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from kit.errors import one_line

__all__ = ["Difference", "Tolerance", "worst_difference"]

NdArray = np.ndarray[Any, Any]

# Integers of as many bytes as a floating-point number.
_INTEGERS: Final = {2: np.int16, 4: np.int32, 8: np.int64}


class Tolerance(NamedTuple):
    """Which differences are none: those within `ulp`, or within the other two as NumPy has them.

    Parameters
    ----------
    ulp : float
        Units in the last place; of integers, the difference itself.
    rtol, atol : float
        Relative to the second value, and absolute: ``|a - b| <= atol + rtol * |b|``.
    """

    ulp: float = 0
    rtol: float = 0.0
    atol: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Where two targets of a kernel differ most in one array.

    Parameters
    ----------
    name : str
        The parameter, or ``"the result"``.
    ulp : float
        Units in the last place between the two values; infinite between NaN and a number, and
        where shapes, types or presence differ.
    index : tuple of int
        The element.
    values : tuple of object
        What the two targets have there.
    targets : tuple of str
        The two targets.
    n_different, n_elements : int
        Elements beyond the tolerance, and all of them.
    """

    name: str
    ulp: float
    index: tuple[int, ...]
    values: tuple[object, object]
    targets: tuple[str, str]
    n_different: int
    n_elements: int

    def __str__(self) -> str:
        first, second = (one_line(str(value)) for value in self.values)
        text = (
            f"{one_line(self.name)}{list(self.index) if self.index else ''}: "
            f"{first} on {self.targets[0]}, {second} on {self.targets[1]} ({_ulps(self.ulp)}"
        )
        if self.n_elements > 1 and self.n_different:
            text += f"; {self.n_different} of {self.n_elements} elements differ"
        return text + ")"


def worst_difference(
    name: str, targets: tuple[str, str], first: Any, second: Any, tolerance: Tolerance
) -> Difference | None:
    """The element where two results are farthest apart; None where they are the same bit for bit.

    NaN agrees with NaN, and -0.0 with 0.0. Of records every field is compared.

    Parameters
    ----------
    name : str
        What the results are of.
    targets : tuple of str
        Where they come from.
    first, second : array or object
        The results.
    tolerance : Tolerance
        What counts as a difference in `Difference.n_different`.

    Examples
    --------
    >>> print(worst_difference("y", ("host", "emulator"), np.ones(3), np.ones(3) + 2**-52,
    ...                        Tolerance()))
    y[0]: 1.0 on host, 1.0000000000000002 on emulator (1 ulp; 3 of 3 elements differ)
    """
    if first is None or second is None:
        missing = first is None and second is None
        return None if missing else _unlike(name, targets, (first, second))
    a, b = np.asarray(first), np.asarray(second)
    if a.shape != b.shape or a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        described = [f"{one.dtype} of shape {one.shape}" for one in (a, b)]
        return _unlike(name, targets, (described[0], described[1]))
    if a.dtype.names is not None:
        fields = [
            worst_difference(f"{name}.{field}", targets, a[field], b[field], tolerance)
            for field in a.dtype.names
        ]
        return max((one for one in fields if one is not None), key=_weight, default=None)
    return _worst_element(name, targets, a, b, tolerance)


def _unlike(name: str, targets: tuple[str, str], values: tuple[object, object]) -> Difference:
    return Difference(
        name=name,
        ulp=np.inf,
        index=(),
        values=values,
        targets=targets,
        n_different=1,
        n_elements=1,
    )


def _weight(one: Difference) -> tuple[bool, float]:
    return one.n_different > 0, one.ulp


def _worst_element(
    name: str, targets: tuple[str, str], a: NdArray, b: NdArray, tolerance: Tolerance
) -> Difference | None:
    if a.size == 0:
        return None
    with np.errstate(over="ignore"):  # integers wrap, on purpose
        distance = _distance(a, b)
    beyond = (distance > tolerance.ulp) & ~_is_close(a, b, tolerance)
    n_different = int(beyond.sum())
    # The worst of what fails, or else of everything.
    weight = np.where(beyond, distance, -1.0) if n_different else distance
    index = tuple(int(k) for k in np.unravel_index(int(np.argmax(weight)), a.shape))
    if distance[index] == 0:
        return None
    return Difference(
        name=name,
        ulp=float(distance[index]),
        index=index,
        values=(a[index], b[index]),
        targets=targets,
        n_different=n_different,
        n_elements=int(a.size),
    )


def _is_close(a: NdArray, b: NdArray, tolerance: Tolerance) -> NdArray:
    if (not tolerance.rtol and not tolerance.atol) or a.dtype.kind not in "iufcV":
        return np.zeros(a.shape, bool)
    wide = complex if a.dtype.kind == "c" else float
    with np.errstate(invalid="ignore", over="ignore"):
        return np.isclose(a.astype(wide), b.astype(wide), tolerance.rtol, tolerance.atol)


def _distance(a: NdArray, b: NdArray) -> NdArray:
    """Units in the last place between the elements, as float64; shape as of `a`."""
    if a.dtype.kind == "c":
        return np.maximum(_distance(a.real, b.real), _distance(a.imag, b.imag))
    if a.dtype.kind in "biu":
        return _apart(a, b)
    is_floating = a.dtype.kind == "f" or a.dtype.name == "bfloat16"
    if not is_floating or a.dtype.itemsize not in _INTEGERS:
        return np.where(a == b, 0.0, np.inf)
    distance = _apart(_ordered(a), _ordered(b))
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    distance = np.where(nan_a & nan_b, 0.0, distance)
    return np.where(nan_a ^ nan_b, np.inf, distance)


def _ordered(values: NdArray) -> NdArray:
    """Integers that follow each other as the floating-point numbers do; both zeros are 0."""
    native = np.ascontiguousarray(values, values.dtype.newbyteorder("=")).reshape(values.shape)
    integer = _INTEGERS[values.dtype.itemsize]
    bits = native.view(integer)
    return np.where(bits < 0, np.iinfo(integer).min - bits, bits)


def _apart(a: NdArray, b: NdArray) -> NdArray:
    if a.dtype.kind == "b":
        return (a != b).astype(float)
    # In the unsigned type, whose wrapping gives the distance of what lies far apart, too.
    low = np.minimum(a, b).astype(np.uint64 if a.dtype.kind == "u" else np.int64)
    high = np.maximum(a, b).astype(low.dtype)
    return (high.view(np.uint64) - low.view(np.uint64)).astype(float)


def _ulps(ulp: float) -> str:
    if np.isinf(ulp):
        return "not comparable"
    return f"{ulp:.6g} ulp"

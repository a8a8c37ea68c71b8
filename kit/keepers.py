"""What compiled objects point at lives as long as they do.

Pyccel (2.2.3) lets a function leave an array in an object, and counts no reference for it (its
methods, called from Python, do). Compiled objects take neither attributes nor weak references, so
kit holds both: the object, and all that was ever left in it. Once nobody but kit refers to the
object, which is looked for at later calls that keep something, and whenever Python collects
garbage entirely, both go.
"""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from kit.signature import IN_MODULE, IN_RESULT, Parameter

__all__ = ["hold_arguments", "hold_result"]

# Objects that one call looks at, so that it does not take longer with many of them.
_LOOK_AT: Final = 64


class _Keeper:
    """An object and what it points at, by identity; the only reference of kit's to the object."""

    __slots__ = ("keeper", "kept")

    def __init__(self, keeper: object) -> None:
        self.keeper = keeper
        self.kept: dict[int, object] = {}


_keepers: Final[dict[int, _Keeper]] = {}
_queue: Final[deque[int]] = deque()
_for_ever: Final[dict[int, object]] = {}


def hold_arguments(parameters: Sequence[Parameter], values: Sequence[object]) -> None:
    """Before a call: what it may leave in other arguments lives as long as those.

    Parameters
    ----------
    parameters : sequence of Parameter
        Of the kernel.
    values : sequence of object
        What the compiled function is given for them.
    """
    _drop_unused(_LOOK_AT)
    passed = {one.name: value for one, value in zip(parameters, values, strict=True)}
    for one in parameters:
        for name in one.kept_by:
            if name == IN_MODULE:
                _for_ever.setdefault(id(_owner(passed[one.name])), _owner(passed[one.name]))
            elif name != IN_RESULT:
                _hold(passed[name], passed[one.name])


def hold_result(parameters: Sequence[Parameter], values: Sequence[object], result: object) -> None:
    """After a call: what it may have left in objects that it returned lives as long as those.

    Parameters
    ----------
    parameters, values : sequence
        As of `hold_arguments`.
    result : object
        What the compiled function returned.
    """
    kept = [
        value for one, value in zip(parameters, values, strict=True) if IN_RESULT in one.kept_by
    ]
    several = cast("tuple[object, ...]", result) if isinstance(result, tuple) else (result,)
    for one in several:
        if isinstance(one, np.ndarray | np.generic | int | float | complex | str | None):
            continue  # shares nothing, or has its own reference
        for value in kept:
            _hold(one, value)


def _hold(keeper: object, value: object) -> None:
    owner, key = _owner(value), id(keeper)
    if keeper is None or owner is None or owner is keeper:
        return
    one = _keepers.get(key)
    if one is None:
        fresh = _Keeper(keeper)
        one = _keepers.setdefault(key, fresh)
        if one is fresh:  # no other thread was faster
            _queue.append(key)
        if _drop_all not in gc.callbacks:
            gc.callbacks.append(_drop_all)
    one.kept[id(owner)] = owner


def _owner(value: object) -> object:
    """What keeps the memory of an array: the same for all views, so that it is held once."""
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        return array if array.base is None else array.base
    return value


def _drop_unused(most: int) -> None:
    """Look at some objects, the longest unseen first.

    Without a lock: whoever is about to hold something for an object refers to it, so that it is in
    use; and what is out of use comes to nobody's hands any more.
    """
    for _ in range(min(len(_queue), most)):
        try:
            key = _queue.popleft()
        except IndexError:  # another thread looked at them
            return
        if _is_unused(_keepers[key]):
            del _keepers[key]
        else:
            _queue.append(key)


def _drop_all(phase: str, info: Mapping[str, int]) -> None:
    """Called by Python before and after it collects garbage."""
    if phase != "stop" or info["generation"] != 2:
        return
    found = len(_keepers) + 1
    while len(_keepers) < found:  # an object may have held another one
        found = len(_keepers)
        _drop_unused(found)


def _is_unused(one: _Keeper) -> bool:
    return sys.getrefcount(one.keeper) <= 2  # by `one`, and as the argument of getrefcount

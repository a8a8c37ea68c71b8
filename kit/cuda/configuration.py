"""The launch configuration that a call asks for: `grid`, `block`, `n_threads`, `shared_bytes`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

from kit.launch import Extents, Launch, LaunchLimits, check_launch, launch_refused, shrunk_block

__all__ = ["LaunchOptions", "LaunchPlanner", "parse_extents", "plan_launch", "take_out_options"]

_BLOCKS: Final = {1: (256,), 2: (16, 16), 3: (8, 8, 4)}
"""Threads of a block where nobody says, by the number of axes."""

_NAMES: Final = {2: "x and y", 3: "x, y and z"}
_EXTENTS: Final = ("n", "m", "l")


class LaunchOptions(NamedTuple):
    """What a call says about its launch, beside the arguments of the kernel.

    Parameters
    ----------
    grid, block, n_threads : int, or up to three of them, or None
        See `plan_launch`.
    shared_bytes : int
        Dynamic shared memory of a block [bytes].
    stream : object
        Where the launch is queued; of no interest to its configuration.
    """

    grid: object = None
    block: object = None
    n_threads: object = None
    shared_bytes: object = 0
    stream: object = None


def take_out_options(keywords: dict[str, Any]) -> LaunchOptions:
    """The options among the keywords of a call, which then are the kernel's arguments only."""
    names = [one for one in LaunchOptions._fields if one in keywords]
    return LaunchOptions(**{one: keywords.pop(one) for one in names})


class _Planned(NamedTuple):
    options: LaunchOptions
    shape: tuple[int, ...] | None
    limits: LaunchLimits
    launch: Launch | None


class LaunchPlanner:
    """Plans and checks the launches of one kernel; the same one again costs next to nothing.

    Parameters
    ----------
    kernel : str
        Name for messages.
    block : tuple of int or None
        Of a call that says none.
    axes : int
        Axes of the launch that the kernel looks at.
    """

    def __init__(self, kernel: str, block: tuple[int, ...] | None, axes: int = 1) -> None:
        self._kernel = kernel
        self._block = block
        self._axes = axes
        self._last: _Planned | None = None

    def plan(
        self, options: LaunchOptions, shape: tuple[int, ...] | None, limits: LaunchLimits
    ) -> Launch | None:
        """The checked launch of a call; None where there is nothing to launch.

        Raises
        ------
        LaunchError
            Of kind "limit".
        """
        last = self._last
        if last is not None and last.limits is limits and last.shape == shape:
            then = last.options
            # By identity, because 1, 1.0 and True are equal; a loop brings the same objects.
            if (
                options.n_threads is then.n_threads
                and options.grid is then.grid
                and options.block is then.block
                and options.shared_bytes is then.shared_bytes
            ):
                return last.launch
        launch = plan_launch(
            self._kernel,
            grid=options.grid,
            block=self._block if options.block is None else options.block,
            n_threads=options.n_threads,
            shared_bytes=options.shared_bytes,
            shape=shape,
            limits=limits,
            axes=self._axes,
        )
        if launch is not None:
            check_launch(self._kernel, launch, limits)
        if all(map(_cannot_change, options[:-1])):  # without the stream
            # One object, so that a thread never sees half of another one's.
            self._last = _Planned(options._replace(stream=None), shape, limits, launch)
        return launch


def plan_launch(
    kernel: str,
    *,
    grid: object,
    block: object,
    n_threads: object,
    shared_bytes: object,
    shape: Sequence[int] | None,
    limits: LaunchLimits,
    axes: int = 1,
) -> Launch | None:
    """The launch that a call asks for; `kit.launch.check_launch` says whether it can be.

    Parameters
    ----------
    kernel : str
        Name for messages.
    grid, block, n_threads : int, or up to three of them, or None
        What the call says. Without `grid` there are as many blocks as `n_threads` takes; without
        both, one thread for each element of the leading axes of `shape`: as many axes as the block
        has, and no fewer than the kernel looks at. Threads count along x for the first axis, y for
        the second, z for the third.
    shared_bytes : int
        Dynamic shared memory of a block [bytes].
    shape : sequence of int or None
        Extents of the first array; None where the kernel takes none.
    limits : LaunchLimits
        So that a block which nobody gave is no larger.
    axes : int
        Axes of the launch that the kernel looks at.

    Returns
    -------
    Launch or None
        None where there is nothing to launch: an extent of `n_threads`, or of `shape`, is 0.

    Raises
    ------
    LaunchError
        Something is no integer, `grid` and `n_threads` are both given, or `shape` has fewer axes
        than the kernel looks at.

    Examples
    --------
    >>> usual = dict(grid=None, block=None, n_threads=None, shared_bytes=0, limits=LaunchLimits())
    >>> plan_launch("f", **usual, shape=(1000, 3))
    Launch(grid=(4, 1, 1), block=(256, 1, 1), shared_bytes=0)
    >>> plan_launch("f", **{**usual, "n_threads": (100, 40)}, shape=None)
    Launch(grid=(7, 3, 1), block=(16, 16, 1), shared_bytes=0)
    """
    if grid is not None and n_threads is not None:
        fix = f"n_threads={n_threads!r}"
        raise launch_refused(kernel, "grid= and n_threads=", "one of them", fix)
    shared = _integer(kernel, "shared_bytes", shared_bytes)
    threads = None if block is None else parse_extents(kernel, "block", block)
    if grid is not None:
        blocks = parse_extents(kernel, "grid", grid)
        threads = threads or _usual_block(len(blocks), limits)
        return Launch(_padded(blocks), _padded(threads), shared)
    wanted = _wanted_threads(kernel, n_threads, shape, axes, len(threads or ()))
    if 0 in wanted:
        return None
    size = _padded(threads or _usual_block(len(wanted), limits))
    # A block without threads is refused by the check.
    pairs = zip(_padded(wanted), size, strict=True)
    return Launch(cast("Extents", tuple(-(-n // max(one, 1)) for n, one in pairs)), size, shared)


def parse_extents(kernel: str, name: str, value: object) -> tuple[int, ...]:
    """One to three integers, given as an int or in a tuple or list.

    Raises
    ------
    LaunchError
        It is something else.
    """
    if not isinstance(value, tuple | list):
        return (_integer(kernel, name, value),)
    several = cast("Sequence[object]", value)
    if not 1 <= len(several) <= 3:
        found = f"{name}={value!r}: {len(several)} extents"
        raise launch_refused(kernel, found, "one to three: x, y, z", f"{name}=256")
    return tuple(_integer(kernel, name, one) for one in several)


def _cannot_change(option: object) -> bool:
    """Whether an option is sure to say the same when it is the same object.

    Lists can change, and so can whatever else is an index: arrays without axes are.
    """
    if type(option) is tuple:
        return all(type(one) is int for one in cast("tuple[object, ...]", option))
    return option is None or type(option) is int


def _wanted_threads(
    kernel: str, n_threads: object, shape: Sequence[int] | None, axes: int, axes_of_block: int
) -> tuple[int, ...]:
    if n_threads is None:
        if shape is None:
            found = "no array to take the number of threads from"
            raise launch_refused(kernel, found, "n_threads= or grid=", "n_threads=1000")
        if axes > max(len(shape), 1):
            found = f"a first array of {len(shape)} axes, and threads along {_NAMES[axes]}"
            fix = f"n_threads=({', '.join(_EXTENTS[:axes])})"
            raise launch_refused(kernel, found, "n_threads= or grid=", fix)
        return tuple(shape[: max(axes, axes_of_block)]) or (1,)
    wanted = parse_extents(kernel, "n_threads", n_threads)
    if min(wanted) < 0:
        found = f"n_threads={n_threads!r}"
        raise launch_refused(kernel, found, "0 or more along each axis", "n_threads=1000")
    return wanted


def _usual_block(axes: int, limits: LaunchLimits) -> tuple[int, ...]:
    return shrunk_block(_BLOCKS[axes], limits.threads)


def _padded(extents: tuple[int, ...]) -> Extents:
    return cast("Extents", (*extents, 1, 1)[:3])


def _integer(kernel: str, name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        is_one = name == "shared_bytes"
        need = "an int" if is_one else "an int, or up to three of them in a tuple"
        fix = f"{name}={1024 if is_one else 256}"
        raise launch_refused(kernel, f"{name}={value!r}", need, fix) from None

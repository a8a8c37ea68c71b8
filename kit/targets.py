"""Where kernels run: the choice of a block, of the process, or each kernel's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Final, cast, get_args

from kit.errors import KitError
from kit.terms import Target

__all__ = ["chosen_target", "is_target_chosen", "use_target"]

_chosen: ContextVar[Target | None] = ContextVar("kit_target", default=None)
_lock: Final = Lock()
# Counts the blocks that are open anywhere, and 1 for KIT_TARGET: a call then need not ask the
# context variable (30 ns) as long as nobody has chosen.
_open_choices = 0


def _checked(name: str, where: str) -> Target:
    if name not in get_args(Target):
        names = ", ".join(get_args(Target))
        raise KitError(f"{where}: no target {name!r}; use one of {names}")
    return cast(Target, name)


def is_target_chosen() -> bool:
    """Whether some block or KIT_TARGET may have chosen a target; cheap."""
    return _open_choices > 0


def chosen_target() -> Target | None:
    """The target that the innermost block, or else KIT_TARGET as the process found it, names."""
    target = _chosen.get()
    if target is None and _ENVIRONMENT:
        return _checked(_ENVIRONMENT, "KIT_TARGET")
    return target


@contextmanager
def use_target(name: Target) -> Iterator[None]:
    """Run the kernels that are called in the block on one target.

    Parameters
    ----------
    name : {"python", "host", "device", "emulator"}
        "python" runs the cell uncompiled, so that breakpoints and exceptions work. On
        "emulator", kernels that have only a Pyccel build run on the host.

    Notes
    -----
    The choice follows the context (thread, asyncio task), as `contextvars` do. Outside any block
    the environment variable KIT_TARGET counts, as it was when kit was imported.

    Examples
    --------
    >>> with use_target("python"):
    ...     chosen_target()
    'python'
    """
    global _open_choices
    token = _chosen.set(_checked(name, "use_target"))
    with _lock:
        _open_choices += 1
    try:
        yield
    finally:
        with _lock:
            _open_choices -= 1
        _chosen.reset(token)


_ENVIRONMENT: Final = os.environ.get("KIT_TARGET", "")
if _ENVIRONMENT:
    _open_choices = 1

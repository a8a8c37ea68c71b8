"""Where kernels run: the choice of a block, of the process, or each kernel's own."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, cast, get_args

from kit.errors import KitError
from kit.terms import Target

__all__ = ["CHOICES", "chosen_target", "use_target"]

_chosen: ContextVar[Target | None] = ContextVar("kit_target", default=None)
CHOICES: Final[list[str]] = []
"""Choices in force anywhere in the process. While it is empty nobody has chosen, and a call need
not ask the context variable (30 ns)."""


def _checked(name: str, where: str) -> Target:
    if name not in get_args(Target):
        names = ", ".join(get_args(Target))
        raise KitError(f"{where}: no target {name!r}; use one of {names}")
    return cast(Target, name)


def chosen_target() -> Target | None:
    """The target that the innermost block, or else KIT_TARGET as the process found it, names."""
    target = _chosen.get()
    if target is None and _ENVIRONMENT:
        return _checked(_ENVIRONMENT, "KIT_TARGET")
    return target


@contextmanager
def use_target(name: Target) -> Generator[None]:
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
    token = _chosen.set(_checked(name, "use_target"))
    CHOICES.append(name)
    try:
        yield
    finally:
        CHOICES.remove(name)
        _chosen.reset(token)


_ENVIRONMENT: Final = os.environ.get("KIT_TARGET", "")
if _ENVIRONMENT:
    CHOICES.append(_ENVIRONMENT)

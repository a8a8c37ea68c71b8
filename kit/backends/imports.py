"""Bring the user's own modules, which a unit imports, to where Pyccel looks for them.

Pyccel 2.2.3 takes ``import mymod`` from the directory of the file that it translates, and only if
it has translated `mymod` before. So each module found on the search path is copied beside the unit
and translated first; its code is then linked into the artifact, which needs the file no more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["UserModule", "bring_user_modules", "find_module", "imported_modules"]


class UserModule(NamedTuple):
    """A module of the user's that a unit needs.

    Parameters
    ----------
    name : str
        Dotted name.
    origin : Path
        The user's file.
    copy : Path
        Its copy in the scratch directory.
    """

    name: str
    origin: Path
    copy: Path


def bring_user_modules(
    source: str, search_path: Sequence[str], scratch: Path, is_known: Callable[[str], bool]
) -> tuple[UserModule, ...]:
    """Copy the modules that `source` imports, and those that they import, to `scratch`.

    Parameters
    ----------
    source : str
        Text of the unit.
    search_path : sequence of str
        Where to look, in this order.
    scratch : Path
        Where to; only `scratch` is written.
    is_known : callable
        Whether Pyccel has a module of that name by itself, such as `numpy`.

    Returns
    -------
    tuple of UserModule
        Each after those that it imports.
    """
    found: dict[str, UserModule] = {}

    def visit(text: str) -> None:
        for name in imported_modules(text):
            if name in found or is_known(name):
                continue
            origin = find_module(name, search_path)
            if origin is None:
                continue  # Pyccel says so, with the line
            copy = scratch.joinpath(*name.split(".")).with_suffix(".py")
            module = UserModule(name=name, origin=origin, copy=copy)
            # Set before the visit, so that modules which import each other end; moved behind its
            # imports after it.
            found[name] = module
            visit(origin.read_text(encoding="utf-8"))
            found[name] = found.pop(name)

    visit(source)
    for module in found.values():
        module.copy.parent.mkdir(parents=True, exist_ok=True)
        module.copy.write_bytes(module.origin.read_bytes())
    return tuple(found.values())


def imported_modules(text: str) -> Iterator[str]:
    """Modules that `text` imports, also inside its functions."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


def find_module(name: str, search_path: Sequence[str]) -> Path | None:
    """The first file on the search path that is the module `name`; only reads."""
    for directory in search_path:
        candidate = Path(directory).joinpath(*name.split(".")).with_suffix(".py")
        if candidate.is_file():
            return candidate.resolve()
    return None

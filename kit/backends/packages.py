"""Where installed packages lie, found without importing them."""

from __future__ import annotations

import contextlib
import importlib.machinery
import sys
from pathlib import Path

__all__ = ["find_package"]


def find_package(name: str) -> Path | None:
    """The directory of an installed top-level package, which is not imported.

    A file or folder of that name beside the notebook is not it, where there is another: workers do
    not look there.
    """
    from importlib.util import find_spec

    spec = getattr(sys.modules.get(name), "__spec__", None)
    with contextlib.suppress(ValueError):  # a module without a spec is in its place
        spec = spec or find_spec(name)
    package = _package_directory(spec)
    if package is not None and package.parent != _working_directory():
        return package
    for entry in sys.path:
        if entry and Path(entry) != _working_directory():
            spec = importlib.machinery.PathFinder.find_spec(name, [entry])
            elsewhere = _package_directory(spec)
            if elsewhere is not None:
                return elsewhere
    return package


def _package_directory(spec: importlib.machinery.ModuleSpec | None) -> Path | None:
    """Where a package lies; None for a module, and for a mere directory."""
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None

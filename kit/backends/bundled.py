"""Let Pyccel take STC and gFTL from inside its own package.

Pyccel 2.2.3 looks for these two libraries, which it brings along, with pkg-config and cmake. Where
those are not installed it fails with "Dependencies require necessary compile information"; where
they are, cmake takes half a second.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["bundle_libraries"]


def bundle_libraries() -> None:
    """Answer Pyccel's search with the libraries of its own package, where they are there."""
    libraries: Any = import_module("pyccel.codegen.compiling.library_config")
    make: Any = import_module("pyccel.codegen.compiling.basic").CompileObj
    extensions = Path(import_module("pyccel.extensions").__file__ or "").parent
    stc = extensions / "stc_install_GNU"
    archive = next(stc.glob("**/libstc.a"), None)
    if archive is not None:
        include, directory = (stc / "include",), (archive.parent,)
        _offer(
            libraries.recognised_libs["stc"],
            lambda: make(
                "stc",
                folder="",
                has_target_file=False,
                include=include,
                libdir=directory,
                libs=["-lstc", "-lm"],
            ),
        )
    gftl = next(extensions.glob("gftl_install/GFTL*/include/v2"), None)
    if gftl is not None:
        _offer(
            libraries.recognised_libs["gFTL"],
            lambda: make("GFTL", folder="", has_target_file=False, include=(gftl,)),
        )


def _offer(installer: Any, make: Callable[[], Any]) -> None:
    def check(*_: object, **__: object) -> Any:
        return make()

    installer._check_for_package = check
    installer._check_for_cmake_package = check

"""Answers to imports that Pyccel cannot follow, and to names that its modules lack."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping
from typing import Final

from kit.errors import CellError
from kit.source.nearest import nearest
from kit.source.place import Placed, Source
from kit.source.vocabulary import INSTEAD, MODULES, UNUSABLE_PACKAGES

__all__ = ["check_import", "check_import_from", "check_member", "imported_names"]

_USES: Final[Mapping[str, str]] = {
    "plot": "plots; import it in another cell and plot the kernel's results there",
    "display": "displays; import it in another cell",
    "data": "holds data; import it in another cell and pass arrays to the kernel",
    "library": "cannot be compiled; import it in another cell",
    "compiler": "compiles too, and is not needed here; remove it",
    "device": "is for the device; a compiled kernel takes its arrays as they are",
    "kit": "cannot be compiled; import it in another cell",
}
_USUAL: Final = {"numpy.linalg": "norm", "numpy.random": "rand", "pyccel.decorators": "pure"}
_OTHER_CELL: Final = "  # in another cell"


def imported_names(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """The local names that an import makes, and where they come from."""
    if isinstance(node, ast.ImportFrom):
        return {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return {
        one.asname or one.name.partition(".")[0]: one.name
        if one.asname
        else one.name.partition(".")[0]
        for one in node.names
    }


def check_import(node: ast.Import, source: Source) -> None:
    """Refuse `import x` where Pyccel would not find, or not understand, `x`."""
    if len(node.names) > 1:
        lines = "\n".join(f"import {_with_alias(one)}" for one in node.names)
        raise source.error("Pyccel reads one module an import line", node, lines)
    one = node.names[0]
    _check_module(one.name, ast.unparse(node), node, source)
    if "." in one.name and one.name in MODULES:
        # 2.2.3: an internal error, whatever follows.
        package, _, last = one.name.partition(".")
        used = re.findall(rf"\b{re.escape(one.asname or one.name)}\.(\w+)", source.text)
        member = next((name for name in used if name in MODULES[one.name]), None)
        member = member or _USUAL.get(one.name) or sorted(MODULES[one.name])[0]
        raise source.error(
            f"Pyccel does not read `import {one.name}`",
            node,
            f"from {package}.{last} import {member}",
        )


def check_import_from(node: ast.ImportFrom, source: Source) -> None:
    """Refuse `from x import y` where Pyccel knows no such `y`."""
    text = ast.unparse(node)
    if node.level:
        dots = "." * node.level
        module = node.module or node.names[0].name
        raise source.error(
            f"a relative import, and a cell is in no package ({dots}{node.module or ''})",
            node,
            f"from {module} import {', '.join(_with_alias(one) for one in node.names)}"
            if node.module
            else f"import {module}",
        )
    module = node.module or ""
    if module == "__future__":
        raise source.error(
            "Pyccel does not know __future__, and annotations are never evaluated here",
            node,
            "# remove this line",
        )
    if any(one.name == "*" for one in node.names):
        shown = {"numpy": "import numpy as np", "math": "import math"}
        raise source.error(
            "Pyccel does not read 'import *'", node, shown.get(module, f"import {module}")
        )
    _check_module(module, text, node, source)
    for one in node.names:
        if module in MODULES and one.name not in MODULES[module]:
            raise _missing(module, one.name, one, source)


def check_member(origin: str, at: Placed, source: Source) -> None:
    """Refuse `np.std` and other members that a module has in Python and not in Pyccel."""
    module, _, name = origin.rpartition(".")
    if module == "sys" and name == "exit":
        raise _exits(at, source)
    if module in MODULES and name not in MODULES[module]:
        raise _missing(module, name, at, source)


def _exits(at: Placed, source: Source) -> CellError:
    return source.error("sys.exit ends the notebook's process", at, "return")


def _missing(module: str, name: str, at: Placed, source: Source) -> CellError:
    if module == "typing":
        return source.error(f"Pyccel does not know typing.{name}", at, _typing_fix(name))
    instead = INSTEAD.get(f"{module}.{name}")
    near = nearest(name, MODULES[module], at_least=0.85)
    short = "np" if module == "numpy" else module
    if instead is None and near:
        instead = f"{short}.{near}"
    if instead is None and name in MODULES["math"]:
        instead = f"math.{name}, with `import math`"
    fix = f"# write {instead}" if instead else "# write it as a loop, or compute it before the call"
    return source.error(f"{module}.{name} is none of the functions that Pyccel compiles", at, fix)


def _typing_fix(name: str) -> str:
    fixes = {
        "Optional": "x: float = None",
        "Union": "x: 'float | int'",
        "List": "x: 'list[int]'",
        "Tuple": "x: 'tuple[int, ...]'",
    }
    return fixes.get(name, "x: 'float64[:]'")


def _check_module(module: str, text: str, node: ast.stmt, source: Source) -> None:
    package = module.partition(".")[0]
    if module in MODULES:
        return
    if module == "numpy.typing":
        raise source.error(
            "Pyccel has no numpy.typing; an array's annotation is a string with one ':' an axis",
            node,
            "x: 'float64[:]'",
        )
    if package == "scipy":
        raise source.error(
            f"of SciPy, Pyccel compiles scipy.constants.pi only, not {module}",
            node,
            "# call it in another cell and pass its result to the kernel",
        )
    use = UNUSABLE_PACKAGES.get(package)
    if use is not None:
        raise source.error(f"{package} {_USES[use]}", node, text + _OTHER_CELL)
    if package in MODULES and package not in {"pyccel"}:
        raise source.error(
            f"Pyccel has no {module}", node, f"import {package}  # has {', '.join(_few(package))}"
        )
    if package in sys.stdlib_module_names:
        raise source.error(
            f"Pyccel cannot compile {module}, nor what is called from it", node, text + _OTHER_CELL
        )


def _few(package: str) -> list[str]:
    return sorted(MODULES[package])[:3]


def _with_alias(one: ast.alias) -> str:
    return f"{one.name} as {one.asname}" if one.asname else one.name

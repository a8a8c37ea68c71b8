"""Answers to names that a cell uses and does not define."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Final

from kit.errors import CellError
from kit.source.nearest import nearest
from kit.source.place import Placed, Source
from kit.source.vocabulary import BUILTINS, MODULES, UNUSABLE_PACKAGES

__all__ = ["explain_builtin", "explain_unknown", "is_unusable_builtin"]

_INSTEAD_OF_BUILTIN: Final[Mapping[str, str]] = {
    "pow": "# write a ** b",
    "divmod": "# write a // b and a % b",
    "reversed": "# write range(n - 1, -1, -1)",
    "sorted": "# sort before the call, or write the loop",
    "any": "# write a loop that sets a bool",
    "all": "# write a loop that sets a bool",
    "input": "# pass the value as an argument",
    "open": "# read the file in another cell and pass an array",
    "exit": "return",
    "quit": "return",
    "id": "# compare with == instead",
    "super": "# call the other class's method by its name",
}
_MODULE_ALIASES: Final[Mapping[str, str]] = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "math": "import math",
    "cmath": "import cmath",
    "plt": "import matplotlib.pyplot as plt",
    "pd": "import pandas as pd",
    "sp": "import scipy as sp",
    "cp": "import cupy as cp",
    "nb": "import numba as nb",
}
_PYTHON_BUILTINS: Final = frozenset(dir(builtins))


def is_unusable_builtin(name: str) -> bool:
    """Whether Python has the function built in and Pyccel does not compile it."""
    return name in _PYTHON_BUILTINS and name not in BUILTINS and not name.startswith("__")


def explain_builtin(name: str, at: Placed, source: Source) -> CellError:
    """The answer to `sorted(x)` and other builtins that Pyccel lacks."""
    return source.error(
        f"{name}() is not compiled by Pyccel",
        at,
        _INSTEAD_OF_BUILTIN.get(name, "# compute it in another cell and pass the result"),
    )


def explain_unknown(
    name: str,
    at: Placed,
    source: Source,
    *,
    namespace: Mapping[str, object],
    defined: Iterable[str],
) -> CellError:
    """The answer to a name that the cell does not define, by what the notebook has under it."""
    if name in namespace:
        return _of_the_notebook(name, namespace[name], at, source)
    line = _MODULE_ALIASES.get(name)
    if line is not None:
        module = line.split()[1]
        return _module(name, module, line, at, source)
    near = nearest(name, defined, at_least=0.75)
    fix = f"# did you mean {near}?" if near else f"{name} = 1.0  # in this cell, with its value"
    return source.error(f"{name!r} is not defined in this cell", at, fix)


def _of_the_notebook(name: str, value: object, at: Placed, source: Source) -> CellError:
    if isinstance(value, ModuleType):
        module = value.__name__
        line = f"import {module}" + ("" if module == name else f" as {name}")
        return _module(name, module, line, at, source)
    literal = _literal(value)
    if literal is not None:
        return source.error(
            f"{name!r} is defined in the notebook, and a compiled cell sees only its own names",
            at,
            f"{name} = {literal}  # in this cell, above the function",
        )
    if type(value).__name__ == "CudaKernel":  # by name: reading a cell imports nothing of CUDA
        return source.error(
            f"{name!r} is a CUDA kernel: Python launches it, and compiled code cannot",
            at,
            f"# call {name} from Python, before or after this kernel; or write a Pyccel version of "
            f"it and join the two with %%cuda_kernel --pair",
        )
    shape = getattr(value, "ndim", None)
    if isinstance(shape, int) and shape > 0:
        dtype = str(getattr(value, "dtype", "float64"))
        return source.error(
            f"{name!r} is an array of the notebook; a kernel takes arrays as arguments",
            at,
            f"{name}: '{dtype}[{','.join(':' * shape)}]'",
        )
    return source.error(
        f"{name!r} is a {type(value).__name__} of the notebook, which a compiled cell cannot use",
        at,
        f"# define {name} in this cell, or compile its own cell with %%pyccel_kernel",
    )


def _module(name: str, module: str, line: str, at: Placed, source: Source) -> CellError:
    package = module.partition(".")[0]
    usable = package in MODULES and package not in UNUSABLE_PACKAGES
    if usable:
        return source.error(
            f"{name!r} is not imported in this cell; a cell sees no import of the notebook",
            at,
            f"{line}  # at the top of this cell",
        )
    return source.error(
        f"{name!r} ({module}) cannot be used in compiled code", at, f"{line}  # in another cell"
    )


def _literal(value: object) -> str | None:
    """The text of a number, NumPy's own included; None for anything else."""
    if not isinstance(value, bool | int | float | complex):
        item = getattr(value, "item", None)
        if getattr(value, "ndim", None) != 0 or not callable(item):
            return None
        value = item()
    # NumPy's float64 is a float whose repr is not a literal.
    if isinstance(value, bool):
        return repr(value)
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        text = repr(float(value))
        return text if text not in {"nan", "inf", "-inf"} else f"float({text!r})"
    return repr(complex(value)) if isinstance(value, complex) else None

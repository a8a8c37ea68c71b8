"""From a Python function object to the text of a unit: its source, and what it uses around it.

A cell states its own imports; a decorated function uses its module's. What Pyccel needs of them is
written out in front of the function: imports, numbers, type variables, other functions.
"""

from __future__ import annotations

import ast
import inspect
import math
import sys
import textwrap
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType

from kit.errors import CellError
from kit.source.unit import used_names

__all__ = ["FunctionText", "read_function"]

_KIT_DECORATOR = "pyccel_kernel"
# Modules whose names Pyccel knows; the first that has the object gives the import.
_KNOWN_MODULES = ("typing", "numpy", "math", "cmath", "pyccel.decorators")


@dataclass(frozen=True, kw_only=True)
class FunctionText:
    """The source of a function and of what it uses.

    Parameters
    ----------
    text : str
        The function; kit's own decorator is blanked, so that line numbers stay.
    first_line : int
        Number of `text`'s first line in its file.
    label : str
        The file's name, or "the cell", for messages.
    preamble : str
        Imports, constants and functions to compile in front of it.
    kernels : mapping of str to object
        Names that are kernels already.
    """

    text: str
    first_line: int
    label: str
    preamble: str
    kernels: Mapping[str, object]


def read_function(function: FunctionType, is_kernel: Callable[[object], bool]) -> FunctionText:
    """Read a function's source and write out what it takes from its surroundings.

    Parameters
    ----------
    function : function
        Defined in a file or a notebook cell.
    is_kernel : callable
        Tells kernels, whose source is known already, from other objects.

    Raises
    ------
    CellError
        There is no source to read, or it is not one plain function.
    """
    text, first_line, _ = _own_source(function)
    preamble = _Preamble(is_kernel)
    preamble.add_surroundings(function)
    return FunctionText(
        text=text,
        first_line=first_line,
        label=_label(function),
        preamble="".join(preamble.lines),
        kernels=preamble.kernels,
    )


class _Preamble:
    """Collects one piece of text per name; what is needed comes before what needs it."""

    def __init__(self, is_kernel: Callable[[object], bool]) -> None:
        self.lines: list[str] = []
        self.kernels: dict[str, object] = {}
        self._is_kernel = is_kernel
        self._seen: set[str] = set()

    def add_surroundings(self, function: FunctionType) -> None:
        """Everything that the function's text names and does not define."""
        self._seen.add(function.__name__)
        _, _, node = _own_source(function)
        closure = inspect.getclosurevars(function).nonlocals
        for name in sorted(used_names(node) - self._seen):
            if name in closure:
                self._add(name, closure[name])
            elif name in function.__globals__:
                self._add(name, function.__globals__[name])

    def _add(self, name: str, value: object) -> None:
        self._seen.add(name)
        if self._is_kernel(value):
            self.kernels[name] = value
        elif isinstance(value, FunctionType) and _module_with(value) is None:
            self.add_surroundings(value)
            self.lines.append(_own_source(value)[0])
        else:
            text = _definition(name, value)
            if text is not None:
                self.lines.append(text + "\n")


def _own_source(function: FunctionType) -> tuple[str, int, ast.FunctionDef]:
    """Dedented source without kit's decorators, its first line's number in the file, its tree."""
    try:
        raw, first_line = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise CellError(
            f"the source of `{function.__name__}` cannot be read",
            fix="write it in a cell or a file, or pass its text: kit.pyccel_kernel('''def ...''')",
        ) from error
    lines = textwrap.dedent("".join(raw)).splitlines(keepends=True)
    statement = ast.parse("".join(lines)).body[0]
    if not isinstance(statement, ast.FunctionDef):
        raise CellError(
            f"`{function.__name__}` is not a plain `def` function",
            fix=f"def {function.__name__}(x: float):\n    ...".replace("<lambda>", "name"),
        )
    for decorator in [one for one in statement.decorator_list if _is_kits(one)]:
        statement.decorator_list.remove(decorator)
        for index in range(decorator.lineno - 1, decorator.end_lineno or decorator.lineno):
            lines[index] = "\n"
    return "".join(lines), max(first_line, 1), statement


def _is_kits(decorator: ast.expr) -> bool:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
    return name == _KIT_DECORATOR


def _label(function: FunctionType) -> str:
    name = function.__code__.co_filename
    # The file name of a cell is a temporary path or "<ipython-input-...>": new in every run.
    return "the cell" if "ipykernel" in name or name.startswith("<") else Path(name).name


def _definition(name: str, value: object) -> str | None:
    """Lines that give `name` its value in a fresh file; None where no text does.

    A name without a definition stays undefined in the unit, and the cell check names its line.
    """
    if isinstance(value, ModuleType):
        return f"import {value.__name__}" + ("" if name == value.__name__ else f" as {name}")
    if type(value) in (bool, int, float, complex):
        # repr of inf and nan is no Python text.
        finite = isinstance(value, complex) or math.isfinite(typing.cast(float, value))
        return f"{name} = {value!r}" if finite else None
    if isinstance(value, typing.TypeVar):
        options = ", ".join(repr(_annotation_text(one)) for one in value.__constraints__)
        return f"from typing import TypeVar\n{name} = TypeVar({value.__name__!r}, {options})"
    home = _module_with(value)
    if home is None:
        return None
    module, attribute = home
    return f"from {module} import {attribute}" + ("" if attribute == name else f" as {name}")


def _annotation_text(one: object) -> str:
    if isinstance(one, typing.ForwardRef):
        return one.__forward_arg__
    return str(getattr(one, "__name__", one))


def _module_with(value: object) -> tuple[str, str] | None:
    """A module that Pyccel knows and the name that `value` has there."""
    attribute = getattr(value, "__name__", None) or getattr(value, "_name", None)
    if not isinstance(attribute, str):
        return None
    for module in _KNOWN_MODULES:
        if getattr(sys.modules.get(module), attribute, None) is value:
            return module, attribute
    return None

"""Run a cell uncompiled, so that breakpoints, tracebacks and `inspect` show the cell's lines."""

from __future__ import annotations
import __future__

import hashlib
import linecache
import sys
import types
from collections.abc import Callable, Mapping, Sequence

__all__ = ["load_python"]


def _unchanged(function: object) -> object:
    return function


def _unchanged_with(*names: str) -> Callable[[object], object]:
    return _unchanged


# Pyccel (2.2.3) knows its decorators also where a cell does not import them; to Python they mean
# nothing.
_DECORATORS: Mapping[str, Callable[..., object]] = {
    **dict.fromkeys(("allow_negative_index", "low_level", "stack_array"), _unchanged_with),
    **dict.fromkeys(("elemental", "inline", "private", "pure"), _unchanged),
}


def load_python(segments: Sequence[tuple[str, int, str]]) -> Mapping[str, object]:
    """Execute pieces of typed Python in one fresh module; runs their top-level code.

    Parameters
    ----------
    segments : sequence of (str, int, str)
        Label (shown as the file in tracebacks), line of the cell where the text begins, counted
        from 1, and the text. Later segments see the names of earlier ones.

    Returns
    -------
    mapping of str to object
        The module's names, without the double-underscore ones.

    Notes
    -----
    The text stays in `linecache` under a name that contains its hash, as IPython does for cells, so
    that a traceback of an old function never shows a new text.

    Examples
    --------
    >>> load_python([("cell 1", 2, "def one() -> int: return 1")])["one"]()
    1
    """
    digest = hashlib.sha256(repr(list(segments)).encode()).hexdigest()[:12]
    module = types.ModuleType(f"kit_python_{digest}")
    # `typing.get_type_hints`, dataclasses and pickle look a class's module up there.
    sys.modules[module.__name__] = module
    namespace = module.__dict__
    namespace.update(_DECORATORS)
    for label, first_line, source in segments:
        # Blank lines in front, so that line numbers are the cell's without touching the code.
        text = "\n" * (first_line - 1) + source
        name = f"<{label} {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
        # An entry without a loader and with mtime None survives linecache.checkcache().
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        # Annotations are Pyccel's: `float[:]` has no value in Python, and needs none.
        code = compile(text, name, "exec", __future__.annotations.compiler_flag, dont_inherit=True)
        exec(code, namespace)
    return {
        key: value
        for key, value in namespace.items()
        if not key.startswith("__") and value is not _DECORATORS.get(key)
    }

"""Errors and progress as text and HTML, from plain values."""

from __future__ import annotations

from kit.errors import clean_text
from kit.show.escaped import escaped

__all__ = ["error_text", "progress_html", "progress_text"]


def error_text(kind: str, message: str, notes: tuple[str, ...] = (), *, colour: bool) -> str:
    """What stands in the place of a traceback: the error's own words, no frames.

    Parameters
    ----------
    kind : str
        Name of the error's class.
    message : str
        Its text, which may have several lines.
    notes : tuple of str
        What outer layers added with `add_note`.
    colour : bool
        Whether the kind is red, as in IPython's own tracebacks.

    Examples
    --------
    >>> print(error_text("CellError", "cell line 2: no", ("a note",), colour=False))
    CellError: cell line 2: no
    a note
    """
    name = f"\x1b[31m{kind}\x1b[39m" if colour else kind
    return "\n".join([f"{name}: {clean_text(message)}", *map(clean_text, notes)])


def progress_text(action: str, stage: str, seconds: float) -> str:
    """One line that says what is going on, and for how long [s].

    Examples
    --------
    >>> progress_text("building slope (fortran)", "gfortran", 1.234)
    'kit: building slope (fortran): gfortran, 1.2 s'
    """
    where = f": {clean_text(stage)}" if stage else ""
    return f"kit: {clean_text(action)}{where}, {seconds:.1f} s".replace("\n", " ")


def progress_html(text: str) -> str:
    """The same for a notebook; no script, no style sheet, nothing that outlives it."""
    return f'<div class="kit-progress" style="opacity:.75">{escaped(text)}</div>'

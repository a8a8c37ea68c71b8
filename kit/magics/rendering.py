"""Errors of a magic as IPython shows them: their own words, no frames of kit or IPython."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from kit.errors import KitError
from kit.show.messages import error_text

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["ShortTraceback", "hide_own_frames", "say", "short_errors", "shorten"]

_PACKAGE = str(Path(__file__).parents[1])


class ShortTraceback:
    """What IPython calls for an error's traceback.

    A class and not a closure: errors with it can still be pickled.
    """

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def __call__(self) -> list[str]:
        """The lines that IPython joins and shows."""
        return list(self._lines)


def shorten(shell: InteractiveShell, error: BaseException, message: str | None = None) -> None:
    """Let IPython show `error` without frames; the error itself stays what it is."""
    notes = tuple(getattr(error, "__notes__", ()))
    text = error_text(
        type(error).__name__.lstrip("_"),
        str(error) if message is None else message,
        notes,
        colour=str(getattr(shell, "colors", "nocolor")).lower() != "nocolor",
    )
    with suppress(AttributeError):  # an exception class with slots: IPython shows its frames
        error._render_traceback_ = ShortTraceback(text.split("\n"))  # type: ignore[attr-defined]


def hide_own_frames(shell: InteractiveShell) -> Callable[[], None]:
    """Let IPython show kit's errors at the user's line, without the frames of kit below it.

    A refused call is the caller's concern; where in kit it was refused is not.

    Returns
    -------
    callable
        Takes it back.
    """

    def render(error: KitError) -> list[str]:
        formatter = cast(Any, shell.InteractiveTB)
        trace = _without_own_frames(error.__traceback__)
        return formatter.structured_traceback(type(error), error, trace, formatter.tb_offset)

    # IPython looks for this method, and only IPython does; `shorten` overrides it on an instance.
    KitError._render_traceback_ = render  # type: ignore[attr-defined]

    def undo() -> None:
        if getattr(KitError, "_render_traceback_", None) is render:
            del KitError._render_traceback_  # type: ignore[attr-defined]

    return undo


def _without_own_frames(trace: TracebackType | None) -> TracebackType | None:
    if trace is None:
        return None
    rest = _without_own_frames(trace.tb_next)
    if trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


@contextmanager
def short_errors(shell: InteractiveShell) -> Generator[None]:
    """A block whose KitErrors are shown without frames."""
    try:
        yield
    except KitError as error:
        shorten(shell, error)
        raise


def say(text: str) -> None:
    """The output of a magic: plain text on standard output, which every frontend keeps."""
    print(text)  # noqa: T201 - what a magic prints is its result

"""Errors of a magic as IPython shows them: their own words, no frames of kit or IPython."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kit.errors import KitError
from kit.show.messages import error_text

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["ShortTraceback", "say", "short_errors", "shorten"]


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

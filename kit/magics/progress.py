"""Progress of a build that takes longer than half a second; gone without a trace when it ends."""

from __future__ import annotations

import contextvars
import shutil
import sys
import threading
import time
import uuid
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TextIO

from kit.magics.frontend import Frontend
from kit.show.messages import progress_html, progress_text
from kit.show.stability import is_stable_output

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["BuildProgress", "Display", "NotebookDisplay", "TerminalDisplay", "choose_display"]

_DELAY = 0.5
_PERIOD = 0.25
"""Seconds before the first line, and between two."""


class Display(Protocol):
    """Somewhere to show a line that can be taken back."""

    def show(self, text: str) -> None:
        """Show `text` in the place of what was shown before."""
        ...

    def clear(self) -> None:
        """Leave nothing behind."""
        ...


class NotebookDisplay:
    """A display that is updated in place.

    Where the magic is the whole cell, clearing the cell's output takes it away completely: at that
    point the cell has no other output. Otherwise it is emptied, so that nothing else is lost.
    """

    def __init__(self, shell: InteractiveShell, *, may_clear: bool) -> None:
        self._publisher: Any = shell.display_pub
        self._may_clear = may_clear
        self._id = uuid.uuid4().hex
        self._is_shown = False

    def show(self, text: str) -> None:
        """Publish the line, or update it."""
        self._publish({"text/plain": text, "text/html": progress_html(text)})

    def clear(self) -> None:
        """Take the line away."""
        if not self._is_shown:
            return
        if self._may_clear:
            self._publisher.clear_output(wait=False)
        else:
            self._publish({})

    def _publish(self, data: dict[str, str]) -> None:
        self._publisher.publish(
            data=data, transient={"display_id": self._id}, update=self._is_shown
        )
        self._is_shown = True


class TerminalDisplay:
    """One line of the terminal, overwritten in place."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._width = 0

    def show(self, text: str) -> None:
        """Overwrite the line."""
        text = text[: max(10, shutil.get_terminal_size().columns - 1)]
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Blanks, not an escape sequence: dumb terminals would print it."""
        self._stream.write("\r" + " " * self._width + "\r")
        self._stream.flush()
        self._width = 0


def choose_display(shell: InteractiveShell, frontend: Frontend) -> Display | None:
    """Where progress goes; None where nobody looks or where outputs must be stable."""
    if frontend.kind == "none" or is_stable_output():
        return None
    if frontend.kind == "terminal":
        return TerminalDisplay(sys.stderr)
    return NotebookDisplay(shell, may_clear=frontend.is_whole_cell)


class BuildProgress:
    """A context in which a display says what a build does.

    A thread of its own draws it, because the caller waits for the compiler; the build only says
    which stage it is in.

    Parameters
    ----------
    display : Display or None
        None shows nothing.
    action : str
        What is going on, "building slope (fortran)".
    delay, period : float
        Time until the first line and between two [s].
    """

    def __init__(
        self,
        display: Display | None,
        action: str,
        *,
        delay: float = _DELAY,
        period: float = _PERIOD,
    ) -> None:
        self._display = display
        self._action = action
        self._stage = ""
        self._delay, self._period = delay, period
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._waiting_for: str | None = None

    def on_progress(self, stage: str, seconds: float) -> None:
        """The build entered `stage`; a wait for another process is over."""
        del seconds  # the display counts from the start of the cell, which users feel
        self._stage, self._waiting_for = stage, None

    def on_wait(self, process_id: int, label: str) -> None:
        """Another process compiles the same thing."""
        self._waiting_for = f"waiting for process {process_id}, which is compiling {label}"

    def __enter__(self) -> Self:
        if self._display is not None:
            # The context carries the cell that the output belongs to (ipykernel 7).
            run = contextvars.copy_context().run
            self._thread = threading.Thread(
                target=run, args=(self._draw, self._display), name="kit-progress", daemon=True
            )
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _draw(self, display: Display) -> None:
        """Runs in the thread, which also clears: the last word is then always the clearing."""
        started = time.monotonic()
        if self._stop.wait(self._delay):
            return
        with suppress(OSError, ValueError):  # a terminal that went away must not stop a build
            try:
                while True:
                    display.show(self._line(time.monotonic() - started))
                    if self._stop.wait(self._period):
                        return
            finally:
                display.clear()

    def _line(self, seconds: float) -> str:
        waiting_for = self._waiting_for
        if waiting_for is not None:
            return progress_text(waiting_for, "", seconds)
        return progress_text(self._action, self._stage, seconds)

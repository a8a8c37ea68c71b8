"""Progress of long builds: when it appears, what it says, and that nothing of it is left."""

from __future__ import annotations

import contextvars
import io
import threading
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.magics.frontend import Frontend
from kit.magics.progress import (
    BuildProgress,
    NotebookDisplay,
    TerminalDisplay,
    choose_display,
)


class Recorder:
    def __init__(self) -> None:
        self.events: list[str] = []
        self.shown = threading.Event()

    def show(self, text: str) -> None:
        self.events.append(text)
        self.shown.set()

    def clear(self) -> None:
        self.events.append("CLEAR")

    def wait_for(self, piece: str) -> None:
        end = time.monotonic() + 5
        while not any(piece in event for event in self.events):
            assert time.monotonic() < end, self.events
            time.sleep(0.005)


class Publisher:
    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def publish(self, *, data: Any, transient: Any, update: bool) -> None:
        self.calls.append(("update" if update else "display", data))
        self.identity = transient["display_id"]

    def clear_output(self, wait: bool = False) -> None:
        self.calls.append(("clear", wait))


def shell_with(publisher: Publisher) -> Any:
    return SimpleNamespace(display_pub=publisher)


def test_a_short_build_shows_nothing_at_all() -> None:
    display = Recorder()
    with BuildProgress(display, "compiling f", delay=5):
        pass
    assert display.events == []


def test_a_long_build_shows_stage_and_seconds_and_is_cleared_last() -> None:
    display = Recorder()
    with BuildProgress(display, "compiling f", delay=0, period=0.01) as progress:
        display.wait_for("kit: compiling f, 0.0 s")
        progress.on_progress("gfortran", 0.0)
        display.wait_for("kit: compiling f: gfortran, 0.")
    assert display.events[-1] == "CLEAR"
    assert display.events.count("CLEAR") == 1


def test_a_failing_or_interrupted_build_is_cleared_too() -> None:
    display = Recorder()

    def build() -> None:
        with BuildProgress(display, "f", delay=0, period=0.01):
            display.wait_for("kit: f")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build()
    assert display.events[-1] == "CLEAR"


def test_waiting_for_another_process_names_it_until_the_build_goes_on() -> None:
    display = Recorder()
    with BuildProgress(display, "compiling f", delay=0, period=0.01) as progress:
        progress.on_wait(4711, "slope")
        display.wait_for("waiting for process 4711, which is compiling slope")
        progress.on_progress("pyccel", 1.0)
        display.wait_for("compiling f: pyccel")


def test_a_display_that_breaks_does_not_break_the_build() -> None:
    class Broken(Recorder):
        def show(self, text: str) -> None:
            super().show(text)
            raise OSError("the terminal is gone")

    display = Broken()
    with BuildProgress(display, "f", delay=0, period=0.01):
        assert display.shown.wait(5)


def test_progress_is_due_twice_a_second_and_after_half_a_second() -> None:
    display = Recorder()
    started = time.monotonic()
    with BuildProgress(display, "f"):
        assert display.shown.wait(5)
        assert 0.4 < time.monotonic() - started < 2
        display.wait_for("1.0 s")
    assert len(display.events) >= 3


def test_progress_belongs_to_the_cell_that_builds() -> None:
    cell = contextvars.ContextVar("cell", default="another")

    class Asks(Recorder):
        def show(self, text: str) -> None:
            super().show(cell.get())

    display = Asks()
    token = cell.set("this one")
    with BuildProgress(display, "f", delay=0):
        assert display.shown.wait(5)
    cell.reset(token)
    assert display.events[0] == "this one"


def test_names_in_progress_lose_control_characters_and_markup_is_escaped() -> None:
    publisher = Publisher()
    display = NotebookDisplay(shell_with(publisher), may_clear=True)
    with BuildProgress(display, "compiling \x1b[31m<b>f\x1b[0m", delay=0) as progress:
        progress.on_progress("<script>\u202e", 0.0)
        while not publisher.calls:
            time.sleep(0.005)
    data = publisher.calls[0][1]
    assert "\x1b" not in data["text/plain"] + data["text/html"]
    assert "\u202e" not in data["text/plain"] + data["text/html"]
    assert "<b>" not in data["text/html"]
    assert "&lt;b&gt;f" in data["text/html"]


def test_a_notebook_display_is_one_display_and_clears_the_cell_it_owns() -> None:
    publisher = Publisher()
    display = NotebookDisplay(shell_with(publisher), may_clear=True)
    display.show("a")
    first = publisher.identity
    display.show("b")
    display.clear()
    assert [kind for kind, _ in publisher.calls] == ["display", "update", "clear"]
    assert publisher.identity == first
    assert publisher.calls[-1] == ("clear", False)  # at once: nothing may follow


def test_a_notebook_display_among_other_outputs_clears_only_itself() -> None:
    publisher = Publisher()
    display = NotebookDisplay(shell_with(publisher), may_clear=False)
    display.show("a")
    display.clear()
    assert publisher.calls[-1] == ("update", {})


def test_a_display_that_showed_nothing_sends_nothing() -> None:
    publisher = Publisher()
    NotebookDisplay(shell_with(publisher), may_clear=True).clear()
    assert publisher.calls == []


def test_the_terminal_line_is_erased_completely() -> None:
    stream = io.StringIO()
    display = TerminalDisplay(stream)
    display.show("a long line of progress")
    display.show("short")
    display.clear()
    screen = [" "] * 200
    column = 0
    for character in stream.getvalue():
        if character == "\r":
            column = 0
        else:
            screen[column] = character
            column += 1
    assert "".join(screen).strip() == ""
    assert column == 0
    assert "\n" not in stream.getvalue()


def test_a_terminal_line_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    stream = io.StringIO()
    TerminalDisplay(stream).show("x" * 200)
    assert len(stream.getvalue().lstrip("\r")) < 30


@pytest.mark.parametrize("kind", ["notebook", "terminal", "none"])
def test_stable_output_and_unattended_runs_show_no_progress(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    frontend = Frontend(kind=kind)
    shell = shell_with(Publisher())
    monkeypatch.setenv("KIT_STABLE_OUTPUT", "1")
    assert choose_display(shell, frontend) is None
    monkeypatch.setenv("KIT_STABLE_OUTPUT", "0")
    found = choose_display(shell, frontend)
    expected = {"notebook": NotebookDisplay, "terminal": TerminalDisplay, "none": type(None)}
    assert isinstance(found, cast(type, expected[kind]))

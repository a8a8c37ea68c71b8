"""One IPython shell per test process, as its users see it: run a cell, read what it printed."""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["Run", "ShellUser", "the_shell"]


_folders: list[tempfile.TemporaryDirectory[str]] = []  # live as long as the process


@lru_cache(maxsize=1)
def the_shell() -> InteractiveShell:
    """IPython allows one instance in a process; it writes no history and no files."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    folder = tempfile.TemporaryDirectory(prefix="kit-ipython-")
    _folders.append(folder)
    return InteractiveShell.instance(config=config, ipython_dir=folder.name)


@dataclass
class Run:
    """What became of one cell."""

    result: Any
    error: BaseException | None
    output: str
    warned: list[warnings.WarningMessage]

    @property
    def warnings_text(self) -> str:
        return "\n".join(str(one.message) for one in self.warned)


class ShellUser:
    """Somebody who types cells into `the_shell`; leaves its namespace as it was."""

    def __init__(self) -> None:
        self.shell = the_shell()
        self.names = self.shell.user_ns

    def __enter__(self) -> ShellUser:
        from kit.extension import load_ipython_extension

        self._before = set(self.names)
        load_ipython_extension(self.shell)
        return self

    def __exit__(self, *_: object) -> None:
        from kit.extension import unload_ipython_extension
        from kit.magics import binding

        unload_ipython_extension(self.shell)
        binding._sessions.pop(self.shell, None)
        for name in set(self.names) - self._before:
            del self.names[name]

    def run(self, cell: str) -> Run:
        output = io.StringIO()
        with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(output):
            warnings.simplefilter("always")
            result = self.shell.run_cell(cell)
        return Run(
            result=result.result,
            error=result.error_in_exec or result.error_before_exec,
            output=output.getvalue(),
            warned=[one for one in warned if "kit" in type(one.message).__module__],
        )

    def good(self, cell: str) -> Run:
        run = self.run(cell)
        assert run.error is None, run.output
        return run

    def failed(self, cell: str) -> Run:
        run = self.run(cell)
        assert run.error is not None, run.output
        return run

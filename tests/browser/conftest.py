"""A real JupyterLab on loopback, driven in headless Chromium; all files are temporary."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

# No GPU and no sandbox in a container; the rest keeps Chromium itself from calling anyone.
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 60
STEP_MILLISECONDS = 60_000


@dataclass(frozen=True)
class Lab:
    """A JupyterLab server of this test session."""

    address: str
    token: str
    folder: Path

    def write_notebook(self, name: str, cells: list[str]) -> str:
        import nbformat

        notebook = nbformat.v4.new_notebook()
        notebook.metadata["kernelspec"] = {
            "name": "python3",
            "display_name": "Python 3",
            "language": "python",
        }
        notebook.cells = [nbformat.v4.new_code_cell(source) for source in cells]
        nbformat.write(notebook, self.folder / name)
        return name


@dataclass
class Notebook:
    """A notebook that is open in the browser."""

    page: Page
    external: list[str] = field(default_factory=list)

    def open(self, lab: Lab, name: str) -> None:
        self.page.goto(f"{lab.address}/lab/tree/{name}?token={lab.token}&reset")
        self.page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
            " === 'idle'",
            timeout=STEP_MILLISECONDS,
        )

    def start_cell(self, index: int) -> None:
        """Run one cell; returns at once."""
        self.page.evaluate(
            """(index) => { const app = window.jupyterapp;
                app.shell.currentWidget.content.activeCellIndex = index;
                window.kitDone = false;
                app.commands.execute('notebook:run-cell')
                    .then(() => { window.kitDone = true; }); }""",
            index,
        )

    def wait_for_cell(self) -> None:
        self.page.wait_for_function("() => window.kitDone", timeout=STEP_MILLISECONDS)

    def run_cell(self, index: int) -> None:
        self.start_cell(index)
        self.wait_for_cell()

    def outputs(self, index: int) -> list[dict[str, Any]]:
        """The outputs that would be saved with the notebook."""
        return self.page.evaluate(
            "(index) => window.jupyterapp.shell.currentWidget.content"
            ".widgets[index].model.outputs.toJSON()",
            index,
        )

    def output_text(self, index: int) -> str:
        """What the browser shows below the cell."""
        return self.page.locator(".jp-CodeCell").nth(index).locator(".jp-OutputArea").inner_text()

    def output_areas(self, index: int) -> int:
        """How many output boxes the browser shows below the cell, empty ones included."""
        return self.page.locator(".jp-CodeCell").nth(index).locator(".jp-OutputArea-child").count()

    def wait_until_no_output_is_seen(self, index: int) -> None:
        """JupyterLab keeps the height of a cleared output for a moment, against flicker."""
        self.page.wait_for_function(
            "(index) => document.querySelectorAll('.jp-CodeCell')[index]"
            ".querySelector('.jp-Cell-outputWrapper').offsetHeight === 0",
            arg=index,
            timeout=5_000,
        )

    def type_tab(self, index: int, *, line: int, column: int) -> None:
        """Put the cursor into a cell and press Tab."""
        self.page.locator(".jp-CodeCell").nth(index).locator(".cm-content").click()
        self.page.evaluate(
            """([line, column]) => {
                const editor = window.jupyterapp.shell.currentWidget.content.activeCell.editor;
                editor.setCursorPosition({line, column});
                editor.focus(); }""",
            [line, column],
        )
        self.page.keyboard.press("Tab")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _write_settings(root: Path) -> None:
    """No news pop-up and no update check, decided before the page loads."""
    folder = root / "settings" / "@jupyterlab" / "apputils-extension"
    folder.mkdir(parents=True)
    settings = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}
    (folder / "notification.jupyterlab-settings").write_text(json.dumps(settings))


def _environment(root: Path) -> dict[str, str]:
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "KIT_CACHE_DIR": "cache",
    }
    kept = {name: value for name, value in os.environ.items() if name != "KIT_STABLE_OUTPUT"}
    return {**kept, **{name: str(root / folder) for name, folder in folders.items()}}


def _wait_until_up(process: subprocess.Popen[bytes], address: str, token: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(f"{address}/api/status?token={token}", timeout=1):
                return
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}") from None
            time.sleep(0.1)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server; it ends its notebook processes itself when it is asked politely."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    root = tmp_path_factory.mktemp("jupyterlab")
    folder = root / "work"
    folder.mkdir()
    _write_settings(root)
    port, token = _free_port(), secrets.token_hex(8)
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"]
    command += ["--LabApp.extension_manager=readonly", "--expose-app-in-browser"]
    log = root / "server.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, env=_environment(root), cwd=folder, stdout=stream, stderr=subprocess.STDOUT
        )
        try:
            _wait_until_up(process, address, token, log)
            yield Lab(address, token, folder)
        finally:
            _stop(process)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=chromium(), headless=True, args=CHROMIUM_ARGUMENTS
        )
        yield found
        found.close()


@pytest.fixture
def notebook(browser: Browser, lab: Lab) -> Iterator[Notebook]:
    """A fresh browser page; the test fails when the page asked anyone but the server."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.set_default_timeout(STEP_MILLISECONDS)
    opened = Notebook(page)
    own = (lab.address, lab.address.replace("http", "ws"), "data:", "blob:")

    def note(request: Request) -> None:
        if not request.url.startswith(own):
            opened.external.append(request.url)

    context.on("request", note)
    yield opened
    context.close()
    assert opened.external == []

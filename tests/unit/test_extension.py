"""``%load_ext kit``: what it registers, and that all of it can be taken back."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from kit import extension
from kit.backends import nvrtc, pyccel
from tests.unit.magic_shell import the_shell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from IPython.core.interactiveshell import InteractiveShell

LINE_MAGICS = {"kit_cache", "kit_log", "kit_plan", "kit_source"}


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    found = the_shell()
    yield found
    extension.unload_ipython_extension(found)
    assert found.extension_manager is not None
    found.extension_manager.loaded.discard("kit")


def registered(shell: InteractiveShell) -> set[str]:
    magics = shell.magics_manager.magics
    return {name for kind in ("line", "cell") for name in magics[kind] if "kit_" in name} | (
        {"pyccel_kernel"} & set(magics["cell"])
    )


def state(shell: InteractiveShell) -> tuple[Any, ...]:
    return (
        sorted(registered(shell)),
        len(shell.Completer.custom_matchers) if shell.Completer else 0,
        len(shell.input_transformer_manager.cleanup_transforms),
    )


def test_load_ext_registers_everything_and_unload_ext_takes_it_back(
    shell: InteractiveShell,
) -> None:
    before = state(shell)
    assert registered(shell) == set()
    shell.run_line_magic("load_ext", "kit")
    assert registered(shell) == LINE_MAGICS | {"pyccel_kernel"}
    shell.run_line_magic("unload_ext", "kit")
    assert state(shell) == before


def test_loading_twice_registers_once(shell: InteractiveShell) -> None:
    extension.load_ipython_extension(shell)
    once = state(shell)
    extension.load_ipython_extension(shell)
    assert state(shell) == once


def test_reload_ext_works_and_forgets_no_cell(shell: InteractiveShell) -> None:
    from kit.magics.binding import session_of

    shell.run_line_magic("load_ext", "kit")
    once, session = state(shell), session_of(shell)
    shell.run_line_magic("reload_ext", "kit")
    assert state(shell) == once
    assert session_of(shell) is session


def test_unloading_what_was_never_loaded_does_nothing(shell: InteractiveShell) -> None:
    extension.unload_ipython_extension(shell)
    assert registered(shell) == set()


def test_every_magic_has_help_with_an_example(shell: InteractiveShell) -> None:
    extension.load_ipython_extension(shell)
    for kind in ("line", "cell"):
        for name, magic in shell.magics_manager.magics[kind].items():
            if name in LINE_MAGICS | {"pyccel_kernel"}:
                assert "Example\n-------\n%" in (magic.__doc__ or "")


def test_loading_warms_both_compilers(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(pyccel, "prewarm", lambda: calls.append("pyccel"))
    monkeypatch.setattr(nvrtc, "prewarm", lambda: calls.append("nvrtc"))
    monkeypatch.setenv("KIT_PREWARM", "0")
    extension.load_ipython_extension(shell)
    assert calls == []
    extension.unload_ipython_extension(shell)
    monkeypatch.delenv("KIT_PREWARM")
    extension.load_ipython_extension(shell)
    assert calls == ["pyccel", "nvrtc"]


def test_a_magic_imports_no_toolchain_into_the_notebook() -> None:
    code = (
        "import sys; from IPython.core.interactiveshell import InteractiveShell as S\n"
        "s = S(history_load_length=0); before = set(sys.modules)\n"
        "import kit.extension; kit.extension.load_ipython_extension(s)\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new & {'pyccel', 'cupy', 'ipywidgets', 'anywidget', 'matplotlib', 'sympy'}))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert found.stdout.strip() == "[]"

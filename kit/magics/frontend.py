"""What is known about whoever runs a cell: which cell it is, and whether somebody is looking."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["Frontend", "inspect_frontend", "namespace_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontend:
    """Facts about one run of one cell.

    Parameters
    ----------
    kind : {"notebook", "terminal", "none"}
        Where something that vanishes again can be shown; "none" where nothing may be.
    cell_id : str or None
        The cell's identity, which JupyterLab, Notebook 7 and VS Code send.
    attended : bool
        False in a run from top to bottom by nbclient, nbconvert, papermill or nbval: these say
        that they cannot answer a prompt.
    is_whole_cell : bool
        Whether the magic is the first line of the cell that was sent, so that all of the cell's
        output is the magic's.
    magic : str
        Which magic runs the cell, ``%%pyccel_kernel``.
    """

    kind: Literal["notebook", "terminal", "none"] = "none"
    cell_id: str | None = None
    attended: bool = True
    is_whole_cell: bool = False
    magic: str = ""


def inspect_frontend(shell: InteractiveShell, prefix: str = "%%") -> Frontend:
    """Facts about the run in progress; only reads.

    Parameters
    ----------
    shell : InteractiveShell
        The shell that runs the cell.
    prefix : str
        The magic, with which the cell begins if the magic is all of it.
    """
    if getattr(shell, "kernel", None) is None:  # the notebook process's, not one of ours
        is_terminal = _is_terminal(shell) and sys.stderr.isatty()
        return Frontend(kind="terminal" if is_terminal else "none", magic=prefix)
    request = _request(shell)
    content = cast("Mapping[str, Any]", request.get("content") or {})
    metadata = cast("Mapping[str, Any]", request.get("metadata") or {})
    cell_id = metadata.get("cellId")
    attended = bool(content.get("allow_stdin", False))
    return Frontend(
        kind="notebook" if attended else "none",
        cell_id=cell_id if isinstance(cell_id, str) else None,
        attended=attended,
        is_whole_cell=str(content.get("code", "")).lstrip().startswith(prefix),
        magic=prefix,
    )


def namespace_of(shell: InteractiveShell) -> dict[str, object]:
    """The user's names, the dictionary itself."""
    return cast("dict[str, object]", shell.user_ns)  # pyright: ignore[reportUnknownMemberType]


def _is_terminal(shell: InteractiveShell) -> bool:
    # By name: importing the class would load prompt_toolkit into notebook processes.
    return any(one.__name__ == "TerminalInteractiveShell" for one in type(shell).__mro__)


def _request(shell: InteractiveShell) -> Mapping[str, Any]:
    """The execute_request that is being answered."""
    get_parent = getattr(shell, "get_parent", None)
    request: object = get_parent() if callable(get_parent) else {}
    return cast("Mapping[str, Any]", request) if isinstance(request, Mapping) else {}

"""Which names of the notebook's namespace belong to which cell, and what stands behind them.

"The same cell" means: the frontend sent the same cell id (JupyterLab, Notebook 7, VS Code). A
frontend without ids (a terminal) leaves names: the cell of the same magic that last bound one of
the names that the new cell defines. A run from top to bottom (nbconvert, papermill, nbval) sends
no ids and edits nothing, so that no cell is ever taken for another there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from kit.errors import KitError
from kit.kernel import PyccelKernel
from kit.magics.frontend import Frontend, namespace_of
from kit.stale import StaleKernel

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["Session", "public_names", "session_of"]

_DEFINITION = re.compile(r"^(?:async[ \t]+)?def[ \t]+([^\W\d_]\w*)[ \t]*[\[(]", re.MULTILINE)


def public_names(source: str) -> tuple[str, ...]:
    """Names that a cell defines at its top level, also where it is no valid Python.

    Examples
    --------
    >>> public_names("def f(x: float):\\n    retrun x\\ndef _g(): pass\\n")
    ('f',)
    """
    return tuple(dict.fromkeys(_DEFINITION.findall(source)))


@dataclass(slots=True, eq=False)
class _BoundCell:
    """What the latest run of one cell bound."""

    frontend: Frontend
    objects: Mapping[str, object]


@dataclass(slots=True, eq=False)
class Session:
    """The names that kit's cells bound in one shell.

    Parameters
    ----------
    namespace : dict
        The user's namespace, which is changed in place.
    failures : dict of str to KitError
        Why the last build of a name failed.
    """

    namespace: dict[str, object]
    failures: dict[str, KitError] = field(default_factory=dict[str, KitError])
    _cells: list[_BoundCell] = field(default_factory=list[_BoundCell])

    def bind(self, objects: Mapping[str, object], frontend: Frontend) -> tuple[str, ...]:
        """Bind what a cell defines; unbind what its earlier version alone did.

        Returns
        -------
        tuple of str
            The names that were unbound, sorted; a name that holds something else by now stays.
        """
        earlier = self._take_earlier(objects, frontend)
        gone = sorted(
            name
            for name, bound in earlier.items()
            if name not in objects and self.namespace.get(name) is bound
        )
        for name in gone:
            del self.namespace[name]
            self.failures.pop(name, None)
        for name in objects:
            self.failures.pop(name, None)
        self.namespace.update(objects)
        self._cells.append(_BoundCell(frontend, dict(objects)))
        return tuple(gone)

    def fail(self, names: Iterable[str], frontend: Frontend, error: BaseException) -> None:
        """Put stubs behind the names of a cell whose build failed.

        Those are the names that it defines, as far as its text tells, and those that an earlier
        version of it bound and that still hold the same kernel.
        """
        defined = dict.fromkeys(names)
        earlier = self._take_earlier(defined, frontend)
        for name, bound in earlier.items():
            if self.namespace.get(name) is bound and isinstance(bound, PyccelKernel | StaleKernel):
                defined.setdefault(name)
        stubs = {name: self._stub(name, error, frontend) for name in defined}
        self.namespace.update(stubs)
        self._cells.append(_BoundCell(frontend, stubs))
        for name in stubs:
            self.failures.pop(name, None)
            if isinstance(error, KitError):
                self.failures[name] = error

    def keep(self, names: Iterable[str], frontend: Frontend, error: KitError) -> None:
        """Leave every name as it is after a failed build; names without a value get a stub."""
        for name in names:
            self.failures[name] = error
            if name not in self.namespace:
                self.namespace[name] = self._stub(name, error, frontend)

    def _stub(self, name: str, error: BaseException, frontend: Frontend) -> StaleKernel:
        held = self.namespace.get(name)
        earlier = held.failed if isinstance(held, StaleKernel) else frozenset[str]()
        previous = held.previous if isinstance(held, StaleKernel) else held
        return StaleKernel(
            name,
            previous=previous if isinstance(previous, PyccelKernel) else None,
            reason=_reason(error),
            failed=earlier | {frontend.magic},
        )

    def _take_earlier(self, names: Iterable[str], frontend: Frontend) -> Mapping[str, object]:
        """What the earlier version of the same cell bound; its record is dropped."""
        wanted = set(names)
        for index in range(len(self._cells) - 1, -1, -1):
            cell = self._cells[index]
            if frontend.cell_id is not None:
                is_same = cell.frontend.cell_id == frontend.cell_id
            else:
                is_same = (
                    frontend.attended
                    and cell.frontend.cell_id is None
                    and cell.frontend.magic == frontend.magic
                    and not wanted.isdisjoint(cell.objects)
                )
            if is_same:
                return self._cells.pop(index).objects
        return {}


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "it was stopped"
    return str(error) or type(error).__name__


_sessions: WeakKeyDictionary[InteractiveShell, Session] = WeakKeyDictionary()


def session_of(shell: InteractiveShell) -> Session:
    """The one session of a shell; survives ``%reload_ext kit``."""
    session = _sessions.get(shell)
    namespace = namespace_of(shell)
    if session is None or session.namespace is not namespace:
        session = _sessions[shell] = Session(namespace)
    return session

"""What stands behind a name whose last build failed."""

from __future__ import annotations

from typing import NoReturn

from kit.errors import StaleKernelError
from kit.kernel import PyccelKernel

__all__ = ["StaleKernel"]


class StaleKernel:
    """Stands in for a name whose last build failed: calling it raises.

    Parameters
    ----------
    name : str
        The name.
    previous : PyccelKernel or None
        The build before the one that failed.
    reason : str
        Why it failed.
    failed : frozenset of str
        Which magics could not build it since: a name may come from a cell of each.
    """

    def __init__(
        self,
        name: str,
        *,
        previous: PyccelKernel | None = None,
        reason: str = "",
        failed: frozenset[str] = frozenset(),
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.previous = previous
        self.reason = reason
        self.failed = failed

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Raise StaleKernelError."""
        raise StaleKernelError(self._text())

    def _text(self) -> str:
        first = self.reason.strip().partition("\n")[0]
        text = f"{self.__name__}: its last build failed" + (f": {first}" if first else "")
        if self.previous is not None:
            text += f"\n  the build before still works: {self.__name__}.previous(...)"
        return text + "\n  fix: repair the cell and run it again"

    def __repr__(self) -> str:
        return f"<StaleKernel {self._text()}>"

"""What every cell magic does around its build: bind names, leave stubs, show errors short."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from kit.errors import CellError, KitError, KitWarning
from kit.magics.binding import session_of
from kit.magics.frontend import Frontend, inspect_frontend
from kit.magics.progress import BuildProgress, choose_display
from kit.magics.rendering import say, shorten
from kit.magics.request_values import CellRequest, place_in_line
from kit.magics.specs import MagicSpec
from kit.show.build_text import few_names

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["CellMagic"]

Request = TypeVar("Request", bound=CellRequest)
Built = TypeVar("Built")


class CellMagic(ABC, Generic[Request, Built]):
    """The magic of one shell that turns a cell into kernels.

    Parameters
    ----------
    shell : InteractiveShell
        Whose namespace the kernels go to.
    """

    spec: MagicSpec
    needs: str
    """What a cell must have, in words: "write a typed function below the magic line"."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    @abstractmethod
    def parse(self, line: str) -> Request:
        """What the magic line asks for; CellError with a column where it is wrong."""

    @abstractmethod
    def names_of(self, cell: str, *, is_broken: bool) -> Sequence[str]:
        """Names that the cell binds, as far as its text tells; more thoroughly if it is broken."""

    @abstractmethod
    def title_of(self, request: Request) -> str:
        """What the cell is compiled through, for the line of progress."""

    @abstractmethod
    def build(self, source: str, request: Request, progress: BuildProgress) -> Built:
        """Compile; line 1 of `source` is empty and stands for the magic line."""

    @abstractmethod
    def objects_of(self, built: Built) -> Mapping[str, object]:
        """What is to be bound, by name."""

    @abstractmethod
    def summary_of(self, built: Built, gone: Sequence[str], request: Request) -> Sequence[str]:
        """Lines to print; `gone` are the names that were unbound."""

    def after(self, built: Built) -> None:
        """What is left to do when names are bound and the summary is printed."""

    def run(self, line: str, cell: str) -> None:
        """Build `cell` and bind its kernels; prints one line for each of them."""
        session = session_of(self._shell)
        frontend = inspect_frontend(self._shell, self.spec.prefix)
        request: Request | None = None
        try:
            request = self.parse(line)
            if not cell.strip():
                raise self._empty_cell(line)
            built = self._build(cell, request, frontend)
        except KitError as error:
            names = self.names_of(cell, is_broken=True)
            if request is not None and request.keeps:
                session.keep(names, frontend, error)
                self.warn(str(error), KitWarning)
                return
            session.fail(names, frontend, error)
            shown = self._with_magic_line(error, line)
            shorten(self._shell, shown)
            if shown is not error:
                raise shown from None
            raise
        except BaseException as error:  # an interrupt too: the name must not call the old text
            session.fail(self.names_of(cell, is_broken=True), frontend, error)
            if isinstance(error, KeyboardInterrupt):
                shorten(self._shell, error, "the build was stopped")
            raise
        gone = session.bind(self.objects_of(built), frontend)
        if not request.is_quiet:
            say("\n".join(self.summary_of(built, gone, request)))
        self.after(built)

    def warn(self, message: str, category: type[Warning]) -> None:
        """A warning that names the cell and no path, so that a committed notebook leaks none."""
        warnings.warn_explicit(message, category, filename=f"<{self.spec.prefix}>", lineno=1)

    def _build(self, cell: str, request: Request, frontend: Frontend) -> Built:
        names = few_names(self.names_of(cell, is_broken=False)) or "the cell"
        title = f"building {names} ({self.title_of(request)})"
        with BuildProgress(choose_display(self._shell, frontend), title) as progress:
            return self.build("\n" + cell, request, progress)

    def _empty_cell(self, line: str) -> CellError:
        return self.spec.error(
            line,
            "the cell is empty: there is nothing to compile",
            start=len(line),
            fix=f"{self.needs}; {self.spec.prefix}? shows one",
        )

    def _with_magic_line(self, error: KitError, line: str) -> KitError:
        """The same error with the text of line 1, which the build has as an empty line."""
        if type(error) is not CellError or error.line != 1 or error.cell or error.source_line:
            return error
        start = place_in_line(line, error.message)
        if start is not None:
            return self.spec.error(line, error.message, start=start, fix=error.fix or "")
        source = f"{self.spec.prefix} {line}".rstrip()
        return CellError(error.message, line=1, source_line=source, fix=error.fix)

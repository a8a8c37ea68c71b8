"""``%%pyccel_kernel``: the cell's functions become kernels in the notebook's namespace."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from kit.build import BuildOptions, BuiltCell, build_cell, stale_dependants
from kit.errors import CellError, KitError, KitWarning, StaleDependencyWarning
from kit.magics.binding import public_names, session_of
from kit.magics.frontend import Frontend, inspect_frontend, namespace_of
from kit.magics.progress import BuildProgress, choose_display
from kit.magics.rendering import say, shorten
from kit.magics.request import PYCCEL_KERNEL, KernelRequest, parse_request
from kit.show.build_text import detail_lines, few_names, kernel_line, summary_lines
from kit.show.stability import is_stable_output

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["PyccelKernelMagic"]


class PyccelKernelMagic:
    """The magic of one shell.

    Parameters
    ----------
    shell : InteractiveShell
        Whose namespace the kernels go to.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    def run(self, line: str, cell: str) -> None:
        """Build `cell` and bind its kernels; prints one line for each of them."""
        session = session_of(self._shell)
        frontend = inspect_frontend(self._shell, PYCCEL_KERNEL.prefix)
        names = public_names(cell)
        request: KernelRequest | None = None
        try:
            request = parse_request(line)
            if not cell.strip():
                raise _empty_cell(line)
            built = self._build(cell, request.options, names, frontend)
        except KitError as error:
            if request is not None and request.keeps:
                session.keep(names, error)
                _warn(str(error), KitWarning)
                return
            session.fail(names, frontend, error)
            shown = _with_magic_line(error, line)
            shorten(self._shell, shown)
            if shown is not error:
                raise shown from None
            raise
        except BaseException as error:  # an interrupt too: the name must not call the old text
            session.fail(names, frontend, error)
            if isinstance(error, KeyboardInterrupt):
                shorten(self._shell, error, "the build was stopped")
            raise
        gone = session.bind({**built.classes, **built.kernels}, frontend)
        _print_summary(built, gone, request)
        self._warn_about_dependants(built)

    def _build(
        self, cell: str, options: BuildOptions, names: tuple[str, ...], frontend: Frontend
    ) -> BuiltCell:
        title = f"building {few_names(names) or 'the cell'} ({options.language})"
        with BuildProgress(choose_display(self._shell, frontend), title) as progress:
            return build_cell(
                "\n" + cell,  # stands for the magic line, so that line numbers agree
                options=options,
                namespace=namespace_of(self._shell),
                on_progress=progress.on_progress,
                on_wait=progress.on_wait,
            )

    def _warn_about_dependants(self, built: BuiltCell) -> None:
        for name, used in stale_dependants(built, namespace_of(self._shell)).items():
            _warn(
                f"`{name}` still calls the earlier {few_names(used)}; "
                f"run the cell of `{name}` again to use the new one",
                StaleDependencyWarning,
            )


def _empty_cell(line: str) -> CellError:
    return PYCCEL_KERNEL.error(
        line,
        "the cell is empty: there is nothing to compile",
        start=len(line),
        fix="write a typed function below the magic line; %%pyccel_kernel? shows one",
    )


def _with_magic_line(error: KitError, line: str) -> KitError:
    """The same error with the text of line 1, which the build has as an empty line."""
    if type(error) is not CellError or error.line != 1 or error.cell or error.source_line:
        return error
    source = f"{PYCCEL_KERNEL.prefix} {line}".rstrip()
    return CellError(error.message, line=1, source_line=source, fix=error.fix)


def _print_summary(built: BuiltCell, gone: tuple[str, ...], request: KernelRequest) -> None:
    if request.is_quiet:
        return
    record = built.record
    kernels = [
        kernel_line(
            name,
            [(one.name, one.intent) for one in kernel.signature.parameters],
            language=record.language,
            returns=kernel.signature.returns
            or ("a value" if _returns_value(kernel.source) else None),
        )
        for name, kernel in built.kernels.items()
    ]
    lines = summary_lines(kernels, list(built.classes), gone)
    if request.is_verbose:
        lines += detail_lines(
            reason=record.reason,
            seconds=record.seconds,
            compiler=record.compiler,
            flags=record.flags,
            key=record.key,
            artifact_bytes=record.artifact_bytes,
            warnings=record.warnings,
            stable=is_stable_output(),
        )
    say("\n".join(lines))


def _returns_value(text: str) -> bool:
    """Whether a function's text has a return statement with a value; nested functions do not count.

    Examples
    --------
    >>> _returns_value("def f(x: float):\\n    return 2.0 * x\\n")
    True
    >>> _returns_value("def f(x: 'float[:]'):\\n    x[0] = 1.0\\n    return\\n")
    False
    """
    try:
        definitions = ast.parse(text).body
    except SyntaxError:
        return False
    left = [node for one in definitions for node in ast.iter_child_nodes(one)]
    while left:
        node = left.pop()
        if isinstance(node, ast.Return):
            if node.value is not None and not _is_none(node.value):
                return True
        elif not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            left.extend(ast.iter_child_nodes(node))
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _warn(message: str, category: type[Warning]) -> None:
    """A warning that names the cell and no path, so that a committed notebook leaks none."""
    warnings.warn_explicit(message, category, filename="<%%pyccel_kernel>", lineno=1)

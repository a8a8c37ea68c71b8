"""The error tree, and the one place that composes message text."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = [
    "ArgumentRefused",
    "BuildError",
    "CacheError",
    "CellError",
    "CopyWarning",
    "KitError",
    "KitWarning",
    "LaunchError",
    "StaleDependencyWarning",
    "StaleKernelError",
    "argument_refused",
    "clean_text",
    "one_line",
]

# CSI and OSC sequences, then every other C0/C1 control except tab and newline.
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")
# Bidirectional overrides and isolates can make a message read differently from what it says
# (CVE-2021-42574); zero-width characters hide in names.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    r"\U000e0000-\U000e007f]"
)


def clean_text(text: str) -> str:
    """Text from outside (names, logs) without ANSI, bidi and control characters.

    Examples
    --------
    >>> clean_text("\\x1b[31mred\\x1b[0m")
    'red'
    """
    return _HIDDEN.sub("", _ANSI.sub("", text))


def one_line(text: str) -> str:
    """Clean text in one line: names and values in a message must not break its layout.

    Examples
    --------
    >>> one_line("a\\n  b")
    'a b'
    """
    return re.sub(r"\s*\n\s*", " ", clean_text(text).strip())


class KitError(Exception):
    """Base of every error that kit raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process borders in dask and joblib. The usual way calls the class with
        # `args`, which is the composed text; here the text and the attributes go over as they are.
        return _restore_error, (type(self), self.args), self.__dict__.copy()


class KitWarning(UserWarning):
    """Base of every warning that kit gives."""


class CopyWarning(KitWarning):
    """An argument did not fit the order that the kernel declares and was copied."""


class StaleDependencyWarning(KitWarning):
    """A kernel was built against a function that has since been redefined."""


class _LocatedError(KitError):
    """An error at a place in a cell; line 1 is the cell's first line, the magic line."""

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        source_line: str | None = None,
        fix: str | None = None,
        cell: str | None = None,
    ) -> None:
        self.message = clean_text(message)
        self.line = line
        self.column = column
        self.source_line = None if source_line is None else clean_text(source_line)
        # The column counts the hidden characters too.
        self._before = clean_text((source_line or "")[: (column or 1) - 1])
        self.fix = None if fix is None else clean_text(fix)
        self.cell = cell
        super().__init__(self._compose())

    def _compose(self) -> str:
        parts = [self._place() + self.message]
        if self.source_line is not None:
            parts.append(f"  {self.source_line}")
            if self.column is not None:
                # Tabs keep their width, so that the caret stands below its character.
                lead = re.sub(r"[^\t]", " ", self._before)
                parts.append(f"  {lead}^")
        if self.fix:
            # Advice in words is a comment, so that pasting it does no harm; here it is read.
            shown = self.fix if "\n" in self.fix else self.fix.removeprefix("# ")
            parts.append("  fix: " + shown.replace("\n", "\n       "))
        return "\n".join(parts)

    def _place(self) -> str:
        if self.line is None:
            return ""
        where = f"line {self.line}"
        if self.column is not None:
            where += f", column {self.column}"
        return f"cell {where}: " if self.cell is None else f"{where} of {self.cell}: "


class CellError(_LocatedError):
    """What the user wrote in a cell cannot become a kernel.

    Attributes
    ----------
    message : str
        What is wrong, without its place.
    line, column : int or None
        Place in the cell; the magic line is line 1 and the first column is 1.
    source_line : str or None
        The line itself.
    fix : str or None
        What to write instead.
    cell : str or None
        Which other cell or file `line` counts in; None is the cell that was run.
    """


class BuildError(_LocatedError):
    """The toolchain failed on a cell.

    Attributes
    ----------
    message, line, column, source_line, fix, cell
        As in `CellError`, of the first error.
    log : str
        Everything that the toolchain printed.
    others : tuple of str
        The errors after the first, each in one line.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        source_line: str | None = None,
        fix: str | None = None,
        cell: str | None = None,
        log: str = "",
        others: Sequence[str] = (),
    ) -> None:
        self.log = clean_text(log)
        self.others = tuple(clean_text(other) for other in others)
        super().__init__(
            message, line=line, column=column, source_line=source_line, fix=fix, cell=cell
        )

    def _compose(self) -> str:
        text = super()._compose()
        if self.others:
            text += f"\n  ({len(self.others)} more in %kit_log)"
        return text


class LaunchError(_LocatedError):
    """A launch failed: refused before it began, or a fault inside the kernel.

    Attributes
    ----------
    message, line, column, source_line, fix, cell
        As in `CellError`; `line` is None where the kernel's line is not known.
    kernel : str
        Which kernel.
    kind : {"bounds", "race", "init", "sync", "align", "trap", "assert", "signal", "limit"}
        What kind of fault; "limit" is one that was seen before anything ran.
    block, thread : tuple of int or None
        Where in the launch it happened, (x, y, z) each.
    """

    def __init__(
        self,
        message: str,
        *,
        kernel: str,
        kind: str,
        block: tuple[int, int, int] | None = None,
        thread: tuple[int, int, int] | None = None,
        line: int | None = None,
        source_line: str | None = None,
        fix: str | None = None,
        cell: str | None = None,
    ) -> None:
        self.kernel = clean_text(kernel)
        self.kind = kind
        self.block = block
        self.thread = thread
        super().__init__(message, line=line, source_line=source_line, fix=fix, cell=cell)

    def _place(self) -> str:
        where = super()._place()
        if self.thread is not None:
            return f"{self.kernel}, block {self.block}, thread {self.thread}: {where}"
        if self.block is not None:
            return f"{self.kernel}, block {self.block}: {where}"
        return f"{self.kernel}: {where}"


class CacheError(KitError):
    """The artifact store cannot be used, or an entry in it cannot be trusted."""

    def __init__(self, found: str, *, need: str, fix: str) -> None:
        self.found, self.need, self.fix = clean_text(found), clean_text(need), clean_text(fix)
        super().__init__(
            f"artifact store refused\n"
            f"  found: {self.found}\n  need:  {self.need}\n  fix:   {self.fix}"
        )


class StaleKernelError(KitError):
    """A name whose last build failed was called; `.previous` on the stub is the build before."""


class ArgumentRefused(KitError):
    """An argument was refused before anything was copied; also a TypeError or a ValueError.

    Attributes
    ----------
    kernel, argument : str
        Which kernel, and which of its parameters.
    found, need : str
        What was passed, and what the kernel needs.
    fix : str
        Lines to paste.
    """

    def __init__(self, kernel: str, argument: str, *, found: str, need: str, fix: str) -> None:
        self.kernel = clean_text(kernel)
        self.argument = clean_text(argument)
        self.found = one_line(found)
        self.need = one_line(need)
        self.fix = clean_text(fix)
        super().__init__(self._compose())

    def _compose(self) -> str:
        fix = self.fix.replace("\n", "\n         ")
        return (
            f"{self.kernel}({self.argument}): argument refused\n"
            f"  found: {self.found}\n"
            f"  need:  {self.need}\n"
            f"  fix:   {fix}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        # By kind, because both classes below carry this one's name.
        return _restore_refusal, (isinstance(self, TypeError), self.args), self.__dict__.copy()


class _ArgumentTypeRefused(ArgumentRefused, TypeError):
    """The argument has the wrong type, dtype or rank."""


class _ArgumentValueRefused(ArgumentRefused, ValueError):
    """The argument has the right type and a value or layout that cannot serve."""


# Users catch and read `ArgumentRefused`; which of the two it is shows in `isinstance`.
for _kind in (_ArgumentTypeRefused, _ArgumentValueRefused):
    _kind.__name__ = _kind.__qualname__ = ArgumentRefused.__name__


def argument_refused(
    kind: type[TypeError] | type[ValueError],
    kernel: str,
    argument: str,
    *,
    found: str,
    need: str,
    fix: str,
) -> ArgumentRefused:
    """The refusal of one argument, which is also an instance of `kind`."""
    cls = _ArgumentTypeRefused if issubclass(kind, TypeError) else _ArgumentValueRefused
    return cls(kernel, argument, found=found, need=need, fix=fix)


def _restore_error(cls: type[KitError], args: tuple[object, ...]) -> KitError:
    return cls.__new__(cls, *args)


def _restore_refusal(is_type_error: bool, args: tuple[object, ...]) -> KitError:
    return _restore_error(_ArgumentTypeRefused if is_type_error else _ArgumentValueRefused, args)

"""What a magic's users see: its options and its help, in one table for parser, help and Tab."""

from __future__ import annotations

from dataclasses import dataclass

from kit.errors import CellError

__all__ = ["MagicSpec", "Option", "Positional"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a magic.

    Parameters
    ----------
    name : str
        Long name without dashes.
    short : str or None
        One letter.
    metavar : str or None
        How help calls its value; None for an option without one.
    choices : tuple of str
        The only values allowed; empty allows any text.
    suggestions : tuple of str
        Values that Tab offers where others are allowed, too.
    is_list : bool
        Whether commas separate several values: Tab then completes the last one.
    default : str or None
        Value when it is not given, for help.
    repeatable : bool
        Whether it may be given more than once.
    help : str
        One line.
    later : str or None
        What to do instead, for an option whose feature this version does not have yet.
    completes : {"parameters", "cuda parameters", None}
        What its value names, where completion can tell from the cell.
    """

    name: str
    short: str | None = None
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    is_list: bool = False
    default: str | None = None
    repeatable: bool = False
    help: str
    later: str | None = None
    completes: str | None = None

    @property
    def spellings(self) -> tuple[str, ...]:
        """`("-l", "--language")`."""
        short = () if self.short is None else (f"-{self.short}",)
        return (*short, f"--{self.name}")

    @property
    def usage(self) -> str:
        """How help writes it: ``-l, --language fortran|c``."""
        value = "|".join(self.choices) or self.metavar
        return ", ".join(self.spellings) + ("" if self.metavar is None else f" {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Positional:
    """Words of a magic line that belong to no option.

    Parameters
    ----------
    metavar : str
        How help calls them.
    choices : tuple of str
        The only values allowed; empty allows any text.
    required : bool
        Whether there must be one; there is never more than one.
    completes : {"kernels", None}
        What it names, where completion can tell from the namespace.
    """

    metavar: str
    choices: tuple[str, ...] = ()
    required: bool = True
    completes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MagicSpec:
    """A magic as its users see it.

    Parameters
    ----------
    name : str
        Without percent signs.
    is_cell : bool
        Whether it takes a cell (``%%name``).
    summary : str
        What it does, in a sentence or two.
    options : tuple of Option
        In the order of the help text.
    positional : Positional or None
        What else the line takes.
    takes_expression : bool
        Whether the line is Python, parsed by the magic itself.
    example : str
        Lines to paste.
    notes : str
        More, for the help text.
    """

    name: str
    is_cell: bool
    summary: str
    options: tuple[Option, ...] = ()
    positional: Positional | None = None
    takes_expression: bool = False
    example: str
    notes: str = ""

    @property
    def prefix(self) -> str:
        """`"%%pyccel_kernel"` or `"%kit_cache"`."""
        return ("%%" if self.is_cell else "%") + self.name

    def find(self, spelling: str) -> Option | None:
        """The option that is written `spelling`, dashes included."""
        return next((one for one in self.options if spelling in one.spellings), None)

    def help_text(self) -> str:
        """The docstring of the magic, which ``?`` shows."""
        usage = self.prefix + (" [options]" if self.options else "")
        if self.positional is not None:
            word = "|".join(self.positional.choices) or self.positional.metavar
            usage += f" {word}" if self.positional.required else f" [{word}]"
        parts = [self.summary, f"Usage\n-----\n{usage}"]
        if self.options:
            width = max(len(one.usage) for one in self.options)
            rows = [f"{one.usage:<{width}}  {_describe(one)}" for one in self.options]
            parts.append("Options\n-------\n" + "\n".join(rows))
        if self.notes:
            parts.append(f"Notes\n-----\n{self.notes}")
        parts.append(f"Example\n-------\n{self.example}")
        return "\n\n".join(parts) + "\n"

    def error(self, line: str, message: str, *, start: int, fix: str) -> CellError:
        """An error at offset `start` of the magic line; a cell magic's line is line 1."""
        source = f"{self.prefix} {line}".rstrip()
        return CellError(
            message,
            line=1 if self.is_cell else None,
            column=min(len(self.prefix) + 1 + start, len(source)) + 1,
            source_line=source,
            fix=fix,
        )


def _describe(option: Option) -> str:
    text = option.help
    if option.default is not None:
        text += f" (default: {option.default})"
    if option.later is not None:
        text += " [comes with a later version]"
    return text

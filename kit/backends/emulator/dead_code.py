"""Which parts of a cell the emulator's compiler does not see.

`kit.cuda.text.reading` leaves in what the cell alone does not decide. Here everything is decided:
a name that nobody has defined is 0, as it is for the preprocessor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from kit.backends.emulator.condition_values import condition_value
from kit.cuda.text.tokens import Token, logical_line, split_tokens

__all__ = ["Include", "LiveCode", "leave_dead_code_out"]

_DIRECTIVE: Final = re.compile(r"#\s*(\w+)\s*(.*)")
_DEPTH: Final = 20  # macros within macros, of one condition


class Include(NamedTuple):
    """An ``#include`` that is read.

    Parameters
    ----------
    name : str
        Without its marks: ``cuda/barrier``.
    offset : int
        Characters of the cell before the directive.
    """

    name: str
    offset: int


class LiveCode(NamedTuple):
    """A cell without what ``#if`` leaves out.

    Parameters
    ----------
    text : str
        The cell; what is left out is blank, and so are the directives of the choice.
    includes : tuple of Include
        In their order.
    """

    text: str
    includes: tuple[Include, ...]


def leave_dead_code_out(text: str, macros: Mapping[str, str]) -> LiveCode:
    """Blank what the preprocessor leaves out.

    Parameters
    ----------
    text : str
        The cell.
    macros : mapping of str to str
        Defined before its first line, by name.

    Examples
    --------
    >>> leave_dead_code_out("#if A > 1\\nx\\n#else\\ny\\n#endif", {"A": "2"}).text
    '         \\nx\\n     \\n \\n      '
    """
    tokens = list(split_tokens(text))
    reader = _Reader(dict(macros))
    pieces: list[str] = []
    at, fresh = 0, True
    while at < len(tokens):
        one = tokens[at]
        end = at + 1
        if fresh and one.text == "#":
            while end < len(tokens) and tokens[end].kind != "newline":
                end += 1
            kept = reader.follow(logical_line(tokens[at:end]), one.start)
        else:
            kept = reader.alive
        part = "".join(each.text for each in tokens[at:end])
        pieces.append(part if kept else re.sub(r"[^\n]", " ", part))
        fresh = one.kind == "newline" or (fresh and one.is_blank)
        at = end
    return LiveCode("".join(pieces), tuple(reader.includes))


class _Reader:
    """Follows directives."""

    def __init__(self, macros: dict[str, str]) -> None:
        self._macros = macros
        self.includes: list[Include] = []
        # Of each open group: whether text around it is read, whether a branch was, whether this is.
        self._groups: list[tuple[bool, bool, bool]] = []

    @property
    def alive(self) -> bool:
        """Whether the text here is read."""
        return not self._groups or self._groups[-1][2]

    def follow(self, line: str, offset: int) -> bool:
        """Follow one directive; whether it stays in the text."""
        match = _DIRECTIVE.match(line)
        word, rest = (match[1], match[2]) if match else ("", "")
        if word in ("if", "ifdef", "ifndef"):
            truth = self._truth(word, rest)
            self._groups.append((self.alive, truth, self.alive and truth))
        elif word in ("elif", "elifdef", "elifndef", "else") and self._groups:
            around, was, _ = self._groups[-1]
            truth = not was and (word == "else" or self._truth(word.removeprefix("el"), rest))
            self._groups[-1] = (around, was or truth, around and truth)
        elif word == "endif" and self._groups:
            self._groups.pop()
        else:
            if self.alive:
                self._take(word, rest, offset)
            return self.alive
        return False

    def _take(self, word: str, rest: str, offset: int) -> None:
        if word == "define":
            found = re.match(r"(\w+)(?!\()\b\s*(.*)", rest)
            if found:
                self._macros[found[1]] = found[2]
            elif name := re.match(r"\w+", rest):
                self._macros[name.group()] = ""  # a function: defined, and of no value
        elif word == "undef":
            self._macros.pop(rest, None)
        elif word == "include":
            self.includes.append(Include(rest.strip('<>" '), offset))

    def _truth(self, word: str, rest: str) -> bool:
        if word in ("ifdef", "ifndef"):
            return (rest.split(" ")[0] in self._macros) == (word == "ifdef")
        return condition_value(self._expanded(rest)) != 0

    def _expanded(self, text: str) -> str:
        """A condition of numbers alone, in Python."""
        text = re.sub(
            r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))",
            lambda one: str(int((one[1] or one[2]) in self._macros)),
            text,
        )
        text = re.sub(r"\b__has_include\s*\([^)]*\)", "1", text)
        for _ in range(_DEPTH):
            after = "".join(self._value(one) for one in split_tokens(text))
            if after == text:
                break
            text = after
        return text

    def _value(self, token: Token) -> str:
        name = token.text
        if token.kind != "name" or name in _WORDS:
            return name
        if name in self._macros:
            return f" ({self._macros[name] or 0}) "
        return "1" if name == "true" else "0"


_WORDS: Final = ("and", "or", "not")

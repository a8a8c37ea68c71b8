"""The tokens of C++ text: enough to expand macros and to blank what is no code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Token", "logical_line", "split_tokens"]

_TOKEN = re.compile(
    r"""
    (?P<comment> //(?:\\\r?\n|[^\n])* | /\*.*?(?:\*/|\Z) )
  | (?P<raw> (?:u8|[uUL])?R"(?P<fence>[^()\\\s"]{0,16})\(.*?(?:\)(?P=fence)"|\Z) )
  | (?P<string> (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"? )
  # Before characters: the quote in 1'000 separates digits.
  | (?P<number> \.?\d(?:[eEpP][+-]|'\w|[\w.])* )
  | (?P<character> (?:u8|[uUL])?'(?:\\.|[^'\\\n])*'? )
  | (?P<name> [^\W\d]\w* )
  | (?P<splice> \\\r?\n )
  | (?P<newline> \n )
  | (?P<space> [^\S\n]+ )
  | (?P<mark> \#\# | ::? | <<< | . )
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """One token.

    Parameters
    ----------
    kind : str
        "comment", "raw", "string", "number", "character", "name", "splice" (a line that goes on),
        "newline", "space" or "mark" (everything else).
    text : str
        As written.
    start : int
        Characters of the text before it.
    """

    kind: str
    text: str
    start: int

    @property
    def is_blank(self) -> bool:
        """Whether it only separates others."""
        return self.kind in ("comment", "splice", "newline", "space")


def split_tokens(text: str) -> Iterator[Token]:
    """All tokens; what they spell is the text again, whatever it is.

    Examples
    --------
    >>> [one.text for one in split_tokens("f(1'000) // 'x")]
    ['f', '(', "1'000", ')', ' ', "// 'x"]
    """
    for match in _TOKEN.finditer(text):
        # `fence` is a part of `raw`, and the group that closed last is the alternative itself.
        yield Token(match.lastgroup or "mark", match.group(), match.start())


def logical_line(tokens: list[Token]) -> str:
    """A directive in one line: without splices and comments.

    Examples
    --------
    >>> logical_line(list(split_tokens("#if A && /* both */ \\\\\\n B")))
    '#if A && B'
    """
    text = "".join(" " if one.is_blank else one.text for one in tokens)
    return " ".join(text.split())

"""Words of a magic line, and where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Word", "split_words"]

# A word ends at white space outside quotes; IPython hands over the raw rest of the line.
_WORD = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*'|["'])+""")
_QUOTED = re.compile(r""""([^"]*)"|'([^']*)'""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word of the magic line.

    Parameters
    ----------
    text : str
        Without its quotes.
    start, end : int
        Place in the line, as written; both from 0, `end` exclusive.
    quoted : bool
        Whether it begins with a quote; such a word is never an option.
    is_open : bool
        Whether a quote in it is never closed.
    """

    text: str
    start: int
    end: int
    quoted: bool = False
    is_open: bool = False


def split_words(line: str) -> list[Word]:
    """Words of a magic line; quotes group and disappear, nothing else is special.

    Examples
    --------
    >>> [word.text for word in split_words('-l c --flags "-O2 -g"')]
    ['-l', 'c', '--flags', '-O2 -g']
    """
    words: list[Word] = []
    for match in _WORD.finditer(line):
        raw = match.group()
        bare = _QUOTED.sub("", raw)
        words.append(
            Word(
                text=_QUOTED.sub(lambda found: found.group(1) or found.group(2) or "", raw),
                start=match.start(),
                end=match.end(),
                quoted=raw[0] in "\"'",
                is_open='"' in bare or "'" in bare,
            )
        )
    return words

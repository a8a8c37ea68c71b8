"""The comment above a definition, as its documentation."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from kit.cuda.text.tokens import Token

__all__ = ["comment_above"]


def comment_above(text: str, start: int, tokens: Sequence[Token]) -> str:
    """The comment right above a place, without comment marks; "" where there is none.

    Parameters
    ----------
    text : str
        Of the cell.
    start : int
        Where the definition begins.
    tokens : sequence of Token
        Of the whole text.

    Examples
    --------
    >>> from kit.cuda.text.tokens import split_tokens
    >>> text = "// Adds.\\nf();"
    >>> comment_above(text, 9, list(split_tokens(text)))
    'Adds.'
    """
    line_start = text.rfind("\n", 0, start) + 1
    at = bisect_left(tokens, line_start, key=lambda one: one.start)
    comments: list[Token] = []
    while at > 0:
        breaks = 0
        while at > 0 and tokens[at - 1].kind in ("newline", "space"):
            at -= 1
            breaks += tokens[at].kind == "newline"
        if breaks > 1 or at == 0 or tokens[at - 1].kind != "comment":
            break
        at -= 1
        comment = tokens[at]
        before = text[text.rfind("\n", 0, comment.start) + 1 : comment.start]
        if before.strip() and not before.strip().endswith("*/"):
            break  # it belongs to the code in front of it
        comments.insert(0, comment)
    lines = [line for one in comments for line in _plain_lines(one.text)]
    return "\n".join(lines).strip()


def _plain_lines(comment: str) -> list[str]:
    if comment.startswith("//"):
        return [re.sub(r"^//[/!]?<? ?", "", comment).rstrip()]
    inside = re.sub(r"^/\*[*!]?|\*/$", "", comment)
    lines = [re.sub(r"^\s*\* ?", "", line).strip() for line in inside.split("\n")]
    return "\n".join(lines).strip().split("\n")

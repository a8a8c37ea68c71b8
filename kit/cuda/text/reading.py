"""A cell's text as its parser gets it: macros expanded, directives and comments blanked.

Every character of it has a place in the cell, so that names, places and declared text are the
cell's own. The compiler never sees it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from kit.cuda.text.conditions import Conditions
from kit.cuda.text.macros import Macro, expand_use, parse_option
from kit.cuda.text.scopes import Scopes, blank_ranges
from kit.cuda.text.tokens import Token, logical_line, split_tokens

__all__ = ["ReadText", "read_text"]


_UNKNOWN_ATTRIBUTE = re.compile(
    r"\b__(?:cluster_dims|maxnreg|block_size|nv_pure)__\s*(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?"
)


class _Piece(NamedTuple):
    """Where a run of characters comes from."""

    start: int
    length: int
    original: int
    original_length: int
    expanded: bool


class ReadText:
    """Text to parse, and the way back from it to the cell.

    Parameters
    ----------
    original : str
        The cell.
    pieces : sequence of (str, Token, bool)
        In order: what is read, the token that it stands for (of a use of a macro, all of it as
        one), and whether it is an expansion.
    tokens : sequence of Token
        Of the cell.
    conditions : Conditions
        That have followed its directives.

    Attributes
    ----------
    shown : str
        Text with macros expanded, comments and directives blank.
    code : str
        `shown` with strings and characters blank, too.
    scopes : Scopes
        Namespaces and bodies of `shown`.
    """

    def __init__(
        self,
        original: str,
        pieces: Iterable[tuple[str, Token, bool]],
        tokens: Sequence[Token],
        conditions: Conditions,
    ) -> None:
        self.original = original
        self.tokens = tokens
        self._conditions = conditions.history
        self._guesses = conditions.guesses
        self._pieces: list[_Piece] = []
        texts: list[str] = []
        length = 0
        for text, token, expanded in pieces:
            piece = _Piece(length, len(text), token.start, len(token.text), expanded)
            self._pieces.append(piece)
            texts.append(text)
            length += len(text)
        self.shown = "".join(texts)
        self._starts = [piece.start for piece in self._pieces]
        shown = list(split_tokens(self.shown))
        self.scopes = Scopes(shown)
        self.code = "".join(
            " " * len(one.text) if one.kind in ("string", "character") else one.text
            for one in shown
        )

    def parsed(self) -> bytes:
        """One byte for each character, so that the parser's offsets are ours."""
        plain = "".join(one if ord(one) < 128 else "x" for one in self.shown)
        plain = blank_ranges(plain, self.scopes.bodies)
        # What the grammar does not know (tree-sitter-cuda 0.21).
        known = re.sub(r"\b__align__(?=\s*\()", "alignas  ", plain)
        known = re.sub(r"\b__restrict\b", "const     ", known)
        return _UNKNOWN_ATTRIBUTE.sub(lambda match: _blank(match.group()), known).encode("ascii")

    def origin(self, offset: int) -> int:
        """Where in the cell a character of `shown` comes from; of an expansion, its use."""
        if not self._pieces:
            return 0
        piece = self._pieces[max(bisect_right(self._starts, offset) - 1, 0)]
        return piece.original + (0 if piece.expanded else offset - piece.start)

    def origin_end(self, end: int) -> int:
        """Where in the cell the part of `shown` ends that ends before `end`."""
        if end <= 0:
            return 0
        piece = self._pieces[bisect_right(self._starts, end - 1) - 1]
        if piece.expanded:
            return piece.original + piece.original_length
        return piece.original + end - piece.start

    def written(self, start: int, end: int, without: tuple[int, int] = (0, 0)) -> str:
        """What a part of `shown` is in the cell, in one line and without comments.

        Parameters
        ----------
        start, end : int
            The part. Uses of macros that lie in it entirely are shown as uses.
        without : (int, int)
            A part of it to leave out.
        """
        texts: list[str] = []
        index = max(bisect_right(self._starts, start) - 1, 0)
        for piece in islice(self._pieces, index, None):
            stop = piece.start + piece.length
            if piece.start >= end:
                break
            cut = without[0] < stop and piece.start < without[1]
            if piece.expanded and not cut and start <= piece.start + 1 and stop - 1 <= end:
                use = piece.original
                texts.append(self.original[use : use + piece.original_length])
                continue
            low, high = max(piece.start, start), min(stop, end)
            text = self.shown[low:high]
            if cut:
                text = text[: max(without[0] - low, 0)] + " " + text[without[1] - low :]
            texts.append(text)
        return " ".join("".join(texts).split())

    def conditions_at(self, offset: int) -> tuple[tuple[str, ...], ...]:
        """The ``#if`` groups around a character of `shown`, each with its directives so far."""
        origin = self.origin(offset)
        index = bisect_right(self._conditions, origin, key=lambda one: one[0]) - 1
        return self._conditions[index][1] if index >= 0 else ()

    def is_guessed(self, start: int, end: int) -> bool:
        """Whether a part of `shown` hangs on a branch of ``#if`` that is read on trust."""
        low, high = self.origin(start), self.origin_end(end)
        return any(begin < high and low < stop for begin, stop in self._guesses)


def read_text(original: str, defines: Iterable[str] = ()) -> ReadText:
    """Expand and blank a cell's text.

    Parameters
    ----------
    original : str
        The cell.
    defines : iterable of str
        Options ``-D``, ``NAME`` or ``NAME=VALUE``.
    """
    macros: dict[str, Macro] = dict(one for one in map(parse_option, defines) if one is not None)
    tokens = list(split_tokens(original))
    conditions = Conditions(tokens, macros)
    pieces: list[tuple[str, Token, bool]] = []
    at = 0
    fresh = True
    while at < len(tokens):
        one = tokens[at]
        if fresh and one.text == "#":
            end = _line_end(tokens, at)
            conditions.take(logical_line(tokens[at:end]), at, end)
            pieces.extend((_blank(each.text), each, False) for each in tokens[at:end])
            at = end
            continue
        fresh = one.kind == "newline" or (fresh and one.is_blank)
        if not conditions.alive:
            pieces.append((_blank(one.text), one, False))
            at += 1
            continue
        use = None
        if one.kind == "name" and one.text in macros:
            use = expand_use(tokens, at, macros)
        if use is None:
            conditions.pass_by(one)
            pieces.append((_plain(one), one, False))
            at += 1
        else:
            pieces.append(_expansion(original, one, use[0], tokens, use[1]))
            at = use[1]
    return ReadText(original, pieces, tokens, conditions)


def _expansion(
    original: str, name: Token, text: str, tokens: Sequence[Token], end: int
) -> tuple[str, Token, bool]:
    stop = tokens[end].start if end < len(tokens) else len(original)
    plain = "".join(_plain(one) for one in split_tokens(text))
    # Spaces keep its first and last token apart from what stands beside the use.
    return f" {plain} ", Token("name", original[name.start : stop], name.start), True


def _line_end(tokens: Sequence[Token], at: int) -> int:
    while at < len(tokens) and tokens[at].kind != "newline":
        at += 1
    return at


def _blank(text: str) -> str:
    return "".join("\n" if one == "\n" else " " for one in text)


def _plain(token: Token) -> str:
    """As the parser gets it, in as many characters."""
    if token.is_blank:
        return _blank(token.text)
    if token.kind == "raw":
        return "0" + _blank(token.text)[1:]
    return token.text

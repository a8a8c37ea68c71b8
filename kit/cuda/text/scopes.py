"""Braces of a cell: which text is at namespace scope, and what the bodies of functions are.

Found without the syntax tree, so that a body in words that the grammar does not know (inline
assembly, say) costs nothing but itself: the parser gets bodies empty.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from kit.cuda.text.tokens import Token

__all__ = ["Scopes", "blank_ranges", "unclosed_brace"]

_TYPES = {"struct", "class", "union", "enum"}


class Scopes:
    """Where namespaces and bodies are.

    Parameters
    ----------
    tokens : iterable of Token
        Of the text; what ``#if`` surely leaves out is not among them.

    Attributes
    ----------
    bodies : list of (int, int)
        Insides of the functions at namespace scope.
    """

    def __init__(self, tokens: Iterable[Token]) -> None:
        self.bodies: list[tuple[int, int]] = []
        self._starts = [0]
        self._scopes: list[tuple[str, ...] | None] = [()]
        self._open: list[tuple[str, ...] | None] = []
        self._statement: list[Token] = []
        self._body: int | None = None
        end = 0
        for one in tokens:
            end = one.start + len(one.text)
            if not one.is_blank:
                self._take(one)
        if self._body is not None:
            self.bodies.append((self._body, end))

    def at(self, offset: int) -> tuple[str, ...] | None:
        """Namespaces around a character ("" for one without a name); None inside other braces."""
        return self._scopes[bisect_right(self._starts, offset) - 1]

    def _take(self, token: Token) -> None:
        if token.text == "{":
            self._enter(token)
        elif token.text == "}":
            self._leave(token)
        elif token.text == ";":
            self._statement = []
        elif self._scopes[-1] is not None:
            self._statement.append(token)

    def _enter(self, token: Token) -> None:
        now = self._scopes[-1]
        self._open.append(now)
        inner = None if now is None else self._inner(now)
        if now is not None and inner is None and self._is_body():
            self._body = token.start + 1
        self._mark(token.start + 1, inner)

    def _leave(self, token: Token) -> None:
        if not self._open:
            return
        outer = self._open.pop()
        if outer is not None and self._body is not None:
            self.bodies.append((self._body, token.start))
            self._body = None
        self._mark(token.start, outer)

    def _mark(self, offset: int, scope: tuple[str, ...] | None) -> None:
        self._starts.append(offset)
        self._scopes.append(scope)
        if scope is not None:
            self._statement = []

    def _inner(self, scope: tuple[str, ...]) -> tuple[str, ...] | None:
        """Namespaces inside of a brace that opens now; None where it is no namespace's."""
        words = [one.text for one in self._statement]
        if len(words) == 2 and words[0] == "extern" and self._statement[1].kind == "string":
            return scope
        if "namespace" not in words:
            return None
        after = self._statement[words.index("namespace") + 1 :]
        attribute = 0
        names: list[str] = []
        for one in after:
            attribute += {"[": 1, "]": -1}.get(one.text, 0)
            if one.kind == "name" and one.text != "inline" and not attribute:
                names.append(one.text)
        return (*scope, *(names or [""]))

    def _is_body(self) -> bool:
        """Whether a function's body opens now, and not a struct's or an initialiser."""
        words = [one.text for one in self._statement]
        if "__global__" in words:
            return True
        return bool(words) and words[-1] == ")" and not _TYPES.intersection(words)


def blank_ranges(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """`text` with spaces in some ranges; line breaks stay."""
    parts: list[str] = []
    last = 0
    for low, high in ranges:
        parts.append(text[last:low])
        parts.append("".join("\n" if one == "\n" else " " for one in text[low:high]))
        last = high
    return "".join([*parts, text[last:]])


def unclosed_brace(tokens: Iterable[Token]) -> int | None:
    """Where the innermost ``{`` stands that is never closed; None where there is none.

    Examples
    --------
    >>> from kit.cuda.text.tokens import split_tokens
    >>> unclosed_brace(split_tokens("void f() { if (x) { }"))
    9
    """
    opened: list[int] = []
    for one in tokens:
        if one.text == "{":
            opened.append(one.start)
        elif one.text == "}" and opened:
            opened.pop()
    return opened[-1] if opened else None

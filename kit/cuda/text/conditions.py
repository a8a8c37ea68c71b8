"""Directives of a cell, in their order: what is defined, and which parts ``#if`` leaves in.

Only the compiler knows every macro. A condition that the cell itself does not decide leaves all of
its branches in, except where they are alternatives inside one signature or one body: there the
first is read, on trust, and a signature with such a guess in it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from kit.cuda.text.macros import Macro, parse_define
from kit.cuda.text.tokens import Token

__all__ = ["Conditions"]

_RESERVED = ("_", "CUDA", "CCCL", "CUB", "KIT_", "THRUST")
"""How names begin that the compiler, NVIDIA's headers or kit define."""

_KNOWN_INCLUDES = ("<kit/", "<cuda", "<cooperative_groups", "<cub/", "<thrust/", "<cuC", "<mma.h")

_DIRECTIVE = re.compile(r"#\s*(\w+)\s*(.*)")


@dataclass(slots=True)
class _Group:
    """One ``#if`` up to its ``#endif``."""

    outer: bool
    start: int
    branches: list[str] = field(default_factory=list[str])
    guard: bool = False
    """Whether it is the include guard of a pasted header, or only its first branch is read."""
    guessed: bool = False
    """Whether its branches are alternatives inside of something, of which the first is read."""
    decided: bool = False
    """Whether a branch has been read that leaves the others out."""
    alive: bool = True
    unsure: bool = False


class Conditions:
    """Follows directives through a text.

    Parameters
    ----------
    tokens : sequence of Token
        The text.
    macros : dict of str to Macro
        Defined so far; ``#define`` and ``#undef`` change it.

    Attributes
    ----------
    history : list of (int, tuple)
        From that character on: the directives of the branches so far, of each open group that the
        cell does not decide.
    guesses : list of (int, int)
        Characters of which only the first branch is read, on trust.
    """

    def __init__(self, tokens: Sequence[Token], macros: dict[str, Macro]) -> None:
        self._tokens = tokens
        self._macros = macros
        self._unsure = {"__CUDA_ARCH__"}
        self._groups: list[_Group] = []
        self._depth = 0
        self._last = ""
        self._includes_own = False
        self.guesses: list[tuple[int, int]] = []
        self.history: list[tuple[int, tuple[tuple[str, ...], ...]]] = []

    @property
    def alive(self) -> bool:
        """Whether the text here is read."""
        return not self._groups or self._groups[-1].alive

    def pass_by(self, token: Token) -> None:
        """Note a token that is read: inside parentheses, branches are alternatives."""
        if token.text in (";", "{", "}"):
            self._depth = 0
        elif token.kind == "mark":
            self._depth += {"(": 1, ")": -1}.get(token.text, 0)

    def take(self, line: str, start: int, end: int) -> None:
        """Follow one directive.

        Parameters
        ----------
        line : str
            The directive in one line.
        start, end : int
            Indices of its tokens.
        """
        match = _DIRECTIVE.match(line)
        word, rest = (match[1], match[2]) if match else ("", "")
        if word in ("if", "ifdef", "ifndef"):
            self._open(line, word, rest, end)
        elif word in ("elif", "elifdef", "elifndef", "else", "endif") and self._groups:
            self._go_on(line, word, rest, self._tokens[start].start)
        elif self.alive:
            self._define(word, rest)
        self._last = line
        if word in ("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"):
            # Where the cell decides, nobody needs to ask again, after macros may have changed.
            shown = tuple(
                tuple(one.branches) for one in self._groups if one.unsure and not one.guard
            )
            at = self._tokens[start].start
            self.history.append((at, shown))

    def _open(self, line: str, word: str, rest: str, end: int) -> None:
        group = _Group(outer=self.alive, start=self._tokens[end - 1].start, branches=[line])
        truth = self._truth(word, rest)
        group.unsure = truth is None
        group.alive = group.outer and truth is not False
        group.decided = truth is True
        if truth is None and (self._depth > 0 or self._is_unbalanced(end)):
            group.guard = group.decided = group.guessed = True
        self._groups.append(group)

    def _go_on(self, line: str, word: str, rest: str, at: int) -> None:
        if word == "endif":
            group = self._groups.pop()
            if group.guessed:
                self.guesses.append((group.start, at))
            return
        group = self._groups[-1]
        group.branches.append(line)
        truth = True if word == "else" else self._truth(word.removeprefix("el"), rest)
        group.alive = group.outer and not group.decided and truth is not False
        if truth is True and not group.unsure:
            group.decided = True
        group.unsure = group.unsure or truth is None

    def _define(self, word: str, rest: str) -> None:
        unsure = any(one.unsure and not one.guard for one in self._groups)
        if word == "undef":
            self._macros.pop(rest, None)
            self._unsure.add(rest)
        if word == "include" and not rest.startswith(_KNOWN_INCLUDES):
            self._includes_own = True
        found = parse_define(rest) if word == "define" else None
        if found is None:
            return
        name, macro = found
        if self._last in (f"#ifndef {name}", f"# ifndef {name}") and self._groups:
            self._groups[-1].guard = True
            unsure = any(one.unsure and not one.guard for one in self._groups)
        self._macros[name] = macro
        (self._unsure.add if unsure else self._unsure.discard)(name)

    def _truth(self, word: str, rest: str) -> bool | None:
        """Of a condition, as far as the cell decides it."""
        if word == "ifdef":
            return self._is_defined(rest)
        if word == "ifndef":
            defined = self._is_defined(rest)
            return None if defined is None else not defined
        rest = rest.strip()
        match = re.fullmatch(r"(!?)\s*defined\s*\(?\s*(\w+)\s*\)?", rest)
        if match:
            defined = self._is_defined(match[2])
            return None if defined is None else defined != bool(match[1])
        macro = self._macros.get(rest)
        if macro is not None and macro.parameters is None and rest not in self._unsure:
            rest = "".join(one.text for one in macro.body)
        return int(rest) != 0 if re.fullmatch(r"\d+", rest) else None

    def _is_defined(self, name: str) -> bool | None:
        """Whether a name is a macro; None where the compiler or an included file may know."""
        if name in self._unsure or (name not in self._macros and self._foreign(name)):
            return None
        return name in self._macros

    def _foreign(self, name: str) -> bool:
        """Whether something outside of the cell may define a name."""
        return self._includes_own or name.startswith(_RESERVED)

    def _is_unbalanced(self, at: int) -> bool:
        """Whether the branch that begins at a token opens or closes braces of its own."""
        depth = nested = 0
        fresh = False
        tokens = self._tokens
        for index in range(at, len(tokens)):
            one = tokens[index]
            if fresh and one.text == "#":
                after = islice(tokens, index + 1, None)
                word = next((each.text for each in after if each.kind == "name"), "")
                if nested == 0 and word in ("elif", "else", "endif", "elifdef", "elifndef"):
                    return depth != 0
                nested += {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(word, 0)
            fresh = one.kind == "newline" or (fresh and one.is_blank)
            if one.kind == "mark":
                depth += {"{": 1, "}": -1}.get(one.text, 0)
        return False

"""Macros that a cell defines itself: what a use of one stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kit.cuda.text.tokens import Token, split_tokens

__all__ = ["Macro", "expand_use", "parse_define", "parse_option"]

_LONGEST = 20_000
"""Tokens that one use may become; beyond that it is left as it stands."""


class Macro(NamedTuple):
    """One ``#define``.

    Parameters
    ----------
    parameters : tuple of str or None
        None for a macro that is no function; ``__VA_ARGS__`` (or its own name) is the last one of
        a variadic macro.
    variadic : bool
        Whether the last parameter takes all that is left.
    body : tuple of Token
        What it stands for.
    """

    parameters: tuple[str, ...] | None
    variadic: bool
    body: tuple[Token, ...]


def parse_define(text: str) -> tuple[str, Macro] | None:
    """Name and macro of what follows ``#define``, in one line; None where it is none.

    Examples
    --------
    >>> parse_define("IN(T) const T*")[1].parameters
    ('T',)
    """
    tokens = list(split_tokens(text.strip()))
    if not tokens or tokens[0].kind != "name":
        return None
    name, rest = tokens[0].text, tokens[1:]
    if not rest or rest[0].text != "(":
        return name, Macro(None, False, _trimmed(rest))
    close = next((i for i, one in enumerate(rest) if one.text == ")"), None)
    if close is None:
        return None
    inside = "".join(one.text for one in rest[1:close] if not one.is_blank)
    parameters = inside.split(",") if inside else []
    variadic = bool(parameters) and parameters[-1].endswith("...")
    if variadic:
        parameters[-1] = parameters[-1].removesuffix("...") or "__VA_ARGS__"
    return name, Macro(tuple(parameters), variadic, _trimmed(rest[close + 1 :]))


def parse_option(define: str) -> tuple[str, Macro] | None:
    """Name and macro of a ``-D`` option, ``NAME`` or ``NAME=VALUE``."""
    name, equals, value = define.partition("=")
    return parse_define(f"{name} {value if equals else '1'}")


def expand_use(
    tokens: Sequence[Token], at: int, macros: Mapping[str, Macro]
) -> tuple[str, int] | None:
    """What the name at `at` stands for, and where its use ends; None where it is no use.

    Parameters
    ----------
    tokens : sequence of Token
        Around the use.
    at : int
        Index of a name in `macros`.
    macros : mapping of str to Macro
        Those defined before the use.
    """
    try:
        use = _use(tokens, at, macros, frozenset(), [_LONGEST])
    except (_TooLongError, RecursionError):
        return None
    return None if use is None else ("".join(one.text for one in use[0]), use[1])


class _TooLongError(Exception):
    """Text that grows without end."""


def _trimmed(tokens: Sequence[Token]) -> tuple[Token, ...]:
    kept = list(tokens)
    while kept and kept[0].is_blank:
        del kept[0]
    while kept and kept[-1].is_blank:
        del kept[-1]
    return tuple(Token("space", " ", one.start) if one.is_blank else one for one in kept)


def _use(
    tokens: Sequence[Token],
    at: int,
    macros: Mapping[str, Macro],
    hidden: frozenset[str],
    budget: list[int],
) -> tuple[list[Token], int] | None:
    name = tokens[at].text
    macro = macros[name]
    if macro.parameters is None:
        replaced, end = list(macro.body), at + 1
    else:
        found = _arguments(tokens, at + 1)
        if found is None:
            return None
        arguments, end = _gathered(found[0], macro), found[1]
        if arguments is None:
            return None
        replaced = _substituted(macro, arguments, macros, hidden, budget)
    return _expanded(_pasted(replaced), macros, hidden | {name}, budget), end


def _expanded(
    tokens: Sequence[Token],
    macros: Mapping[str, Macro],
    hidden: frozenset[str],
    budget: list[int],
) -> list[Token]:
    result: list[Token] = []
    at = 0
    while at < len(tokens):
        one = tokens[at]
        budget[0] -= 1
        if budget[0] < 0:
            raise _TooLongError
        use = None
        if one.kind == "name" and one.text in macros and one.text not in hidden:
            use = _use(tokens, at, macros, hidden, budget)
        if use is None:
            result.append(one)
            at += 1
        else:
            result.extend(use[0])
            at = use[1]
    return result


def _arguments(tokens: Sequence[Token], at: int) -> tuple[list[list[Token]], int] | None:
    """Arguments of a use, and the index after its closing parenthesis."""
    while at < len(tokens) and tokens[at].is_blank:
        at += 1
    if at == len(tokens) or tokens[at].text != "(":
        return None
    arguments: list[list[Token]] = [[]]
    depth = 0
    for index in range(at + 1, len(tokens)):
        one = tokens[index]
        if one.text == ")" and depth == 0:
            return arguments, index + 1
        if one.text == "," and depth == 0:
            arguments.append([])
            continue
        depth += {"(": 1, ")": -1}.get(one.text, 0)
        arguments[-1].append(one)
    return None


def _gathered(arguments: list[list[Token]], macro: Macro) -> dict[str, tuple[Token, ...]] | None:
    """Arguments by parameter; None where their number does not fit."""
    names = macro.parameters or ()
    if not names:
        return {} if not _trimmed(arguments[0]) and len(arguments) == 1 else None
    if macro.variadic:
        fixed = len(names) - 1
        rest: list[Token] = []
        for index, one in enumerate(arguments[fixed:]):
            rest.extend([Token("mark", ",", 0), *one] if index else one)
        arguments = [*arguments[:fixed], rest]
    if len(arguments) != len(names):
        return None
    return {name: _trimmed(one) for name, one in zip(names, arguments, strict=True)}


def _substituted(
    macro: Macro,
    arguments: Mapping[str, tuple[Token, ...]],
    macros: Mapping[str, Macro],
    hidden: frozenset[str],
    budget: list[int],
) -> list[Token]:
    result: list[Token] = []
    body = macro.body
    for index, one in enumerate(body):
        value = arguments.get(one.text) if one.kind == "name" else None
        if value is None:
            result.append(one)
        elif _beside(body, index, -1, "#"):
            result[:] = _trimmed(result)[:-1]
            result.append(Token("string", '"' + "".join(each.text for each in value) + '"', 0))
        elif _beside(body, index, -1, "##") or _beside(body, index, 1, "##"):
            result.extend(value)
        else:
            result.extend(_expanded(value, macros, hidden, budget))
    return result


def _beside(body: Sequence[Token], index: int, step: int, mark: str) -> bool:
    index += step
    while 0 <= index < len(body) and body[index].is_blank:
        index += step
    return 0 <= index < len(body) and body[index].text == mark


def _pasted(tokens: list[Token]) -> list[Token]:
    """Without ``##``, which joins what stands on both sides of it."""
    if all(one.text != "##" for one in tokens):
        return tokens
    text = ""
    for one in tokens:
        if one.text == "##":
            text = text.rstrip() + "\0"
        else:
            text += one.text.lstrip() if text.endswith("\0") else one.text
    return list(split_tokens(text.replace("\0", "")))

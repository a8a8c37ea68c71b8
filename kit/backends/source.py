"""Prepare a unit's text for Pyccel without moving anything: every line and column stays."""

from __future__ import annotations

import ast
import re

from kit.source.lines import split_lines

__all__ = ["character_column", "with_harmless_comments", "without_keyword_only"]

# What the C preprocessor, which gfortran runs too, acts on inside comments.
_HARMFUL = re.compile(r"/\*|\*/|\\\s*$", re.MULTILINE)


def with_harmless_comments(source: str) -> str:
    """Comments and texts in the place of comments without what the C preprocessor acts on there.

    Pyccel 2.2.3 copies both into the generated code. In Fortran a backslash at the end of a
    comment makes the next statement part of it, and ``/*`` removes what follows up to ``*/``; in C
    ``*/`` ends a docstring early.

    Examples
    --------
    >>> with_harmless_comments("x = a/b  # data/*.txt")
    'x = a/b  # data/+.txt'
    """
    if not ("\\" in source or "/*" in source or "*/" in source):
        return source
    import io
    import tokenize

    try:
        tree = ast.parse(source)
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (SyntaxError, tokenize.TokenError):
        return source
    lines = split_lines(source)
    for token in tokens:
        if token.type == tokenize.COMMENT and not token.string.startswith("#$"):
            number, column = token.start[0] - 1, token.start[1]
            comment = re.sub(r"(?<=/)\*|\*(?=/)", "+", token.string)
            lines[number] = lines[number][:column] + re.sub(r"[\\\s]+$", "", comment)
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and _HARMFUL.search(node.value.value)
    ]
    for text in sorted(texts, key=lambda one: one.lineno, reverse=True):
        _empty_text(lines, text)
    return "\n".join(lines)


def without_keyword_only(source: str) -> str:
    """Blank out the bare ``*`` of each parameter list.

    Pyccel 2.2.3 compiles keyword-only parameters into functions that cannot be called: it hands
    the renamed name to Python (``end`` becomes ``end_0001`` in Fortran), and with a default beside
    one that has none, every call is a SystemError. kit passes arguments by position and binds
    keywords itself, so the compiled function need not know.

    Examples
    --------
    >>> without_keyword_only("def f(a: int, *, b: int): pass")
    'def f(a: int,    b: int): pass'
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    lines = split_lines(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.args.kwonlyargs and not node.args.vararg:
            _blank_star(lines, node)
    blanked = "\n".join(lines)
    try:
        ast.parse(blanked)
    except SyntaxError:
        # A parameter without a default now follows one with a default: leave that to Pyccel.
        return source
    return blanked


def character_column(line: str, utf8_offset: int) -> int:
    """The 1-based column of a character, from the 0-based byte offset that `ast` counts in.

    Examples
    --------
    >>> character_column("é = x", 5)
    5
    """
    return len(line.encode()[:utf8_offset].decode(errors="ignore")) + 1


def _empty_text(lines: list[str], node: ast.Constant) -> None:
    """Replace a text by one of as many empty lines, in place."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first][: character_column(lines[first], node.col_offset) - 1]
    after = lines[last][character_column(lines[last], node.end_col_offset or 0) - 1 :]
    for number in range(first, last + 1):
        lines[number] = ""
    lines[first] = before + '"""'
    lines[last] += '"""' + after


def _blank_star(lines: list[str], node: ast.FunctionDef) -> None:
    """Replace ``*,`` before the first keyword-only parameter by spaces, in place."""
    first = node.args.kwonlyargs[0]
    number = first.lineno - 1
    column = character_column(lines[number], first.col_offset) - 1
    before = lines[number][:column]
    while number >= node.lineno - 1:
        # Right to left: what precedes the parameter is ``*``, ``,``, blanks and comments only.
        code = re.sub(r"#.*", lambda match: " " * len(match[0]), before)
        star = code.rfind("*")
        if star >= 0:
            comma = code.find(",", star)
            row = lines[number]
            row = row[:star] + " " + row[star + 1 :]
            if comma >= 0:
                row = row[:comma] + " " + row[comma + 1 :]
            lines[number] = row
            return
        if "," in code:
            # The comma stands on a line of its own after the star.
            lines[number] = lines[number].replace(",", " ", 1)
        number -= 1
        before = lines[number]

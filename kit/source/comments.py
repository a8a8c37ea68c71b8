"""Answers to what is wrong before any statement is read: syntax, magics in the cell, pragmas."""

from __future__ import annotations

import io
import re
import tokenize
from typing import Final

from kit.errors import CellError
from kit.source.nearest import nearest
from kit.source.place import Source

__all__ = ["check_pragmas", "explain_syntax_error"]

# Any of these in the text makes the comments worth reading one by one.
_SUSPECT: Final = re.compile(r"#[ \t]*(?:\$|pragma\b)", re.IGNORECASE)
_PRAGMA: Final = re.compile(r"#\$[ \t]*(omp|acc|header)\b(.*)")
# A directive behind "omp" tells a pragma from prose about OpenMP.
_DIRECTIVE: Final = re.compile(
    r"#[ \t]*(?P<sign>\$|pragma)[ \t]*(?P<omp>omp)[ \t]+"
    r"(?P<rest>(?:end|parallel|for|do|simd|single|master|critical|atomic|barrier|sections?|task\w*|target|teams|distribute|flush|ordered|loop|"
    r"threadprivate|declare|cancel\w*)\b.*)",
    re.IGNORECASE,
)


_DIRECTIVES: Final = (
    *("parallel", "for", "simd", "single", "master", "critical", "atomic", "barrier", "end"),
    *("sections", "section", "task", "taskloop", "taskwait", "target", "teams", "distribute"),
    *("flush", "ordered"),
)
_EXAMPLE: Final = "#$ omp parallel for"
_OPTION: Final = "%%pyccel_kernel --openmp"


def explain_syntax_error(source: Source, error: SyntaxError) -> CellError:
    """What Python found, or what the line really is: a magic, a shell command."""
    line = error.lineno or 1
    text = source.line(line) or ""
    bare = text.strip()
    if bare.startswith(("%", "!")) or bare.endswith("?"):
        what = "shell command" if bare.startswith("!") else "magic"
        return source.error_at(
            f"a {what} inside a cell that is compiled",
            line,
            len(text) - len(text.lstrip()) + 1,
            f"{bare}  # in a cell of its own",
        )
    column = min(max(error.offset or 1, 1), len(text) + 1)
    return source.error_at(f"Python syntax error: {error.msg}", line, column)


def check_pragmas(source: Source, *, openmp: bool) -> None:
    """Refuse pragmas that would be ignored, and comments that were meant as pragmas.

    Raises
    ------
    CellError
        At the first of them.
    """
    if not _SUSPECT.search(source.text):
        return
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT and _SUSPECT.match(token.string):
            problem = _check_comment(token, openmp)
            if problem is not None:
                message, fix = problem
                raise source.error_at(message, token.start[0], token.start[1] + 1, fix)


def _check_comment(token: tokenize.TokenInfo, openmp: bool) -> tuple[str, str] | None:
    comment = token.string
    alone = not token.line[: token.start[1]].strip()
    pragma = _PRAGMA.match(comment)
    directive = _DIRECTIVE.match(comment)
    if pragma is None and directive is None:
        if comment.startswith("#$") and alone:
            return "Pyccel knows the pragmas '#$ omp', '#$ acc' and '#$ header'", _EXAMPLE
        return None
    spelled = f"#$ omp {directive['rest'].strip()}" if directive is not None else _EXAMPLE
    if pragma is None:
        return (
            "this comment is no pragma; Pyccel's start with '#$ omp', and no space before '$'",
            spelled,
        )
    if pragma[1] != "omp":
        return None
    if not alone:
        return "a pragma behind code is ignored; it stands on a line of its own", spelled
    if directive is None:
        word = pragma[2].split()[0] if pragma[2].split() else ""
        near = nearest(word, _DIRECTIVES, at_least=0.6)
        corrected = f"#$ omp {pragma[2].strip().replace(word, near, 1)}" if near else _EXAMPLE
        return f"OpenMP has no directive {word!r}", corrected
    if not openmp:
        return "an OpenMP pragma, and the cell is compiled without OpenMP", _OPTION
    return None

"""Generated Fortran, C and PTX, as a notebook shows it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, cast

from kit.errors import clean_text
from kit.show.build_text import source_html
from kit.terms import Language

__all__ = ["ShownLanguage", "SourceText", "choose_source"]

ShownLanguage = Literal["fortran", "c", "cuda", "ptx"]
"""What source text is written in, as Pygments calls it."""

_SUFFIXES: Mapping[Language, tuple[str, ...]] = {"fortran": (".f90",), "c": (".c", ".h")}
# The module's own name is new for every build, and the wrapper's header has the directory in which
# it was built; neither belongs into a notebook that is committed.
_MODULE_NAME = re.compile(r"kit_[0-9a-f]{12}_[0-9a-f]{8}", re.IGNORECASE)
_SCRATCH_PATH = re.compile(r'"/[^"\n]*/scratch/[^"\n]*"')
# Pyccel 2.2.3 names what it generates for Python's side like this.
_BINDING_MARKS = ("bind_c", "_wrapper")


class SourceText:
    """Generated source: highlighted in a notebook, plain elsewhere.

    Parameters
    ----------
    text : str
        The source.
    language : {"fortran", "c", "cuda", "ptx"}
        What it is written in.
    more : SourceText, optional
        What follows, in another language.
    """

    def __init__(self, text: str, language: ShownLanguage, more: SourceText | None = None) -> None:
        self.text = clean_text(text)
        self.language: ShownLanguage = language
        self.more = more

    def __repr__(self) -> str:
        return self.text if self.more is None else f"{self.text.rstrip()}\n\n{self.more!r}"

    def _repr_html_(self) -> str:
        page = source_html(self.text, _highlight(self.text, self.language))
        return page if self.more is None else page + self.more._repr_html_()


def choose_source(generated: Mapping[str, str], language: Language, *, everything: bool) -> str:
    """The translation; with `everything` also what binds it to Python."""
    chosen = {
        name: text
        for name, text in generated.items()
        if everything
        or (name.endswith(_SUFFIXES[language]) and not any(one in name for one in _BINDING_MARKS))
    }
    chosen = {_impersonal(name): _impersonal(text) for name, text in (chosen or generated).items()}
    if len(chosen) == 1:
        return next(iter(chosen.values()))
    mark = "!" if language == "fortran" else "//"
    return "\n".join(f"{mark} --- {name}\n{text}" for name, text in chosen.items())


def _impersonal(text: str) -> str:
    """The text as every build of the same cell would have it."""
    text = _MODULE_NAME.sub(lambda one: "KIT_CELL" if one[0].isupper() else "kit_cell", text)
    return _SCRATCH_PATH.sub('"."', text)


def _highlight(text: str, language: ShownLanguage) -> list[tuple[str, str]]:
    """Colour and text of each token; the colours keep their contrast on white and on dark."""
    from pygments import lex, lexers
    from pygments.token import Token

    colours = (
        (Token.Comment.Preproc, "#A85D99"),
        (Token.Comment, "#0B8F74"),
        (Token.Literal.String, "#D55E00"),
        (Token.Literal.Number, "#D55E00"),
        (Token.Keyword, "#1F83C6"),
    )
    # Any: Pygments leaves the types of its options open.
    name = "ptx" if language == "cuda" else language
    lexer = cast(Any, lexers).get_lexer_by_name(name, stripnl=False, ensurenl=False)
    return [
        (next((colour for token, colour in colours if kind in token), ""), piece)
        for kind, piece in lex(text, lexer)
    ]

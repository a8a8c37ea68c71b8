"""Which files of the user's a CUDA cell includes: what it depends on besides its own text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kit.errors import BuildError
from kit.store.loading import sha256_hex

__all__ = ["Include", "included_files", "includes_of", "leading_include"]

# Atomic: a comment that has ended is not tried with a later end, or headers that are full of
# comments (cooperative_groups.h and what it includes) would take minutes.
_BLANK: Final = r"(?>[ \t\f\v]|/\*.*?\*/)*+"
_DIRECTIVE: Final = re.compile(
    rf"^{_BLANK}(?:#|%:){_BLANK}include(?P<next>_next)?\b{_BLANK}(?P<what>[^\n]*)",
    re.MULTILINE | re.DOTALL,
)
_ASKED: Final = re.compile(r"\b__has_include(?:_next)?[ \t]*\([ \t]*(?P<what>[^\n]*)")
_NAMED: Final = re.compile(r'"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>')

_MOST_FILES: Final = 5000
"""Below folders of a cell that names a header by a macro; more are not read."""


class Include(NamedTuple):
    """One ``#include`` of a text.

    Parameters
    ----------
    line : int
        Where it stands, from 1.
    name : str or None
        Of the header; None where a macro names it.
    is_quoted : bool
        Whether it is in quotation marks, which look beside the including file first.
    """

    line: int
    name: str | None
    is_quoted: bool


def includes_of(text: str) -> list[Include]:
    """Every ``#include`` and ``__has_include`` of a text, also in parts that ``#if`` leaves out.

    Examples
    --------
    >>> includes_of('#include "a.cuh"\\n#if 0\\n#  include <b/c.h>\\n#endif\\n#include HEADER')
    [Include(line=1, name='a.cuh', is_quoted=True), Include(line=3, name='b/c.h', is_quoted=False),
        Include(line=5, name=None, is_quoted=False)]
    """
    text = text.replace("\r\n", "\n")
    if "include" not in text.replace("\\\n", ""):
        return []
    spliced = _spliced(text)
    found: list[Include] = []
    for pattern in (_DIRECTIVE, _ASKED):
        for match in pattern.finditer(spliced):
            line = spliced.count("\n", 0, match.start("what")) + 1
            name = _NAMED.match(match["what"])
            quoted, angled = (None, None) if name is None else (name["quoted"], name["angled"])
            found.append(Include(line, quoted or angled, quoted is not None))
    return sorted(found, key=lambda one: one.line)


def included_files(text: str, include_dirs: Sequence[str]) -> Mapping[str, str]:
    """The user's files that a cell's ``#include`` reaches, and those that these reach.

    Reads them. A header of kit's or NVIDIA's is none of them: packages are known by version.

    Parameters
    ----------
    text : str
        The cell.
    include_dirs : sequence of str
        The user's folders (absolute), in the order of the search.

    Returns
    -------
    mapping of str to str
        Path -> SHA-256 of the content. Rather more files than the compiler will read: what ``#if``
        leaves out counts, and where a macro names the header, so does every file in the folders.

    Raises
    ------
    BuildError
        A macro names a header, and the folders have too many files to take them all.

    Examples
    --------
    >>> included_files('#include <kit/index.cuh>', ())
    {}
    """
    closure = _Closure(tuple(include_dirs), guesses=True)
    closure.follow(text, None)
    return dict(sorted(closure.found.items()))


def leading_include(text: str, path: str, include_dirs: Sequence[str]) -> int | None:
    """The line of the cell whose ``#include`` led to a file, directly or by way of others.

    Parameters
    ----------
    text : str
        The cell.
    path : str
        The file, as the compiler names it.
    include_dirs : sequence of str
        All folders, those of packages too.
    """
    wanted = os.path.realpath(path)
    for one in includes_of(text):
        if one.name is None:
            continue
        closure = _Closure(tuple(include_dirs), guesses=False)
        marks = ('"', '"') if one.is_quoted else ("<", ">")
        closure.follow(f"#include {marks[0]}{one.name}{marks[1]}", None)
        if any(os.path.realpath(each) == wanted for each in closure.found):
            return one.line
    return None


class _Closure:
    """The files that were found so far; `guesses` says whether a macro may name any of them."""

    def __init__(self, include_dirs: tuple[str, ...], *, guesses: bool) -> None:
        self._dirs = include_dirs
        self._guesses = guesses
        self.found: dict[str, str] = {}

    def follow(self, text: str, directory: str | None) -> None:
        """Add what a text includes; `directory` is that of its file, None for the cell."""
        waiting = [(text, directory)]
        while waiting:
            text, directory = waiting.pop()
            for one in includes_of(text):
                for path in self._candidates(one, directory):
                    content = self._add(path)
                    if content is not None:
                        waiting.append((content, os.path.dirname(path)))  # noqa: PTH120 - a hit pays

    def _add(self, path: str) -> str | None:
        """The text of a file that is new here and can be read."""
        if path in self.found:
            return None
        try:
            content = Path(path).read_bytes()
        except OSError:  # the compiler says so, with the line
            return None
        self.found[path] = sha256_hex(content)
        return content.decode("latin-1")

    def _candidates(self, one: Include, directory: str | None) -> Iterator[str]:
        if one.name is None:
            yield from self._everything()
            return
        beside = [directory] if one.is_quoted and directory else []
        places = ["/"] if one.name[0] == "/" else [*beside, *self._dirs]
        for place in places:
            path = os.path.normpath(f"{place}/{one.name}")
            if os.path.isfile(path):  # noqa: PTH113 - as above
                # Not only the first: ``#include_next`` means the one behind it.
                yield path

    def _everything(self) -> Iterator[str]:
        if not self._guesses:
            return
        self._guesses = False  # once is enough
        count = 0
        for root in self._dirs:
            for folder, _, names in os.walk(root):
                for name in sorted(names):
                    count += 1
                    if count > _MOST_FILES:
                        raise BuildError(
                            "a macro names a header that the cell includes, so that it may be any "
                            f"file below {root}, where there are more than {_MOST_FILES}",
                            fix='#include "name.cuh"  // instead of the macro',
                        )
                    yield f"{folder}/{name}"


def _spliced(text: str) -> str:
    """The text with lines that end in a backslash joined, and as many lines as before.

    Examples
    --------
    >>> _spliced("#inc\\\\\\nlude <a>\\nb")
    '#include <a>\\n\\nb'
    """
    lines: list[str] = []
    joined, owed = "", 0
    for line in text.split("\n"):
        if line.endswith("\\"):
            joined, owed = joined + line[:-1], owed + 1
        else:
            lines += [joined + line, *[""] * owed]
            joined, owed = "", 0
    return "\n".join([*lines, *([joined] if joined else [])])

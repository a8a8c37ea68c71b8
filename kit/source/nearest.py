"""What a misspelt name was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["nearest"]


def nearest(word: str, words: Iterable[str], *, at_least: float) -> str | None:
    """The most similar of some words, or None where none is as similar as `at_least` (0 to 1).

    Examples
    --------
    >>> nearest("velocty", ["velocity", "density"], at_least=0.7)
    'velocity'
    """
    import difflib  # half a millisecond that only errors need

    found = difflib.get_close_matches(word, sorted(words), 1, at_least)
    return found[0] if found else None

"""Lines of a text as Python counts them."""

from __future__ import annotations

__all__ = ["split_lines"]


def split_lines(text: str) -> list[str]:
    """The lines without their ends; the text behind the last end is one, too, if it is empty.

    `str.splitlines` would also break at form feeds, U+2028 and other separators, which neither
    `ast` nor Pyccel count.

    Examples
    --------
    >>> split_lines("a\\r\\nb\\x0cc\\n")
    ['a', 'b\\x0cc', '']
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

"""Sizes as text."""

from __future__ import annotations

__all__ = ["bytes_text"]


def bytes_text(size: int) -> str:
    """A size for people; units are powers of 1024.

    Examples
    --------
    >>> bytes_text(0), bytes_text(1536), bytes_text(3 * 1024**3)
    ('0 B', '1.5 KiB', '3 GiB')
    """
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} {unit}" if value >= 10 or value == int(value) else f"{value:.1f} {unit}"

"""Check decoded JSON that another process sent: exactly what was agreed on, or BuildError."""

from __future__ import annotations

from dataclasses import fields
from typing import cast

from kit.errors import BuildError

__all__ = [
    "flag_of",
    "list_of",
    "malformed",
    "object_of",
    "optional_text_of",
    "position_of",
    "seconds_of",
    "text_map_of",
    "text_of",
    "texts_of",
]


def malformed(what: str) -> BuildError:
    """The error of a message that does not fit the protocol."""
    return BuildError(
        f"the compile worker's message does not fit the protocol: {what}",
        fix="run the cell again: it gets a fresh worker",
    )


def object_of(value: object, cls: type, what: str) -> dict[str, object]:
    """Exactly the fields of `cls`: an unknown one is as wrong as a missing one."""
    if not isinstance(value, dict):
        raise malformed(f"{what} is no object")
    items = cast("dict[str, object]", value)
    expected = {item.name for item in fields(cls)}
    if items.keys() != expected:
        raise malformed(f"{what} has fields {sorted(items)}, not {sorted(expected)}")
    return items


def text_of(value: object, what: str) -> str:
    """`value` if it is text; BuildError otherwise, as for all below."""
    if not isinstance(value, str):
        raise malformed(f"{what} is no text")
    return value


def optional_text_of(value: object, what: str) -> str | None:
    """Text or None."""
    return None if value is None else text_of(value, what)


def flag_of(value: object, what: str) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise malformed(f"{what} is neither true nor false")
    return value


def position_of(value: object, what: str) -> int | None:
    """A line or column, from 1 on, or None."""
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise malformed(f"{what} is no position")
    return value


def list_of(value: object, what: str) -> list[object]:
    """A list of anything."""
    if not isinstance(value, list):
        raise malformed(f"{what} is no list")
    return cast("list[object]", value)


def texts_of(value: object, what: str) -> tuple[str, ...]:
    """A list of texts, as a tuple."""
    return tuple(text_of(one, what) for one in list_of(value, what))


def text_map_of(value: object, what: str) -> dict[str, str]:
    """An object of texts."""
    if not isinstance(value, dict):
        raise malformed(f"{what} is no object")
    items = cast("dict[str, object]", value)
    return {key: text_of(text, what) for key, text in items.items()}


def seconds_of(value: object, what: str) -> dict[str, float]:
    """An object of numbers."""
    if not isinstance(value, dict):
        raise malformed(f"{what} is no object")
    checked: dict[str, float] = {}
    for key, number in cast("dict[str, object]", value).items():
        if not isinstance(number, (int, float)) or isinstance(number, bool):
            raise malformed(f"{what} of {key} is no number")
        checked[key] = float(number)
    return checked

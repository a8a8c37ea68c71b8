"""Keys of builds, and the names that are made from them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from kit.store.entry import is_hexadecimal
from kit.store.loading import sha256_hex

__all__ = ["check_key", "digest", "unique_module_name"]


def digest(parts: Mapping[str, str]) -> str:
    """The key of what `parts` say; the order in which they are given does not matter.

    Examples
    --------
    >>> digest({"source": "x", "flags": "-O3"}) == digest({"flags": "-O3", "source": "x"})
    True
    >>> digest({"a": "bc"}) == digest({"ab": "c"})
    False
    """
    # ASCII, because a source may hold lone surrogates and those have no UTF-8.
    import json

    text = json.dumps(dict(parts), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return sha256_hex(text.encode("ascii"))


def unique_module_name(key: str) -> str:
    """A new name for the module of one build of `key`.

    A process that has loaded a library keeps running it when another comes under its name.

    Examples
    --------
    >>> unique_module_name("0123456789abcdef") != unique_module_name("0123456789abcdef")
    True
    """
    return f"kit_{key[:12]}_{os.urandom(4).hex()}"


def check_key(key: str) -> None:
    """Raise ValueError unless this is what `digest` gives."""
    if not is_hexadecimal(key, length=64):  # file names are made from it
        raise ValueError(f"a key is what digest() gives, not {key!r}")

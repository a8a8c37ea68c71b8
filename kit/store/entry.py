"""What the artifact store knows about one build, and its form on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

__all__ = ["JSON", "Built", "Entry", "Problem", "format_entry", "is_hexadecimal", "parse_entry"]

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
"""What metadata may hold; nothing in the store is ever unpickled."""

_HEXADECIMAL = frozenset("0123456789abcdef")


class Built(NamedTuple):
    """What a builder hands to the store.

    Parameters
    ----------
    artifact : Path
        The compiled extension module, a regular file in the scratch directory.
    module_name : str
        Name that it was compiled under; must be new for every build (`unique_module_name`).
    meta : mapping
        Anything that JSON can say. ``meta["files"]`` maps the paths of the files that the build
        read to their SHA-256; when one has changed, the entry is a miss.
    """

    artifact: Path
    module_name: str
    meta: Mapping[str, JSON]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One published build.

    Parameters
    ----------
    key : str
        What it was built from, as `digest` gives it.
    artifact : Path
        The extension module in the store.
    module_name : str
        Name that it was compiled under.
    sha256 : str
        Of the artifact's content.
    artifact_bytes : int
        Its size [bytes].
    meta : mapping
        As the builder gave it.
    last_used : float
        Time of the last use, exact to an hour [s since the epoch].
    """

    key: str
    artifact: Path
    module_name: str
    sha256: str
    artifact_bytes: int
    meta: Mapping[str, JSON] = field(hash=False)
    last_used: float = field(default=0.0, compare=False)

    @property
    def files(self) -> Mapping[str, str]:
        """The files that the build read, with the SHA-256 of each."""
        return cast("Mapping[str, str]", self.meta.get("files", {}))


class Problem(NamedTuple):
    """Something in the store that is not as it was published.

    Parameters
    ----------
    name : str
        The entry's key, or the name of the file.
    text : str
        What is wrong with it.
    """

    name: str
    text: str


def is_hexadecimal(value: object, *, length: int) -> bool:
    """Whether `value` is text of so many lower-case hexadecimal digits."""
    return isinstance(value, str) and len(value) == length and _HEXADECIMAL.issuperset(value)


def format_entry(entry: Entry) -> bytes:
    """The text of an entry on disk.

    Raises
    ------
    TypeError, ValueError
        If `entry.meta` is not JSON, or a name in it cannot be used.
    """
    document = {
        "key": entry.key,
        "object": entry.artifact.name,
        "module_name": entry.module_name,
        "sha256": entry.sha256,
        "artifact_bytes": entry.artifact_bytes,
        "meta": entry.meta,
    }
    _check(cast("dict[str, object]", document), entry.key)
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()


def parse_entry(content: bytes, *, key: str, objects: Path, last_used: float = 0.0) -> Entry | None:
    """The entry that a file holds; None for anything that `format_entry` did not write."""
    try:
        document = cast("dict[str, object]", json.loads(content))
        _check(document, key)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return Entry(
        key=key,
        artifact=objects / cast(str, document["object"]),
        module_name=cast(str, document["module_name"]),
        sha256=cast(str, document["sha256"]),
        artifact_bytes=cast(int, document["artifact_bytes"]),
        meta=cast("Mapping[str, JSON]", document["meta"]),
        last_used=last_used,
    )


def _check(document: Mapping[str, object], key: str) -> None:
    """Raise ValueError, TypeError or KeyError unless this is a whole entry for `key`."""
    meta = document["meta"]
    if document["key"] != key or not isinstance(document["artifact_bytes"], int):
        raise ValueError("no entry for this key")
    module_name, file_name = document["module_name"], document["object"]
    if not (isinstance(module_name, str) and module_name.isascii() and module_name.isidentifier()):
        raise ValueError("module_name must be an ASCII identifier")
    if not (isinstance(file_name, str) and file_name.startswith(module_name + ".")):
        raise ValueError("the object's name must be that of the module and a suffix")
    if "/" in file_name or "\0" in file_name:
        raise ValueError("the object's name must be a plain file name")
    if not is_hexadecimal(document["sha256"], length=64):
        raise ValueError("sha256 must be 64 hexadecimal digits")
    if not isinstance(meta, Mapping):
        raise TypeError("meta must be a mapping")
    files = cast("Mapping[str, object]", meta).get("files", {})
    if not isinstance(files, Mapping):
        raise TypeError('meta["files"] must be a mapping')
    for path, sha256 in cast("Mapping[str, str]", files).items():
        if not is_hexadecimal(sha256, length=64) or "\0" in path:
            raise ValueError('meta["files"] must map paths to SHA-256')

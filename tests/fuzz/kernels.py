"""What a kernel under test is: its slots, its source, and the pieces that sources are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

Family = Literal["small", "full"]
REQUIRED: Final = object()
"""The default of a parameter that has none."""

DTYPES: Final = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "float32",
    "float64",
    "complex64",
    "complex128",
)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One type that a parameter may have.

    Parameters
    ----------
    dtype : str
        Of the elements, or as a scalar is spelled: "int" is Python's, "int64" NumPy's.
    rank : int
        0 for scalars.
    order : {"C", "F"}
        Declared order.
    """

    dtype: str
    rank: int = 0
    order: str = "C"

    @property
    def text(self) -> str:
        """The annotation."""
        axes = f"[{','.join(':' * self.rank)}]" if self.rank else ""
        return f"{self.dtype}{axes}" + ("(order=F)" if self.rank > 1 and self.order == "F" else "")


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One parameter, as the oracle knows it."""

    name: str
    kinds: tuple[Kind, ...]
    written: bool = False
    default: Any = REQUIRED
    keyword_only: bool = False
    tied: bool = False
    """Whether a TypeVar ties it to the other tied parameters."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One kernel: its slots, its source, and how its arrays' shapes hang together.

    Parameters
    ----------
    shapes : {"free", "equal", "rows"}
        Whether arrays have shapes of their own, one shape, or are matrices beside one row.
    """

    name: str
    slots: tuple[Slot, ...]
    source: str
    shapes: Literal["free", "equal", "rows"] = "free"
    overwrites: bool = False
    """Whether every written element is overwritten, unread."""
    group: Literal["one", "pair", "scalar", "several"] = "one"


def write_head(name: str, slots: tuple[Slot, ...], returns: str = "") -> str:
    texts: list[str] = []
    for slot in slots:
        if slot.keyword_only and "*" not in texts:
            texts.append("*")
        annotation = "'T'" if slot.tied else f"'{' | '.join(one.text for one in slot.kinds)}'"
        default = "" if slot.default is REQUIRED else f" = {slot.default!r}"
        texts.append(f"{slot.name}: {annotation}{default}")
    return f"def {name}({', '.join(texts)}){f' -> {returns!r}' if returns else ''}:\n"


def write_loops(rank: int, array: str, *body: str) -> str:
    lines = ["    k = 0"]
    lines += [
        "    " * (axis + 1) + f"for i{axis} in range({array}.shape[{axis}]):"
        for axis in range(rank)
    ]
    lines += ["    " * (rank + 1) + line for line in ("k += 1", *body)]
    return "\n".join(lines) + "\n"


def write_element(array: str, rank: int) -> str:
    return f"{array}[{', '.join(f'i{axis}' for axis in range(rank))}]"

"""The kernels that are called with hostile arguments, and what each of them declares.

Every kernel weighs what it reads by the place that it reads it from, so that a value from the wrong
place changes what comes out. Two lists say the same in different words: the source, which kit reads
and compiles, and the slots, which the oracle reads. Data are small whole numbers, so that float32
holds every result exactly.

Left out, because Pyccel 2.2.3 cannot compile them: unsigned and half-precision arrays, arrays of
``str``, and defaults of arrays other than None.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
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


def _head(name: str, slots: tuple[Slot, ...], returns: str = "") -> str:
    texts: list[str] = []
    for slot in slots:
        if slot.keyword_only and "*" not in texts:
            texts.append("*")
        annotation = "'T'" if slot.tied else f"'{' | '.join(one.text for one in slot.kinds)}'"
        default = "" if slot.default is REQUIRED else f" = {slot.default!r}"
        texts.append(f"{slot.name}: {annotation}{default}")
    return f"def {name}({', '.join(texts)}){f' -> {returns!r}' if returns else ''}:\n"


def _loops(rank: int, array: str, *body: str) -> str:
    lines = ["    k = 0"]
    lines += [
        "    " * (axis + 1) + f"for i{axis} in range({array}.shape[{axis}]):"
        for axis in range(rank)
    ]
    lines += ["    " * (rank + 1) + line for line in ("k += 1", *body)]
    return "\n".join(lines) + "\n"


def _at(array: str, rank: int) -> str:
    return f"{array}[{', '.join(f'i{axis}' for axis in range(rank))}]"


def _as_float(element: str, dtype: str) -> str:
    if dtype == "bool":
        return f"(1.0 if {element} else 0.5)"
    if dtype.startswith("complex"):
        return f"(float({element}.real) - 2.0 * float({element}.imag))"
    return f"float({element})"


def _changed(element: str, dtype: str) -> str:
    if dtype == "bool":
        return f"{element} = (not {element}) if k % 3 != 0 else {element}"
    return f"{element} = {element} + (k % 7 + 1)"


def _fold(kind: Kind) -> Subject:
    name = f"fold_{kind.dtype}_{kind.rank}{kind.order}"
    slots = (Slot(name="x", kinds=(kind,)),)
    element = _as_float(_at("x", kind.rank), kind.dtype)
    body = _loops(kind.rank, "x", f"total += {element} * k")
    source = f"{_head(name, slots, 'float')}    total = 0.0\n{body}    return total\n"
    return Subject(name=name, slots=slots, source=source)


def _bump(kind: Kind) -> Subject:
    name = f"bump_{kind.dtype}_{kind.rank}{kind.order}"
    slots = (Slot(name="x", kinds=(kind,), written=True),)
    body = _loops(kind.rank, "x", _changed(_at("x", kind.rank), kind.dtype))
    return Subject(name=name, slots=slots, source=_head(name, slots) + body)


def _into(x: Kind, y: Kind) -> Subject:
    name = f"into_{x.dtype}_{x.order}_{y.dtype}_{y.rank}{y.order}"
    slots = (Slot(name="x", kinds=(x,)), Slot(name="y", kinds=(y,), written=True))
    source, target = _at("x", x.rank), _at("y", x.rank)
    # Each element of y depends on one of x that lies elsewhere: at the mirrored first index.
    mirrored = source.replace("[i0", "[x.shape[0] - 1 - i0", 1)
    write = f"{target} = {mirrored}" if y.dtype == "bool" else f"{target} = {mirrored} + k % 5"
    body = _loops(x.rank, "y", write)
    source = _head(name, slots) + body
    return Subject(
        name=name, slots=slots, source=source, shapes="equal", overwrites=True, group="pair"
    )


def _rim(kind: Kind) -> Subject:
    """A stencil: what is not written must survive."""
    name = f"rim_{kind.rank}{kind.order}"
    slots = (Slot(name="x", kinds=(kind,)), Slot(name="y", kinds=(kind,), written=True))
    inner = _at("x", kind.rank).replace("[i0", "[i0 - 1", 1)
    body = _loops(kind.rank, "y", f"{_at('y', kind.rank)} = {inner} + k % 5")
    body = re.sub(r"range\((.*)\):", r"range(1, \1 - 1):", body)
    source = _head(name, slots) + body
    return Subject(name=name, slots=slots, source=source, shapes="equal", group="pair")


def _returned(kind: Kind) -> Subject:
    name = f"returned_{kind.rank}{kind.order}"
    slots = (Slot(name="x", kinds=(kind,)),)
    source = _head(name, slots) + "    return x * 2.0\n"
    return Subject(name=name, slots=slots, source=source)


def _both(kind: Kind) -> Subject:
    name = f"both_{kind.dtype}_{kind.rank}{kind.order}"
    slots = tuple(Slot(name=one, kinds=(kind,), written=True) for one in "xy")
    x, y = _at("x", kind.rank), _at("y", kind.rank)
    body = _loops(kind.rank, "x", f"{x} = {x} + 1", f"{y} = {y} + {x}")
    source = _head(name, slots) + body
    return Subject(name=name, slots=slots, source=source, shapes="equal", group="pair")


def _echo(dtype: str) -> Subject:
    slots = (Slot(name="a", kinds=(Kind(dtype=dtype),)),)
    source = _head(f"echo_{dtype}", slots, dtype) + "    return a\n"
    return Subject(name=f"echo_{dtype}", slots=slots, source=source, group="scalar")


def _arrays(names: str, kind: Kind, written: str = "") -> tuple[Slot, ...]:
    return tuple(Slot(name=one, kinds=(kind,), written=one in written) for one in names)


def _several() -> Iterator[Subject]:
    line, plane = Kind(dtype="float64", rank=1), Kind(dtype="float64", rank=2)
    fortran = Kind(dtype="float64", rank=2, order="F")
    number, count = Kind(dtype="float"), Kind(dtype="int")
    slots = (
        *_arrays("xyz", line, "z"),
        Slot(name="a", kinds=(number,)),
        Slot(name="n", kinds=(count,)),
    )
    body = _loops(1, "z", "z[i0] = x[i0] * a + y[z.shape[0] - 1 - i0] + n * k")
    source = _head("three", slots) + body
    yield Subject(name="three", slots=slots, source=source, shapes="equal", group="several")

    slots = _arrays("abcdefgh", line, "bh")
    update = "h[i0] = h[i0] + a[i0] + 2 * c[i0] + 3 * d[i0] + 4 * e[i0] + 5 * f[i0] + 6 * g[i0]"
    source = _head("eight", slots) + _loops(1, "h", update, "b[i0] = b[i0] + k")
    yield Subject(name="eight", slots=slots, source=source, shapes="equal", group="several")

    slots = (
        Slot(name="x", kinds=(plane,)),
        Slot(name="y", kinds=(fortran,), written=True),
        Slot(name="w", kinds=(line,)),
        Slot(name="n", kinds=(Kind(dtype="int32"),)),
    )
    source = _head("rows", slots, "int32") + _loops(2, "y", "y[i0, i1] = x[i0, i1] + w[i1] * n + k")
    source += "    return n\n"
    yield Subject(name="rows", slots=slots, source=source, shapes="rows", group="several")


def _spellings() -> Iterator[Subject]:
    """Optional arguments, defaults, keyword-only parameters, unions and type variables."""
    line = Kind(dtype="float64", rank=1)
    single = Kind(dtype="float32", rank=1)
    count, number = Kind(dtype="int"), Kind(dtype="float")
    slots = (
        Slot(name="n", kinds=(count,)),
        Slot(name="x", kinds=(line,), default=None),
        Slot(name="y", kinds=(line,), default=None, written=True),
    )
    source = _head("maybe", slots, "float") + (
        "    total = 1.0 * n\n    if x is not None:\n"
        "        for i in range(x.shape[0]):\n            total += x[i] * (i + 1)\n"
        "    if y is not None:\n"
        "        for i in range(y.shape[0]):\n            y[i] = y[i] + n\n    return total\n"
    )
    yield Subject(name="maybe", slots=slots, source=source, group="several")
    slots = (
        Slot(name="x", kinds=(line,), written=True),
        Slot(name="f", kinds=(number,), default=2),
        Slot(name="m", kinds=(Kind(dtype="int32"),), default=3),
        Slot(name="b", kinds=(Kind(dtype="bool"),), default=True),
        Slot(name="z", kinds=(Kind(dtype="complex"),), default=1j, keyword_only=True),
        Slot(name="n", kinds=(count,), keyword_only=True),
    )
    source = _head("named", slots, "float") + _loops(
        1, "x", "x[i0] = x[i0] * f + m * k + n + (z.imag if b else z.real)"
    )
    yield Subject(name="named", slots=slots, source=source + "    return f\n", group="several")
    slots = (
        Slot(name="x", kinds=(line, single), written=True),
        Slot(name="n", kinds=(count,)),
    )
    source = _head("either", slots) + _loops(1, "x", "x[i0] = x[i0] + n * k")
    yield Subject(name="either", slots=slots, source=source, group="several")
    slots = tuple(
        Slot(name=one, kinds=(line, single), written=one == "y", tied=True) for one in "xy"
    )
    source = _head("tied", slots) + _loops(1, "y", "y[i0] = x[y.shape[0] - 1 - i0] + k")
    yield Subject(name="tied", slots=slots, source=source, shapes="equal", group="several")
    slots = (
        Slot(name="n", kinds=(count, number)),
        Slot(name="s", kinds=(Kind(dtype="str"),)),
    )
    source = _head("count", slots, "float") + "    return n * 2.0 + len(s)\n"
    yield Subject(name="count", slots=slots, source=source, group="scalar")


def _kinds(family: Family) -> Iterator[Kind]:
    """What is folded and bumped."""
    for dtype in DTYPES:
        for rank in range(1, 6):
            for order in "CF" if rank > 1 else "C":
                usual = dtype == "float64" or (rank < 3 and order == "C")
                if family == "full" or usual:
                    yield Kind(dtype=dtype, rank=rank, order=order)


def subjects(family: Family) -> tuple[Subject, ...]:
    """All kernels of a family, in a fixed order."""
    kinds = list(_kinds(family))
    found = [make(kind) for kind in kinds for make in (_fold, _bump)]
    for rank in range(1, 6 if family == "full" else 4):
        for order in "CF" if rank > 1 else "C":
            kind = Kind(dtype="float64", rank=rank, order=order)
            found.append(_into(kind, kind))
    pairs = [("bool", "bool"), ("int8", "int8"), ("complex128", "complex128")]
    pairs += [("int32", "float64"), ("int64", "float64"), ("float32", "float64")]
    for first, second in pairs if family == "full" else pairs[1:4]:
        found.append(_into(Kind(dtype=first, rank=1), Kind(dtype=second, rank=1)))
    plane = [Kind(dtype="float64", rank=2, order=order) for order in "CF"]
    found += [_into(plane[0], plane[1]), _into(plane[1], plane[0])]
    line = Kind(dtype="float64", rank=1)
    found += [_both(line), _both(plane[1]), *map(_rim, [line, *plane]), *map(_returned, plane)]
    found += [_echo(one) for one in ("int", "float", "complex", *DTYPES)]
    return (*found, *_several(), *_spellings())


SHARES: Final = {"one": 0.48, "pair": 0.26, "scalar": 0.08, "several": 0.18}
"""How the cases are shared among the groups, whatever the family has of each."""


def case_weights(family: Sequence[Subject]) -> list[float]:
    """How often each subject is drawn."""
    sizes = Counter(one.group for one in family)
    return [SHARES[one.group] / sizes[one.group] for one in family]


def cell_source(family: Family) -> str:
    """The text that is compiled."""
    head = "from typing import TypeVar\n\nT = TypeVar('T', 'float64[:]', 'float32[:]')\n\n"
    return head + "\n".join(one.source for one in subjects(family))

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
from typing import Final

from tests.fuzz.kernels import (
    DTYPES,
    Family,
    Kind,
    Slot,
    Subject,
    write_element,
    write_head,
    write_loops,
)
from tests.fuzz.subjects_mixed import several, spellings


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
    element = _as_float(write_element("x", kind.rank), kind.dtype)
    body = write_loops(kind.rank, "x", f"total += {element} * k")
    source = f"{write_head(name, slots, 'float')}    total = 0.0\n{body}    return total\n"
    return Subject(name=name, slots=slots, source=source)


def _bump(kind: Kind) -> Subject:
    name = f"bump_{kind.dtype}_{kind.rank}{kind.order}"
    slots = (Slot(name="x", kinds=(kind,), written=True),)
    body = write_loops(kind.rank, "x", _changed(write_element("x", kind.rank), kind.dtype))
    return Subject(name=name, slots=slots, source=write_head(name, slots) + body)


def _into(x: Kind, y: Kind) -> Subject:
    name = f"into_{x.dtype}_{x.order}_{y.dtype}_{y.rank}{y.order}"
    slots = (Slot(name="x", kinds=(x,)), Slot(name="y", kinds=(y,), written=True))
    source, target = write_element("x", x.rank), write_element("y", x.rank)
    # Each element of y depends on one of x that lies elsewhere: at the mirrored first index.
    mirrored = source.replace("[i0", "[x.shape[0] - 1 - i0", 1)
    write = f"{target} = {mirrored}" if y.dtype == "bool" else f"{target} = {mirrored} + k % 5"
    body = write_loops(x.rank, "y", write)
    source = write_head(name, slots) + body
    return Subject(
        name=name, slots=slots, source=source, shapes="equal", overwrites=True, group="pair"
    )


def _rim(kind: Kind) -> Subject:
    """A stencil: what is not written must survive."""
    name = f"rim_{kind.rank}{kind.order}"
    slots = (Slot(name="x", kinds=(kind,)), Slot(name="y", kinds=(kind,), written=True))
    inner = write_element("x", kind.rank).replace("[i0", "[i0 - 1", 1)
    body = write_loops(kind.rank, "y", f"{write_element('y', kind.rank)} = {inner} + k % 5")
    body = re.sub(r"range\((.*)\):", r"range(1, \1 - 1):", body)
    source = write_head(name, slots) + body
    return Subject(name=name, slots=slots, source=source, shapes="equal", group="pair")


def _returned(kind: Kind) -> Subject:
    name = f"returned_{kind.rank}{kind.order}"
    slots = (Slot(name="x", kinds=(kind,)),)
    source = write_head(name, slots) + "    return x * 2.0\n"
    return Subject(name=name, slots=slots, source=source)


def _both(kind: Kind) -> Subject:
    name = f"both_{kind.dtype}_{kind.rank}{kind.order}"
    slots = tuple(Slot(name=one, kinds=(kind,), written=True) for one in "xy")
    x, y = write_element("x", kind.rank), write_element("y", kind.rank)
    body = write_loops(kind.rank, "x", f"{x} = {x} + 1", f"{y} = {y} + {x}")
    source = write_head(name, slots) + body
    return Subject(name=name, slots=slots, source=source, shapes="equal", group="pair")


def _echo(dtype: str) -> Subject:
    slots = (Slot(name="a", kinds=(Kind(dtype=dtype),)),)
    source = write_head(f"echo_{dtype}", slots, dtype) + "    return a\n"
    return Subject(name=f"echo_{dtype}", slots=slots, source=source, group="scalar")


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
    return (*found, *several(), *spellings())


SHARES: Final = {"one": 0.38, "pair": 0.26, "scalar": 0.12, "several": 0.24}
"""How the cases are shared among the groups, whatever the family has of each."""


def case_weights(family: Sequence[Subject]) -> list[float]:
    """How often each subject is drawn."""
    sizes = Counter(one.group for one in family)
    return [SHARES[one.group] / sizes[one.group] for one in family]


def cell_source(family: Family) -> str:
    """The text that is compiled."""
    head = "from typing import TypeVar\n\nT = TypeVar('T', 'float64[:]', 'float32[:]')\n\n"
    return head + "\n".join(one.source for one in subjects(family))

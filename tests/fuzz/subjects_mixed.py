"""Kernels of several arrays and scalars, and every way to spell a parameter."""

from __future__ import annotations

from collections.abc import Iterator

from tests.fuzz.kernels import (
    Kind,
    Slot,
    Subject,
    write_head,
    write_loops,
)


def _arrays(names: str, kind: Kind, written: str = "") -> tuple[Slot, ...]:
    return tuple(Slot(name=one, kinds=(kind,), written=one in written) for one in names)


def several() -> Iterator[Subject]:
    line, plane = Kind(dtype="float64", rank=1), Kind(dtype="float64", rank=2)
    fortran = Kind(dtype="float64", rank=2, order="F")
    number, count = Kind(dtype="float"), Kind(dtype="int")
    slots = (
        *_arrays("xyz", line, "z"),
        Slot(name="a", kinds=(number,)),
        Slot(name="n", kinds=(count,)),
    )
    body = write_loops(1, "z", "z[i0] = x[i0] * a + y[z.shape[0] - 1 - i0] + n * k")
    source = write_head("three", slots) + body
    yield Subject(name="three", slots=slots, source=source, shapes="equal", group="several")

    slots = _arrays("abcdefgh", line, "bh")
    update = "h[i0] = h[i0] + a[i0] + 2 * c[i0] + 3 * d[i0] + 4 * e[i0] + 5 * f[i0] + 6 * g[i0]"
    source = write_head("eight", slots) + write_loops(1, "h", update, "b[i0] = b[i0] + k")
    yield Subject(name="eight", slots=slots, source=source, shapes="equal", group="several")

    slots = (
        Slot(name="x", kinds=(plane,)),
        Slot(name="y", kinds=(fortran,), written=True),
        Slot(name="w", kinds=(line,)),
        Slot(name="n", kinds=(Kind(dtype="int32"),)),
    )
    source = write_head("rows", slots, "int32") + write_loops(
        2, "y", "y[i0, i1] = x[i0, i1] + w[i1] * n + k"
    )
    source += "    return n\n"
    yield Subject(name="rows", slots=slots, source=source, shapes="rows", group="several")


def spellings() -> Iterator[Subject]:
    """Optional arguments, defaults, keyword-only parameters, unions and type variables."""
    line = Kind(dtype="float64", rank=1)
    single = Kind(dtype="float32", rank=1)
    count, number = Kind(dtype="int"), Kind(dtype="float")
    slots = (
        Slot(name="n", kinds=(count,)),
        Slot(name="x", kinds=(line,), default=None),
        Slot(name="y", kinds=(line,), default=None, written=True),
    )
    source = write_head("maybe", slots, "float") + (
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
    source = write_head("named", slots, "float") + write_loops(
        1, "x", "x[i0] = x[i0] * f + m * k + n + (z.imag if b else z.real)"
    )
    yield Subject(name="named", slots=slots, source=source + "    return f\n", group="several")
    slots = (
        Slot(name="x", kinds=(line, single), written=True),
        Slot(name="n", kinds=(count,)),
    )
    source = write_head("either", slots) + write_loops(1, "x", "x[i0] = x[i0] + n * k")
    yield Subject(name="either", slots=slots, source=source, group="several")
    slots = tuple(
        Slot(name=one, kinds=(line, single), written=one == "y", tied=True) for one in "xy"
    )
    source = write_head("tied", slots) + write_loops(1, "y", "y[i0] = x[y.shape[0] - 1 - i0] + k")
    yield Subject(name="tied", slots=slots, source=source, shapes="equal", group="several")
    slots = (
        Slot(name="n", kinds=(count, number)),
        Slot(name="s", kinds=(Kind(dtype="str"),)),
    )
    source = write_head("count", slots, "float") + "    return n * 2.0 + len(s)\n"
    yield Subject(name="count", slots=slots, source=source, group="scalar")

"""What a build says about itself, as text, from plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kit.errors import clean_text
from kit.show.escaped import escaped
from kit.show.sizes import bytes_text

__all__ = [
    "cache_table",
    "detail_lines",
    "few_names",
    "kernel_line",
    "source_html",
    "summary_lines",
]

_SHOWN = 12
"""Kernels that a summary names before it only counts them."""


def kernel_line(
    name: str,
    parameters: Sequence[tuple[str, str]],
    *,
    language: str,
    returns: str | None = None,
) -> str:
    """One kernel in one line: how it is called, and what it writes.

    Parameters
    ----------
    name : str
        The kernel.
    parameters : sequence of (str, str)
        Name and intent ("in", "inout", "out") of each parameter.
    language : str
        What it was compiled through.
    returns : str or None
        The return annotation, or words for what is returned.

    Examples
    --------
    >>> kernel_line("slope", [("z", "in"), ("out", "inout")], language="fortran")
    'slope(z, out): fortran, writes out'
    >>> kernel_line("step", [("x", "inout"), ("v", "inout")], language="c", returns="float")
    'step(x, v): c, writes x and v, returns float'
    """
    parts = [language]
    written = [one for one, intent in parameters if intent == "inout"]
    overwritten = [one for one, intent in parameters if intent == "out"]
    if written:
        parts.append(f"writes {_listed(written)}")
    if overwritten:
        parts.append(f"overwrites {_listed(overwritten)}")
    if returns is not None and returns != "None":
        parts.append("returns " + returns.strip("'\""))
    if len(parts) == 1:
        parts.append("writes nothing")
    return clean_text(f"{name}({', '.join(one for one, _ in parameters)}): {', '.join(parts)}")


def few_names(names: Sequence[str]) -> str:
    """The first names of many.

    Examples
    --------
    >>> few_names(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _listed(names: Sequence[str]) -> str:
    """Names as in a sentence: "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def summary_lines(kernels: Sequence[str], classes: Sequence[str], gone: Sequence[str]) -> list[str]:
    """What a cell bound, and which names it no longer defines; the same for a hit and a build.

    Parameters
    ----------
    kernels : sequence of str
        A `kernel_line` for each kernel.
    classes : sequence of str
        Names of compiled classes.
    gone : sequence of str
        Names that an earlier version of the cell bound, now unbound.
    """
    lines = list(kernels[:_SHOWN])
    if len(kernels) > _SHOWN:
        lines.append(f"... and {len(kernels) - _SHOWN} more kernels")
    lines += [clean_text(f"class {name}") for name in classes]
    lines += [clean_text(f"{name}: unbound, the cell no longer defines it") for name in gone]
    return lines


def detail_lines(
    *,
    reason: str,
    seconds: Mapping[str, float],
    compiler: str,
    flags: Sequence[str],
    key: str,
    artifact_bytes: int,
    warnings: Sequence[str],
    stable: bool,
) -> list[str]:
    """What ``-v`` adds; without whatever differs between two runs or machines when `stable`."""
    lines = [f"  flags: {' '.join(flags) or 'none'}"]
    if not stable:
        stages = ", ".join(f"{name} {one:.2f} s" for name, one in seconds.items())
        origin = reason if reason.startswith("built") else f"from: {reason}"
        lines.append(f"  {origin}" + (f" ({stages})" if stages else ""))
        lines.append(f"  compiler: {compiler}" if compiler else "  compiler: not recorded")
        lines.append(f"  artifact: {bytes_text(artifact_bytes)}, key {key[:12]}")
    lines += [f"  warning: {one}" for one in warnings]
    return [clean_text(one) for one in lines]


def cache_table(rows: Sequence[tuple[str, str, int]]) -> str:
    """The store as a table.

    Parameters
    ----------
    rows : sequence of (str, str, int)
        Key, what was compiled, and size [bytes].

    Examples
    --------
    >>> print(cache_table([("0123456789abcdef", "slope (fortran)", 20480)]))
    key           size    kernels
    0123456789ab  20 KiB  slope (fortran)
    """
    if not rows:
        return "the store is empty"
    sizes = [bytes_text(size) for _, _, size in rows]
    width = max(4, *map(len, sizes))
    lines = [f"{'key':<12}  {'size':<{width}}  kernels"]
    lines += [
        f"{key[:12]:<12}  {size:<{width}}  {clean_text(label)}"
        for (key, label, _), size in zip(rows, sizes, strict=True)
    ]
    return "\n".join(lines)


def source_html(text: str, tokens: Sequence[tuple[str, str]] | None = None) -> str:
    """Source text for a notebook, escaped; readable on light and dark backgrounds.

    Parameters
    ----------
    text : str
        The source.
    tokens : sequence of (str, str), optional
        CSS colour ("" for the surrounding one) and text of each piece, which together are `text`.
    """
    pieces = tokens if tokens is not None else [("", text)]
    body = "".join(
        f'<span style="color:{escaped(colour)}">{escaped(piece)}</span>'
        if colour
        else escaped(piece)
        for colour, piece in pieces
    )
    return f'<pre class="kit-source" style="white-space:pre;overflow-x:auto">{body}</pre>'

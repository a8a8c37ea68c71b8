"""A call plan as text and as an HTML table; takes plain mappings only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kit.errors import clean_text, one_line
from kit.show.escaped import escaped
from kit.show.sizes import bytes_text

__all__ = ["plan_html", "plan_text"]

_COLUMNS: Final = ("argument", "intent", "declared", "passed", "action", "copies", "reason")

_PLACES: Final = {
    "host": "on the host",
    "python": "uncompiled, in Python",
    "device": "on the device",
    "emulator": "in the emulator",
}


def plan_text(kernel: str, target: str, rows: Sequence[Mapping[str, str]]) -> str:
    """The plan as an aligned table, with the fix of the first refusal below it.

    Parameters
    ----------
    kernel, target : str
        What would run, and where.
    rows : sequence of mapping
        One per argument, with the keys argument, intent, declared, passed, action, bytes_in,
        bytes_out, reason, need and fix.
    """
    cells = [[one_line(text) for text in _cells(row)] for row in rows]
    table = [list(_COLUMNS), *cells]
    widths = [max(len(line[column]) for line in table) for column in range(len(_COLUMNS))]
    lines = [clean_text(_headline(kernel, target, rows))]
    lines += ["  " + _aligned(line, widths) for line in table]
    refused = _first_refused(rows)
    if refused is not None:
        lines.append(clean_text(f"{refused['argument']} is refused"))
        lines.append(clean_text(f"  need: {refused['need']}"))
        lines.append(clean_text("  fix:  " + refused["fix"].replace("\n", "\n        ")))
    return "\n".join(lines)


def plan_html(kernel: str, target: str, rows: Sequence[Mapping[str, str]]) -> str:
    """The same as an HTML table; every text is escaped."""
    # JupyterLab aligns cells to the right, which suits numbers.
    left = ' style="text-align:left"'
    head = "".join(f"<th{left}>{name}</th>" for name in _COLUMNS)
    body = "".join(
        "<tr>" + "".join(f"<td{left}>{_html(text)}</td>" for text in _cells(row)) + "</tr>"
        for row in rows
    )
    refused = _first_refused(rows)
    below = ""
    if refused is not None:
        below = (
            f"<p><b>{_html(refused['argument'])}</b> is refused; need: {_html(refused['need'])}"
            f"; fix:</p><pre>{_html(refused['fix'])}</pre>"
        )
    return (
        f'<div class="kit-plan"><p>{_html(_headline(kernel, target, rows))}</p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def _html(text: str) -> str:
    return escaped(clean_text(text))


def _first_refused(rows: Sequence[Mapping[str, str]]) -> Mapping[str, str] | None:
    return next((row for row in rows if row["action"] == "REFUSE"), None)


def _headline(kernel: str, target: str, rows: Sequence[Mapping[str, str]]) -> str:
    if _first_refused(rows) is not None:
        return f"{kernel}: the call would be refused"
    inward = sum(int(row["bytes_in"]) for row in rows)
    outward = sum(int(row["bytes_out"]) for row in rows)
    where = _PLACES[target]
    copies = _copies(inward, outward)
    told = f"copies {' and '.join(copies)}" if copies else "no copy"
    return f"{kernel}: would run {where}, {told}"


def _copies(inward: int, outward: int) -> list[str]:
    texts = [f"{bytes_text(inward)} in"] if inward else []
    return texts + ([f"{bytes_text(outward)} back"] if outward else [])


def _cells(row: Mapping[str, str]) -> list[str]:
    # Where "passed" says already what was found, the reason is what it is not.
    reason = f"not {row['declared']}" if row["reason"] == row["passed"] else row["reason"]
    values = {
        **row,
        "reason": reason,
        "copies": ", ".join(_copies(int(row["bytes_in"]), int(row["bytes_out"]))),
    }
    return [values[name] for name in _COLUMNS]


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()

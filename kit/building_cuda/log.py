"""What NVRTC and ptxas printed, read: messages with their places, and what each kernel takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from kit.errors import clean_text

__all__ = ["Message", "ResourceUse", "read_messages", "read_resources"]

_HEAD: Final = re.compile(
    r"(?P<file>[^\n]+?)\((?P<line>\d+)\): "
    r"(?P<kind>(?:catastrophic |internal )?error|warning|note)(?: #[\d-]+\w*)?: (?P<text>.*)"
)
_CARET: Final = re.compile(r"\s*\^\s*")
_TRACE: Final = re.compile(r"\s*detected during(?::| )(?P<text>.*)")
_PTXAS: Final = re.compile(
    r"\s*ptxas (?:application ptx input, line \d+; )?(?P<kind>error|fatal|warning)\s*: (?P<text>.*)"
)
_INDENT: Final = 2  # of the source line that a message quotes

_ENTRY: Final = re.compile(r"Compiling entry function '(?P<name>[^']+)' for '(?P<arch>\w+)'")
_SPILLS: Final = re.compile(
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads"
)
_USED: Final = re.compile(r"Used (?P<registers>\d+) registers")
_SHARED: Final = re.compile(r"(?P<shared>\d+) bytes smem")


class Message(NamedTuple):
    """One message.

    Parameters
    ----------
    severity : {"error", "warning"}
        Whether the compilation failed.
    text : str
        What it says, in one line.
    file : str
        Which file it is in; "" for those of ptxas, which knows none.
    line : int
        Its line; 0 for those of ptxas.
    source : str
        Text of the line.
    offset : int or None
        Bytes before the caret in it.
    notes : tuple of str
        What follows: other candidates, the templates whose instantiation led there.
    """

    severity: Literal["error", "warning"]
    text: str
    file: str = ""
    line: int = 0
    source: str = ""
    offset: int | None = None
    notes: tuple[str, ...] = ()


class ResourceUse(NamedTuple):
    """What one kernel takes, as ptxas says.

    Parameters
    ----------
    registers : int
        Of one thread.
    stack, spill_stores, spill_loads : int
        Local memory of one thread [bytes].
    shared : int
        Static shared memory of one block [bytes].
    """

    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    shared: int


def read_messages(log: str) -> list[Message]:
    """Errors and warnings in the order in which they were printed.

    Examples
    --------
    >>> read_messages('cell(2): error: identifier "n" is undefined\\n  x = n;\\n      ^\\n')
    [Message(severity='error', text='identifier "n" is undefined', file='cell', line=2,
        source='x = n;', offset=4, notes=())]
    """
    messages: list[Message] = []
    lines = log.split("\n")
    heads = [index for index, line in enumerate(lines) if _HEAD.fullmatch(line)]
    for start, stop in pairwise([*heads, len(lines)]):
        block = _until_blank(lines[start:stop])
        read = _message(block)
        if read is None:  # a note, which belongs to what stands before it
            if messages:
                messages[-1] = _with_note(messages[-1], block)
        else:
            messages.append(read)
    return messages + _of_ptxas(lines)


def read_resources(log: str) -> dict[str, ResourceUse]:
    """What each kernel takes, by its name in the cubin (``--ptxas-options=-v``).

    Examples
    --------
    >>> read_resources('''
    ... ptxas info    : Compiling entry function '_Z1fPf' for 'sm_90'
    ... ptxas info    : Function properties for _Z1fPf
    ... ptxas         .     48 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
    ... ptxas info    : Used 10 registers, used 1 barriers, 400 bytes smem
    ... ''')
    {'_Z1fPf': ResourceUse(registers=10, stack=48, spill_stores=8, spill_loads=16, shared=400)}
    """
    found: dict[str, ResourceUse] = {}
    entries = list(_ENTRY.finditer(log))
    for entry, following in zip(entries, [*entries[1:], None], strict=True):
        part = log[entry.end() : len(log) if following is None else following.start()]
        # Functions that were not inlined follow with properties of their own.
        spills = re.search(
            rf"Function properties for {re.escape(entry['name'])}\s+ptxas\s+\.\s+{_SPILLS.pattern}",
            part,
        )
        used, shared = _USED.search(part), _SHARED.search(part)
        found[entry["name"]] = ResourceUse(
            registers=0 if used is None else int(used["registers"]),
            stack=0 if spills is None else int(spills["stack"]),
            spill_stores=0 if spills is None else int(spills["stores"]),
            spill_loads=0 if spills is None else int(spills["loads"]),
            shared=0 if shared is None else int(shared["shared"]),
        )
    return found


def _until_blank(lines: Sequence[str]) -> Sequence[str]:
    """A message ends with an empty line, unless a note follows at once."""
    end = next((index for index, line in enumerate(lines) if not line.strip()), len(lines))
    return lines[:end]


def _message(block: Sequence[str]) -> Message | None:
    head = _HEAD.fullmatch(block[0])
    if head is None or head["kind"] == "note":
        return None
    caret = next((index for index, line in enumerate(block) if _CARET.fullmatch(line)), None)
    text, source, offset = [head["text"]], "", None
    rest = list(block[1:])
    if caret is not None and caret >= 2:
        text += block[1 : caret - 1]
        source = block[caret - 1][_INDENT:]
        offset = block[caret].index("^") - _INDENT
        rest = list(block[caret + 1 :])
    return Message(
        severity="warning" if head["kind"] == "warning" else "error",
        text=_one_line(text),
        file=head["file"],
        line=int(head["line"]),
        source=source,
        offset=offset,
        notes=tuple(_trace(rest)),
    )


def _with_note(message: Message, block: Sequence[str]) -> Message:
    head = _HEAD.fullmatch(block[0])
    assert head is not None
    caret = next((index for index, line in enumerate(block) if _CARET.fullmatch(line)), 0)
    notes = [_one_line([head["text"], *block[1 : max(1, caret - 1)]])]
    return message._replace(notes=(*message.notes, *notes, *_trace(block[caret + 1 :])))


def _trace(lines: Sequence[str]) -> list[str]:
    """The instantiations that led to a message, one each."""
    found: list[str] = []
    for line in lines:
        trace = _TRACE.fullmatch(line)
        text = line.strip() if trace is None else trace["text"].strip()
        if text:
            found.append(_one_line([text]))
    return found


def _of_ptxas(lines: Sequence[str]) -> list[Message]:
    found: list[Message] = []
    for line in lines:
        match = _PTXAS.fullmatch(line)
        if match is not None:
            severity = "warning" if match["kind"] == "warning" else "error"
            found.append(Message(severity=severity, text=_one_line([match["text"]])))
    return found


def _one_line(parts: Sequence[str]) -> str:
    """Without the inline namespaces of libcu++, and with its name for a size known at run time."""
    text = " ".join(clean_text(" ".join(parts)).split())
    return re.sub(r"::__\d+(?=::)", "", text).replace("18446744073709551615UL", "dynamic_extent")

"""What to write instead, for the errors that newcomers meet."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from kit.building_cuda.log import Message
from kit.building_cuda.missing import advise_on_header, advise_on_name, advise_on_std

__all__ = ["Advice", "advise"]


class Advice(NamedTuple):
    """What kit says about an error.

    Parameters
    ----------
    message : str or None
        In the place of the compiler's own.
    fix : str or None
        What to write.
    line, column : int or None
        Where to look, where that is not the line, or the column, that the compiler names.
    is_certain : bool
        Whether it explains the line: whatever else is wrong there may follow from it.
    """

    message: str | None = None
    fix: str | None = None
    line: int | None = None
    column: int | None = None
    is_certain: bool = False


class _Error(NamedTuple):
    message: Message
    match: re.Match[str]
    text: str
    folders: Sequence[str]

    @property
    def line(self) -> str:
        """The line that the compiler quoted."""
        return self.message.source

    def word(self) -> str:
        """The name at the caret."""
        offset = self.message.offset or 0
        rest = self.line.encode()[offset:].decode(errors="replace")
        found = re.match(r"\w+", rest)
        return "" if found is None else found[0]


def advise(message: Message, text: str, folders: Sequence[str]) -> Advice:
    """What to write instead of what an error is about; an empty one where nothing is known.

    Parameters
    ----------
    message : Message
        The error.
    text : str
        The cell.
    folders : sequence of str
        Where headers are looked for.
    """
    for pattern, answer in _ANSWERS:
        match = pattern.search(message.text)
        if match is not None:
            return answer(_Error(message, match, text, folders))
    return Advice()


def _undefined(error: _Error) -> Advice:
    message, fix = advise_on_name(error.match["name"], error.line, error.text)
    return Advice(message, fix, is_certain=True)


def _no_namespace(error: _Error) -> Advice:
    message, fix = advise_on_name(error.word(), error.line, error.text)
    return Advice(message or f"{error.word()} is no class and no namespace", fix, is_certain=True)


def _no_member(error: _Error) -> Advice:
    space, member = error.match["space"], error.match["member"]
    if space == "std":
        return Advice(*advise_on_std(member, error.line), is_certain=True)
    name = "kit" if space == "kit" else "cuda"
    return Advice(*advise_on_name(name, error.line, error.text), is_certain=True)


def _no_file(error: _Error) -> Advice:
    name = error.match["name"]
    fix = advise_on_header(name, error.folders)
    column = error.line.find(name) + 1 or None  # the compiler's is the end of the line
    return Advice(f'the header "{name}" was not found', fix, column=column, is_certain=True)


def _no_field(error: _Error) -> Advice:
    field = error.match["field"]
    if field.lower() not in ("x", "y", "z", "w"):
        return Advice()
    return Advice(fix=re.sub(rf"\.{field}\b", f".{field.lower()}", error.line).strip())


def _no_space(error: _Error) -> Advice:
    kind = error.match["kind"]
    message = f"this {kind} is host code: nothing like __device__ stands before it"
    return Advice(message, f"__device__ {error.line.strip()}")


def _no_semicolon(error: _Error) -> Advice:
    before = error.line.encode()[: error.message.offset or 0].decode(errors="replace")
    if before.strip() or error.message.line < 2:
        return Advice()
    # The compiler names the place where the statement did not go on.
    lines = error.text.split("\n")
    for number in range(error.message.line - 1, 0, -1):
        code = lines[number - 1].partition("//")[0].rstrip()
        if code:
            said = "a semicolon is missing at the end of this line"
            return Advice(said, f"{code.strip()};", number, len(code) + 1)
    return Advice()


def _not_modifiable(error: _Error) -> Advice:
    name = error.word()
    if not re.search(rf"\bconst\b[^,;(){{}}]*\b{re.escape(name)}\b", error.text) or not name:
        return Advice()
    return Advice(
        f"{name} is written here, and is declared const",
        f"# declare {name} without const, so that the kernel can write it",
    )


def _not_void(error: _Error) -> Advice:
    fix = re.sub(r"(__global__\s+)(?:\w+\s+)+?(\w+\s*\()", r"\1void \2", error.line).strip()
    return Advice(
        "a kernel returns nothing: its results are in arrays that it takes as parameters", fix
    )


def _too_much_shared(error: _Error) -> Advice:
    needed, most = int(error.match["needed"], 16), int(error.match["most"], 16)
    return Advice(
        f"the kernel has {needed} bytes of static shared memory, and {most} is the most",
        f"extern __shared__ double s[];  // and launch it with shared_bytes={needed}",
    )


def _not_defined(error: _Error) -> Advice:
    mangled = error.match["name"]
    found = re.match(r"_Z(\d+)(\w+)", mangled)
    name = mangled if found is None else found[2][: int(found[1])]
    place = re.search(rf"\b{re.escape(name)}\b", error.text)
    line = None if place is None else error.text.count("\n", 0, place.start()) + 1
    return Advice(
        f"{name} is declared and not defined in this cell",
        f"# define {name} in the cell, or include the file that does",
        line,
    )


_ANSWERS: Final[Sequence[tuple[re.Pattern[str], Callable[[_Error], Advice]]]] = tuple(
    (re.compile(pattern), answer)
    for pattern, answer in (
        (r'identifier "(?P<name>[^"]+)" is undefined', _undefined),
        (r'(?:cannot|could not) open source file "(?P<name>[^"]+)"', _no_file),
        (r'namespace "(?P<space>[^"]+)" has no member "(?P<member>\w+)"', _no_member),
        (r'name followed by "::" must be a class or namespace name', _no_namespace),
        (r'class "u?\w+" has no member "(?P<field>\w+)"', _no_field),
        (r"^A (?P<kind>function|namespace scope variable) without .*annotations", _no_space),
        (r'^expected a ";"', _no_semicolon),
        (r"^expression must be a modifiable lvalue", _not_modifiable),
        (r"__global__ function must have a void return type", _not_void),
        (
            r"uses too much shared data \((?P<needed>0x[\da-f]+) bytes, (?P<most>0x[\da-f]+) max",
            _too_much_shared,
        ),
        (r"Unresolved extern function '(?P<name>\w+)'", _not_defined),
    )
)

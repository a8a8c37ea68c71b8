"""From what Pyccel, GCC and tracebacks say to diagnostics in the lines of the unit."""

from __future__ import annotations

import ast
import re
import traceback
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kit.backends.protocol import Diagnostic, Severity
from kit.backends.source import character_column
from kit.errors import clean_text
from kit.source.lines import split_lines

__all__ = ["from_compiler", "from_crash", "from_pyccel", "from_python"]

_STAGES = {
    "syntactic": "syntax",
    "semantic": "semantic",
    "codegen": "codegen",
    "cwrapper": "wrapper",
    "compilation": "compile",
    "buildgen": "compile",
    None: "start",
}

# What Pyccel tells users to do about its own restrictions is nothing that helps with the cell.
_REQUEST = re.compile(r"\s*Please (?:create an issue|check that your code).*", re.DOTALL)

# gfortran puts the message behind a quotation of the line; gcc writes it beside the place.
_GFORTRAN = re.compile(
    r"^(?P<file>[^\n:]+\.[fF]90):(?P<line>\d+):\d+:\n.*?^(?:Fatal )?Error: (?P<text>[^\n]+)",
    re.MULTILINE | re.DOTALL,
)
_GCC = re.compile(
    r"^(?P<file>[^\n:]+\.[ch]):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>[^\n]+)",
    re.MULTILINE,
)


def from_python(source: str) -> list[Diagnostic]:
    """What Python's own parser has against the unit: at most one thing."""
    try:
        ast.parse(source)
    except SyntaxError as error:
        return [
            Diagnostic(
                severity="fatal",
                stage="syntax",
                message=error.msg,
                line=error.lineno or None,
                column=error.offset or None,
            )
        ]
    except ValueError as error:  # null bytes
        return [Diagnostic(severity="fatal", stage="syntax", message=str(error))]
    return []


def from_pyccel(
    reported: Mapping[Any, Iterable[Any]],
    *,
    unit: Path,
    source: str,
    cause: BaseException | None = None,
) -> list[Diagnostic]:
    """Convert Pyccel's `Errors().error_info_map`, errors before warnings.

    Parameters
    ----------
    reported : mapping
        File -> records with severity, stage, line, column, message and symbol.
    unit : Path
        The file that stands for `source`; what is said about others names them.
    source : str
        Text of the unit.
    cause : BaseException or None
        What Pyccel was handling when it gave up; it reports its own faults without saying so.
    """
    lines = split_lines(source)
    converted = [
        _from_record(record, unit, lines, cause)
        for records in reported.values()
        for record in records
    ]
    return sorted(converted, key=lambda one: one.severity == "warning")


def from_compiler(output: str, *, generated: Mapping[str, str], source: str) -> list[Diagnostic]:
    """Convert the errors that gfortran or gcc printed.

    Neither knows the unit: a generated line is traced to the unit's line that shares its names,
    where there is one such line only; otherwise the message names the generated line.

    Parameters
    ----------
    output : str
        What was printed.
    generated : mapping of str to str
        File name -> text of each generated source.
    source : str
        Text of the unit.
    """
    matches = [*_GFORTRAN.finditer(output), *_GCC.finditer(output)]
    converted: dict[Diagnostic, None] = {}  # one declaration gives the same error many times
    for match in sorted(matches, key=lambda one: one.start()):
        name, number = Path(match["file"]).name, int(match["line"])
        text = generated.get(name, "").splitlines()
        statement = text[number - 1].strip() if number <= len(text) else ""
        line = _trace_line(text, number, source)
        message = match["text"].replace(" at (1)", "").rstrip(".")
        message = f"the compiler refused the generated code: {message}"
        message += f" ({name} line {number}{': ' if statement else ''}{statement})"
        converted[Diagnostic(severity="error", stage="compile", message=message, line=line)] = None
    if converted:
        return list(converted)
    told = clean_text(output).strip().splitlines() or ["it said nothing"]
    # The linker's first and last lines only say where and how many.
    telling = (line for line in told if "error" in line or "undefined" in line)
    message = f"the compiler failed: {next(telling, told[0])}"
    return [Diagnostic(severity="fatal", stage="compile", message=message)]


def from_crash(error: BaseException, *, stage: str | None, source: str) -> Diagnostic:
    """Convert an exception out of Pyccel's own code, with the last line that it worked on."""
    number = _line_at_crash(error.__traceback__, len(split_lines(source)))
    said = traceback.format_exception_only(error)[-1].strip()
    where = "" if number is None else " while it worked on this line"
    return Diagnostic(
        severity="fatal",
        stage=_STAGES.get(stage, "start"),
        message=clean_text(f"Pyccel itself failed{where}, which is a fault of Pyccel: {said}"),
        line=number,
    )


def _from_record(
    record: Any, unit: Path, lines: Sequence[str], cause: BaseException | None
) -> Diagnostic:
    severity: Severity = record.severity if record.severity in ("warning", "fatal") else "error"
    message = _message(clean_text(str(record.message)).strip(), cause)
    symbol = None if record.symbol is None else clean_text(str(record.symbol))
    line, column = _number(record.line), _number(record.column)
    about = str(record.filename or "")
    if about and Path(about).name != unit.name:
        message = f"{Path(about).name}{'' if line is None else f' line {line}'}: {message}"
        line = None
    elif line is None:
        line = _import_line(symbol, lines)
    # Some records carry the place of a node that Pyccel made up: line 1 of an empty line.
    if line is None or not 1 <= line <= len(lines) or not lines[line - 1].strip():
        line = column = None
    elif column is not None:
        # Pyccel hands on ast's col_offset: bytes of UTF-8, counted from 0.
        column = min(character_column(lines[line - 1], column), len(lines[line - 1]) + 1)
    return Diagnostic(
        severity=severity,
        stage=_STAGES.get(record.stage, "start"),
        message=message,
        line=line,
        column=column,
        symbol=symbol or None,
    )


def _message(told: str, cause: BaseException | None) -> str:
    if "[INTERNAL ERROR]" not in told:
        return _REQUEST.sub("", told) or told
    if type(cause).__name__ == "TextXSyntaxError":
        return f"the pragma cannot be read: {getattr(cause, 'message', cause)}"
    said = "" if cause is None else ": " + traceback.format_exception_only(cause)[-1].strip()
    return clean_text(f"Pyccel itself failed on this line, which is a fault of Pyccel{said}")


def _import_line(symbol: str | None, lines: Sequence[str]) -> int | None:
    """The line that imports what a record without a place is about."""
    name = re.escape((symbol or "").split(" ")[0].split(",")[0])
    if name:
        for number, text in enumerate(lines, 1):
            if re.match(rf"\s*(?:from|import)\s.*?(?<![\w.]){name}(?![\w.])", text):
                return number
    return None


def _number(value: object) -> int | None:
    """A line or column of Pyccel's, which may be a number, its text, ``"3-7"`` or None."""
    match = re.match(r"\d+", str(value))
    return None if match is None else int(match[0])


def _line_at_crash(trace: TracebackType | None, length: int) -> int | None:
    """The unit's line that the innermost frame which knows one was about."""
    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    for frame in reversed(frames):
        for name in ("expr", "stmt", "node", "func", "call"):
            value = frame.f_locals.get(name)
            node = value if isinstance(value, ast.AST) else getattr(value, "python_ast", None)
            number = getattr(node, "lineno", None)
            if isinstance(number, int) and 1 <= number <= length:
                return number
    for frame in reversed(frames):
        parser = frame.f_locals.get("self")
        number = getattr(getattr(parser, "_current_ast_node", None), "lineno", None)
        if isinstance(number, int) and 1 <= number <= length:
            return number
    return None


def _trace_line(generated: Sequence[str], number: int, source: str) -> int | None:
    """The unit's line whose names a generated line shares; None where no single one fits."""
    if number > len(generated):
        return None
    wanted = _words(generated[number - 1])
    first, last = _function_span(generated, number, source)
    lines = split_lines(source)
    scores = {
        index: len(wanted & words) / len(wanted | words)
        for index in range(first, last + 1)
        if (words := _words(lines[index - 1])) and wanted
    }
    best = max(scores.values(), default=0.0)
    fitting = [index for index, score in scores.items() if score == best]
    return fitting[0] if best >= 0.5 and len(fitting) == 1 else None


def _function_span(generated: Sequence[str], number: int, source: str) -> tuple[int, int]:
    """First and last line of the function that the generated line is in, or of all."""
    everything = (1, len(split_lines(source)))
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return everything
    spans = {
        node.name.lower(): (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
    for text in reversed(generated[:number]):
        match = re.search(r"\b(?:subroutine|function)\s+(\w+)|^\w[\w *]*\b\w+__(\w+)\(", text)
        if match and not text.lstrip().startswith("end"):
            return spans.get((match[1] or match[2]).lower().removesuffix("_wrapper"), everything)
    return everything


def _words(line: str) -> frozenset[str]:
    """Names and numbers of a statement, without what translation adds to them."""
    # A pragma is a comment in Python and Fortran; here its names count as a statement's do.
    code = re.sub(r"(?:#\$|#pragma|!\$)\s*omp\b", "omp", line)
    code = re.sub(r"#.*|!.*|//.*", "", code)
    code = re.sub(r"_(?:f32|f64|i8|i16|i32|i64|c32|c64)\b|_\d{4}\b", "", code)
    words = set(re.findall(r"[A-Za-z_]\w*|\d+\.?\d*", code.lower()))
    return frozenset(
        words - {"call", "int64_t", "cspan_at", "else", "if", "then", "end", "do", "for"}
    )

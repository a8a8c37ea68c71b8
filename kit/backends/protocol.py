"""What crosses the pipe between kit and its worker: one fixed, validated JSON schema, no pickle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, cast, get_args

from kit.errors import BuildError
from kit.terms import Language

__all__ = ["CompileReply", "CompileRequest", "Diagnostic", "Progress", "Severity"]

Severity = Literal["warning", "error", "fatal"]
"""How bad a diagnostic is: the build goes on, fails, or stopped at once."""

Progress = Callable[[str, float], None]
"""Called with the stage that runs and the seconds since the build began [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One thing that the toolchain said about the source.

    Parameters
    ----------
    severity : {"warning", "error", "fatal"}
        Whether the build went on.
    stage : str
        Which step spoke: ``"syntax"``, ``"semantic"``, ``"codegen"``, ``"compile"``, ...
    message : str
        What it said, without colours.
    line, column : int or None
        Place in the request's `source`, both counted from 1; None where it is not known.
    symbol : str or None
        The name or expression that it spoke about.
    """

    severity: Severity
    stage: str
    message: str
    line: int | None = None
    column: int | None = None
    symbol: str | None = None

    @classmethod
    def from_json(cls, value: object) -> Diagnostic:
        """Check and convert one decoded JSON object; BuildError when it does not fit."""
        items = _object(value, cls, "diagnostic")
        severity = _text(items["severity"], "severity")
        if severity not in get_args(Severity):
            raise _malformed(f"severity {severity!r}")
        return cls(
            severity=cast(Severity, severity),
            stage=_text(items["stage"], "stage"),
            message=_text(items["message"], "message"),
            line=_position(items["line"], "line"),
            column=_position(items["column"], "column"),
            symbol=_optional_text(items["symbol"], "symbol"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRequest:
    """One unit of typed Python to compile.

    Parameters
    ----------
    source : str
        The unit's text.
    module_name : str
        Name that the extension module gets; content-hashed by the caller.
    language : {"fortran", "c"}
        What Pyccel translates to.
    flags : tuple of str or None
        Compiler flags that replace kit's own; None keeps those.
    openmp : bool
        Whether ``#$ omp`` pragmas count.
    debug : bool
        Bounds checks and no optimisation.
    search_path : tuple of str
        Directories where modules that the unit imports are looked for.
    scratch : str
        An existing, private, absolute directory; everything is written below it.
    compilers : mapping of str to str
        Language -> absolute path, as the cache key knows them; `compile_unit` fills it in.
    environment : mapping of str to str
        Variables that direct the compilers, as they are now; `compile_unit` fills it in.
    """

    source: str
    module_name: str
    language: Language
    flags: tuple[str, ...] | None = None
    openmp: bool = False
    debug: bool = False
    search_path: tuple[str, ...] = ()
    scratch: str
    compilers: Mapping[str, str] = field(default_factory=dict[str, str])
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def to_json(self) -> dict[str, object]:
        """The request as plain JSON values.

        Examples
        --------
        >>> request = CompileRequest(source="", module_name="m", language="c", scratch="/tmp")
        >>> CompileRequest.from_json(request.to_json()) == request
        True
        """
        flags = None if self.flags is None else list(self.flags)
        plain: dict[str, object] = {item.name: getattr(self, item.name) for item in fields(self)}
        plain |= {
            "flags": flags,
            "search_path": list(self.search_path),
            "compilers": dict(self.compilers),
            "environment": dict(self.environment),
        }
        return plain

    @classmethod
    def from_json(cls, value: object) -> CompileRequest:
        """Check and convert a decoded JSON object; BuildError when it does not fit."""
        items = _object(value, cls, "request")
        language = _text(items["language"], "language")
        if language not in get_args(Language):
            raise _malformed(f"language {language!r}")
        flags = items["flags"]
        return cls(
            source=_text(items["source"], "source"),
            module_name=_text(items["module_name"], "module_name"),
            language=cast(Language, language),
            flags=None if flags is None else _texts(flags, "flags"),
            openmp=_flag(items["openmp"], "openmp"),
            debug=_flag(items["debug"], "debug"),
            search_path=_texts(items["search_path"], "search_path"),
            scratch=_text(items["scratch"], "scratch"),
            compilers=_text_map(items["compilers"], "compilers"),
            environment=_text_map(items["environment"], "environment"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileReply:
    """What came of a request.

    Parameters
    ----------
    ok : bool
        Whether `artifact` exists.
    diagnostics : tuple of Diagnostic
        What the toolchain said, the first error first.
    log : str
        Everything that was printed, with the commands that ran.
    artifact : str or None
        Path of the extension module, below the request's scratch directory.
    generated : mapping of str to str
        File name -> text of each generated Fortran or C source.
    files : mapping of str to str
        Path -> SHA-256 (hex) of each of the user's own files that the build read.
    seconds : mapping of str to float
        Stage -> time [s].
    compiler : str
        What the compiler of the request's language says that it is.
    """

    ok: bool
    diagnostics: tuple[Diagnostic, ...] = ()
    log: str = ""
    artifact: str | None = None
    generated: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    compiler: str = ""

    def to_json(self) -> dict[str, object]:
        """The reply as plain JSON values.

        Examples
        --------
        >>> import json
        >>> reply = CompileReply(ok=False, log="no compiler")
        >>> CompileReply.from_json(json.loads(json.dumps(reply.to_json()))) == reply
        True
        """
        spoken = [
            {item.name: getattr(one, item.name) for item in fields(one)} for one in self.diagnostics
        ]
        plain: dict[str, object] = {item.name: getattr(self, item.name) for item in fields(self)}
        plain |= {
            "diagnostics": spoken,
            "generated": dict(self.generated),
            "files": dict(self.files),
            "seconds": dict(self.seconds),
        }
        return plain

    @classmethod
    def from_json(cls, value: object) -> CompileReply:
        """Check and convert a decoded JSON object; BuildError when it does not fit."""
        items = _object(value, cls, "reply")
        ok = _flag(items["ok"], "ok")
        artifact = _optional_text(items["artifact"], "artifact")
        if ok != (artifact is not None):
            raise _malformed("ok without an artifact, or an artifact without ok")
        return cls(
            ok=ok,
            diagnostics=tuple(
                Diagnostic.from_json(one) for one in _list(items["diagnostics"], "diagnostics")
            ),
            log=_text(items["log"], "log"),
            artifact=artifact,
            generated=_text_map(items["generated"], "generated"),
            files=_text_map(items["files"], "files"),
            seconds=_seconds(items["seconds"], "seconds"),
            compiler=_text(items["compiler"], "compiler"),
        )


def _malformed(what: str) -> BuildError:
    return BuildError(
        f"the compile worker's message does not fit the protocol: {what}",
        fix="run the cell again: it gets a fresh worker",
    )


def _object(value: object, cls: type, what: str) -> dict[str, object]:
    """Exactly the fields of `cls`: an unknown one is as wrong as a missing one."""
    if not isinstance(value, dict):
        raise _malformed(f"{what} is no object")
    items = cast("dict[str, object]", value)
    expected = {item.name for item in fields(cls)}
    if items.keys() != expected:
        raise _malformed(f"{what} has fields {sorted(items)}, not {sorted(expected)}")
    return items


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise _malformed(f"{what} is no text")
    return value


def _optional_text(value: object, what: str) -> str | None:
    return None if value is None else _text(value, what)


def _flag(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise _malformed(f"{what} is neither true nor false")
    return value


def _position(value: object, what: str) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _malformed(f"{what} is no position")
    return value


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise _malformed(f"{what} is no list")
    return cast("list[object]", value)


def _texts(value: object, what: str) -> tuple[str, ...]:
    return tuple(_text(one, what) for one in _list(value, what))


def _text_map(value: object, what: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise _malformed(f"{what} is no object")
    items = cast("dict[str, object]", value)
    return {key: _text(text, what) for key, text in items.items()}


def _seconds(value: object, what: str) -> dict[str, float]:
    if not isinstance(value, dict):
        raise _malformed(f"{what} is no object")
    checked: dict[str, float] = {}
    for key, number in cast("dict[str, object]", value).items():
        if not isinstance(number, (int, float)) or isinstance(number, bool):
            raise _malformed(f"{what} of {key} is no number")
        checked[key] = float(number)
    return checked

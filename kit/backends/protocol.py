"""What crosses the pipe between kit and its worker: one fixed, validated JSON schema, no pickle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, cast, get_args

from kit.backends.checked_json import (
    flag_of,
    list_of,
    malformed,
    object_of,
    optional_text_of,
    position_of,
    seconds_of,
    text_map_of,
    text_of,
    texts_of,
)
from kit.terms import Language

__all__ = [
    "CompileReply",
    "CompileRequest",
    "Diagnostic",
    "Progress",
    "Severity",
    "ToolchainFailed",
]

Severity = Literal["warning", "error", "fatal"]
"""How bad a diagnostic is: the build goes on, fails, or stopped at once."""

Progress = Callable[[str, float], None]
"""Called with the stage that runs and the seconds since the build began [s]."""


class ToolchainFailed(Exception):
    """In a worker: what it is to keep loaded cannot be loaded."""


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
        items = object_of(value, cls, "diagnostic")
        severity = text_of(items["severity"], "severity")
        if severity not in get_args(Severity):
            raise malformed(f"severity {severity!r}")
        return cls(
            severity=cast(Severity, severity),
            stage=text_of(items["stage"], "stage"),
            message=text_of(items["message"], "message"),
            line=position_of(items["line"], "line"),
            column=position_of(items["column"], "column"),
            symbol=optional_text_of(items["symbol"], "symbol"),
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
        items = object_of(value, cls, "request")
        language = text_of(items["language"], "language")
        if language not in get_args(Language):
            raise malformed(f"language {language!r}")
        flags = items["flags"]
        return cls(
            source=text_of(items["source"], "source"),
            module_name=text_of(items["module_name"], "module_name"),
            language=cast(Language, language),
            flags=None if flags is None else texts_of(flags, "flags"),
            openmp=flag_of(items["openmp"], "openmp"),
            debug=flag_of(items["debug"], "debug"),
            search_path=texts_of(items["search_path"], "search_path"),
            scratch=text_of(items["scratch"], "scratch"),
            compilers=text_map_of(items["compilers"], "compilers"),
            environment=text_map_of(items["environment"], "environment"),
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
        items = object_of(value, cls, "reply")
        ok = flag_of(items["ok"], "ok")
        artifact = optional_text_of(items["artifact"], "artifact")
        if ok != (artifact is not None):
            raise malformed("ok without an artifact, or an artifact without ok")
        return cls(
            ok=ok,
            diagnostics=tuple(
                Diagnostic.from_json(one) for one in list_of(items["diagnostics"], "diagnostics")
            ),
            log=text_of(items["log"], "log"),
            artifact=artifact,
            generated=text_map_of(items["generated"], "generated"),
            files=text_map_of(items["files"], "files"),
            seconds=seconds_of(items["seconds"], "seconds"),
            compiler=text_of(items["compiler"], "compiler"),
        )

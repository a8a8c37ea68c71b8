"""What crosses the pipe between kit and NVRTC's worker: one fixed, validated JSON schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from kit.backends.checked_json import (
    flag_of,
    list_of,
    object_of,
    seconds_of,
    text_map_of,
    text_of,
    texts_of,
)

__all__ = ["NvrtcProgram", "NvrtcReply", "NvrtcRequest", "cubin_name"]


def cubin_name(architecture: str) -> str:
    """The file of an architecture's machine code in the scratch directory."""
    return f"{architecture}.cubin"


@dataclass(frozen=True, slots=True, kw_only=True)
class NvrtcRequest:
    """One text of CUDA C++ to compile for several architectures.

    Parameters
    ----------
    source : str
        The text.
    name : str
        What messages call it.
    architectures : tuple of str
        ``sm_90``, ...; each once.
    options : tuple of str
        NVRTC's, for all of them.
    expressions : tuple of str
        C++ names of what must be in the cubins, and whose lowered names are wanted.
    scratch : str
        An existing, private, absolute directory; the cubins are written there.
    """

    source: str
    name: str
    architectures: tuple[str, ...]
    options: tuple[str, ...]
    expressions: tuple[str, ...]
    scratch: str

    def to_json(self) -> dict[str, object]:
        """The request as plain JSON values.

        Examples
        --------
        >>> request = NvrtcRequest(
        ...     source="", name="c", architectures=("sm_90",), options=(), expressions=(),
        ...     scratch="/tmp",
        ... )
        >>> NvrtcRequest.from_json(request.to_json()) == request
        True
        """
        plain: dict[str, object] = {item.name: getattr(self, item.name) for item in fields(self)}
        plain |= {
            "architectures": list(self.architectures),
            "options": list(self.options),
            "expressions": list(self.expressions),
        }
        return plain

    @classmethod
    def from_json(cls, value: object) -> NvrtcRequest:
        """Check and convert a decoded JSON object; BuildError when it does not fit."""
        items = object_of(value, cls, "request")
        return cls(
            source=text_of(items["source"], "source"),
            name=text_of(items["name"], "name"),
            architectures=texts_of(items["architectures"], "architectures"),
            options=texts_of(items["options"], "options"),
            expressions=texts_of(items["expressions"], "expressions"),
            scratch=text_of(items["scratch"], "scratch"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NvrtcProgram:
    """What NVRTC made for one architecture.

    Parameters
    ----------
    architecture : str
        ``sm_90``.
    ok : bool
        Whether there is a cubin: the file `cubin_name` in the scratch directory.
    log : str
        What NVRTC and ptxas printed.
    failure : str
        Why NVRTC failed, where it is not the source that is wrong; "" otherwise.
    ptx : str
        What the cubin was made from; of the first architecture only.
    lowered : mapping of str to str
        Expression -> name in the cubin.
    seconds : mapping of str to float
        "compile": time in NVRTC [s].
    """

    architecture: str
    ok: bool
    log: str = ""
    failure: str = ""
    ptx: str = ""
    lowered: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])

    def to_json(self) -> dict[str, object]:
        """The program as plain JSON values."""
        plain: dict[str, object] = {item.name: getattr(self, item.name) for item in fields(self)}
        return plain | {"lowered": dict(self.lowered), "seconds": dict(self.seconds)}

    @classmethod
    def from_json(cls, value: object) -> NvrtcProgram:
        """Check and convert a decoded JSON object; BuildError when it does not fit."""
        items = object_of(value, cls, "program")
        return cls(
            architecture=text_of(items["architecture"], "architecture"),
            ok=flag_of(items["ok"], "ok"),
            log=text_of(items["log"], "log"),
            failure=text_of(items["failure"], "failure"),
            ptx=text_of(items["ptx"], "ptx"),
            lowered=text_map_of(items["lowered"], "lowered"),
            seconds=seconds_of(items["seconds"], "seconds"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NvrtcReply:
    """What came of a request.

    Parameters
    ----------
    programs : tuple of NvrtcProgram
        In the order of the request's architectures.
    compiler : str
        ``NVRTC 12.9``.
    supported : tuple of str
        Architectures that this NVRTC compiles for.
    """

    programs: tuple[NvrtcProgram, ...]
    compiler: str
    supported: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """The reply as plain JSON values.

        Examples
        --------
        >>> program = NvrtcProgram(architecture="sm_90", ok=True, lowered={"f": "_Z1fv"})
        >>> reply = NvrtcReply(programs=(program,), compiler="NVRTC 12.9", supported=("sm_90",))
        >>> NvrtcReply.from_json(reply.to_json()) == reply
        True
        """
        return {
            "programs": [one.to_json() for one in self.programs],
            "compiler": self.compiler,
            "supported": list(self.supported),
        }

    @classmethod
    def from_json(cls, value: object) -> NvrtcReply:
        """Check and convert a decoded JSON object; BuildError when it does not fit."""
        items = object_of(value, cls, "reply")
        programs = list_of(items["programs"], "programs")
        return cls(
            programs=tuple(NvrtcProgram.from_json(one) for one in programs),
            compiler=text_of(items["compiler"], "compiler"),
            supported=texts_of(items["supported"], "supported"),
        )

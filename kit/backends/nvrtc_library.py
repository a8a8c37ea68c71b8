"""NVRTC's C interface, as far as kit needs it; loaded in the worker only.

Of ctypes and not of a package: the worker starts in a third of the time, and what is loaded is the
very file that the cache key names.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

__all__ = ["Compiled", "Nvrtc", "NvrtcFailure"]

# nvrtcResult, of nvrtc.h.
_SUCCESS: Final = 0
# NVRTC looks for `#include "..."` beside the file that asks: nothing is beside the cell, while the
# headers that it includes find their neighbours. (--no-source-include forbids both.)
_NOWHERE: Final = "/dev/null/"
_COMPILATION_FAILED: Final = 6
_WRONG_NAME: Final = 9  # NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID


class NvrtcFailure(Exception):
    """NVRTC failed for another reason than the program's text."""


class Compiled(NamedTuple):
    """What NVRTC made of one program.

    Parameters
    ----------
    ok : bool
        Whether there is a cubin.
    log : str
        What it and ptxas printed.
    cubin : bytes
        Machine code of one architecture.
    ptx : str
        What it was made from.
    lowered : mapping of str to str
        Name expression -> name in the cubin; those that name nothing there are left out.
    """

    ok: bool
    log: str
    cubin: bytes = b""
    ptx: str = ""
    lowered: Mapping[str, str] = MappingProxyType({})


class Nvrtc:
    """The library, loaded.

    Parameters
    ----------
    path : Path
        ``libnvrtc.so.12``; its companion ``libnvrtc-builtins.so`` lies beside it.

    Raises
    ------
    NvrtcFailure
        It does not load.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._library: Any = ctypes.CDLL(str(path))
        except OSError as error:
            raise NvrtcFailure(f"NVRTC does not load: {error}") from None
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def version(self) -> str:
        """Its version, ``12.9``."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return f"{major.value}.{minor.value}"

    def architectures(self) -> tuple[str, ...]:
        """What it can compile for: ``sm_75``, ..."""
        count = ctypes.c_int()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", numbers)
        return tuple(f"sm_{number}" for number in numbers)

    def compile(
        self, source: str, name: str, options: Sequence[str], expressions: Sequence[str]
    ) -> Compiled:
        """Compile one program for one architecture.

        Parameters
        ----------
        source : str
            CUDA C++.
        name : str
            What messages call it.
        options : sequence of str
            NVRTC's, ``--gpu-architecture=sm_XX`` among them.
        expressions : sequence of str
            C++ names of what must be in the cubin.

        Raises
        ------
        NvrtcFailure
            It is the option, NVRTC or the memory that is to blame, not the source.
        """
        program = ctypes.c_void_p()
        text = source.encode(errors="replace")
        path = f"{_NOWHERE}{name}".encode()
        self._call("nvrtcCreateProgram", ctypes.byref(program), text, path, 0, None, None)
        try:
            for one in expressions:
                self._call("nvrtcAddNameExpression", program, one.encode())
            words = [one.encode(errors="surrogateescape") for one in options]
            array = (ctypes.c_char_p * len(words))(*words)
            code = self._library.nvrtcCompileProgram(program, len(words), array)
            # NVRTC (12.9) leaves zeros between its own words and those of ptxas.
            log = self._read(program, "ProgramLog").replace(b"\0", b"").decode(errors="replace")
            log = log.replace(_NOWHERE, "")
            if code == _COMPILATION_FAILED:
                return Compiled(ok=False, log=log)
            if code != _SUCCESS:
                raise NvrtcFailure(f"{self._error(code)}\n{log}".strip())
            return self._result(program, log, expressions)
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def _result(self, program: ctypes.c_void_p, log: str, expressions: Sequence[str]) -> Compiled:
        lowered: dict[str, str] = {}
        for one in expressions:
            name = ctypes.c_char_p()
            code = self._library.nvrtcGetLoweredName(program, one.encode(), ctypes.byref(name))
            if code == _SUCCESS and name.value is not None:
                lowered[one] = name.value.decode()
            elif code != _WRONG_NAME:
                raise NvrtcFailure(self._error(code))
        return Compiled(
            ok=True,
            log=log,
            cubin=self._read(program, "CUBIN"),
            ptx=self._read(program, "PTX").rstrip(b"\0").decode(errors="replace"),
            lowered=lowered,
        )

    def _read(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{what}", program, buffer)
        return buffer.raw

    def _call(self, name: str, *arguments: object) -> None:
        code = getattr(self._library, name)(*arguments)
        if code != _SUCCESS:
            raise NvrtcFailure(f"{name}: {self._error(code)}")

    def _error(self, code: int) -> str:
        return str(self._library.nvrtcGetErrorString(code).decode())

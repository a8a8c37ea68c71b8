"""`pyccel_kernel`: kernels from Python code, as a function and as a decorator."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any, TypedDict, Unpack, overload

from kit.build import BuildOptions, build_cell
from kit.errors import CellError, KitError
from kit.kernel import PyccelKernel
from kit.source.unit import CellSource
from kit.terms import Language, Policy

__all__ = ["KernelNamespace", "pyccel_kernel"]

Names = Sequence[str] | Mapping[str, Sequence[str]] | str


class KernelNamespace(Mapping[str, PyccelKernel]):
    """The kernels of one source text, as attributes and as items."""

    def __init__(self, kernels: Mapping[str, PyccelKernel], classes: Mapping[str, object]) -> None:
        self._kernels = dict(kernels)
        self._classes = dict(classes)

    def __getitem__(self, name: str) -> PyccelKernel:
        return self._kernels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also before __init__ ran, as in copy and pickle
            raise AttributeError(name)
        found = self._kernels.get(name, self._classes.get(name))
        if found is None:
            raise AttributeError(f"no kernel is called {name!r}; there are: {', '.join(self)}")
        return found

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._kernels, *self._classes]

    def __repr__(self) -> str:
        return "\n".join(
            ["KernelNamespace:", *(f"  {name}: {one.language}" for name, one in self.items())]
        )


class _Options(TypedDict, total=False):
    language: Language
    outputs: Names | None
    overwrites: Names
    flags: str | Sequence[str] | None
    openmp: bool
    debug: bool
    policy: Policy
    isolate: bool


@overload
def pyccel_kernel(
    function_or_source: Callable[..., Any], /, **options: Unpack[_Options]
) -> PyccelKernel: ...
@overload
def pyccel_kernel(function_or_source: str, /, **options: Unpack[_Options]) -> Any: ...
@overload
def pyccel_kernel(
    function_or_source: None = None, /, **options: Unpack[_Options]
) -> Callable[[Callable[..., Any]], PyccelKernel]: ...
def pyccel_kernel(
    function_or_source: Callable[..., Any] | str | None = None,
    /,
    *,
    language: Language = "fortran",
    outputs: Names | None = None,
    overwrites: Names = (),
    flags: str | Sequence[str] | None = None,
    openmp: bool = False,
    debug: bool = False,
    policy: Policy = "warn",
    isolate: bool = False,
) -> Any:
    """Compile typed Python into a kernel; also a decorator, bare or with options.

    Writes to the artifact store only. The same source and options again load what is stored.

    Parameters
    ----------
    function_or_source : function or str, optional
        A function, with the imports, constants and functions that it uses around it; or the text
        of a module. None gives a decorator.
    language : {"fortran", "c"}
        What Pyccel translates to.
    outputs : sequence of str, "a,b" or mapping, optional
        Parameters that the kernel writes, by function where there are several. By default the
        source tells; what it contradicts is an error.
    overwrites : sequence of str, "a,b" or mapping
        Outputs that the kernel overwrites entirely.
    flags : str or sequence of str, optional
        Compiler flags in place of ``-O3 -march=native -fno-math-errno -fno-trapping-math``.
    openmp : bool
        Compile ``#$ omp`` pragmas.
    debug, isolate : bool
        Not in this version.
    policy : {"copy", "warn", "strict"}
        When an argument must be copied: silently, with one warning, or a refusal.

    Returns
    -------
    PyccelKernel or KernelNamespace
        A namespace for source text with several public functions: ``ns.f`` and ``ns["f"]``.

    Raises
    ------
    CellError
        The source cannot become a kernel.
    BuildError
        The toolchain failed.
    CacheError
        The artifact store cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> total = pyccel_kernel('''
    ... def total(x: 'float64[:]'):
    ...     s = 0.0
    ...     for i in range(x.shape[0]):
    ...         s += x[i]
    ...     return s
    ... ''')
    >>> total(np.arange(5.0))
    10.0
    """
    for name, wanted in (("debug", debug), ("isolate", isolate)):
        if wanted:
            raise KitError(f"pyccel_kernel: {name}=True is not in this version; leave it out")
    if language not in ("fortran", "c"):
        raise ValueError(f"language must be 'fortran' or 'c', not {language!r}")
    if policy not in ("copy", "warn", "strict"):
        raise ValueError(f"policy must be 'copy', 'warn' or 'strict', not {policy!r}")
    options = BuildOptions(
        language=language,
        outputs=None if outputs is None else _by_function(outputs),
        overwrites=_by_function(overwrites) if overwrites else {},
        flags=None if flags is None else _words(flags),
        openmp=openmp,
        policy=policy,
    )
    if function_or_source is None:
        return partial(_from_function, options)
    if isinstance(function_or_source, str):
        return _from_source(function_or_source, options)
    return _from_function(options, function_or_source)


def _words(flags: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(shlex.split(flags)) if isinstance(flags, str) else tuple(flags)


def _by_function(names: Names) -> dict[str | None, tuple[str, ...]]:
    if isinstance(names, str):
        return {None: tuple(names.replace(",", " ").split())}
    if isinstance(names, Mapping):
        return {function: _by_function(some)[None] for function, some in names.items()}
    return {None: tuple(names)}


def _from_source(text: str, options: BuildOptions) -> PyccelKernel | KernelNamespace:
    built = build_cell(text, options=options, namespace=_globals_of_caller())
    if len(built.kernels) == 1 and not built.classes:
        return next(iter(built.kernels.values()))
    return KernelNamespace(built.kernels, built.classes)


def _globals_of_caller() -> Mapping[str, object]:
    """Where a source text may find kernels by their names."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # as collections.namedtuple
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    return frame.f_globals


def _from_function(options: BuildOptions, function: object) -> PyccelKernel:
    if isinstance(function, PyccelKernel):
        raise CellError(f"`{function.__name__}` is a kernel already", fix=function.__name__)
    if not isinstance(function, FunctionType):
        raise TypeError(
            f"pyccel_kernel takes a function or source text, not {type(function).__name__}"
        )
    # Imports inspect, which a hit of a text need not pay for.
    from kit.source.function_source import read_function

    read = read_function(function, lambda value: isinstance(value, PyccelKernel))
    source = CellSource(
        text=read.text, first_line=read.first_line, file=read.label, preamble=read.preamble
    )
    # The text may be that of an inner function: only its own name is wanted.
    built = build_cell(source, options=options, namespace=read.kernels)
    return built.kernels[function.__name__]

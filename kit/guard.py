"""The fast path: calls whose arguments all pass as they are run without facts, plan and records.

`kit/guard.c` is the compiled guard, the base class of `PyccelKernel` where it is there;
`kit.native` finds or builds it. Its twin is here: Python generated once per signature, with the few
checks that the usual call needs inline. Whatever a guard does not recognise goes to the slow path,
which decides by facts and plan; so it may be too narrow, and must never be too wide. Both decide
alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from kit.guard_table import guard_table
from kit.native import find_native
from kit.signature import Signature
from kit.targets import CHOICES
from kit.terms import Language

__all__ = [
    "NOT_FAST",
    "PythonGuard",
    "armed_by_table",
    "find_guard",
    "make_fast_call",
    "make_guard",
]

NOT_FAST: Final = NotImplemented
"""What a fast call returns instead of calling; no kernel returns it."""

_FILE: Final = "<kit guard of {}>"


class PythonGuard:
    """The base class of `PyccelKernel` where there is no compiled guard."""

    _fast: Callable[..., Any]

    def _arm_guard(
        self,
        signature: Signature,
        language: Language,
        function: Callable[..., object],
        keywords: Mapping[str, str],
    ) -> None:
        """Make `_fast`, which calls `function` where all arguments pass, else gives `NOT_FAST`."""
        self._fast = make_fast_call(signature, language, function, keywords) or _not_fast

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel; `kit.use_target` and KIT_TARGET choose where."""
        __tracebackhide__ = True
        if not CHOICES:
            result = self._fast(*args, **kwargs)
            if result is not NOT_FAST:
                return result
        return self._call_otherwise(args, kwargs)

    def _call_otherwise(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Any:
        """A call that the guard did not take."""
        raise NotImplementedError


def find_guard() -> type[Any] | None:
    """The compiled guard's type, or None where the Python guard is to serve."""
    module = find_native("guard")
    return None if module is None else module.Guard


def armed_by_table(guard: type[Any]) -> type[PythonGuard]:
    """The compiled guard's type with the same way to arm it as `PythonGuard` has."""

    class CompiledGuard(guard):
        def _arm_guard(
            self,
            signature: Signature,
            language: Language,
            function: Callable[..., object],
            keywords: Mapping[str, str],
        ) -> None:
            table = guard_table(signature, language, function, keywords)
            if table is not None:
                self._arm(*table)

    return cast("type[PythonGuard]", CompiledGuard)


def _not_fast(*args: object, **kwargs: object) -> object:
    return NOT_FAST


def make_guard(signature: Signature, language: Language = "fortran") -> Callable[..., bool] | None:
    """A function that takes the kernel's arguments and says whether all pass as they are.

    Returns None where the signature has no fast path (containers, many variants).
    """
    return cast("Callable[..., bool] | None", _compile(signature, language, "True", "False", {}))


def make_fast_call(
    signature: Signature,
    language: Language,
    function: Callable[..., object],
    keywords: Mapping[str, str],
) -> Callable[..., object] | None:
    """A function that calls `function` where all arguments pass, and else returns `NOT_FAST`.

    Parameters
    ----------
    signature : Signature
        What the kernel declares.
    language : {"fortran", "c"}
        What it was translated to.
    function : callable
        The compiled function.
    keywords : mapping of str to str
        The wrapper's names of keyword-only parameters.
    """
    arguments = ", ".join(
        f"{keywords[one.name]}={one.name}" if one.keyword_only else one.name
        for one in signature.parameters
    )
    scope = {"_kit_function": function, "_kit_not_fast": NOT_FAST}
    return _compile(signature, language, f"_kit_function({arguments})", "_kit_not_fast", scope)


def _compile(
    signature: Signature,
    language: Language,
    then: str,
    otherwise: str,
    scope: Mapping[str, object],
) -> Callable[..., Any] | None:
    # Where the compiled guard serves nobody needs these.
    import linecache

    from kit.guard_source import guard_scope, guard_source

    source = guard_source(signature, language, then, otherwise)
    if source is None:
        return None
    names = {**guard_scope(signature, language), **scope}
    file = _FILE.format(signature.name)
    # So that a traceback through the guard shows its line.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return cast("Callable[..., Any]", names[signature.name])
